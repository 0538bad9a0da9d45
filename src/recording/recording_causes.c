/*
 * The causes of an interval need no other interval, except for the groups and their numbers of
 * threads, which are in the file when they change. So an interval that nobody asks for is not read.
 * All numbers are checked, because a file may come from anybody: a sum of times stays below 2^62.
 */
#include "recording_causes.h"

#include "cause_tables.h"
#include "counters/error.h"
#include "ledger/array.h"
#include "recording_inside.h"
#include "sources/causes/cause_fit.h"
#include "sources/causes/cause_names.h"

#include <stdlib.h>
#include <string.h>

#define TIME_MOST_NS (INT64_C(1) << 62) /* of an interval */
#define WORDS_MOST 128
#define UNKNOWN_WORD UINT32_MAX
#define ON_CPU_KIND (CAUSE_KIND_COUNT + 0u)

/* The queries, and the columns that each returns. */
enum query { GROUPS, THREADS, CAUSES, LENGTHS, CALLS, DEVICES, QUERY_COUNT };

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
    size_t name_capacity;
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

/* Reads the integers of a row, each of which must be between 0 and `most`. */
static int read_numbers(const struct recording_causes *causes, sqlite3_stmt *row, int64_t *ret,
                        const int64_t *most, int count, struct camp_error *error)
{
    for (int i = 0; i < count; i++) {
        sqlite3_value *value = sqlite3_column_value(row, i);

        ret[i] = sqlite3_value_int64(value);
        if (sqlite3_value_type(value) != SQLITE_INTEGER || ret[i] < 0 || ret[i] > most[i])
            return damaged(causes, "a number that is out of range", error);
    }
    return CAMP_OK;
}

static void copy_name(char *ret, size_t size, sqlite3_stmt *row, int column)
{
    const char *text = is_text(row, column) ? (const char *)sqlite3_column_text(row, column) : NULL;

    memset(ret, 0, size);
    if (text != NULL)
        strncpy(ret, text, size - 1);
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
    copy_name(group->name, sizeof group->name, row, 3);
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

static bool is_equal(const struct cause *a, const struct cause *b)
{
    return a->group == b->group && a->state == b->state && a->kind == b->kind && a->id == b->id;
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
    if (rows->count > 0 && is_equal(&rows->items[rows->count - 1], &cause))
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
    copy_name(causes->causes.call_names[calls->count].call, CAUSE_NAME_SIZE, row, 4);
    copy_name(causes->causes.call_names[calls->count].object, CAUSE_NAME_SIZE, row, 5);
    calls->count++;
    return CAMP_OK;
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
    copy_name(devices[of->device_count].name, CAUSE_NAME_SIZE, row, 1);
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
    of->start_ns = frame->start_ns;
    of->end_ns = frame->end_ns;
    of->wall_clock_ns = frame->wall_clock_ns;
    of->unseen = frame->losses.unseen;
    causes->sum_ns = 0;
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

static uint32_t state_find(const char *name)
{
    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        if (strcmp(name, camp_state_name(i)) == 0)
            return (uint32_t)i;
    }
    return UNKNOWN_WORD;
}

static uint32_t kind_find(const char *name)
{
    const uint32_t kind = cause_kind_find(name);

    return strcmp(name, "on_cpu") == 0 ? ON_CPU_KIND
           : kind < CAUSE_KIND_COUNT   ? kind
                                       : UNKNOWN_WORD;
}

static int read_words(struct recording_causes *causes, struct camp_error *error)
{
    sqlite3_stmt *statement = NULL;
    int stepped = SQLITE_DONE;
    int r = recording_prepare(causes->database, causes->path, &statement, error,
                              "SELECT word, number, name FROM cause_word WHERE number >= 0"
                              " AND number < %d",
                              WORDS_MOST);

    while (r == CAMP_OK && (stepped = sqlite3_step(statement)) == SQLITE_ROW) {
        char word[16], name[CAUSE_NAME_SIZE];
        const sqlite3_int64 number = sqlite3_column_int64(statement, 1);

        copy_name(word, sizeof word, statement, 0);
        copy_name(name, sizeof name, statement, 2);
        if (strcmp(word, CAUSE_STATE) == 0)
            causes->states[number] = state_find(name);
        else if (strcmp(word, CAUSE_KIND) == 0)
            causes->kinds[number] = kind_find(name);
    }
    if (r == CAMP_OK && stepped != SQLITE_DONE)
        r = recording_failed(causes->database, causes->path, error);
    sqlite3_finalize(statement);
    return r;
}

bool recording_has_causes(sqlite3 *database)
{
    return sqlite3_table_column_metadata(database, "main", "cause", "tick", NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
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
    memset(causes->states, 0xff, sizeof causes->states);
    memset(causes->kinds, 0xff, sizeof causes->kinds);
    r = read_words(causes, error);
    for (int i = 0; i < QUERY_COUNT && r == CAMP_OK; i++)
        r = recording_prepare(database, path, &causes->queries[i], error, "%s", queries[i]);
    if (r != CAMP_OK) {
        recording_causes_close(causes);
        return r;
    }
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
    free(causes->causes.call_names);
    free(causes->causes.devices);
    free(causes);
}
