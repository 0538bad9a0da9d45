/*
 * Measures the cost of writing and reading a recording. The frames are synthetic. Each frame is one
 * second long, and ACTIVE_PERCENT of its threads are active.
 *
 *   recording write FILE THREADS INTERVALS ACTIVE_PERCENT
 *   recording read FILE
 *
 * An active thread wakes ten times in the interval, and its counters have realistic sizes. As in
 * the frames that `camp record` asks for, an idle thread has a row only in a key interval and in
 * the interval after its last activity (IDLE_OMITTED). Prints
 * one JSON object. `write` prints the CPU time of the recorder for an interval (median, mean,
 * maximum) and the size of the file. `read` prints the CPU time from opening the file to the last
 * frame.
 */
#include "recording/recording.h"
#include "recording/recorder.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STATES 16
#define COLUMNS 29
#define NS_PER_S 1000000000u

/* The columns that an active thread has. The column after SWITCHES is for another kind of
 * switches. */
enum { USER, SYSTEM, IRQ, TIMER = 11, RUN_QUEUE = 14, CALLS = 16, SWITCHES = 18, CPU = 26, DELAY };

static char names[COLUMNS][16];
static struct column columns[COLUMNS];
static struct schema schema = { "threads", columns, COLUMNS, STATES };

static void make_schema(void)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        snprintf(names[i], sizeof names[i], "column_%zu", i);
        columns[i] = (struct column){ names[i], names[i], "",
                                      i < STATES ? COLUMN_STATE : COLUMN_COUNTER, CAMP_MEASURED };
    }
}

static uint64_t random_below(uint64_t limit)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % limit;
}

static void wake_up(uint64_t *values)
{
    values[USER] = 40000 + random_below(80000);
    values[SYSTEM] = 40000 + random_below(80000);
    values[IRQ] = random_below(3) == 0 ? random_below(20000) : 0;
    values[RUN_QUEUE] = 100000 + random_below(1500000);
    values[TIMER] = NS_PER_S - values[USER] - values[SYSTEM] - values[IRQ] - values[RUN_QUEUE];
    values[CALLS] = 10;
    values[SWITCHES] = 10;
    values[SWITCHES + 1] = random_below(5) == 0;
    values[CPU] = 100000 + random_below(100000);
    values[DELAY] = 100000 + random_below(1500000);
}

static int add_thread(struct frame *frame, size_t thread, bool is_active)
{
    struct entity *entity = frame_add(frame);
    const size_t row = frame->entity_count - 1;

    if (entity == NULL)
        return -1;
    entity->id = entity->pid = (int32_t)thread + 1;
    snprintf(entity->name, sizeof entity->name, "thread %zu", thread);
    frame->elapsed_ns[row] = NS_PER_S;
    if (is_active)
        wake_up(frame_values(frame, row));
    else
        frame_values(frame, row)[TIMER] = NS_PER_S;
    return 0;
}

/* `was_active` has the threads that were active in the previous interval. */
static int make_frame(struct frame *frame, size_t threads, uint64_t active_percent, bool is_key,
                      bool *was_active)
{
    frame_clear(frame);
    frame->start_ns = frame->end_ns;
    frame->end_ns += NS_PER_S;
    frame->wall_clock_ns = 1795312800000000000 + (int64_t)frame->end_ns;
    for (size_t i = 0; i < threads; i++) {
        const bool is_active = random_below(100) < active_percent;

        if (!is_active && !was_active[i] && !is_key)
            frame->omitted++;
        else if (add_thread(frame, i, is_active) != 0)
            return -1;
        was_active[i] = is_active;
    }
    return 0;
}

static double cpu_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e3 * (double)time.tv_sec + (double)time.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;

    return left < right ? -1 : left > right;
}

static int fail(const struct camp_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    return 1;
}

static int write_file(const char *path, size_t threads, size_t intervals, uint64_t active_percent)
{
    const struct recorder_about about = { "synthetic", "threads", "bpf", "", NS_PER_S };
    double *took_ms = calloc(intervals, sizeof *took_ms), sum_ms = 0;
    bool *was_active = calloc(threads, sizeof *was_active);
    struct camp_error error = { 0 };
    struct recorder_counts counts;
    struct recorder *recorder;
    struct frame frame;

    frame_init(&frame, &schema);
    if (took_ms == NULL || was_active == NULL ||
        recorder_open(&recorder, path, &about, &error) != CAMP_OK)
        return fail(&error);
    for (size_t i = 0; i < intervals; i++) {
        double begin_ms;

        if (make_frame(&frame, threads, active_percent, i == 0 || recorder_wants_key(recorder),
                       was_active) != 0)
            return 1;
        begin_ms = cpu_ms();
        if (recorder_write(recorder, &frame, NULL, NULL, &error) != CAMP_OK)
            return fail(&error);
        took_ms[i] = cpu_ms() - begin_ms;
        sum_ms += took_ms[i];
    }
    counts = recorder_counts(recorder);
    recorder_close(recorder);
    qsort(took_ms, intervals, sizeof *took_ms, compare);
    printf("{\"ms\": %.4f, \"ms_mean\": %.4f, \"ms_max\": %.4f, \"rows\": %llu, \"written\": %llu, "
           "\"bytes\": %llu}\n",
           took_ms[intervals / 2], sum_ms / (double)intervals, took_ms[intervals - 1],
           (unsigned long long)counts.rows, (unsigned long long)counts.written,
           (unsigned long long)counts.bytes);
    return 0;
}

static int read_file(const char *path)
{
    const struct from from = { 0 };
    const double begin_ms = cpu_ms();
    struct camp_error error = { 0 };
    struct from_facts facts = { 0 };
    const struct frame *frame;
    unsigned long long frames = 0, rows = 0;
    double open_ms;
    struct source *source;
    int r = recording_source_open(&from, path, &source, &facts, &error);

    if (r != CAMP_OK)
        return fail(&error);
    open_ms = cpu_ms() - begin_ms;
    while ((r = source->next(source, 0, &frame, &error)) == CAMP_OK) {
        frames++;
        rows += frame->entity_count;
    }
    if (r != SOURCE_END)
        return fail(&error);
    printf("{\"ms\": %.2f, \"open_ms\": %.3f, \"frames\": %llu, \"rows\": %llu}\n",
           cpu_ms() - begin_ms, open_ms, frames, rows);
    source_close(source);
    return 0;
}

int main(int argc, char **argv)
{
    make_schema();
    if (argc == 6 && strcmp(argv[1], "write") == 0)
        return write_file(argv[2], strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10),
                          strtoul(argv[5], NULL, 10));
    if (argc == 3 && strcmp(argv[1], "read") == 0)
        return read_file(argv[2]);
    fprintf(stderr, "usage: recording write FILE THREADS INTERVALS ACTIVE_PERCENT | read FILE\n");
    return 2;
}
