/*
 * A row of the table `cause` is a part of the time of one group in one state; rows without time are
 * not written, and the time of a state is the sum of its rows. Groups, devices, system calls and
 * objects have their names once. The numbers of threads are written when they change.
 */
#include "recorder_causes.h"

#include "cause_tables.h"
#include "ledger/array.h"
#include "sources/causes/cause_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES "/sys/kernel/irq"
#define PROCESSES "/proc"
#define OBJECTS_MOST 65536 /* then objects may get another number */

static const char *const inserts[CAUSE_STATEMENT_COUNT] = {
    [INSERT_GROUP] = "INSERT INTO cause_group VALUES(?, ?, ?, ?, ?)",
    [INSERT_THREADS] = "INSERT INTO cause_threads VALUES(?, ?, ?, ?)",
    [INSERT_CAUSE] = "INSERT INTO cause VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE "
                     "SET time_ns = time_ns + excluded.time_ns",
    [INSERT_LENGTHS] = "INSERT INTO cause_lengths VALUES(?, ?, ?, ?, ?, ?, ?)",
    [INSERT_DEVICE] = "INSERT OR IGNORE INTO cause_device VALUES(?, ?)",
    [INSERT_OBJECT] = "INSERT INTO cause_object VALUES(?, ?, ?)",
    [INSERT_CALL] = "INSERT INTO cause_call VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE "
                    "SET sleep_ns = sleep_ns + excluded.sleep_ns, count = count + excluded.count",
    [INSERT_OPEN] = "INSERT INTO cause_open VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT "
                    "DO UPDATE SET sleep_ns = sleep_ns + excluded.sleep_ns, "
                    "state_ns = state_ns + excluded.state_ns, "
                    "threads = threads + excluded.threads",
};

struct writing {
    struct recorder_causes *causes;
    int64_t tick;
    const struct causes *interval;
};

static int result_of(int r)
{
    return r == SQLITE_OK || r == SQLITE_DONE ? CAMP_OK
           : r == SQLITE_NOMEM                ? CAMP_E_NOMEM
                                              : CAMP_E_IO;
}

static int run(sqlite3 *database, char *sql)
{
    const int r = sql != NULL ? sqlite3_exec(database, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

    sqlite3_free(sql);
    return result_of(r);
}

/* Inserts a row of integers, and perhaps of a text after them. */
static int insert(const struct writing *writing, enum cause_statement statement,
                  const int64_t *numbers, int count, const char *const *texts, int text_count)
{
    sqlite3_stmt *insert = writing->causes->statements[statement];
    int r;

    for (int i = 0; i < count; i++)
        sqlite3_bind_int64(insert, i + 1, numbers[i]);
    for (int i = 0; i < text_count; i++)
        sqlite3_bind_text(insert, count + i + 1, texts[i], -1, SQLITE_STATIC);
    r = sqlite3_step(insert);
    sqlite3_reset(insert);
    return result_of(r);
}

#define INSERT(writing, statement, ...)                                                            \
    insert(writing, statement, ((const int64_t[]){ __VA_ARGS__ }),                                 \
           (int)(sizeof(const int64_t[]){ __VA_ARGS__ } / sizeof(int64_t)), NULL, 0)

static int write_words(sqlite3 *database)
{
    int r = CAMP_OK;

    for (int i = 0; i < CAMP_STATE_COUNT && r == CAMP_OK; i++)
        r = run(database, sqlite3_mprintf("INSERT INTO cause_word VALUES(%Q, %d, %Q)", CAUSE_STATE,
                                          i, camp_state_name(i)));
    for (uint32_t i = 0; i < CAUSE_KIND_COUNT && r == CAMP_OK; i++)
        r = run(database, sqlite3_mprintf("INSERT INTO cause_word VALUES(%Q, %d, %Q)", CAUSE_KIND,
                                          (int)i, cause_kind_key(i)));
    return r == CAMP_OK ? run(database, sqlite3_mprintf("INSERT INTO cause_word VALUES(%Q, %d, %Q)",
                                                        CAUSE_KIND, CAUSE_ON_CPU, "on_cpu"))
                        : r;
}

static int create(struct recorder_causes *causes, sqlite3 *database, int64_t tick)
{
    int r = run(database, sqlite3_mprintf("%s%s", cause_tables, cause_view));

    if (r == CAMP_OK)
        r = write_words(database);
    for (int i = 0; i < CAUSE_STATEMENT_COUNT && r == CAMP_OK; i++)
        r = result_of(sqlite3_prepare_v3(database, inserts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                         &causes->statements[i], NULL));
    causes->database = database;
    causes->created_tick = tick;
    return r;
}

static bool is_same(const struct camp_states_group *a, const struct camp_states_group *b)
{
    return a->kind == b->kind && a->pid == b->pid && strcmp(a->name, b->name) == 0;
}

static int write_group(const struct writing *writing, const struct camp_states_group *group,
                       uint32_t number)
{
    const char *name = group != NULL ? group->name : "";
    const int64_t numbers[] = { number, writing->tick,
                                group != NULL ? (int64_t)group->kind : CAUSE_GROUP_GONE,
                                group != NULL ? group->pid : 0 };

    return insert(writing, INSERT_GROUP, numbers, 4, &name, 1);
}

/* Of two groups with one number, as no session has them, the last one counts. */
static int write_groups(const struct writing *writing)
{
    const struct camp_states_group *groups[CAUSE_GROUPS] = { NULL };
    int r = CAMP_OK;

    for (size_t i = 0; i < writing->interval->group_count; i++) {
        const struct camp_states_group *group = &writing->interval->groups[i];

        if (group->number < CAUSE_GROUPS)
            groups[group->number] = group;
    }
    for (uint32_t i = 0; i < CAUSE_GROUPS && r == CAMP_OK; i++) {
        struct written_group *has = &writing->causes->groups[i];
        const bool is_there = groups[i] != NULL;

        if (!has->is_unknown && is_there == has->is_there &&
            (!is_there || is_same(groups[i], &has->group)))
            continue;
        r = write_group(writing, groups[i], i);
        has->is_there = is_there;
        if (is_there)
            has->group = *groups[i];
    }
    return r;
}

static int write_threads(const struct writing *writing)
{
    int r = CAMP_OK;

    for (uint32_t i = 0; i < CAUSE_GROUPS && r == CAMP_OK; i++) {
        struct written_group *has = &writing->causes->groups[i];
        const uint64_t threads = writing->interval->threads[i];
        const uint64_t reduced_ns = writing->interval->reduced_ns[i];

        if (!has->is_unknown && threads == has->threads && reduced_ns == has->reduced_ns)
            continue;
        has->is_unknown = false;
        has->threads = threads;
        has->reduced_ns = reduced_ns;
        r = INSERT(writing, INSERT_THREADS, writing->tick, i, (int64_t)threads,
                   (int64_t)reduced_ns);
    }
    return r;
}

static int name_device(const struct writing *writing, uint32_t number)
{
    struct recorder_causes *causes = writing->causes;
    char name[CAUSE_NAME_SIZE];
    const char *const text = name;
    const int64_t id = number;

    for (size_t i = 0; i < causes->device_count; i++) {
        if (causes->devices[i] == number)
            return CAMP_OK;
    }
    if (!ARRAY_RESERVE(causes->devices, causes->device_capacity, causes->device_count + 1))
        return CAMP_E_NOMEM;
    causes->devices[causes->device_count++] = number;
    cause_who(name, writing->interval, CAMP_CAUSE_DEVICE, number, DEVICES);
    return insert(writing, INSERT_DEVICE, &id, 1, &text, 1);
}

static int write_causes(const struct writing *writing)
{
    const struct causes *interval = writing->interval;
    int r = CAMP_OK;

    for (uint32_t group = 0; group < CAUSE_GROUPS; group++) {
        for (uint32_t state = 0; state < CAMP_STATE_COUNT && r == CAMP_OK; state++) {
            if (!causes_is_wait(state) && interval->state_ns[group][state] > 0)
                r = INSERT(writing, INSERT_CAUSE, writing->tick, group, state, CAUSE_ON_CPU, 0,
                           (int64_t)interval->state_ns[group][state]);
        }
    }
    for (size_t i = 0; i < interval->rows.count && r == CAMP_OK; i++) {
        const struct cause *row = &interval->rows.items[i];

        if (row->wait_ns == 0)
            continue;
        if (row->kind == CAMP_CAUSE_DEVICE)
            r = name_device(writing, row->id);
        if (r == CAMP_OK)
            r = INSERT(writing, INSERT_CAUSE, writing->tick, row->group, row->state, row->kind,
                       row->id, (int64_t)row->wait_ns);
    }
    return r;
}

static int write_lengths(const struct writing *writing)
{
    int r = CAMP_OK;

    for (uint32_t group = 0; group < CAUSE_GROUPS; group++) {
        for (uint32_t state = 0; state < CAMP_STATE_COUNT && r == CAMP_OK; state++) {
            const struct wait_lengths *lengths = &writing->interval->lengths[group][state];
            char counts[CAUSE_COUNTS_SIZE];
            const char *const text = counts;
            const int64_t numbers[] = { writing->tick,
                                        group,
                                        state,
                                        (int64_t)lengths->longest_ns,
                                        lengths->longest_tid,
                                        lengths->longest_wall_clock_ns };

            if (lengths->count == 0)
                continue;
            cause_counts_write(counts, lengths->counts);
            r = insert(writing, INSERT_LENGTHS, numbers, 6, &text, 1);
        }
    }
    return r;
}

static bool is_object(const void *context, uint32_t position, const void *key)
{
    const struct call_name *a = &((const struct recorder_causes *)context)->objects[position];
    const struct call_name *b = key;

    return strcmp(a->call, b->call) == 0 && strcmp(a->object, b->object) == 0;
}

static void forget_objects(struct recorder_causes *causes)
{
    causes->first_object += (int64_t)causes->object_count;
    causes->object_count = 0;
    index_clear(&causes->index);
}

/* Sets *ret to the number of the names, and writes them if the file has no number of them. */
static int number_object(const struct writing *writing, const struct call_name *names, int64_t *ret)
{
    struct recorder_causes *causes = writing->causes;
    const char *const texts[] = { names->call, names->object };
    const uint32_t hash = index_hash_bytes(names->call, strlen(names->call)) ^
                          index_hash_bytes(names->object, strlen(names->object)) * 31;
    const struct index_slot *slot = index_find(&causes->index, hash, is_object, causes, names);

    if (slot != NULL) {
        *ret = causes->first_object + slot->position;
        return CAMP_OK;
    }
    if (causes->object_count >= OBJECTS_MOST)
        forget_objects(causes);
    if (!ARRAY_RESERVE(causes->objects, causes->object_capacity, causes->object_count + 1) ||
        !index_reserve(&causes->index, causes->object_count + 1))
        return CAMP_E_NOMEM;
    *ret = causes->first_object + (int64_t)causes->object_count;
    index_add(&causes->index, hash, (uint32_t)causes->object_count);
    causes->objects[causes->object_count++] = *names;
    return insert(writing, INSERT_OBJECT, ret, 1, texts, 2);
}

static int write_calls(const struct writing *writing)
{
    int r = CAMP_OK;

    for (size_t i = 0; i < writing->interval->calls.count && r == CAMP_OK; i++) {
        const struct camp_call_sleeps *sleeps = &writing->interval->calls.items[i];
        struct call_name names;
        int64_t object = 0;

        cause_call_names(&names, writing->interval, i, PROCESSES);
        r = number_object(writing, &names, &object);
        if (r == CAMP_OK)
            r = INSERT(writing, INSERT_CALL, writing->tick, sleeps->pid, sleeps->state, object,
                       (int64_t)sleeps->sleep_ns, (int64_t)sleeps->count);
    }
    return r;
}

/* Without the facts, sleeps that have not ended have no names. */
static int write_open(const struct writing *writing)
{
    const struct causes *interval = writing->interval;
    int r = CAMP_OK;

    for (size_t i = 0; interval->open_facts != NULL && i < interval->open_calls.count; i++) {
        const struct camp_call_sleeps *call = &interval->open_calls.items[i];
        const struct open_fact *fact = &interval->open_facts[i];
        const char *const texts[] = { fact->other_end, fact->who };
        int64_t object = 0;

        r = number_object(writing, &fact->names, &object);
        if (r == CAMP_OK) {
            const int64_t numbers[] = { writing->tick,
                                        call->pid,
                                        call->state,
                                        object,
                                        fact->group < CAUSE_GROUPS ? (int64_t)fact->group
                                                                   : CAUSE_NO_GROUP,
                                        (int64_t)call->sleep_ns,
                                        (int64_t)fact->state_ns,
                                        (int64_t)call->count,
                                        fact->does,
                                        fact->holder };

            r = insert(writing, INSERT_OPEN, numbers, ARRAY_COUNT(numbers), texts, 2);
        }
        if (r != CAMP_OK)
            break;
    }
    return r;
}

int recorder_causes_write(struct recorder_causes *causes, sqlite3 *database, int64_t tick,
                          const struct causes *interval)
{
    static int (*const writers[])(const struct writing *) = { write_groups, write_threads,
                                                              write_causes, write_lengths,
                                                              write_calls,  write_open };
    const struct writing writing = { causes, tick, interval };
    int r = causes->database == NULL ? create(causes, database, tick) : CAMP_OK;

    for (size_t i = 0; i < sizeof writers / sizeof writers[0] && r == CAMP_OK; i++)
        r = writers[i](&writing);
    return r;
}

/* Numbers of objects are not given again, because the file may have the names of earlier ones. */
void recorder_causes_roll_back(struct recorder_causes *causes, int64_t tick)
{
    if (causes->database == NULL)
        return;
    if (causes->created_tick == tick) {
        recorder_causes_release(causes);
        return;
    }
    for (uint32_t i = 0; i < CAUSE_GROUPS; i++)
        causes->groups[i].is_unknown = true;
    causes->device_count = 0;
    forget_objects(causes);
}

void recorder_causes_release(struct recorder_causes *causes)
{
    for (int i = 0; i < CAUSE_STATEMENT_COUNT; i++)
        sqlite3_finalize(causes->statements[i]);
    free(causes->devices);
    free(causes->objects);
    index_release(&causes->index);
    *causes = (struct recorder_causes){ 0 };
}
