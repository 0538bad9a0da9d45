/*
 * Measures how old the CPU time of a running thread is when another process reads it. The time is
 * read in a snapshot of microstates and by clock_getcpuclockid(3). The scheduler updates the clock
 * of another process only at a tick or a context switch.
 *
 * A child process spins on another CPU. This program reads the CPU time of the child, and then asks
 * the child for its own clock, which the kernel updates at the call. The child runs without a pause
 * from the reading to its answer, so its true CPU time at the reading is known. The age of the
 * reading is the true CPU time minus the CPU time that was read.
 *
 * The CPU clock is the same counter in both processes, so its values are subtracted directly. A
 * snapshot counts from another point of a context switch than the scheduler, so the increments
 * between two snapshots are subtracted. The snapshots are 0.2 to 0.7 ms apart, and the child
 * answers just after the first snapshot. If a snapshot had only the time of the last event or tick,
 * then its age would show that. The snapshots cannot be further apart, because the scheduler does
 * not know the time that a hypervisor steals. A round with stolen time is repeated.
 *
 *   age COUNT       prints {"states_us": [...], "clock_us": [...]}, the absolute ages
 */
#include <camp/states.h>

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MAX 10000
#define TRIES 10
#define KEPT_NS 20000 /* a longer gap is a pause, not an interrupt */
#define TICK_US 4000
#define APART_US 200

struct shared {
    atomic_int asked;
    uint64_t time_ns, cpu_ns; /* the answer: the CPU time of the spinning process at time_ns */
    uint64_t runs_since_ns;   /* the end of the last pause of the spinning process */
};

/* The CPU time of the spinning process at time_ns, as read and by its own clock. */
struct reading {
    uint64_t time_ns, cpu_ns, own_ns;
};

static struct camp_states *session;
static struct camp_thread_states *threads;
static size_t capacity;
static struct shared *shared;
static clockid_t clock_outside;
static pid_t spinner;

static uint64_t now_of(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t last_ns; /* when the spinning process last ran */

/* A gap between two calls shows that another task had the CPU. */
static void note_that_it_runs(void)
{
    uint64_t now = now_of(CLOCK_MONOTONIC);

    if (now - last_ns > KEPT_NS)
        shared->runs_since_ns = now;
    last_ns = now;
}

/* The first clock calls after a pause are slow, because the kernel's code is not in a cache. Only
 * the last call counts. */
static void answer(void)
{
    for (int i = 0; i < 5; i++) {
        uint64_t before = last_ns;

        shared->cpu_ns = now_of(CLOCK_THREAD_CPUTIME_ID);
        note_that_it_runs();
        shared->time_ns = before + (last_ns - before) / 2;
    }
    atomic_store(&shared->asked, 0);
}

static void spin(void)
{
    for (;;) {
        note_that_it_runs();
        if (atomic_load(&shared->asked))
            answer();
    }
}

static void stay_on(size_t cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* Finds the first and the last CPU that this process may use. Returns -1 if there is only one CPU.
 */
static int two_cpus(size_t *ret_first, size_t *ret_last)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < 2)
        return -1;
    for (*ret_first = 0; !CPU_ISSET(*ret_first, &set);)
        ++*ret_first;
    for (*ret_last = CPU_SETSIZE - 1; !CPU_ISSET(*ret_last, &set);)
        --*ret_last;
    return 0;
}

static const char *start_spinner(void)
{
    size_t first, last;

    if (two_cpus(&first, &last) != 0)
        return "needs two CPUs";
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return "out of memory";
    spinner = fork();
    if (spinner == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        stay_on(last);
        setpriority(PRIO_PROCESS, 0, -20);
        spin();
    }
    stay_on(first);
    return spinner > 0 && clock_getcpuclockid(spinner, &clock_outside) == 0 ? NULL : "no process";
}

static void end_spinner(void)
{
    if (spinner <= 0)
        return;
    kill(spinner, SIGKILL);
    waitpid(spinner, NULL, 0);
}

static const char *open_session(void)
{
    static struct camp_error error;
    size_t count;

    if (camp_states_open(&session, 0, &error) != CAMP_OK)
        return error.message;
    camp_states_threads(session, NULL, 0, 0, &count, NULL);
    capacity = count + count / 4 + 1000;
    threads = calloc(capacity, sizeof *threads);
    return threads != NULL ? NULL : "out of memory";
}

static void read_clock(struct reading *ret)
{
    ret->cpu_ns = now_of(clock_outside);
    ret->time_ns = now_of(CLOCK_MONOTONIC);
}

static int read_states(struct reading *ret)
{
    size_t count;

    if (camp_states_threads(session, threads, sizeof *threads, capacity, &count, NULL) != CAMP_OK)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *states = threads[i].state_ns;

        if (threads[i].tid != spinner)
            continue;
        ret->time_ns = threads[i].time_ns;
        ret->cpu_ns = states[CAMP_STATE_USER] + states[CAMP_STATE_SYSTEM] +
                      states[CAMP_STATE_TRAP] + states[CAMP_STATE_IRQ];
        return 1;
    }
    return 0;
}

static void ask(void)
{
    atomic_store(&shared->asked, 1);
    while (atomic_load(&shared->asked))
        continue;
}

/* The process ran all the time, so its clock advanced like CLOCK_MONOTONIC since the reading. */
static void complete(struct reading *reading)
{
    reading->own_ns = shared->cpu_ns - (shared->time_ns - reading->time_ns);
}

static void sleep_us(size_t us)
{
    const struct timespec time = { .tv_nsec = (long)us * 1000 };

    nanosleep(&time, NULL);
}

static double us_of(uint64_t is, uint64_t ought)
{
    return (double)llabs((int64_t)(ought - is)) / 1e3;
}

/* Returns whether the process ran without a pause from the first reading to the last answer. */
static int take_round(size_t number, double *ret_states_us, double *ret_clock_us)
{
    struct reading clock, first, second;
    int found;

    sleep_us(TICK_US + number * 2617 % TICK_US);
    read_clock(&clock);
    found = read_states(&first);
    ask();
    complete(&clock);
    complete(&first);
    sleep_us(APART_US + number * 37 % 500);
    found &= read_states(&second);
    ask();
    complete(&second);
    *ret_clock_us = us_of(clock.cpu_ns, clock.own_ns);
    *ret_states_us = us_of(second.cpu_ns - first.cpu_ns, second.own_ns - first.own_ns);
    return found && shared->runs_since_ns < clock.time_ns;
}

static size_t take_rounds(size_t rounds, double *ret_states_us, double *ret_clock_us)
{
    size_t count = 0;

    for (size_t i = 0; i < TRIES * rounds && count < rounds; i++)
        count += take_round(i, &ret_states_us[count], &ret_clock_us[count]) != 0;
    return count;
}

static void print(const char *name, const double *us, size_t count)
{
    printf("\"%s\": [", name);
    for (size_t i = 0; i < count; i++)
        printf("%s%.3f", i == 0 ? "" : ", ", us[i]);
    printf("]");
}

int main(int argc, char **argv)
{
    static double states_us[ROUNDS_MAX], clock_us[ROUNDS_MAX];
    size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    const char *problem = rounds == 0 || rounds > ROUNDS_MAX ? "how many rounds?" : start_spinner();

    if (problem == NULL)
        problem = open_session();
    if (problem == NULL && take_rounds(rounds, states_us, clock_us) < rounds)
        problem = "the thread hardly ran: other work has its CPU";
    end_spinner();
    if (problem != NULL) {
        fprintf(stderr, "age: %s\n", problem);
        return 1;
    }
    printf("{");
    print("states_us", states_us, rounds);
    printf(", ");
    print("clock_us", clock_us, rounds);
    printf("}\n");
    return 0;
}
