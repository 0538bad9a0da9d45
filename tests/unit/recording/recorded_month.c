/*
 * Records a month in minutes, with a given clock and a given source (recorded_month.h), by the code
 * of camp record --rotate --keep. In this month the clock is set back and forward, a file has a
 * name in the future, another program holds a lock for 10 s, and the disk is full for eight hours.
 *
 * Each file is read when it is complete. Its intervals must be those that the source gave, without
 * missing time between them. Each interval must be in a file, or in one that --keep removed, and
 * --keep must remove no file too early or too late. The memory must not grow.
 *
 * recorded_month FOLDER: FOLDER is an empty file system of 160 MB, which the test may fill.
 */
#include "recorded_month.h"
#include "program/command.h"

#include <pthread.h>
#include <semaphore.h>
#include <sqlite3.h>

#define HOUR_NS (3600 * (int64_t)SECOND_NS)
#define LOCK_S 10
#define KEEP_BYTES (40 * 1000 * 1000)

static const char *folder;
static char future[256], filler[256];

/* The clock is set at the start of these days. */
static const struct {
    uint64_t day;
    int64_t hours;
} clock_steps[] = { { 4, -3 }, { 6, +5 }, { 10, -24 }, { 12, +24 }, { 22, -3 } };

static const uint64_t lock_days[] = { 8, 19, 24 };

/* By how much less or more than --keep a file may be kept, because the clock was set. */
#define EARLIER_NS (24 * HOUR_NS)
#define LATER_NS (24 * HOUR_NS + (int64_t)ROTATE_NS)

static uint64_t resident_kb(void)
{
    unsigned long size, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &size, &resident), 2);
    fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

static uint64_t real_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

struct lock {
    const char *path;
    sem_t is_held;
};

static void *hold_lock(void *context)
{
    struct lock *lock = context;
    sqlite3 *database;

    if (sqlite3_open(lock->path, &database) != SQLITE_OK ||
        sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        abort();
    sem_post(&lock->is_held);
    sleep(LOCK_S);
    sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(database);
    return NULL;
}

/* Writes an interval. Returns how long that took, if it waited for a lock of another program. */
static uint64_t write_frame(struct record_files *files, const struct frame *frame, bool is_locked)
{
    struct lock lock = { .path = files->path };
    uint64_t start_ns = 0;
    pthread_t thread;

    if (is_locked) {
        sem_init(&lock.is_held, 0, 0);
        assert_int_equal(pthread_create(&thread, NULL, hold_lock, &lock), 0);
        sem_wait(&lock.is_held);
        start_ns = real_ns();
    }
    assert_int_equal(record_files_write(files, frame, NULL, NULL), OPTIONS_GO_ON);
    if (!is_locked)
        return 0;
    start_ns = real_ns() - start_ns;
    pthread_join(thread, NULL);
    sem_destroy(&lock.is_held);
    return start_ns;
}

static void fill_disk(void)
{
    static const char zeros[65536];
    const int file = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    assert_true(file >= 0);
    while (write(file, zeros, sizeof zeros) > 0)
        continue;
    close(file);
}

/* What happens at the start of a day. */
static void start_day(struct record_files *files, uint64_t day)
{
    for (size_t i = 0; i < COUNT(clock_steps); i++) {
        if (clock_steps[i].day == day)
            month.ahead_ns += clock_steps[i].hours * HOUR_NS;
    }
    if (day == 15) /* as a power failure may leave it, or a wrong clock */
        close(open(future, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (day == 20) {
        files->keep_ns = 0;
        files->keep_bytes = KEEP_BYTES;
    }
}

/* --keep TIME goes by the wall clock, so a file is removed earlier or later if the clock was set.
 */
static void check_kept_time(void)
{
    for (size_t i = 0; i < month.count; i++) {
        const struct month_file *file = &month.files[i];
        const int64_t age_ns = (int64_t)(month.now_ns - file->end_ns);

        if (!file->is_removed && age_ns > (int64_t)KEEP_NS + LATER_NS)
            fail_msg("%s was not removed", file->path);
        if (file->is_removed && i + 1 < month.count && !month.files[i + 1].is_removed &&
            age_ns < (int64_t)KEEP_NS - EARLIER_NS)
            fail_msg("%s was removed after %d h", file->path, (int)(age_ns / HOUR_NS));
    }
}

/* Checks the file that was just completed, and which files are still there. */
static void end_file(const struct record_files *files, struct month_file *file)
{
    uint64_t size;

    if (access(file->path, F_OK) == 0) {
        month_check_file(file);
        month_set_file_time(file);
    }
    size = month_find_removed();
    if (files->keep_ns > 0)
        check_kept_time();
    else
        assert_true(size <= KEEP_BYTES + KEEP_BYTES / 4);
}

static bool is_lock_time(uint64_t number)
{
    for (size_t i = 0; i < COUNT(lock_days); i++) {
        if (number == (lock_days[i] * DAY_NS + 7 * DAY_NS / 24) / INTERVAL_NS)
            return true;
    }
    return false;
}

static void make_frame(struct frame *frame, uint64_t number, uint64_t waited_ns)
{
    static char note[64];

    labels_start_interval();
    frame_clear(frame);
    frame->start_ns = month.now_ns;
    month.now_ns += INTERVAL_NS + waited_ns;
    frame->end_ns = month.now_ns;
    frame->wall_clock_ns = (int64_t)month.now_ns + month.ahead_ns;
    month_fill(frame, number);
    snprintf(note, sizeof note, "note %d", (int)(number / 500));
    frame->note = note;
}

/* Records the month. Returns the memory after the second day. */
static uint64_t record_month(struct record_files *files)
{
    const uint64_t full_from = 27 * DAY_NS / INTERVAL_NS, full_to = full_from + 6000;
    uint64_t waited_ns = 0, memory_kb = 0;
    struct frame frame;

    frame_init(&frame, &month_schema);
    for (uint64_t number = 0; number < INTERVALS; number++) {
        const bool is_gap = waited_ns > 0;

        if (number % (DAY_NS / INTERVAL_NS) == 0)
            start_day(files, number * INTERVAL_NS / DAY_NS);
        if (number == 2 * DAY_NS / INTERVAL_NS)
            memory_kb = resident_kb();
        if (number == full_from)
            fill_disk();
        if (number == full_to)
            unlink(filler);
        make_frame(&frame, number, waited_ns);
        waited_ns = write_frame(files, &frame, is_lock_time(number));
        if (month_add(files->path, number, &frame, is_gap) && month.count > 1)
            end_file(files, &month.files[month.count - 2]);
    }
    frame_release(&frame);
    return memory_kb;
}

static void every_interval_of_a_month_is_written_or_counted(void **state)
{
    char output[256];
    struct record_files files = {
        .output = output,
        .rotate_ns = ROTATE_NS,
        .keep_ns = KEEP_NS,
        .about = { .source = "made", .tier = "made", .interval_ns = INTERVAL_NS },
    };
    uint64_t there = 0, removed = 0, unseen = 0, memory_kb, start_ns = real_ns();
    size_t files_there = 0;
    int64_t gaps = 0;

    (void)state;
    snprintf(output, sizeof output, "%s/run.camp", folder);
    snprintf(future, sizeof future, "%s/run-20990101T000000Z.camp", folder);
    snprintf(filler, sizeof filler, "%s/filler", folder);
    month.now_ns = 1000 * SECOND_NS;
    month.ahead_ns = 980000000 * (int64_t)SECOND_NS; /* the year 2001: all real times are later */
    memory_kb = record_month(&files);
    record_files_close(&files);
    end_file(&files, &month.files[month.count - 1]);
    for (size_t i = 0; i < month.count; i++) {
        const struct month_file *file = &month.files[i];

        *(file->is_removed ? &removed : &there) += file->count;
        files_there += !file->is_removed;
        unseen += file->unseen;
        gaps += file->gaps;
    }
    assert_int_equal(there + removed, INTERVALS);
    assert_int_equal(record_files_counts(&files).ticks, INTERVALS);
    assert_int_equal(gaps, COUNT(lock_days));
    print_message(
        "%d intervals in %d days: %d in %d files, %d in %d files that --keep removed, 0 "
        "lost; %d counted losses, %d gaps; resident memory %d kB after 2 days, %d kB after "
        "%d; %d s\n",
        (int)INTERVALS, DAYS, (int)there, (int)files_there, (int)removed,
        (int)(month.count - files_there), (int)unseen, (int)gaps, (int)memory_kb,
        (int)resident_kb(), DAYS, (int)((real_ns() - start_ns) / SECOND_NS));
    assert_true(resident_kb() < memory_kb + memory_kb / 20);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_interval_of_a_month_is_written_or_counted),
    };

    if (argc != 2)
        return 2;
    folder = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
