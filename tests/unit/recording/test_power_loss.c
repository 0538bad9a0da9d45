/*
 * Proves that a power failure at any moment loses at most the running interval. A recording is made
 * with a log of all that reaches the file system (power_log.h). Then the power fails at each event
 * of the log, three times: nothing unsynced is on the disk, all of it, or some sectors of it
 * (power_disk.h). Each time the recording must open and have every interval that was reported as
 * written, and the file must be whole.
 *
 * "test_power_loss all" tests each event of a longer recording; without it, the events between the
 * syncs are left out.
 */
#include "commands/record/record_files.h"
#include "power_disk.h"
#include "program/command.h"
#include "recording/recording.h"

#include <errno.h>

#define INTERVAL_NS 1000000000u
#define FIRST_WALL_CLOCK_NS 1769904000000000000
#define ENTITIES 12
#define EACH_FILE 12      /* intervals */
#define EACH_CHECKPOINT 5 /* intervals */

static const struct column columns[] = {
    { "run_ns", "run", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU, NULL },
    { "sleep_ns", "sleep", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE, NULL },
    { "calls", "calls", "", COLUMN_COUNTER, CAMP_MEASURED, CLASS_NONE, NULL },
    { "level", "level", "", COLUMN_GAUGE, CAMP_MEASURED, CLASS_NONE, NULL },
};
static const char *const label_names[] = { "query" };
static const struct schema schema = { "made", columns, COUNT(columns), 2, label_names, 1 };

static bool tests_all;
static char recorded[64], lost[64]; /* the folder of the recording, and that of the lost power */
static bool has_interval[POWER_FILES];

/* Makes the frame of an interval. It depends on nothing but the number of the interval. The first
 * entity is idle, so that its rows are left out of the file. */
static void make_frame(struct frame *frame, uint64_t interval)
{
    frame_clear(frame);
    frame->start_ns = (interval + 1) * INTERVAL_NS;
    frame->end_ns = frame->start_ns + INTERVAL_NS;
    frame->wall_clock_ns = FIRST_WALL_CLOCK_NS + (int64_t)(interval * INTERVAL_NS);
    frame->losses = (struct losses){ .unseen = interval % 7 };
    for (size_t i = 0; i < ENTITIES; i++) {
        struct entity *entity = frame_add(frame);
        uint64_t *values = frame_values(frame, i);
        char query[LABELS_VALUE_SIZE];
        const char *const labels[] = { query };

        snprintf(query, sizeof query, "query %d of %d", (int)(interval / (i + 1)), (int)i);
        snprintf(entity->name, sizeof entity->name, "e%d", (int)i);
        entity->id = (int64_t)i + 1;
        entity->labels = labels_intern(labels, 1);
        frame->elapsed_ns[i] = INTERVAL_NS;
        values[0] = i == 0 ? 0 : 1 + (interval * 7919 + i * 104729) % (INTERVAL_NS - 1);
        values[1] = INTERVAL_NS - values[0];
        values[2] = values[0] % 1000;
    }
}

static void fail_at(size_t event, enum power_kept kept, const char *what)
{
    static const char *const kinds[] = { "created", "removed",       "written",  "resized",
                                         "synced",  "folder synced", "committed" };
    static const char *const parts[] = { "nothing", "all", "some" };

    fail_msg("power failed before event %zu of %zu (%s %s), %s kept of what was not synced: %s",
             event, power_log.count, power_log.names[power_log.events[event].file],
             kinds[power_log.events[event].kind], parts[kept], what);
}

static bool is_same_frame(const struct frame *left, const struct frame *right)
{
    if (left->start_ns != right->start_ns || left->end_ns != right->end_ns ||
        left->wall_clock_ns != right->wall_clock_ns ||
        left->losses.unseen != right->losses.unseen || left->entity_count != right->entity_count)
        return false;
    for (size_t i = 0; i < left->entity_count; i++) {
        const struct entity *a = &left->entities[i], *b = &right->entities[i];

        if (a->id != b->id || strcmp(a->name, b->name) != 0 || a->labels != b->labels ||
            left->elapsed_ns[i] != right->elapsed_ns[i])
            return false;
    }
    return memcmp(left->values, right->values,
                  left->entity_count * left->schema->column_count * sizeof *left->values) == 0;
}

static bool is_confined;
static int (*system_open)(const char *, int, int);

/* Readers of a rotated recording that has shared memory may not write in its folder. */
static int open_confined(const char *path, int flags, int mode)
{
    const size_t length = strlen(path);

    if (is_confined && length > 4 && strcmp(path + length - 4, "-shm") == 0 &&
        (flags & O_ACCMODE) != O_RDONLY) {
        errno = EACCES;
        return -1;
    }
    return system_open(path, flags, mode);
}

static void confine_readers(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    system_open = (int (*)(const char *, int, int))vfs->xGetSystemCall(vfs, "open");
    assert_non_null(system_open);
    vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_confined);
}

/* Reads the recording as each command does. Returns the number of intervals. */
static size_t read_recording(size_t event, enum power_kept kept)
{
    struct camp_error error = { 0 };
    struct from_facts facts = { 0 };
    struct source *source;
    const struct frame *read;
    struct frame written;
    char path[128];
    size_t count = 0;
    int r;

    snprintf(path, sizeof path, "%s/run.camp", lost);
    r = recording_replay_open(&(struct from){ .text = path }, path, &source, &facts, &error);
    if (r == CAMP_E_FORMAT || r == CAMP_E_GONE) /* It has no interval. */
        return 0;
    if (r != CAMP_OK)
        fail_at(event, kept, error.message);
    frame_init(&written, &schema);
    while ((r = source->next(source, 0, &read, &error)) == CAMP_OK) {
        make_frame(&written, count++);
        if (!is_same_frame(read, &written))
            fail_at(event, kept, "an interval is not the one that was written");
    }
    if (r != SOURCE_END)
        fail_at(event, kept, error.message);
    frame_release(&written);
    source_close(source);
    return count;
}

static int keep_word(void *context, int count, char **values, char **names)
{
    (void)count;
    (void)names;
    snprintf(context, 200, "%s", values[0]);
    return 0;
}

/* Checks the pages and indexes of each file that has an interval. A file without one may have been
 * torn while its tables were created, and readers leave it out. */
static void check_integrity(size_t event, enum power_kept kept)
{
    for (size_t i = 0; i < power_log.name_count; i++) {
        char file[400], word[200] = "";
        sqlite3 *database;

        if (!has_interval[i])
            continue;
        snprintf(file, sizeof file, "%s/%s", lost, power_log.names[i]);
        assert_int_equal(sqlite3_open(file, &database), SQLITE_OK);
        if (sqlite3_exec(database, "PRAGMA integrity_check", keep_word, word, NULL) != SQLITE_OK ||
            strcmp(word, "ok") != 0)
            fail_at(event, kept, word[0] != '\0' ? word : sqlite3_errmsg(database));
        sqlite3_close(database);
    }
}

struct points {
    size_t count, without_running; /* failures that lost the running interval */
};

static void fail_power(size_t event, size_t committed, enum power_kept kept, struct points *points)
{
    char text[100];
    size_t read;

    is_confined = power_disk_write(lost, kept);
    read = read_recording(event, kept);
    is_confined = false;
    snprintf(text, sizeof text, "%zu intervals were written, %zu are there", committed, read);
    if (read < committed || read > committed + 1)
        fail_at(event, kept, text);
    check_integrity(event, kept);
    points->count++;
    points->without_running += read == committed;
}

static bool is_tested(size_t event)
{
    return tests_all || power_log.events[event].kind != POWER_WRITTEN || rand() % 40 == 0;
}

static size_t count_events(enum power_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < power_log.count; i++)
        count += power_log.events[i].kind == kind;
    return count;
}

static void replay_log(void)
{
    const int random_disks = tests_all ? 3 : 1;
    struct points points = { 0 };
    size_t committed = 0;

    for (size_t event = 0; event < power_log.count; event++) {
        if (is_tested(event)) {
            fail_power(event, committed, POWER_NOTHING, &points);
            fail_power(event, committed, POWER_ALL, &points);
            for (int i = 0; i < random_disks; i++)
                fail_power(event, committed, POWER_SOME, &points);
        }
        if (power_log.events[event].kind == POWER_COMMITTED) {
            has_interval[power_log.events[event].file] = true;
            committed++;
        }
        power_disk_step();
    }
    print_message(
        "%zu power failures at %zu events (%zu syncs), %zu intervals in %zu files: none of "
        "them lost, %zu times without the running one\n",
        points.count, power_log.count, count_events(POWER_SYNCED), committed, committed / EACH_FILE,
        points.without_running);
}

/* Moves the committed intervals from the -wal file into the file, as the recorder's connection does
 * when the -wal file has 1,000 pages. */
static void make_checkpoint(const char *path)
{
    sqlite3 *database;

    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, "SELECT * FROM tick; PRAGMA wal_checkpoint = PASSIVE",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(database);
}

static void record(uint64_t count)
{
    char output[128];
    struct record_files files = {
        .output = output,
        .rotate_ns = EACH_FILE * (uint64_t)INTERVAL_NS,
        .about = { .source = "made", .tier = "made", .interval_ns = INTERVAL_NS },
    };
    struct frame frame;

    snprintf(output, sizeof output, "%s/run.camp", recorded);
    frame_init(&frame, &schema);
    power_log_start(recorded);
    for (uint64_t i = 0; i < count; i++) {
        make_frame(&frame, i);
        assert_int_equal(record_files_write(&files, &frame, NULL, NULL), OPTIONS_GO_ON);
        power_add(POWER_COMMITTED, power_name(files.path), 0, NULL, 0);
        if (i % EACH_CHECKPOINT == EACH_CHECKPOINT - 1)
            make_checkpoint(files.path);
    }
    record_files_close(&files);
    power_log_stop();
    frame_release(&frame);
}

static void a_power_failure_loses_at_most_the_running_interval(void **state)
{
    (void)state;
    record(tests_all ? 6 * EACH_FILE : 3 * EACH_FILE);
    replay_log();
}

/* The test above would see it if an interval were not synced. */
static void a_disk_that_ignores_syncs_loses_written_intervals(void **state)
{
    (void)state;
    power_log.ignores_syncs = true;
    record(EACH_FILE / 2);
    while (power_disk.done < power_log.count)
        power_disk_step();
    power_disk_write(lost, POWER_NOTHING);
    assert_int_equal(read_recording(0, POWER_NOTHING), 0);
    power_disk_write(lost, POWER_ALL);
    assert_int_equal(read_recording(0, POWER_ALL), EACH_FILE / 2);
}

static int make_folders(void **state)
{
    const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

    (void)state;
    srand(1);
    confine_readers();
    snprintf(recorded, sizeof recorded, "%s/camp-power-XXXXXX", parent);
    snprintf(lost, sizeof lost, "%s/camp-power-XXXXXX", parent);
    return mkdtemp(recorded) == NULL || mkdtemp(lost) == NULL;
}

static int remove_folders(void **state)
{
    (void)state;
    power_disk_release();
    power_log_release();
    power_empty_folder(recorded);
    power_empty_folder(lost);
    sqlite3_vfs_find(NULL)->xSetSystemCall(sqlite3_vfs_find(NULL), "open", NULL);
    return rmdir(recorded) + rmdir(lost);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_power_failure_loses_at_most_the_running_interval,
                                        make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(a_disk_that_ignores_syncs_loses_written_intervals,
                                        make_folders, remove_folders),
    };

    tests_all = argc > 1 && strcmp(argv[1], "all") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
