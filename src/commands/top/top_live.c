/* camp top on a terminal: draws each interval, and redraws it when a key changes what is shown. */
#include "top_live.h"
#include "counters/clock.h"
#include "ledger/characters.h"
#include "ledger/vertex.h"
#include "program/command.h"
#include "views/terminal/barry.h"
#include "views/terminal/screen.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_FOR_CPUS 12
#define LINES_FOR_SENTENCE 18 /* fewer lines show as much of it as fits into one line */
/* The longest wait for a key, after which stop_requested is checked. */
#define KEY_WAIT_NS (200 * NS_PER_MS)

static const char help_head[] =
    "camp top: where the wall time goes, measured at each change of state";
static const char help_text[] =
    "\n"
    "  q        end                       space  freeze, and go on\n"
    "  g        group: thread, process, user, command, cgroup, workload; or a label\n"
    "  t        tree: processes under their parents\n"
    "  s  S     sort by the next or the last: busy (not idle), cpu, a state, ...\n"
    "  f  /     filter by name or label (a regular expression; nothing: all)\n"
    "  p        percent of the interval, or of the row's own time\n"
    "  k        kernel threads, or not    c      columns: camp, prstat, pea.se\n"
    "  b        the rows as dots between on a CPU, idle and waiting (Barry3), or not\n"
    "  up down  scroll; page up, page down, home\n"
    "  Enter    the rows of a group by a label, the groups of a host; Esc: back\n"
    "\n"
    "NAME%       in that state; threads: usr sys on a CPU, runq ready without one,\n"
    "            flt dsk lck asleep for memory, a disk, a lock; slp anything else\n"
    "other%      in states that have no column here: a wider terminal has more\n"
    "un%         wall time in no state; ! is more than 100 % of its time\n"
    "thr  n      how many are in the row\n"
    "ended       those that ended in the interval, by name\n"
    "last        all rows together: on average 3.20 of them were in that state\n"
    "any key goes back";

static void fill_points(const struct top *top, const struct vertices *vertices,
                        struct barry_point *points)
{
    const struct selected *selected = &top->table.selected;

    for (size_t i = 0; i < selected->count; i++) {
        const size_t row = selected->order[i];

        points[i].name = selection_name(&top->selection, &selected->rows->entities[row]);
        if (!vertices_weigh(vertices, selected->rows, row, &points[i].weights))
            points[i].weights = (struct weights){ 0 };
    }
}

static int draw_triangle(const struct top *top, const char *head)
{
    const struct selected *selected = &top->table.selected;
    struct barry_point *points = calloc(selected->count + 1, sizeof *points);
    struct barry barry = { .points = points, .point_count = selected->count };
    struct vertices vertices = { 0 };
    char *text = NULL;

    if (points != NULL) {
        screen_size(&barry.columns, &barry.rows);
        barry.rows -= 1; /* for the line above the triangle */
        barry.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
        vertices_usual(&vertices, selected->rows->schema, 3);
        barry.names = vertices.names;
        fill_points(top, &vertices, points);
        text = barry_draw(&barry);
    }
    if (text != NULL)
        screen_draw_text(head, text);
    free(points);
    free(text);
    return OPTIONS_GO_ON;
}

static void write_head(const struct live *live, char *ret, size_t capacity)
{
    const struct top *top = live->top;
    char order[ORDER_NAME_SIZE] = "";

    order_name(top->source->describe(top->source), top->selection.order, order);
    snprintf(ret, capacity, "camp top  each %s%s%s, by %s%s%s%s%s  %s", top_row_noun(top),
             live->drill.host[0] != '\0' ? " of " : "", live->drill.host, order,
             top->selection.tree ? ", tree" : "", live->frozen ? "  FROZEN" : "",
             live->filter[0] != '\0' ? "  only " : "", live->filter,
             live->message[0] != '\0'      ? live->message
             : live->drill.host[0] != '\0' ? "Esc: back"
                                           : "h: help");
    make_printable(ret);
}

/* Returns the number of rows to fill. Rows below the screen are not filled. */
static size_t rows_in_sight(const struct live *live, size_t lines)
{
    const size_t most = live->top->rows != UINT64_MAX ? (size_t)live->top->rows : 0;
    const size_t more = live->head_lines > 1 ? live->head_lines - 1 : 0;
    const size_t fit = live->scroll + top_rows_that_fit(live->top, lines - 1 - more);

    if (live->triangle)
        return most;
    return most > 0 && most < fit ? most : fit;
}

/* Fills the table for a screen of so many lines. The sentence takes as many as it needs, which is
 * known only then: if it needs more or fewer than before, the rows are chosen again. */
static int fill(struct live *live, size_t lines)
{
    int status = OPTIONS_GO_ON;

    for (int i = 0; i < 2 && status == OPTIONS_GO_ON; i++) {
        const size_t before = live->head_lines;

        live->top->selection.most = rows_in_sight(live, lines);
        status = top_fill(live->top, live->frame, live->cpus);
        live->head_lines = 0;
        for (const char *at = live->top->table.headline; (at = strchr(at, '\n')) != NULL; at++)
            live->head_lines++;
        if (live->head_lines == before)
            break;
    }
    return status;
}

/* Returns whether the user has turned from groups to threads after the interval was read. */
static bool lacks_threads(const struct live *live)
{
    const enum group_key key = live->top->selection.grouping.key;

    return live->top->has_threads && (key == GROUP_NONE || key == GROUP_THREAD) &&
           frame_size(live->frame) != live->frame->entity_count;
}

static int draw(struct live *live)
{
    struct top *top = live->top;
    char head[TOP_DRILL_PROBLEM_SIZE + 384];
    size_t lines;
    int status;

    if (live->helping)
        screen_draw_text(help_head, help_text);
    if (live->helping || live->frame == NULL)
        return OPTIONS_GO_ON;
    if (lacks_threads(live)) {
        screen_draw_text(live->frozen
                             ? "camp top: this interval has no single threads; space: go on"
                             : "camp top: the next interval has each thread",
                         "");
        return OPTIONS_GO_ON;
    }
    screen_size(&top->style.width, &lines);
    top->style.cpus = lines >= LINES_FOR_CPUS;
    top->style.sentence_width = lines >= LINES_FOR_SENTENCE ? top->style.width : 0;
    if (top->style.sentence_width == 0)
        live->head_lines = 0;
    status = fill(live, lines);
    if (status != OPTIONS_GO_ON)
        return status;
    write_head(live, head, sizeof head);
    if (live->triangle)
        return draw_triangle(top, head);
    screen_draw(head, &top->table.record, &live->scroll);
    return OPTIONS_GO_ON;
}

static int handle_keys(struct live *live, uint64_t deadline_ns)
{
    int status = OPTIONS_GO_ON;

    while (status == OPTIONS_GO_ON && !live->ended && !stop_requested) {
        uint64_t now = now_ns(CLOCK_MONOTONIC);
        uint64_t left = now < deadline_ns ? deadline_ns - now : 0;
        int key;

        if (left == 0)
            break;
        key = screen_key((int)((left < KEY_WAIT_NS ? left : KEY_WAIT_NS) / NS_PER_MS) + 1);
        if (key == SCREEN_NONE)
            continue;
        top_live_press(live, key);
        if (!live->ended)
            status = draw(live);
    }
    return status;
}

/* Reads intervals without drawing them, until the source ends or --count intervals were read. */
static int skip_to_last(struct live *live, struct camp_error *error)
{
    struct top *top = live->top;
    const struct frame *frame;
    int r = CAMP_OK;

    for (uint64_t i = 0; (top->count == 0 || i < top->count) && !stop_requested; i++) {
        r = top->source->next(top->source, 0, &frame, error);
        if (r != CAMP_OK)
            return r;
        top_see_processes(top, frame, live->frame == NULL);
        live->frame = frame;
        live->cpus = source_beside(top->source);
    }
    return SOURCE_END;
}

static int take_interval(struct live *live)
{
    struct camp_error error = { 0 };
    const struct frame *frame = NULL;
    int32_t unseen;
    int r;

    if (live->over || (live->frozen && !live->top->facts.live))
        return OPTIONS_GO_ON;
    r = live->top->speed == 0 ? skip_to_last(live, &error)
                              : live->top->source->next(live->top->source, 0, &frame, &error);
    if (r == SOURCE_END) {
        live->over = true;
        snprintf(live->message, sizeof live->message, "the recording ends here");
        return live->frame != NULL ? draw(live) : OPTIONS_GO_ON;
    }
    if (r != CAMP_OK) {
        screen_close(); /* Errors are printed on the terminal as it was before. */
        return complain_of(r, &error);
    }
    unseen = top_see_processes(live->top, frame, live->frame == NULL);
    if (unseen != NO_PID) {
        screen_close();
        return selection_complain_of_unseen(&live->top->processes, unseen);
    }
    if (live->frozen)
        return OPTIONS_GO_ON;
    live->frame = frame;
    live->cpus = source_beside(live->top->source);
    return draw(live);
}

int top_live(struct top *top)
{
    struct live live = { .top = top };
    uint64_t deadline_ns = now_ns(CLOCK_MONOTONIC);
    int status = OPTIONS_GO_ON;

    if (top->filter_text != NULL)
        snprintf(live.filter, sizeof live.filter, "%s", top->filter_text);
    screen_draw_text("camp top: the first interval is on its way; h: help, q: end", "");
    for (uint64_t i = 0; status == OPTIONS_GO_ON && !live.ended && !stop_requested;) {
        if (top->count > 0 && i == top->count && top->speed != 0)
            break;
        deadline_ns += top->interval_ns;
        status = handle_keys(&live, deadline_ns);
        if (status != OPTIONS_GO_ON || live.ended || stop_requested)
            continue;
        status = take_interval(&live);
        i++;
        /* If a question to the user or a long snapshot caused a delay, the next intervals keep
         * their full length. */
        if (now_ns(CLOCK_MONOTONIC) > deadline_ns + top->interval_ns / 2)
            deadline_ns = now_ns(CLOCK_MONOTONIC);
    }
    screen_close();
    top_drill_up(&live.drill, top, &live.scroll);
    frame_release(&live.frozen_frame);
    frame_release(&live.frozen_cpus);
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}
