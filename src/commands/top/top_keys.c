/* The keys of camp top on a terminal select the rows, their order and their columns. */
#include "top_live.h"

#include "views/terminal/screen.h"

#include <stdio.h>

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

/* Forgets the shown interval. The rows are now of another source, whose first interval has not
 * ended. */
static void forget_interval(struct live *live)
{
    live->frame = live->cpus = NULL;
    live->frozen = live->over = false;
    forget_filter(live);
}

static void go_down(struct live *live)
{
    char wanted[TOP_FILTER_SIZE], question[128];

    if (live->frame == NULL || live->drill.host[0] != '\0' || !top_drill_can(live->top))
        return;
    snprintf(question, sizeof question,
             "%s of which %s? (a part of its name; nothing: the first row) ",
             live->top->selection.grouping.key == GROUP_LABEL ? "rows" : "groups",
             top_row_noun(live->top));
    if (!screen_ask(question, wanted, sizeof wanted))
        return;
    if (top_drill_down(&live->drill, live->top, wanted, &live->scroll, live->message) &&
        live->drill.source != NULL)
        forget_interval(live);
}

static void go_up(struct live *live)
{
    const bool has_source = live->drill.source != NULL;

    if (top_drill_up(&live->drill, live->top, &live->scroll) && has_source)
        forget_interval(live);
}

/* Returns the index `step` after `now`. After the last index comes 0 again. */
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

static void turn_group(struct live *live)
{
    struct top *top = live->top;
    const char *problem;
    int group = top->group;

    top->selection.tree = false;
    do {
        group = turn(group, 1, top_group_count(top));
        if (top_select_group(top, group, &problem) != OPTIONS_GO_ON && group == TOP_CGROUP)
            snprintf(live->message, sizeof live->message, "%s", problem);
    } while (problem != NULL);
}

static void turn_tree(struct live *live)
{
    const char *none;

    live->top->selection.tree = !live->top->selection.tree;
    top_select_group(live->top, live->top->has_threads ? TOP_PROCESS : 0, &none);
}

static void turn_order(struct top *top, int step)
{
    const struct schema *schema = top->source->describe(top->source);

    top->selection.order =
        (size_t)turn((int)top->selection.order, step, (int)order_count_of_states(schema));
}

static void change_rows(struct live *live, int key)
{
    struct top *top = live->top;
    struct selection *selection = &top->selection;

    if (key == 'g')
        turn_group(live);
    else if (key == 'b')
        live->triangle = !live->triangle;
    else if (key == 's' || key == 'S')
        turn_order(top, key == 's' ? 1 : -1);
    else if (key == 'p')
        top_turn_percent(top);
    else if (key == 't' && top_can_be_tree(top))
        turn_tree(live);
    else if (key == 'k' && top->has_threads)
        selection->no_kernel_threads = !selection->no_kernel_threads;
    else if (key == 'c' && top->has_threads) {
        top->columns = (top->columns + 1) % TOP_COLUMNS_COUNT;
        top_use_columns(top);
    }
    live->scroll = 0;
}

static bool freeze(struct live *live)
{
    struct frame *frozen[] = { &live->frozen_frame, &live->frozen_cpus };
    const struct frame *shown[] = { live->frame, live->cpus };

    for (size_t which = 0; which < 2 && shown[which] != NULL; which++) {
        frame_start_as(frozen[which], shown[which]);
        /* The copy has no note, because the source frees its note in the next interval. */
        frozen[which]->note = NULL;
        for (size_t i = 0; i < shown[which]->entity_count; i++) {
            if (frame_add_row(frozen[which], shown[which], i) == NULL)
                return false;
        }
    }
    live->frame = &live->frozen_frame;
    live->cpus = live->cpus != NULL ? &live->frozen_cpus : NULL;
    return true;
}

/* Freezes the screen, or shows new intervals again. Intervals are also read while the screen is
 * frozen, because records of exited threads must not accumulate in the kernel. */
static void turn_frozen(struct live *live)
{
    if (live->frame == NULL)
        return;
    if (live->frozen || live->frame == &live->frozen_frame)
        live->frozen = !live->frozen;
    else if (freeze(live))
        live->frozen = true;
    else
        snprintf(live->message, sizeof live->message, "no memory to freeze");
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
        change_rows(live, key);
    }
}
