/* The keys of camp top on a terminal: what is shown, in which order, of whom. */
#include "top_live.h"

#include "program/command.h"
#include "views/screen.h"

#include <stdio.h>
#include <string.h>

enum { KEY_ESCAPE = 27, KEY_DELETE = 127 };

static void forget_filter(struct live *live)
{
    if (live->top->selection.filter != NULL)
        regfree(&live->top->filter);
    live->top->selection.filter = NULL;
    live->filter[0] = '\0';
}

static void ask_filter(struct live *live)
{
    struct top *top = live->top;
    char text[TOP_FILTER_SIZE];
    regex_t compiled;

    if (!screen_ask("filter (a regular expression): ", text, sizeof text))
        return;
    if (text[0] != '\0' && regcomp(&compiled, text, REG_EXTENDED | REG_NOSUB) != 0) {
        snprintf(live->message, sizeof live->message, "'%s' is no regular expression", text);
        return;
    }
    forget_filter(live);
    if (text[0] != '\0') {
        top->filter = compiled;
        top->selection.filter = &top->filter;
    }
    snprintf(live->filter, sizeof live->filter, "%s", text);
}

/* What was shown was of other rows: their first interval is awaited. */
static void forget_interval(struct live *live)
{
    live->threads = live->cpus = NULL;
    live->frozen = live->over = false;
    forget_filter(live);
}

static void go_down(struct live *live)
{
    char wanted[TOP_FILTER_SIZE];

    if (live->threads == NULL || !top_drill_can(live->top) ||
        !screen_ask("groups of which host? (a part of its name; nothing: the first row) ", wanted,
                    sizeof wanted))
        return;
    if (top_drill_down(&live->drill, live->top, wanted, &live->scroll, live->message))
        forget_interval(live);
}

static void go_up(struct live *live)
{
    if (top_drill_up(&live->drill, live->top, &live->scroll))
        forget_interval(live);
}

/* The next of `count` in a circle. */
static int turn(int now, int step, int count)
{
    return (now + step + count) % count;
}

static void scroll_by(struct live *live, int step)
{
    if (step < 0 && live->scroll < (size_t)-step)
        live->scroll = 0;
    else
        live->scroll += (size_t)step;
}

/* The next one that can be had here. */
static void turn_group(struct live *live)
{
    struct top *top = live->top;
    const char *problem;
    int group = top->group;

    top->selection.tree = false;
    do {
        group = turn(group, 1, TOP_WORKLOAD + 1);
        if (top_select_group(top, group, &problem) != OPTIONS_GO_ON && group == TOP_CGROUP)
            snprintf(live->message, sizeof live->message, "%s", problem);
    } while (problem != NULL);
}

static void turn_tree(struct live *live)
{
    const char *none;

    live->top->selection.tree = !live->top->selection.tree;
    top_select_group(live->top, TOP_PROCESS, &none);
}

/* None, then each label. */
static void turn_label(struct top *top)
{
    const int labels = (int)top->any.columns.schema->label_count;

    top->group = turn(top->group + 1, 1, labels + 1) - 1;
}

static void change_any(struct live *live, int key)
{
    struct top *top = live->top;
    const int orders = top_any_sort_count(top->any.columns.schema);

    if (key == 'g')
        turn_label(top);
    else if (key == 'b')
        live->triangle = !live->triangle;
    else if (key == 's' || key == 'S')
        top->sort = turn(top->sort, key == 's' ? 1 : -1, orders);
    live->scroll = 0;
}

static void change_selection(struct live *live, int key)
{
    struct top *top = live->top;
    struct top_selection *selection = &top->selection;

    if (key == 'g')
        turn_group(live);
    else if (key == 't')
        turn_tree(live);
    else if (key == 'b')
        live->triangle = !live->triangle;
    else if (key == 's' || key == 'S')
        top->sort = turn(top->sort, key == 's' ? 1 : -1, CAMP_STATE_COUNT + 1);
    else if (key == 'k')
        selection->kernel_threads = !selection->kernel_threads;
    else if (key == 'c')
        selection->prstat = !selection->prstat;
    selection->sort = top->sort - 1;
    live->scroll = 0;
}

/* The intervals go on unseen: who ends meanwhile must be taken from the kernel. */
static void turn_frozen(struct live *live)
{
    if (live->threads == NULL)
        return;
    if (live->frozen || live->threads == &live->frozen_threads) {
        live->frozen = !live->frozen;
    } else if (top_copy_frame(&live->frozen_threads, live->threads, NULL) == CAMP_OK &&
               (live->cpus == NULL ||
                top_copy_frame(&live->frozen_cpus, live->cpus, NULL) == CAMP_OK)) {
        live->threads = &live->frozen_threads;
        live->cpus = live->cpus != NULL ? &live->frozen_cpus : NULL;
        live->frozen = true;
    } else {
        snprintf(live->message, sizeof live->message, "no memory to freeze");
    }
}

void top_live_press(struct live *live, int key)
{
    live->message[0] = '\0';
    if (live->helping) {
        live->helping = key == SCREEN_RESIZED;
        return;
    }
    switch (key) {
    case 'q':
    case 'Q':
    case SCREEN_GONE:
        live->ended = true;
        break;
    case ' ':
        turn_frozen(live);
        break;
    case 'f':
    case '/':
        ask_filter(live);
        break;
    case 'h':
    case '?':
        live->helping = true;
        break;
    case '\r':
    case '\n':
        go_down(live);
        break;
    case KEY_ESCAPE:
    case KEY_DELETE:
        go_up(live);
        break;
    case SCREEN_UP:
    case SCREEN_DOWN:
        scroll_by(live, key == SCREEN_UP ? -1 : 1);
        break;
    case SCREEN_PAGE_UP:
    case SCREEN_PAGE_DOWN:
        scroll_by(live, key == SCREEN_PAGE_UP ? -10 : 10);
        break;
    case SCREEN_HOME:
        live->scroll = 0;
        break;
    default:
        live->top->is_any ? change_any(live, key) : change_selection(live, key);
    }
}
