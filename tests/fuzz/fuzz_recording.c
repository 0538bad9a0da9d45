/* Parser: src/recording/cause_tables.c */
/* Parser: src/recording/cause_words.c */
/* Parser: src/recording/recording.c */
/* Parser: src/recording/recording_causes.c */
/* Parser: src/recording/recording_file.c */
/* Parser: src/recording/recording_rows.c */
/* Parser: src/recording/recording_schema.c */
/* Parser: src/recording/recording_table.c */
/*
 * Reads any bytes as a recording. Random bytes seldom get past the checks of SQLite, so the mutator
 * starts from a good recording and changes it by SQL: a cell, a row or the schema. Half of the
 * mutations change bytes, which also damages pages and trees.
 */
#include "recording/recorder.h"
#include "recording/recording.h"
#include "sources/causes/cause_sum.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_MOST 200
#define GOOD_BYTES 65536
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static const struct column columns[] = {
    { "run_ns", "run", "", COLUMN_STATE, CAMP_MEASURED },
    { "sleep_ns", "sleep", "", COLUMN_STATE, CAMP_MEASURED },
    { "calls", "calls", "", COLUMN_COUNTER, CAMP_MEASURED },
    { "level", "level", "", COLUMN_GAUGE, CAMP_SAMPLED },
};
static const char *const label_names[] = { "user", "query" };
static const struct schema schema = { "made", columns, COUNT(columns), 2, label_names, 2 };
static const struct schema beside_schema = { "cpus", columns, COUNT(columns), 2 };

static char path[64];

static void fill(struct frame *frame, uint64_t at)
{
    frame_clear(frame);
    frame->start_ns = at * 1000;
    frame->end_ns = (at + 1) * 1000;
    frame->note = at % 2 == 0 ? "a note" : NULL;
    for (int64_t id = 1; id <= 4; id++) {
        const char *const values[] = { "user", at % 2 == 0 ? "q1" : "q2" };
        struct entity *entity = frame_add(frame);
        const size_t row = frame->entity_count - 1;

        entity->id = id;
        strcpy(entity->name, "name");
        if (frame->schema->label_count > 0)
            entity->labels = labels_intern(values, 2);
        frame->elapsed_ns[row] = 1000;
        frame_values(frame, row)[0] = id < 3 ? 1000 : 400 + at;
        frame_values(frame, row)[1] = id < 3 ? 0 : 600 - at;
        frame_values(frame, row)[2] = id < 3 ? 0 : at;
    }
}

/* The causes of an interval: two groups, one of which comes later, and a call. */
static void fill_causes(struct causes *causes, uint64_t at)
{
    static struct cause rows[] = {
        { 0, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, 5, 300 },
        { 0, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_IDLE, 0, 50 },
        { 0, CAMP_STATE_DISK, CAMP_CAUSE_DEVICE, 36, 200 },
        { 5, CAMP_STATE_LOCK, CAUSE_NOT_ENDED, 0, 1000 },
    };
    static struct camp_call_sleeps sleeps = { .pid = 7, .state = CAMP_STATE_PIPE, .sleep_ns = 9 };
    static struct call_name names = { "read", "pipe:[1]" };
    static struct camp_call_sleeps open = {
        .pid = 7, .state = CAMP_STATE_LOCK, .sleep_ns = 5, .count = 1
    };
    static struct open_fact fact = {
        .state_ns = 6, .names.call = "flock", .other_end = "held by batch (8)", .holder = 8
    };
    static struct cause_device device = { 36, "disk (irq 36)" };

    *causes = (struct causes){ .is_recorded = true,
                               .call_names = &names,
                               .devices = &device,
                               .device_count = 1,
                               .group_count = 2 };
    causes->groups[1] = (struct camp_states_group){ 5, CAMP_GROUP_NAME, 0, 0, "batch" };
    causes->groups[1].name[0] = at < 30 ? 'b' : 'c';
    causes->rows = (struct cause_list){ rows, COUNT(rows), COUNT(rows) };
    causes->calls = (struct call_list){ &sleeps, 1, 1 };
    causes->open_calls = (struct call_list){ &open, 1, 1 };
    causes->open_facts = &fact;
    causes->state_ns[5][CAMP_STATE_USER] = at;
    causes->threads[5] = at / 10;
    causes->lengths[0][CAMP_STATE_DISK].count = 3;
    causes->lengths[0][CAMP_STATE_DISK].counts[at % CAMP_WAIT_BUCKETS] = 3;
    causes->lengths[0][CAMP_STATE_DISK].longest_ns = at;
}

/* Removes the file, and the files that SQLite makes beside it. */
static void remove_files(void)
{
    static const char *const suffixes[] = { "", "-wal", "-shm" };
    char name[80];

    for (size_t i = 0; i < COUNT(suffixes); i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

/* Small pages leave space for other bytes, and make the trees higher. */
static void shrink(void)
{
    sqlite3 *database;

    if (sqlite3_open(path, &database) != SQLITE_OK ||
        sqlite3_exec(database, "PRAGMA page_size = 1024; VACUUM", NULL, NULL, NULL) != SQLITE_OK)
        abort();
    sqlite3_close(database);
}

static const uint8_t *good_recording(size_t *ret_size)
{
    static const struct recorder_about about = { "made", "threads", "bpf", "a note", 1000, 0 };
    static uint8_t bytes[GOOD_BYTES];
    static size_t size;
    struct recorder *recorder;
    struct frame frame, beside;
    static struct causes causes;
    int file;

    if (size == 0) {
        frame_init(&frame, &schema);
        frame_init(&beside, &beside_schema);
        unlink(path);
        if (recorder_open(&recorder, path, &about, NULL) != CAMP_OK)
            abort();
        for (uint64_t i = 0; i < 70; i++) {
            fill(&frame, i);
            fill(&beside, i);
            fill_causes(&causes, i);
            if (recorder_write(recorder, &frame, &beside, i % 16 < 2 ? &causes : NULL, NULL) !=
                CAMP_OK)
                abort();
        }
        recorder_close(recorder);
        frame_release(&frame);
        frame_release(&beside);
        shrink();
        file = open(path, O_RDONLY | O_CLOEXEC);
        size = (size_t)read(file, bytes, sizeof bytes);
        close(file);
        remove_files();
        if (size == 0 || size >= sizeof bytes)
            abort();
    }
    *ret_size = size;
    return bytes;
}

static void name_path(void)
{
    if (path[0] == '\0')
        snprintf(path, sizeof path, "%s/camp-fuzz-%d.camp",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
}

static const char *const tables[] = {
    "camp",          "tick",         "tick_beside",  "column_info", "identity",
    "label",         "label_name",   "note",         "made_rows",   "cpus_rows",
    "sqlite_schema", "cause_word",   "cause",        "cause_group", "cause_threads",
    "cause_lengths", "cause_device", "cause_object", "cause_call",
};

static const char *const cells[] = {
    "NULL",
    "0",
    "1",
    "-1",
    "61",
    "255",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775807 - 1",
    "1.5",
    "9e999",
    "''",
    "'made'",
    "'cpus'",
    "'state'",
    "'gauge'",
    "'run_ns'",
    "'group'",
    "'{\"3\":5,\"48\":1}'",
    "4611686018427387904",
    "'tick'",
    "'CREATE VIEW tick AS SELECT 1 AS tick'",
    "'CREATE VIRTUAL TABLE tick USING fts5(x)'",
    "zeroblob(3000)",
    "hex(zeroblob(3000))",
    "x'ff00fe'",
};

/* Formats of sqlite3_mprintf(), or of snprintf(): a table, a column and a cell. */
static const char *const changes[] = {
    "UPDATE %s SET \"%s\" = %s WHERE abs(random()) %% 4 = 0",
    "UPDATE %s SET \"%s\" = %s",
    "UPDATE %s SET \"%s\" = -\"%2$s\"",
    "UPDATE %s SET \"%s\" = \"%2$s\" + %s",
    "DELETE FROM %s WHERE \"%s\" > %s",
    "INSERT INTO %s SELECT * FROM %1$s WHERE \"%s\" = %s",
    "ALTER TABLE %s RENAME COLUMN \"%s\" TO other",
    "ALTER TABLE %s DROP COLUMN \"%s\"",
    "ALTER TABLE %s ADD COLUMN more AS (\"%s\" + %s)",
    "DROP TABLE %s",
};

static unsigned pick(unsigned *seed, size_t count)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 8) % (unsigned)count;
}

/* Chooses a column of the table. Returns false if there is none. */
static bool choose_column(sqlite3 *database, const char *table, unsigned *seed, char ret[64])
{
    sqlite3_stmt *statement = NULL;
    char sql[200];
    bool found = false;

    snprintf(sql, sizeof sql, "SELECT name FROM pragma_table_info('%s') LIMIT 1 OFFSET %u", table,
             pick(seed, 8));
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) != NULL) {
        snprintf(ret, 64, "%s", (const char *)sqlite3_column_text(statement, 0));
        found = true;
    }
    sqlite3_finalize(statement);
    return found;
}

static void change(sqlite3 *database, unsigned *seed)
{
    const char *table = tables[pick(seed, COUNT(tables))];
    const char *format = changes[pick(seed, COUNT(changes))];
    const char *cell = cells[pick(seed, COUNT(cells))];
    char column[64], sql[600];

    if (!choose_column(database, table, seed, column))
        return;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(sql, sizeof sql, format, table, column, cell);
#pragma GCC diagnostic pop
    sqlite3_exec(database, sql, NULL, NULL, NULL);
}

static int is_too_long(void *calls)
{
    return ++*(int *)calls > 1000;
}

/* Opens the bytes in memory, changes them, and copies the result back. Returns 0 if SQLite cannot
 * open them, or the result is too large. */
static size_t mutate_by_sql(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    sqlite3 *database = NULL;
    uint8_t *copy = sqlite3_malloc64(size), *image = NULL;
    sqlite3_int64 length = 0;
    int calls = 0;

    if (copy == NULL || sqlite3_open(":memory:", &database) != SQLITE_OK)
        abort();
    memcpy(copy, data, size);
    sqlite3_progress_handler(database, 1000, is_too_long, &calls);
    sqlite3_db_config(database, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
    if (sqlite3_deserialize(database, "main", copy, (sqlite3_int64)size, (sqlite3_int64)size,
                            SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) ==
        SQLITE_OK) {
        sqlite3_exec(database,
                     "DROP VIEW made; DROP VIEW made_every; DROP VIEW entity; "
                     "DROP VIEW causes",
                     NULL, NULL, NULL);
        for (unsigned i = pick(&seed, 3) + 1; i > 0; i--)
            change(database, &seed);
        image = sqlite3_serialize(database, "main", &length, 0);
    }
    if (image == NULL || (size_t)length > most)
        length = 0;
    if (length > 0)
        memcpy(data, image, (size_t)length);
    sqlite3_free(image);
    sqlite3_close(database);
    return (size_t)length;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    size_t length = 0;

    name_path();
    if (size < 1024 || memcmp(data, "SQLite format 3", 16) != 0) {
        const uint8_t *good = good_recording(&length);

        if (length <= most)
            memcpy(data, good, size = length);
        length = 0;
    }
    if (seed % 2 == 0)
        length = mutate_by_sql(data, size, most, seed);
    return length > 0 ? length : LLVMFuzzerMutate(data, size, most);
}

static void write_file(const uint8_t *data, size_t size)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    close(file);
}

static void check_frame(const struct frame *frame)
{
    if (frame == NULL)
        return;
    if (frame->end_ns < frame->start_ns || frame->schema->state_count > frame->schema->column_count)
        abort();
    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[i];

        if (strnlen(entity->name, CAMP_NAME_SIZE) == CAMP_NAME_SIZE)
            abort();
        for (size_t j = 0; j < frame->schema->label_count; j++) {
            if (strlen(labels_value(entity->labels, j)) >= LABELS_VALUE_SIZE)
                abort();
        }
        frame_unaccounted_ns(frame, i);
    }
}

/* The causes of each wait add up to it, and name only groups that there are. */
static void check_causes(const struct causes *causes)
{
    static uint64_t sums[CAUSE_GROUPS][CAMP_STATE_COUNT];

    memset(sums, 0, sizeof sums);
    for (size_t i = 0; i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];

        if (row->group >= CAUSE_GROUPS || row->state >= CAMP_STATE_COUNT ||
            row->kind >= CAUSE_KIND_COUNT || !causes_is_wait(row->state) ||
            (row->kind == CAMP_CAUSE_GROUP && row->id >= CAUSE_GROUPS))
            abort();
        sums[row->group][row->state] += row->wait_ns;
    }
    for (uint32_t group = 0; group < CAUSE_GROUPS; group++) {
        for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++) {
            if (causes_is_wait(state) && sums[group][state] != causes->state_ns[group][state])
                abort();
        }
    }
    for (size_t i = 0; i < causes->group_count; i++) {
        if (causes->groups[i].number >= CAUSE_GROUPS ||
            memchr(causes->groups[i].name, 0, sizeof causes->groups[i].name) == NULL)
            abort();
    }
}

static void add_causes(struct source *source, struct cause_sum *sum)
{
    struct camp_error error = { 0 };
    const struct causes *causes;

    if (source_causes(source, &causes, &error) != CAMP_OK) {
        if (strchr(error.message, '\n') != NULL)
            abort();
    } else if (causes != NULL) {
        check_causes(causes);
        if (cause_sum_add(sum, causes, &error) == CAMP_OK)
            check_causes(&sum->causes);
        else
            cause_sum_clear(sum);
    }
}

static void read_all(void)
{
    static struct cause_sum sum;
    const struct from from = { .text = path };
    struct from_facts facts = { .name = "x.camp" };
    struct camp_error error = { 0 };
    const struct frame *frame;
    struct source *source;

    if (recording_source_open(&from, path, &source, &facts, &error) != CAMP_OK) {
        if (strchr(error.message, '\n') != NULL)
            abort();
        return;
    }
    for (size_t i = 0; i < FRAMES_MOST && source->next(source, 0, &frame, &error) == CAMP_OK; i++) {
        check_frame(frame);
        check_frame(source_beside(source));
        add_causes(source, &sum);
    }
    if (sum.intervals > 0)
        check_causes(cause_sum_finish(&sum));
    cause_sum_release(&sum);
    source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct recording_info info;

    name_path();
    write_file(data, size);
    read_all();
    recording_info_read(&info, path, NULL);
    remove_files();
    return 0;
}
