/*
 * The causes of an interval need no other interval, except for the groups and their numbers of
 * threads, which are in the file when they change. So an interval that nobody asks for is not read.
 * All numbers are checked, because a file may come from anybody: a sum of times stays below 2^62.
 */
#include "recording_causes.h"

#include "cause_tables.h"
#include "cause_words.h"
#include "counters/error.h"
#include "ledger/array.h"
#include "recording_inside.h"
#include "sources/causes/cause_fit.h"
#include "sources/causes/open_sleeps.h"

#include <stdlib.h>
#include <string.h>

#define TIME_MOST_NS (INT64_C(1) << 62) /* of an interval */
#define WORDS_MOST CAUSE_WORDS_MOST
#define UNKNOWN_WORD CAUSE_UNKNOWN_WORD
#define ON_CPU_KIND CAUSE_ON_CPU_KIND

/* The queries, and the columns that each returns. */
enum query { GROUPS, THREADS, CAUSES, LENGTHS, CALLS, DEVICES, OPEN, QUERY_COUNT };

static const char *const queries[QUERY_COUNT] = {
    [GROUPS] = "SELECT number, kind, pid, name FROM cause_group"
               " WHERE since_tick > ? AND since_tick <= ? ORDER BY since_tick, number",
    [THREADS] = "SELECT number, threads, reduced_ns FROM cause_threads"
                " WHERE since_tick > ? AND since_tick <= ? ORDER BY since_tick, number",
    [CAUSES] = "SELECT number, state, kind, who, time_ns FROM cause"
               " WHERE tick > ? AND tick <= ? ORDER BY number, state, kind, who",
    [LENGTHS] = "SELECT number, state, longest_ns, longest_tid, longest_wall_clock_ns, counts"
                " FROM cause_lengths WHERE tick > ? AND tick <= ? ORDER BY number, state",
    [CALLS] = "SELECT pid, state, sleep_ns, count, call, name FROM cause_call"
              " JOIN cause_object USING (object) WHERE tick > ? AND tick <= ?"
              " ORDER BY sleep_ns DESC, pid, state, object",
    [DEVICES] = "SELECT number, name FROM cause_device ORDER BY number LIMIT 4096",
    [OPEN] = "SELECT pid, state, number, sleep_ns, state_ns, threads, does, holder, other_end, who,"
             " call, name FROM cause_open JOIN cause_object USING (object)"
             " WHERE tick > ? AND tick <= ? ORDER BY sleep_ns DESC, pid, state, object LIMIT 4096",
};

struct recording_causes {
    sqlite3 *database;
    const char *path;
    sqlite3_stmt *queries[QUERY_COUNT];
    /* What the file's numbers mean here, or UNKNOWN_WORD. */
    uint32_t states[WORDS_MOST], kinds[WORDS_MOST];
    int64_t tick; /* of the last interval, or 0 */
    uint64_t sum_ns;
    bool is_there[CAUSE_GROUPS];
    struct camp_states_group groups[CAUSE_GROUPS];
    size_t name_capacity, open_capacity;
    uint64_t open_ns; /* sum of the sleeps that have not ended */
    struct causes causes;
};

static int damaged(const struct recording_causes *causes, const char *what,
                   struct camp_error *error)
{
    return camp_fail(error, CAMP_E_FORMAT, 0, "%s is damaged: its causes of waits have %s",
                     causes->path, what);
}

static bool is_text(sqlite3_stmt *row, int column)
{
    return sqlite3_value_type(sqlite3_column_value(row, column)) == SQLITE_TEXT;
}

/* Reads the integers of a row from column `first` to `end`, each of which must be between 0 and
 * `most`. */
static int read_later_numbers(const struct recording_causes *causes, sqlite3_stmt *row,
                              int64_t *ret, const int64_t *most, int first, int end,
                              struct camp_error *error)
{
    for (int i = first; i < end; i++) {
        sqlite3_value *value = sqlite3_column_value(row, i);

        ret[i] = sqlite3_value_int64(value);
        if (sqlite3_value_type(value) != SQLITE_INTEGER || ret[i] < 0 || ret[i] > most[i])
            return damaged(causes, "a number that is out of range", error);
    }
    return CAMP_OK;
}

static int read_numbers(const struct recording_causes *causes, sqlite3_stmt *row, int64_t *ret,
                        const int64_t *most, int count, struct camp_error *error)
{
    return read_later_numbers(causes, row, ret, most, 0, count, error);
}

static int read_group(struct recording_causes *causes, sqlite3_stmt *row, struct camp_error *error)
{
    const int64_t most[] = { CAUSE_GROUPS - 1, INT8_MAX, INT32_MAX };
    const bool is_gone = sqlite3_column_int64(row, 1) == CAUSE_GROUP_GONE;
    struct camp_states_group *group;
    int64_t numbers[3];
    int r = read_numbers(causes, row, numbers, most, 1, error);

    if (r == CAMP_OK && !is_gone)
        r = read_numbers(causes, row, numbers, most, 3, error);
    if (r != CAMP_OK)
        return r;
    causes->is_there[numbers[0]] = !is_gone;
    if (is_gone)
        return CAMP_OK;
    group = &causes->groups[numbers[0]];
    *group = (struct camp_states_group){ .number = (uint32_t)numbers[0],
                                         .kind = (uint32_t)numbers[1],
                                         .pid = (int32_t)numbers[2] };
    recording_copy_text(group->name, sizeof group->name, row, 3);
    return CAMP_OK;
}

static int read_threads(struct recording_causes *causes, sqlite3_stmt *row,
                        struct camp_error *error)
{
    static const int64_t most[] = { CAUSE_GROUPS - 1, UINT32_MAX, TIME_MOST_NS };
    int64_t numbers[3];
    const int r = read_numbers(causes, row, numbers, most, 3, error);

    if (r != CAMP_OK)
        return r;
    causes->causes.threads[numbers[0]] = (uint64_t)numbers[1];
    causes->causes.reduced_ns[numbers[0]] = (uint64_t)numbers[2];
    return CAMP_OK;
}

/* Translates a number of the file. */
static int find_word(const struct recording_causes *causes, const uint32_t *words, int64_t number,
                     uint32_t *ret, struct camp_error *error)
{
    *ret = words[number];
    return *ret != UNKNOWN_WORD
               ? CAMP_OK
               : damaged(causes, "a state or a kind of cause that this camp does not know", error);
}

static int add_time(struct recording_causes *causes, const struct cause *row,
                    struct camp_error *error)
{
    if (row->wait_ns > (uint64_t)TIME_MOST_NS - causes->sum_ns)
        return damaged(causes, "a sum that is out of range", error);
    causes->sum_ns += row->wait_ns;
    causes->causes.state_ns[row->group][row->state] += row->wait_ns;
    if (row->kind == ON_CPU_KIND)
        return CAMP_OK;
    return cause_add(&causes->causes.rows, row) ? CAMP_OK : CAMP_E_NOMEM;
}

/* The kind of a wait names its cause, and time on a CPU has none. */
static bool is_possible(const struct recording_causes *causes, const struct cause *row)
{
    return causes->is_there[row->group] &&
           causes_is_wait(row->state) == (row->kind != ON_CPU_KIND) &&
           (row->kind != CAMP_CAUSE_GROUP || (row->id < CAUSE_GROUPS && causes->is_there[row->id]));
}

static int read_cause(struct recording_causes *causes, sqlite3_stmt *row, struct camp_error *error)
{
    static const int64_t most[] = { CAUSE_GROUPS - 1, WORDS_MOST - 1, WORDS_MOST - 1, UINT32_MAX,
                                    TIME_MOST_NS };
    const struct cause_list *rows = &causes->causes.rows;
    struct cause cause = { 0 };
    int64_t numbers[5];
    int r = read_numbers(causes, row, numbers, most, 5, error);

    if (r == CAMP_OK)
        r = find_word(causes, causes->states, numbers[1], &cause.state, error);
    if (r == CAMP_OK)
        r = find_word(causes, causes->kinds, numbers[2], &cause.kind, error);
    if (r != CAMP_OK)
        return r;
    cause.group = (uint32_t)numbers[0];
    cause.id = (uint32_t)numbers[3];
    cause.wait_ns = (uint64_t)numbers[4];
    if (!is_possible(causes, &cause))
        return damaged(causes, "a cause of a group that is not there, or of another state", error);
    if (rows->count > 0 && cause_is_same(&rows->items[rows->count - 1], &cause))
        return damaged(causes, "a cause twice", error);
    return add_time(causes, &cause, error);
}

static int read_lengths(struct recording_causes *causes, sqlite3_stmt *row,
                        struct camp_error *error)
{
    static const int64_t most[] = { CAUSE_GROUPS - 1, WORDS_MOST - 1, TIME_MOST_NS, INT32_MAX,
                                    TIME_MOST_NS };
    struct wait_lengths lengths = { 0 };
    int64_t numbers[5];
    uint32_t state;
    int r = read_numbers(causes, row, numbers, most, 5, error);

    if (r == CAMP_OK)
        r = find_word(causes, causes->states, numbers[1], &state, error);
    if (r != CAMP_OK)
        return r;
    if (!is_text(row, 5) ||
        !cause_counts_read((const char *)sqlite3_column_text(row, 5), lengths.counts))
        return damaged(causes, "lengths that are not numbers of waits", error);
    lengths.longest_ns = (uint64_t)numbers[2];
    lengths.longest_tid = (int32_t)numbers[3];
    lengths.longest_wall_clock_ns = numbers[4];
    wait_lengths_fill(&lengths);
    causes->causes.lengths[numbers[0]][state] = lengths;
    return CAMP_OK;
}

static int read_call(struct recording_causes *causes, sqlite3_stmt *row, struct camp_error *error)
{
    static const int64_t most[] = { INT32_MAX, WORDS_MOST - 1, TIME_MOST_NS, TIME_MOST_NS };
    struct call_list *calls = &causes->causes.calls;
    int64_t numbers[4];
    uint32_t state;
    int r = read_numbers(causes, row, numbers, most, 4, error);

    if (r == CAMP_OK)
        r = find_word(causes, causes->states, numbers[1], &state, error);
    if (r != CAMP_OK)
        return r;
    if (!ARRAY_RESERVE(calls->items, calls->capacity, calls->count + 1) ||
        !ARRAY_RESERVE(causes->causes.call_names, causes->name_capacity, calls->count + 1))
        return CAMP_E_NOMEM;
    calls->items[calls->count] = (struct camp_call_sleeps){ .pid = (int32_t)numbers[0],
                                                            .state = state,
                                                            .sleep_ns = (uint64_t)numbers[2],
                                                            .count = (uint64_t)numbers[3] };
    recording_copy_text(causes->causes.call_names[calls->count].call, CAUSE_NAME_SIZE, row, 4);
    recording_copy_text(causes->causes.call_names[calls->count].object, CAUSE_NAME_SIZE, row, 5);
    calls->count++;
    return CAMP_OK;
}

/* A step of a chain has no group and no time. */
static int read_open(struct recording_causes *causes, sqlite3_stmt *row, struct camp_error *error)
{
    static const int64_t most[] = { INT32_MAX,    WORDS_MOST - 1, CAUSE_GROUPS - 1,    TIME_MOST_NS,
                                    TIME_MOST_NS, UINT32_MAX,     OPEN_DOES_COUNT - 1, INT32_MAX };
    const bool is_step = sqlite3_column_int64(row, 2) == CAUSE_NO_GROUP;
    struct camp_call_sleeps call = { 0 };
    struct open_fact fact = { .group = CAUSE_GROUPS };
    int64_t numbers[8] = { 0 };
    int r = read_numbers(causes, row, numbers, most, 2, error);

    if (r == CAMP_OK && !is_step)
        r = read_numbers(causes, row, numbers, most, 5, error);
    if (r == CAMP_OK)
        r = read_later_numbers(causes, row, numbers, most, 5, 8, error);
    if (r == CAMP_OK)
        r = find_word(causes, causes->states, numbers[1], &call.state, error);
    if (r != CAMP_OK)
        return r;
    if ((uint64_t)numbers[3] > (uint64_t)TIME_MOST_NS - causes->open_ns ||
        (!is_step && !causes->is_there[numbers[2]]))
        return damaged(causes, "a sleep that is out of range, or of a group that is not there",
                       error);
    causes->open_ns += (uint64_t)numbers[3];
    call.pid = (int32_t)numbers[0];
    call.sleep_ns = (uint64_t)numbers[3];
    call.count = (uint64_t)numbers[5];
    fact.group = is_step ? CAUSE_GROUPS : (uint32_t)numbers[2];
    fact.state_ns = (uint64_t)numbers[4];
    fact.does = (enum open_does)numbers[6];
    fact.holder = (int32_t)numbers[7];
    recording_copy_text(fact.other_end, sizeof fact.other_end, row, 8);
    recording_copy_text(fact.who, sizeof fact.who, row, 9);
    recording_copy_text(fact.names.call, sizeof fact.names.call, row, 10);
    recording_copy_text(fact.names.object, sizeof fact.names.object, row, 11);
    return open_call_add(&causes->causes, &causes->open_capacity, &call, &fact) ? CAMP_OK
                                                                                : CAMP_E_NOMEM;
}

static int read_device(struct recording_causes *causes, sqlite3_stmt *row, struct camp_error *error)
{
    static const int64_t most[] = { UINT32_MAX };
    struct causes *of = &causes->causes;
    struct cause_device *devices;
    int64_t number;
    const int r = read_numbers(causes, row, &number, most, 1, error);

    if (r != CAMP_OK)
        return r;
    devices = realloc(of->devices, (of->device_count + 1) * sizeof *devices);
    if (devices == NULL)
        return CAMP_E_NOMEM;
    of->devices = devices;
    devices[of->device_count].number = (uint32_t)number;
    recording_copy_text(devices[of->device_count].name, CAUSE_NAME_SIZE, row, 1);
    of->device_count++;
    return CAMP_OK;
}

/* Calls `read` for each row of a query, of the intervals after `after` to `until`. */
static int read_all(struct recording_causes *causes, enum query query, int64_t after, int64_t until,
                    int (*read)(struct recording_causes *, sqlite3_stmt *, struct camp_error *),
                    struct camp_error *error)
{
    sqlite3_stmt *statement = causes->queries[query];
    int stepped = SQLITE_DONE, r = CAMP_OK;

    if (sqlite3_bind_parameter_count(statement) > 0) {
        sqlite3_bind_int64(statement, 1, after);
        sqlite3_bind_int64(statement, 2, until);
    }
    while (r == CAMP_OK && (stepped = sqlite3_step(statement)) == SQLITE_ROW)
        r = read(causes, statement, error);
    if (r == CAMP_OK && stepped != SQLITE_DONE)
        r = recording_failed(causes->database, causes->path, error);
    sqlite3_reset(statement);
    return r;
}

static void clear(struct recording_causes *causes, const struct frame *frame)
{
    struct causes *of = &causes->causes;

    memset(of->state_ns, 0, sizeof of->state_ns);
    memset(of->lengths, 0, sizeof of->lengths);
    of->rows.count = of->calls.count = of->device_count = of->group_count = 0;
    of->open_calls.count = 0;
    of->start_ns = frame->start_ns;
    of->end_ns = frame->end_ns;
    of->wall_clock_ns = frame->wall_clock_ns;
    of->unseen = frame->losses.unseen;
    causes->sum_ns = causes->open_ns = 0;
}

static void list_groups(struct recording_causes *causes)
{
    for (size_t i = 0; i < CAUSE_GROUPS; i++) {
        if (causes->is_there[i])
            causes->causes.groups[causes->causes.group_count++] = causes->groups[i];
    }
}

static int read_interval(struct recording_causes *causes, int64_t tick, struct camp_error *error)
{
    int r = read_all(causes, GROUPS, causes->tick, tick, read_group, error);

    if (r == CAMP_OK)
        r = read_all(causes, THREADS, causes->tick, tick, read_threads, error);
    if (r == CAMP_OK)
        r = read_all(causes, CAUSES, tick - 1, tick, read_cause, error);
    if (r == CAMP_OK)
        r = read_all(causes, LENGTHS, tick - 1, tick, read_lengths, error);
    if (r == CAMP_OK)
        r = read_all(causes, CALLS, tick - 1, tick, read_call, error);
    if (r == CAMP_OK && causes->queries[OPEN] != NULL)
        r = read_all(causes, OPEN, tick - 1, tick, read_open, error);
    return r == CAMP_OK ? read_all(causes, DEVICES, 0, 0, read_device, error) : r;
}

int recording_causes_read(struct recording_causes *causes, int64_t tick, const struct frame *frame,
                          const struct causes **ret, struct camp_error *error)
{
    int r = CAMP_OK;

    if (causes->tick != tick) {
        clear(causes, frame);
        r = read_interval(causes, tick, error);
        if (r != CAMP_OK)
            return r;
        list_groups(causes);
        cause_sort(&causes->causes.rows);
        causes->tick = tick;
    }
    *ret = &causes->causes;
    return CAMP_OK;
}

static bool has_table(sqlite3 *database, const char *name)
{
    return sqlite3_table_column_metadata(database, "main", name, "tick", NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

bool recording_has_causes(sqlite3 *database)
{
    return has_table(database, "cause");
}

int recording_causes_open(struct recording_causes **ret, sqlite3 *database, const char *path,
                          struct camp_error *error)
{
    struct recording_causes *causes;
    int r;

    *ret = NULL;
    if (!recording_has_causes(database))
        return CAMP_OK;
    causes = calloc(1, sizeof *causes);
    if (causes == NULL)
        return CAMP_E_NOMEM;
    causes->database = database;
    causes->path = path;
    causes->causes.is_recorded = true;
    r = cause_words_read(database, path, causes->states, causes->kinds, error);
    for (int i = 0; i < QUERY_COUNT && r == CAMP_OK; i++) {
        if (i != OPEN || has_table(database, "cause_open")) /* an earlier camp did not write it */
            r = recording_prepare(database, path, &causes->queries[i], error, "%s", queries[i]);
    }
    if (r != CAMP_OK) {
        recording_causes_close(causes);
        return r;
    }
    causes->causes.has_open_facts = causes->queries[OPEN] != NULL;
    *ret = causes;
    return CAMP_OK;
}

void recording_causes_close(struct recording_causes *causes)
{
    if (causes == NULL)
        return;
    for (int i = 0; i < QUERY_COUNT; i++)
        sqlite3_finalize(causes->queries[i]);
    free(causes->causes.rows.items);
    free(causes->causes.calls.items);
    free(causes->causes.open_calls.items);
    free(causes->causes.open_facts);
    free(causes->causes.call_names);
    free(causes->causes.devices);
    free(causes);
}
