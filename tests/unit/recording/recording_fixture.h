/* Writes synthetic frames to a recording and reads them back. */
#pragma once

#include "recording/format.h"
#include "recording/recorder.h"
#include "recording/recording.h"

#include "../tree.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WALL_NS 1000000000u
#define FIRST_WALL_CLOCK_NS 1795312800000000000

#define COLUMN(name, kind)                                                                         \
    {                                                                                              \
        name, name " title", name " help", kind, CAMP_MEASURED                                     \
    }

static const struct column states_columns[] = {
    COLUMN("run_ns", COLUMN_STATE),      COLUMN("sleep_ns", COLUMN_STATE),
    COLUMN("wait_ns", COLUMN_STATE),     COLUMN("rare_ns", COLUMN_STATE),
    COLUMN("calls", COLUMN_COUNTER),     COLUMN("Tick", COLUMN_COUNTER),
    COLUMN("calls", COLUMN_COUNTER),     COLUMN("never", COLUMN_COUNTER),
    COLUMN("a\"b'c", COLUMN_COUNTER),    COLUMN("", COLUMN_COUNTER),
    COLUMN("seldom_1", COLUMN_COUNTER),  COLUMN("seldom_2", COLUMN_COUNTER),
    COLUMN("wait_a_ns", COLUMN_COUNTER), COLUMN("wait_b_ns", COLUMN_COUNTER),
    COLUMN("level", COLUMN_GAUGE),
};
static const char *const label_names[] = { "user", "it's \"one\"", "name" };
static const struct schema states_schema = { "made states",         states_columns,
                                             COUNT(states_columns), 4,
                                             label_names,           COUNT(label_names) };

static const struct column counts_columns[] = {
    COLUMN("measured_ns", COLUMN_COUNTER),
    COLUMN("level", COLUMN_GAUGE),
};
static const struct schema counts_schema = { "tick", counts_columns, COUNT(counts_columns), 0 };

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % limit;
}

#define IDS 40

/* A synthetic entity that lives for several frames. */
static struct actor {
    bool there;
    int state;
    uint64_t level;
    struct entity entity;
} actors[IDS];

/* Returns random labels, or LABELS_NONE if all values are empty. */
static labels_id some_labels(void)
{
    static const char *const texts[] = { "", "app", "b\xff'\"", "app \xc3\xa4" };
    const char *const values[] = { texts[random_below(4)], texts[random_below(4)],
                                   texts[random_below(2)] };

    return labels_intern(values, COUNT(values));
}

static void begin_actor(struct actor *actor, int64_t id)
{
    *actor = (struct actor){ .there = true, .state = (int)random_below(4) };
    actor->entity = (struct entity){
        .id = id,
        .flags = ENTITY_NEW | (random_below(4) == 0 ? ENTITY_KERNEL : 0),
        .count = random_below(5) == 0 ? 3 : 1,
        .pid = (int32_t)id,
        .parent = (int32_t)random_below(IDS),
        .uid = (uint32_t)(random_below(2) * UINT32_MAX),
        .cgroup = random_below(2) * UINT64_MAX,
        .labels = random_below(2) == 0 ? some_labels() : LABELS_NONE,
    };
    snprintf(actor->entity.name, sizeof actor->entity.name, "name %d\xff'\"", (int)id);
}

static void change_actor(struct actor *actor)
{
    switch (random_below(14)) {
    case 0:
        snprintf(actor->entity.name, sizeof actor->entity.name, "now %d", (int)random_below(9));
        break;
    case 1:
        actor->entity.parent = (int32_t)random_below(IDS);
        break;
    case 2:
        actor->entity.flags ^= ENTITY_KERNEL;
        break;
    case 3:
        actor->state = (int)random_below(4);
        break;
    case 4:
        actor->level = random_below(3);
        break;
    case 5:
        actor->entity.count = 1 + (uint32_t)random_below(3);
        break;
    case 6:
        actor->entity.labels = some_labels();
        break;
    }
}

/* Adds an idle row. If `active` is set, the row also has random values in several columns. */
static void add_made(struct frame *frame, const struct actor *actor, bool active)
{
    const size_t columns = frame->schema->column_count;
    struct entity *entity = frame_add(frame);
    const size_t at = frame->entity_count - 1;
    uint64_t *values = frame_values(frame, at);

    *entity = actor->entity;
    if (frame->schema->label_count == 0)
        entity->labels = LABELS_NONE;
    frame->elapsed_ns[at] = actor->entity.count * (frame->end_ns - frame->start_ns);
    values[columns - 1] = actor->level;
    if (frame->schema->state_count > 0)
        values[actor->state] = frame->elapsed_ns[at];
    if (!active)
        return;
    for (size_t i = 0; i + 1 < columns; i++) {
        if (random_below(3) == 0)
            values[i] = random_below(4) == 0 ? UINT64_MAX - random_below(9) : random_below(WALL_NS);
    }
    values[frame->schema->state_count > 0 ? 4 : 0] = 1 + random_below(9);
    if (random_below(3) == 0)
        frame->elapsed_ns[at] = random_below(2 * WALL_NS);
}

static void step_actor(struct frame *frame, struct actor *actor, int64_t id)
{
    if (!actor->there && random_below(8) == 0)
        begin_actor(actor, id);
    else if (actor->there && random_below(8) == 0)
        change_actor(actor);
    if (!actor->there)
        return;
    if (random_below(40) == 0) { /* The entity disappears without a last row. */
        actor->there = false;
        return;
    }
    if (random_below(30) == 0) {
        actor->entity.flags |= ENTITY_ENDED;
        add_made(frame, actor, random_below(2) == 0);
        actor->there = false;
        if (random_below(2) == 0) { /* A new entity gets the same id in the same frame. */
            begin_actor(actor, id);
            add_made(frame, actor, true);
            actor->entity.flags &= ~(uint32_t)ENTITY_NEW;
        }
        return;
    }
    add_made(frame, actor, random_below(10) == 0);
    /* Two states have the whole time of the row. */
    if (frame->schema->state_count > 0 && random_below(50) == 0)
        frame_values(frame, frame->entity_count - 1)[(actor->state + 1) % 4] =
            frame->elapsed_ns[frame->entity_count - 1];
    actor->entity.flags &= ~(uint32_t)ENTITY_NEW;
}

static void make_frame(struct frame *frame, size_t tick)
{
    frame_clear(frame);
    frame->start_ns = frame->end_ns != 0 ? frame->end_ns : 5 * (uint64_t)WALL_NS;
    frame->end_ns = frame->start_ns + WALL_NS + random_below(1000);
    frame->wall_clock_ns = FIRST_WALL_CLOCK_NS + (int64_t)tick * WALL_NS;
    frame->losses = (struct losses){ random_below(3), random_below(3), random_below(3), tick };
    if (random_below(20) == 0) { /* This frame has no entities. */
        memset(actors, 0, sizeof actors);
        return;
    }
    for (int64_t id = 0; id < IDS; id++)
        step_actor(frame, &actors[id], id);
}

static char folder[64], path[128];

static int make_folder(void **state)
{
    (void)state;
    /* The tests write 4,000 intervals, and each waits for the disk. A folder in memory is
     * faster. */
    snprintf(folder, sizeof folder, "%s/camp-recording-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    snprintf(path, sizeof path, "%s/run.camp", mkdtemp(folder));
    memset(actors, 0, sizeof actors);
    random_state = 1;
    return 0;
}

static int remove_folder(void **state)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    char name[512];

    (void)state;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        unlink(name);
    }
    closedir(entries);
    return rmdir(folder);
}

static struct recorder *open_recorder(void)
{
    const struct recorder_about about = { "made", "makings", "schedstat+SQL", "a note", WALL_NS,
                                          6,      0 };
    struct camp_error error = { 0 };
    struct recorder *recorder;

    if (recorder_open(&recorder, path, &about, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    return recorder;
}

static void write_frame(struct recorder *recorder, const struct frame *frame,
                        const struct frame *beside)
{
    struct camp_error error = { 0 };

    if (recorder_write(recorder, frame, beside, NULL, &error) != CAMP_OK)
        fail_msg("%s", error.message);
}

static inline struct source *open_from(const struct from *from, struct from_facts *facts)
{
    struct camp_error error = { 0 };
    struct source *source;

    *facts = (struct from_facts){ 0 };
    if (recording_source_open(from, path, &source, facts, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    return source;
}

static inline int read_frame(struct source *source, const struct frame **ret)
{
    struct camp_error error = { 0 };
    const int r = source->next(source, 0, ret, &error);

    if (r < 0)
        fail_msg("%s", error.message);
    return r;
}

#define TICKS 400

static inline struct recorder_counts record_made(const struct schema *schema,
                                                 const struct schema *beside_schema)
{
    struct recorder *recorder = open_recorder();
    struct recorder_counts counts;
    struct frame frame, beside;

    frame_init(&frame, schema);
    frame_init(&beside, beside_schema);
    for (size_t i = 0; i < TICKS; i++) {
        make_frame(&frame, i);
        if (beside_schema != NULL)
            make_frame(&beside, i);
        write_frame(recorder, &frame, beside_schema != NULL ? &beside : NULL);
    }
    counts = recorder_counts(recorder);
    recorder_close(recorder);
    frame_release(&frame);
    frame_release(&beside);
    return counts;
}

static inline void run_sql(const char *sql)
{
    sqlite3 *database;
    char *problem = NULL;

    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, &problem) != SQLITE_OK)
        fail_msg("%s: %s", sql, problem);
    sqlite3_close(database);
}

static const struct frame *compared;

static inline int compare_rows(const void *a, const void *b)
{
    const struct entity *left = &compared->entities[*(const size_t *)a];
    const struct entity *right = &compared->entities[*(const size_t *)b];

    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return (int)(left->flags & ENTITY_NEW) - (int)(right->flags & ENTITY_NEW);
}

static inline void sort_rows(const struct frame *frame, size_t *rows)
{
    for (size_t i = 0; i < frame->entity_count; i++)
        rows[i] = i;
    compared = frame;
    qsort(rows, frame->entity_count, sizeof *rows, compare_rows);
}

static inline void assert_same_row(const struct frame *left, size_t left_row,
                                   const struct frame *right, size_t right_row)
{
    const struct entity *a = &left->entities[left_row], *b = &right->entities[right_row];

    assert_int_equal(a->id, b->id);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->pid, b->pid);
    assert_int_equal(a->parent, b->parent);
    assert_int_equal(a->uid, b->uid);
    assert_int_equal(a->cgroup, b->cgroup);
    assert_string_equal(a->name, b->name);
    assert_ptr_equal(a->labels, b->labels);
    assert_int_equal(left->elapsed_ns[left_row], right->elapsed_ns[right_row]);
    assert_memory_equal(frame_values(left, left_row), frame_values(right, right_row),
                        left->schema->column_count * sizeof(uint64_t));
}

/* The frames may have their rows in different orders. */
static inline void assert_same_frame(const struct frame *left, const struct frame *right)
{
    size_t left_rows[2 * IDS], right_rows[2 * IDS];

    assert_int_equal(left->start_ns, right->start_ns);
    assert_int_equal(left->end_ns, right->end_ns);
    assert_int_equal(left->wall_clock_ns, right->wall_clock_ns);
    assert_memory_equal(&left->losses, &right->losses, sizeof left->losses);
    assert_int_equal(left->entity_count, right->entity_count);
    sort_rows(left, left_rows);
    sort_rows(right, right_rows);
    for (size_t i = 0; i < left->entity_count; i++)
        assert_same_row(left, left_rows[i], right, right_rows[i]);
}

static inline void assert_same_schema(const struct schema *left, const struct schema *right)
{
    assert_int_equal(left->column_count, right->column_count);
    assert_int_equal(left->state_count, right->state_count);
    assert_int_equal(left->label_count, right->label_count);
    for (size_t i = 0; i < left->label_count; i++)
        assert_string_equal(left->label_names[i], right->label_names[i]);
    for (size_t i = 0; i < left->column_count; i++) {
        assert_string_equal(left->columns[i].name, right->columns[i].name);
        assert_string_equal(left->columns[i].title, right->columns[i].title);
        assert_string_equal(left->columns[i].help, right->columns[i].help);
        assert_int_equal(left->columns[i].kind, right->columns[i].kind);
        assert_int_equal(left->columns[i].provenance, right->columns[i].provenance);
    }
}

/* Compares the recorded frames with frames that the same seed makes again. */
static inline void replay_from(int64_t begin_ns, size_t first, const struct schema *schema,
                               const struct schema *beside_schema)
{
    const struct from from = { .begin_ns = begin_ns };
    struct frame frame, beside;
    struct from_facts facts;
    struct source *source = open_from(&from, &facts);
    const struct frame *read;

    assert_same_schema(source->describe(source), schema);
    assert_int_equal(facts.frames, TICKS);
    frame_init(&frame, schema);
    frame_init(&beside, beside_schema);
    memset(actors, 0, sizeof actors);
    random_state = 1;
    for (size_t i = 0; i < TICKS; i++) {
        make_frame(&frame, i);
        if (beside_schema != NULL)
            make_frame(&beside, i);
        if (i < first)
            continue;
        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_same_frame(read, &frame);
        if (beside_schema != NULL)
            assert_same_frame(source_beside(source), &beside);
        else
            assert_null(source_beside(source));
    }
    assert_int_equal(read_frame(source, &read), SOURCE_END);
    frame_release(&frame);
    frame_release(&beside);
    source_close(source);
}
