/* Recordings: what is written is read back, whatever was left out of the file. */
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

/* ------------------------------------------------------------------------------ Made schemas -- */

#define COLUMN(name, kind)                                                                         \
    {                                                                                              \
        name, name " title", name " help", kind, CAMP_MEASURED                                     \
    }

static const struct column states_columns[] = {
    COLUMN("run_ns", COLUMN_STATE),     COLUMN("sleep_ns", COLUMN_STATE),
    COLUMN("wait_ns", COLUMN_STATE),    COLUMN("rare_ns", COLUMN_STATE),
    COLUMN("calls", COLUMN_COUNTER),    COLUMN("Tick", COLUMN_COUNTER),
    COLUMN("calls", COLUMN_COUNTER),    COLUMN("never", COLUMN_COUNTER),
    COLUMN("a\"b'c", COLUMN_COUNTER),   COLUMN("", COLUMN_COUNTER),
    COLUMN("seldom_1", COLUMN_COUNTER), COLUMN("seldom_2", COLUMN_COUNTER),
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

/* -------------------------------------------------------------------------------- Made frames --
 */

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % limit;
}

#define IDS 40

/* What a made entity is like from one frame to the next. */
static struct actor {
    bool there;
    int state;
    uint64_t level;
    struct entity entity;
} actors[IDS];

/* Each time another tuple, or none, or the same. */
static const struct labels *some_labels(void)
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
        .labels = random_below(2) == 0 ? some_labels() : NULL,
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

/* At rest, or two states and perhaps more. */
static void add_made(struct frame *frame, const struct actor *actor, bool active)
{
    const size_t columns = frame->schema->column_count;
    struct entity *entity = frame_add(frame);
    const size_t at = frame->entity_count - 1;
    uint64_t *values = frame_values(frame, at);

    *entity = actor->entity;
    if (frame->schema->label_count == 0)
        entity->labels = NULL;
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
    if (random_below(40) == 0) { /* gone without a word */
        actor->there = false;
        return;
    }
    if (random_below(30) == 0) {
        actor->entity.flags |= ENTITY_ENDED;
        add_made(frame, actor, random_below(2) == 0);
        actor->there = false;
        if (random_below(2) == 0) { /* another has its id at once */
            begin_actor(actor, id);
            add_made(frame, actor, true);
            actor->entity.flags &= ~(uint32_t)ENTITY_NEW;
        }
        return;
    }
    add_made(frame, actor, random_below(10) == 0);
    if (frame->schema->state_count > 0 && random_below(50) == 0) /* accounted twice */
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
    if (random_below(20) == 0) { /* nobody at all */
        memset(actors, 0, sizeof actors);
        return;
    }
    for (int64_t id = 0; id < IDS; id++)
        step_actor(frame, &actors[id], id);
}

/* ---------------------------------------------------------------------------------- Comparing --
 */

static const struct frame *compared;

static int compare_rows(const void *a, const void *b)
{
    const struct entity *left = &compared->entities[*(const size_t *)a];
    const struct entity *right = &compared->entities[*(const size_t *)b];

    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return (int)(left->flags & ENTITY_NEW) - (int)(right->flags & ENTITY_NEW);
}

static void sort_rows(const struct frame *frame, size_t *rows)
{
    for (size_t i = 0; i < frame->entity_count; i++)
        rows[i] = i;
    compared = frame;
    qsort(rows, frame->entity_count, sizeof *rows, compare_rows);
}

static void assert_same_row(const struct frame *left, size_t left_row, const struct frame *right,
                            size_t right_row)
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

/* Whatever the order of their rows. */
static void assert_same_frame(const struct frame *left, const struct frame *right)
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

static void assert_same_schema(const struct schema *left, const struct schema *right)
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

/* ------------------------------------------------------------------------------------ A file -- */

static char folder[64], path[128];

static int make_folder(void **state)
{
    (void)state;
    /* 4,000 intervals are written, each of which waits for the disk. */
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
    const struct recorder_about about = { "made", "makings", "schedstat+SQL", "a note", WALL_NS };
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

    if (recorder_write(recorder, frame, beside, &error) != CAMP_OK)
        fail_msg("%s", error.message);
}

static struct source *open_from(const struct from *from, struct from_facts *facts)
{
    struct camp_error error = { 0 };
    struct source *source;

    *facts = (struct from_facts){ 0 };
    if (recording_source_open(from, path, &source, facts, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    return source;
}

static int read_frame(struct source *source, const struct frame **ret)
{
    struct camp_error error = { 0 };
    const int r = source->next(source, 0, ret, &error);

    if (r < 0)
        fail_msg("%s", error.message);
    return r;
}

/* -------------------------------------------------------------------------------------- Tests --
 */

#define TICKS 400

/* A frame as it will be when it is made again from the same seed. */
static void replay_from(int64_t begin_ns, size_t first, const struct schema *schema,
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

static struct recorder_counts record_made(const struct schema *schema,
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

static void what_was_recorded_is_read_back(void **state)
{
    struct recorder_counts counts;

    (void)state;
    counts = record_made(&states_schema, &counts_schema);
    assert_int_equal(counts.ticks, TICKS);
    assert_true(counts.written < counts.rows);
    replay_from(0, 0, &states_schema, &counts_schema);
}

/* One that sleeps, one that is idle in another state for a while, in 2 x 60 intervals. */
static void what_rests_is_written_once(void **state)
{
    struct recorder *recorder = open_recorder();
    struct frame frame;

    (void)state;
    frame_init(&frame, &states_schema);
    for (size_t i = 0; i < 2 * RECORDING_KEY_EVERY; i++) {
        struct actor sleeper = { .state = 1, .entity = { .id = 1, .count = 1, .name = "a" } };
        struct actor other = { .state = i == 10 ? 2 : 1, .entity = { .id = 2, .count = 1 } };

        frame_clear(&frame);
        frame.start_ns = frame.end_ns;
        frame.end_ns += WALL_NS;
        add_made(&frame, &sleeper, false);
        add_made(&frame, &other, false);
        write_frame(recorder, &frame, NULL);
    }
    assert_int_equal(recorder_counts(recorder).rows, 4 * RECORDING_KEY_EVERY);
    assert_int_equal(recorder_counts(recorder).written, 4 + 2);
    recorder_close(recorder);
    frame_release(&frame);
}

/* A look at many threads reads each at its own moment: a millisecond more or less is rest too. */
static void rest_has_the_length_of_the_interval(void **state)
{
    const struct from from = { 0 };
    const uint64_t lengths_ns[] = { WALL_NS, WALL_NS + 900000, WALL_NS - 900000,
                                    WALL_NS + 20000000 };
    const uint64_t expected_ns[] = { WALL_NS, WALL_NS, WALL_NS, WALL_NS + 20000000 };
    struct recorder *recorder = open_recorder();
    struct from_facts facts;
    struct source *source;
    struct frame frame;

    (void)state;
    frame_init(&frame, &states_schema);
    for (size_t i = 0; i < COUNT(lengths_ns); i++) {
        struct actor sleeper = { .state = 1, .entity = { .id = 1, .count = 1 } };

        frame_clear(&frame);
        frame.start_ns = frame.end_ns;
        frame.end_ns += WALL_NS;
        add_made(&frame, &sleeper, false);
        frame.elapsed_ns[0] = frame.values[1] = lengths_ns[i];
        write_frame(recorder, &frame, NULL);
    }
    assert_int_equal(recorder_counts(recorder).written, 2);
    recorder_close(recorder);
    frame_release(&frame);
    source = open_from(&from, &facts);
    for (size_t i = 0; i < COUNT(expected_ns); i++) {
        const struct frame *read;

        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_int_equal(read->elapsed_ns[0], expected_ns[i]);
        assert_int_equal(frame_unaccounted_ns(read, 0), 0);
    }
    source_close(source);
}

static void a_source_without_states_is_read_back(void **state)
{
    (void)state;
    record_made(&counts_schema, NULL);
    replay_from(0, 0, &counts_schema, NULL);
}

/* An interval is in when its middle is: a beginning may be somewhat before its own, or after. */
static void reading_may_begin_anywhere(void **state)
{
    (void)state;
    record_made(&states_schema, &counts_schema);
    for (size_t first = 0; first < TICKS; first += 37) {
        const int64_t begin_ns = FIRST_WALL_CLOCK_NS + ((int64_t)first - 1) * WALL_NS;

        replay_from(begin_ns - WALL_NS / 4, first, &states_schema, &counts_schema);
        replay_from(begin_ns + WALL_NS / 4, first, &states_schema, &counts_schema);
    }
}

static void facts_are_those_of_the_recording(void **state)
{
    const struct from from = { 0 };
    struct from_facts facts;

    (void)state;
    record_made(&states_schema, NULL);
    source_close(open_from(&from, &facts));
    assert_string_equal(facts.kind, "makings");
    assert_string_equal(facts.tier, "schedstat+SQL"); /* whatever a source calls it */
    assert_string_equal(facts.note, "a note");
    assert_false(facts.live);
    assert_int_equal(facts.interval_ns, WALL_NS);
    assert_int_equal(facts.end_ns, FIRST_WALL_CLOCK_NS + (TICKS - 1) * (int64_t)WALL_NS);
}

/* The clock is set back by an hour in the midst: the order is that of the intervals. */
static void a_clock_that_is_set_back_changes_no_order(void **state)
{
    const int64_t hour_ns = 3600 * (int64_t)WALL_NS;
    const struct from from = { .begin_ns = FIRST_WALL_CLOCK_NS + 50 * (int64_t)WALL_NS };
    struct recorder *recorder = open_recorder();
    const struct frame *read;
    struct from_facts facts;
    struct source *source;
    struct frame frame;

    (void)state;
    frame_init(&frame, &counts_schema);
    for (size_t i = 0; i < 100; i++) {
        make_frame(&frame, i);
        frame.wall_clock_ns -= i >= 60 ? hour_ns : 0;
        write_frame(recorder, &frame, NULL);
    }
    recorder_close(recorder);
    source = open_from(&from, &facts);
    for (uint64_t i = 51; i < 100; i++) {
        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_int_equal(read->losses.partial, i);
    }
    assert_int_equal(read_frame(source, &read), SOURCE_END);
    source_close(source);
    frame_release(&frame);
}

/* Those that came and went are forgotten after a while, and nobody else. */
static void a_long_recording_forgets_who_is_gone(void **state)
{
    const struct from from = { 0 };
    struct recorder *recorder = open_recorder();
    struct from_facts facts;
    struct source *source;
    struct frame frame;

    (void)state;
    frame_init(&frame, &states_schema);
    for (int64_t i = 0; i < 8 * RECORDING_KEY_EVERY; i++) {
        struct actor stays = { .state = 1, .level = 7, .entity = { .id = 1, .count = 1 } };

        frame_clear(&frame);
        frame.start_ns = frame.end_ns;
        frame.end_ns += WALL_NS;
        for (int64_t k = 0; k < 50; k++) {
            const uint32_t flags = ENTITY_NEW | ENTITY_ENDED;
            struct actor passes = { .entity = {
                                        .id = 2 + k + 50 * i, .flags = flags, .count = 1 } };

            add_made(&frame, &passes, true);
        }
        add_made(&frame, &stays, false);
        write_frame(recorder, &frame, NULL);
    }
    assert_int_equal(recorder_counts(recorder).written, 8 + 50 * 8 * RECORDING_KEY_EVERY);
    recorder_close(recorder);
    source = open_from(&from, &facts);
    for (int64_t i = 0; i < 8 * RECORDING_KEY_EVERY; i++) {
        const struct frame *read;
        size_t at = 0;

        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_int_equal(read->entity_count, 51);
        while (read->entities[at].id != 1)
            at++;
        assert_int_equal(frame_values(read, at)[COUNT(states_columns) - 1], 7);
    }
    source_close(source);
    frame_release(&frame);
}

/* --------------------------------------------------------------------------------- Bad files -- */

static void run_sql(const char *sql)
{
    sqlite3 *database;
    char *problem = NULL;

    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, &problem) != SQLITE_OK)
        fail_msg("%s: %s", sql, problem);
    sqlite3_close(database);
}

static char *get_bytes(size_t *ret_length)
{
    FILE *file = fopen(path, "r");
    char *bytes;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *ret_length = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*ret_length);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *ret_length, file), *ret_length);
    fclose(file);
    return bytes;
}

static void put_bytes(const char *bytes, size_t length)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

/* The first column of the only row; "(null)" for NULL. */
static const char *ask_sql(const char *sql)
{
    static char ret[256];
    sqlite3_stmt *statement;
    sqlite3 *database;
    const char *text;

    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    text = (const char *)sqlite3_column_text(statement, 0);
    snprintf(ret, sizeof ret, "%s", text != NULL ? text : "(null)");
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return ret;
}

static const struct column sessions_columns[] = {
    COLUMN("idle_ns", COLUMN_STATE),           COLUMN("wait_ns", COLUMN_STATE),
    COLUMN("idle_client_ns", COLUMN_COUNTER),  COLUMN("reported_idle_ns", COLUMN_COUNTER),
    COLUMN("reported_cpu_ns", COLUMN_COUNTER), COLUMN("calls", COLUMN_COUNTER),
};
static const struct schema sessions_schema = { "sessions", sessions_columns,
                                               COUNT(sessions_columns), 2 };

/* idle_client_ns, reported_idle_ns, reported_cpu_ns, calls of a session that is idle; is it
 * written? */
static const struct {
    uint64_t values[4];
    bool written;
} session_ticks[] = {
    { { WALL_NS, WALL_NS, 0, 0 }, true },
    { { WALL_NS, WALL_NS + 3000000, 0, 0 }, false },
    { { WALL_NS, WALL_NS - 3000000, 0, 0 }, false },
    { { WALL_NS, 0, WALL_NS, 0 }, true }, /* another column has the time */
    { { WALL_NS, 0, WALL_NS, 0 }, false },
    { { WALL_NS, WALL_NS, 0, 0 }, true },
    { { WALL_NS, WALL_NS - 20000000, 0, 0 }, true }, /* more than a hundredth */
    { { WALL_NS, WALL_NS / 2, WALL_NS / 2, 0 }, true },
    { { WALL_NS, WALL_NS, 0, WALL_NS }, true }, /* as many calls as nanoseconds */
    { { WALL_NS, WALL_NS, 0, 0 }, true },
    { { WALL_NS, WALL_NS, 0, 0 }, false },
};

static uint64_t record_session_ticks(void)
{
    struct recorder *recorder = open_recorder();
    struct frame frame;
    uint64_t written = 0;

    frame_init(&frame, &sessions_schema);
    for (size_t i = 0; i < COUNT(session_ticks); i++) {
        frame_clear(&frame);
        frame.start_ns = frame.end_ns;
        frame.end_ns += WALL_NS;
        *frame_add(&frame) = (struct entity){ .id = 1, .count = 1 };
        frame.elapsed_ns[0] = frame.values[0] = WALL_NS;
        memcpy(&frame.values[2], session_ticks[i].values, sizeof session_ticks[i].values);
        write_frame(recorder, &frame, NULL);
        assert_int_equal(recorder_counts(recorder).written - written, session_ticks[i].written);
        written = recorder_counts(recorder).written;
    }
    recorder_close(recorder);
    frame_release(&frame);
    return written;
}

/* What has the state's time again goes with it; what has not is written as it is. */
static void a_session_at_rest_is_written_once(void **state)
{
    const struct from from = { 0 };
    struct from_facts facts;
    struct source *source;

    (void)state;
    assert_int_equal(record_session_ticks(), 7);
    source = open_from(&from, &facts);
    for (size_t i = 0; i < COUNT(session_ticks); i++) {
        const struct frame *read;
        char sql[128];

        assert_int_equal(read_frame(source, &read), CAMP_OK);
        for (size_t k = 0; k < 4; k++) {
            const bool rests = !session_ticks[i].written && session_ticks[i].values[k] != 0;
            const uint64_t expected = rests ? WALL_NS : session_ticks[i].values[k];
            char text[32];

            assert_int_equal(read->values[2 + k], expected);
            snprintf(sql, sizeof sql, "SELECT \"%s\" FROM sessions_every WHERE tick = %zu",
                     sessions_columns[2 + k].name, i + 1);
            snprintf(text, sizeof text, "%llu", (unsigned long long)expected);
            assert_string_equal(ask_sql(sql), text);
        }
    }
    source_close(source);
}

/* A session of one user whose third label goes on, and somebody without labels. */
static void record_session(void)
{
    const char *const third[] = { "q1", "q2", "q2", "", "q3" };
    struct recorder *recorder = open_recorder();
    struct frame frame;

    frame_init(&frame, &states_schema);
    for (size_t i = 0; i < COUNT(third); i++) {
        const char *const values[] = { "app", "", third[i] };
        struct actor session = { .entity = { .id = 1, .count = 1, .name = "s" } };
        struct actor other = { .entity = { .id = 2, .count = 1 } };

        session.entity.labels = labels_intern(values, COUNT(values));
        frame_clear(&frame);
        frame.start_ns = frame.end_ns;
        frame.end_ns += WALL_NS;
        add_made(&frame, &session, false);
        add_made(&frame, &other, false);
        write_frame(recorder, &frame, NULL);
    }
    recorder_close(recorder);
    frame_release(&frame);
}

static void a_label_is_written_when_it_changes(void **state)
{
    (void)state;
    record_session();
    assert_string_equal(ask_sql("SELECT group_concat(since_tick || value) FROM (SELECT * FROM "
                                "label WHERE entity = 1 AND name = 'name' ORDER BY since_tick)"),
                        "1q1,2q2,4,5q3");
    assert_string_equal(ask_sql("SELECT count(*) FROM label"), "5");
    assert_string_equal(ask_sql("SELECT \"user\" || id FROM entity WHERE \"user\" = 'app'"),
                        "app1");
    assert_string_equal(ask_sql("SELECT \"it's \"\"one\"\"\" FROM entity WHERE id = 1"), "(null)");
    assert_string_equal(ask_sql("SELECT \"user\" FROM entity WHERE id = 2"), "(null)");
}

static void a_recording_from_before_labels_is_read(void **state)
{
    const struct from from = { 0 };
    const struct frame *read;
    struct from_facts facts;
    struct source *source;

    (void)state;
    record_session();
    run_sql("DROP VIEW entity; DROP TABLE label; DROP TABLE label_name");
    source = open_from(&from, &facts);
    assert_int_equal(source->describe(source)->label_count, 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_int_equal(read->entity_count, 2);
        assert_null(read->entities[0].labels);
    }
    source_close(source);
}

static const char *const notes[] = { NULL, "the server is gone", "the server is gone", "", "back" };

static void record_notes(void)
{
    struct recorder *recorder = open_recorder();
    struct frame frame;

    frame_init(&frame, &states_schema);
    for (size_t i = 0; i < COUNT(notes); i++) {
        make_frame(&frame, i);
        frame.note = notes[i];
        write_frame(recorder, &frame, NULL);
    }
    recorder_close(recorder);
    frame_release(&frame);
}

static void what_was_said_of_an_interval_is_read_back(void **state)
{
    const struct from from = { 0 };
    const struct frame *read;
    struct from_facts facts;
    struct source *source;

    (void)state;
    record_notes();
    source = open_from(&from, &facts);
    for (size_t i = 0; i < COUNT(notes); i++) {
        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_string_equal(read->note, notes[i] != NULL ? notes[i] : "");
    }
    source_close(source);
    assert_string_equal(ask_sql("SELECT group_concat(since_tick) FROM note"), "2,4,5");
    run_sql("DROP TABLE note"); /* as in an older recording */
    source = open_from(&from, &facts);
    assert_int_equal(read_frame(source, &read), CAMP_OK);
    assert_null(read->note);
    source_close(source);
}

/* Reads to the end, or to a failure, and says with which words. "": it was read whole. */
static const char *read_all(size_t *ret_frames)
{
    static struct camp_error error;
    const struct from from = { 0 };
    const struct frame *read;
    struct from_facts facts = { 0 };
    struct source *source;
    int r;

    error = (struct camp_error){ 0 };
    *ret_frames = 0;
    r = recording_source_open(&from, path, &source, &facts, &error);
    if (r == CAMP_OK) {
        while ((r = source->next(source, 0, &read, &error)) == CAMP_OK)
            ++*ret_frames;
        source_close(source);
    }
    assert_true(r == SOURCE_END || r == CAMP_E_FORMAT || r == CAMP_E_GONE);
    assert_true((r == SOURCE_END) == (error.message[0] == '\0'));
    return error.message;
}

static void assert_says(const char *words)
{
    size_t frames;
    const char *message = read_all(&frames);

    if (strstr(message, words) == NULL)
        fail_msg("'%s' does not say '%s'", message, words);
    if (strchr(message, '\n') != NULL)
        fail_msg("'%s' is more than a line", message);
}

static void what_is_no_recording_is_told(void **state)
{
    (void)state;
    assert_says("run.camp: No such file");
    put_bytes("", 0);
    assert_says("not a recording of camp");
    put_bytes("This is not a database, whatever its name says.", 40);
    assert_says("is not a recording");
    unlink(path);
    run_sql("CREATE TABLE other(x)");
    assert_says("not a recording of camp");
}

static void an_empty_recording_is_told(void **state)
{
    (void)state;
    recorder_close(open_recorder());
    assert_says("is empty: no interval was recorded");
}

static void a_newer_recording_is_told(void **state)
{
    (void)state;
    record_made(&states_schema, NULL);
    run_sql("PRAGMA user_version = 3");
    assert_says("was made by a newer camp: it has version 3, this camp reads 2");
}

static void a_damaged_recording_is_told(void **state)
{
    static const char *const damages[][2] = {
        { "DROP TABLE \"made states_rows\"", "no such table" },
        { "DROP TABLE tick", "no such table" },
        { "DROP TABLE camp", "no such table" },
        { "DELETE FROM column_info", "has no columns" },
        { "UPDATE column_info SET kind = 'colour'", "column_info" },
        { "UPDATE column_info SET column_name = 'x' WHERE position = 3", "no such column" },
        { "DELETE FROM identity", "no name for entity" },
        { "CREATE TABLE t AS SELECT * FROM \"made states_rows\";"
          "DROP TABLE \"made states_rows\"; UPDATE t SET run_ns = 'much' WHERE tick = 9;"
          "ALTER TABLE t RENAME TO \"made states_rows\"",
          "a value that is not a whole number" },
        { "UPDATE camp SET value = 'x' WHERE key = 'table'", "has no columns" },
    };
    size_t length;
    char *whole;

    (void)state;
    record_made(&states_schema, NULL);
    whole = get_bytes(&length);
    for (size_t i = 0; i < COUNT(damages); i++) {
        put_bytes(whole, length);
        run_sql("DROP VIEW \"made states\"; DROP VIEW \"made states_every\"; DROP VIEW entity");
        run_sql(damages[i][0]);
        assert_says(damages[i][1]);
    }
    free(whole);
}

/* Whatever is missing at its end, what is whole is read, and the rest is said to be missing. */
static void a_truncated_recording_is_read_as_far_as_it_goes(void **state)
{
    struct stat status;
    size_t frames, most = 0, some = 0;
    long length;

    (void)state;
    record_made(&states_schema, &counts_schema);
    assert_int_equal(stat(path, &status), 0);
    for (length = (long)status.st_size - 1; length > 0; length -= 8 * 1777) {
        assert_int_equal(truncate(path, length), 0);
        assert_true(strlen(read_all(&frames)) > 0);
        assert_true(frames < TICKS || length > (long)status.st_size - 4096);
        some += frames > 0;
        if (frames > most)
            most = frames;
    }
    assert_true(some > 5);
    assert_true(most > TICKS / 2);
}

int main(void)
{
#define RECORDING_TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        RECORDING_TEST(what_was_recorded_is_read_back),
        RECORDING_TEST(what_rests_is_written_once),
        RECORDING_TEST(a_session_at_rest_is_written_once),
        RECORDING_TEST(rest_has_the_length_of_the_interval),
        RECORDING_TEST(a_source_without_states_is_read_back),
        RECORDING_TEST(reading_may_begin_anywhere),
        RECORDING_TEST(a_clock_that_is_set_back_changes_no_order),
        RECORDING_TEST(a_long_recording_forgets_who_is_gone),
        RECORDING_TEST(a_label_is_written_when_it_changes),
        RECORDING_TEST(a_recording_from_before_labels_is_read),
        RECORDING_TEST(what_was_said_of_an_interval_is_read_back),
        RECORDING_TEST(what_is_no_recording_is_told),
        RECORDING_TEST(an_empty_recording_is_told),
        RECORDING_TEST(a_newer_recording_is_told),
        RECORDING_TEST(a_damaged_recording_is_told),
        RECORDING_TEST(a_truncated_recording_is_read_as_far_as_it_goes),
        RECORDING_TEST(facts_are_those_of_the_recording),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
