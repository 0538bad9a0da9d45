#include "top_why.h"

#include "counters/units.h"
#include "explain/judge.h"
#include "ledger/array.h"
#include "program/command.h"
#include "recording/recording.h"
#include "sources/causes/cause_names.h"
#include "sources/causes/waits_source.h"
#include "sources/from_list.h"
#include "top.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The wait whose lengths are shown: that of the state by which rows are sorted, or by one of whose
 * lengths, otherwise the run queue. Returns the index of its column. */
static size_t shown_state(const struct top *top, const struct schema *schema)
{
    char order[ORDER_NAME_SIZE], state[ORDER_NAME_SIZE];
    size_t ret = schema->state_count;

    order_name(schema, top->selection.order, order);
    for (size_t i = 0; i < schema->state_count; i++) {
        column_stem(&schema->columns[i], state);
        if (waits_first_column(schema, i) < schema->column_count &&
            (strcmp(state, order) == 0 ||
             (strncmp(order, state, strlen(state)) == 0 && order[strlen(state)] == '_')))
            return i;
        if (strcmp(state, camp_state_name(CAMP_STATE_RUN_QUEUE)) == 0)
            ret = i;
    }
    return ret;
}

/* Returns the short title of a state, or its title if other states have the same. */
static const char *heading_of(const struct schema *schema, size_t state)
{
    const char *title = schema->columns[state].short_title;
    size_t count = 0;

    for (size_t i = 0; i < schema->state_count && title != NULL; i++)
        count += schema->columns[i].short_title != NULL &&
                 strcmp(schema->columns[i].short_title, title) == 0;
    return count == 1 ? title : schema->columns[state].title;
}

void top_why_use_columns(struct top *top)
{
    static const char *const titles[TOP_WHY_FIELDS] = { "p50 ms", "p99 ms", "max ms",
                                                        "largest cause" };
    static const int widths[TOP_WHY_FIELDS] = { 8, 8, 8, -30 };
    const struct schema *schema = top->source->describe(top->source);

    top->why_state = shown_state(top, schema);
    if (top->why_state >= schema->state_count)
        return;
    snprintf(top->why_heading, sizeof top->why_heading, "%s p50 ms",
             heading_of(schema, top->why_state));
    for (int i = 0; i < TOP_WHY_FIELDS; i++)
        top->why_fields[i] =
            (struct field){ .title = titles[i], .width = widths[i], .decimals = 3 };
    top->why_fields[0].title = top->why_heading;
    top->why_fields[0].width = (int)strlen(top->why_heading);
}

/* Writes a cause as a part of a sentence, such as "behind batch-3". */
static void write_cause(char *ret, size_t size, bool is_queue, const char *cause, const char *who)
{
    static const struct {
        uint32_t kind;
        const char *text;
    } texts[] = {
        { CAMP_CAUSE_IDLE, "wake-up latency" },
        { CAMP_CAUSE_INTERRUPTS, "behind interrupts" },
        { CAMP_CAUSE_REAL_TIME, "behind real-time threads" },
        { CAMP_CAUSE_TIMER, "by a timer" },
        { CAMP_CAUSE_SIGNAL, "by a signal" },
        { CAMP_CAUSE_OTHER_INTERRUPT, "by an interrupt" },
        { CAMP_CAUSE_UNKNOWN, "cause unknown" },
        { CAUSE_NOT_ENDED, "not ended" },
        { CAUSE_QUOTA, "by its quota" },
    };

    snprintf(ret, size, "%s %s", is_queue ? "behind" : "by", who);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(cause_kind_key(texts[i].kind), cause) == 0)
            snprintf(ret, size, "%s", texts[i].text);
    }
}

static const char *write_largest_cause(struct top *top, const struct frame *rows, size_t row)
{
    const labels_id labels = rows->entities[row].labels;
    const char *wait = labels_value(labels, WAITS_LABEL_WAIT);
    char *ret = top->why_texts[row % TOP_WHY_ROWS], cause[CAUSE_NAME_SIZE];

    const bool is_queue = strcmp(wait, camp_state_name(CAMP_STATE_RUN_QUEUE)) == 0;

    if (wait[0] == '\0')
        return "-";
    write_cause(cause, sizeof cause, is_queue, labels_value(labels, WAITS_LABEL_CAUSE),
                labels_value(labels, WAITS_LABEL_WHO));
    snprintf(ret, sizeof top->why_texts[0], "%s%s%s", is_queue ? "" : wait, is_queue ? "" : " ",
             cause);
    for (char *at = ret; !is_queue && at < ret + strlen(wait); at++)
        *at = *at == '_' ? ' ' : *at;
    return ret;
}

static void fill_extra(void *context, const struct frame *rows, size_t row, struct cell *ret)
{
    struct top *top = context;
    const size_t first = waits_first_column(rows->schema, top->why_state);

    for (size_t i = WAITS_P50; i <= WAITS_MAX; i++)
        *ret++ = waits_are_known(rows, row, first + i)
                     ? cell_real((double)frame_values(rows, row)[first + i] / NS_PER_MS)
                     : cell_unknown();
    *ret = cell_text(write_largest_cause(top, rows, row));
}

static bool is_known(void *context, const struct frame *rows, size_t row, size_t column)
{
    (void)context;
    return waits_are_known(rows, row, column);
}

/* Returns the first given option that --why does not have, or NULL. */
static const char *refused_option(const struct top *top)
{
    const struct from *from = &top->from.from;
    const struct given_option options[] = {
        { "pid", top->processes.texts.count > 0 },
        { "tree", top->selection.tree },
        { "workload", top->workload_file != NULL },
        { "columns", top->columns != TOP_COLUMNS_CAMP },
        { "no-kernel-threads", !top->kernel_threads },
        { "percent-of quota", top->percent_of == PERCENT_OF_QUOTA },
        { "tier schedstat", from->tier != NULL && strcmp(from->tier, "bpf") != 0 },
    };

    return option_first_given(options, ARRAY_COUNT(options));
}

/* Returns whether the rows are sessions of which the lengths of sleeps may be known. */
static bool is_of_sessions(const char *rows)
{
    const struct from_source *source = rows != NULL ? from_source_find(rows) : NULL;

    return source != NULL && source->opener == OPENS_POSTGRES;
}

static int complain_of_recording(const char *path)
{
    char command[4 * PATH_MAX] = "camp why --from";
    const bool has_path = shell_append(command, sizeof command, path);

    return complain(STATUS_USAGE,
                    "--why measures now, and %s is a recording: give %s%s; if it is of sessions, "
                    "leave out --why to see how long their waits were",
                    path, command, has_path ? "" : " and its path");
}

int top_why_prepare(struct top *top)
{
    struct from *from = &top->from.from;
    const char *rows = from->text, *group = top->group_text, *option = refused_option(top);
    const bool of_threads = rows == NULL || strcmp(rows, "threads") == 0;
    bool by_process = rows != NULL && strcmp(rows, "processes") == 0;

    if (is_of_sessions(rows)) { /* top_sessions.c shows them. */
        top->why = false;
        from->lengths = true;
        return OPTIONS_GO_ON;
    }
    if (option != NULL)
        return complain(STATUS_USAGE,
                        "--%s does not go with --why, whose rows are names of processes, or "
                        "processes",
                        option);
    if (rows != NULL && recording_is_path(rows))
        return complain_of_recording(rows);
    if (!of_threads && !by_process && strcmp(rows, "commands") != 0)
        return complain(
            STATUS_USAGE,
            "--why is for the threads of this machine and sessions of PostgreSQL: it does not go "
            "with --from %s",
            from_shown(rows).text);
    if (group != NULL && of_threads)
        by_process = strcmp(group, top_thread_groups[TOP_PROCESS]) == 0;
    if (group != NULL &&
        (!of_threads || (!by_process && strcmp(group, top_thread_groups[TOP_COMMAND]) != 0)))
        return complain(STATUS_USAGE,
                        "--group %s does not go with --why, whose rows are names of processes "
                        "(--group command, the default) or processes (--group process)",
                        group);
    top->group_text = NULL;
    from->text = by_process ? "processes" : "commands";
    from->waits = true;
    top->selection.filters_names = true; /* The labels are of the largest cause. */
    from->states_options |= by_process ? CAMP_STATES_BY_PROCESS : 0;
    top->style.is_known = is_known;
    top->style.extra = top->why_fields;
    top->style.extra_count = TOP_WHY_FIELDS;
    top->style.fill_extra = fill_extra;
    return OPTIONS_GO_ON;
}
