/*
 * Measures snapshots of all threads. Prints the CPU time of each snapshot in ms, the number of
 * threads and the peak resident memory of this process. Also prints the CPU time and the wall time
 * to load and attach the BPF programs.
 *
 *   snapshot camp|visit|floor COUNT [CHANGED OUT IN]
 *
 * camp takes snapshots with a session of microstates, and gets the readings of all threads. visit
 * gets what happened since the previous snapshot. floor uses a BPF iterator that visits all threads
 * and outputs nothing. Before each snapshot, CHANGED threads of a crowd (crowd.c) are woken: its
 * input and output are the descriptors OUT and IN.
 */
#include "floor.skel.h"

#include <camp/states.h>

#include <bpf/bpf.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static struct camp_states *session;
static struct camp_thread_states *threads;
static size_t capacity, count;
static struct floor_bpf *empty;

static uint64_t now_of(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double ms_since(clockid_t id, uint64_t before)
{
    return (double)(now_of(id) - before) / 1e6;
}

static int camp_open(void)
{
    struct camp_error error = { 0 };

    if (camp_states_open(&session, 0, &error) != CAMP_OK) {
        fprintf(stderr, "snapshot: %s\n", error.message);
        return -1;
    }
    camp_states_threads(session, NULL, 0, 0, &count, NULL);
    capacity = count + count / 4 + 100;
    threads = calloc(capacity, sizeof *threads);
    return threads != NULL ? 0 : -1;
}

static int camp_take(void)
{
    return camp_states_threads(session, threads, sizeof *threads, capacity, &count, NULL);
}

static void see(void *context, const struct camp_thread_states *before,
                const struct camp_thread_states *now, uint32_t *note)
{
    (void)context, (void)before, (void)now, (void)note;
    count++;
}

static void see_last(void *context, const struct camp_thread_states *before,
                     const struct camp_thread_states *last, uint32_t note)
{
    (void)context, (void)before, (void)last, (void)note;
}

static void see_missed(void *context, const struct camp_thread_states *before, uint32_t note)
{
    (void)context, (void)before, (void)note;
}

static void see_idle(void *context, uint64_t time_ns)
{
    (void)context, (void)time_ns;
}

static int visit_take(void)
{
    const struct camp_states_visitor visitor = {
        .seen = see, .ended = see_last, .missed = see_missed, .idle = see_idle
    };

    count = 0;
    return camp_states_visit(session, &visitor, sizeof visitor, NULL);
}

static int floor_open(void)
{
    struct bpf_program *program;

    empty = floor_bpf__open();
    if (empty == NULL)
        return -1;
    bpf_object__for_each_program(program, empty->obj)
    {
        bpf_program__set_autoload(program, program == empty->progs.task);
    }
    return floor_bpf__load(empty) == 0 ? floor_bpf__attach(empty) : -1;
}

static int floor_take(void)
{
    int descriptor = bpf_iter_create(bpf_link__fd(empty->links.task));
    char nothing[64];
    ssize_t got = descriptor >= 0 ? read(descriptor, nothing, sizeof nothing) : -1;

    close(descriptor);
    return got == 0 ? 0 : -1;
}

static const struct taker {
    const char *who;
    int (*open)(void);
    int (*take)(void);
} takers[] = { { "camp", camp_open, camp_take },
               { "visit", camp_open, visit_take },
               { "floor", floor_open, floor_take } };

/* The crowd of which `changed` threads wake before each snapshot. */
static struct {
    size_t changed;
    int output, input;
} crowd;

static int wake_crowd(void)
{
    char line[32];

    if (crowd.changed == 0)
        return 0;
    if (dprintf(crowd.output, "%zu\n", crowd.changed) < 0)
        return -1;
    return read(crowd.input, line, sizeof line) > 0 ? 0 : -1;
}

static int open_it(const struct taker *taker)
{
    const uint64_t cpu_ns = now_of(CLOCK_THREAD_CPUTIME_ID), time_ns = now_of(CLOCK_MONOTONIC);

    if (taker->open() != 0)
        return -1;
    printf("{\"open_ms\": %.2f, \"open_wall_ms\": %.2f", ms_since(CLOCK_THREAD_CPUTIME_ID, cpu_ns),
           ms_since(CLOCK_MONOTONIC, time_ns));
    return 0;
}

/* The first snapshot is not measured, because it touches the memory for the first time. */
static int run(const struct taker *taker, size_t snapshots)
{
    struct rusage usage;

    if (open_it(taker) != 0 || taker->take() != 0)
        return 1;
    printf(", \"ms\": [");
    for (size_t i = 0; i < snapshots; i++) {
        uint64_t before;

        if (wake_crowd() != 0)
            return 1;
        before = now_of(CLOCK_THREAD_CPUTIME_ID);
        if (taker->take() != 0)
            return 1;
        printf("%s%.4f", i == 0 ? "" : ", ", ms_since(CLOCK_THREAD_CPUTIME_ID, before));
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("], \"threads\": %zu, \"resident_bytes\": %ld}\n", count, usage.ru_maxrss * 1024);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 5) {
        crowd.changed = strtoul(argv[3], NULL, 10);
        crowd.output = atoi(argv[4]);
        crowd.input = atoi(argv[5]);
    }
    for (size_t i = 0; argc > 2 && i < sizeof takers / sizeof *takers; i++) {
        if (strcmp(argv[1], takers[i].who) == 0)
            return run(&takers[i], strtoul(argv[2], NULL, 10));
    }
    fprintf(stderr, "snapshot: who, how many? camp, visit or floor\n");
    return 2;
}
