/*
 * Verifies CPU time by cycles and by ticks. Cycles are measured: the load measures the same cycles,
 * but with a rate of its own. Ticks are samples: over a load that never sleeps they miss only the
 * ticks in which another thread had the CPU.
 *
 * On Wine, user and system time are those of the host, in steps of 10 ms.
 */
#include "verify_trials.h"

#include "counters/clock.h"
#include "load/load_tools.h"
#include "program/command.h"
#include "program/tick.h"

#include <camp/system.h>

#include <math.h>

#define FULL_NS (1500ull * NS_PER_MS)
#define HALF_NS (1500ull * NS_PER_MS)
#define PHASE_NS (1500ull * NS_PER_MS)
#define STATES_NS (2000ull * NS_PER_MS)
#define THREADS_MAX 64
#define RATE_ERROR 0.002 /* ~MHz has whole MHz, and the kernel measured it only once */
/* The share of a load that ticks may miss or add, because other threads ran at some of them. */
#define SAMPLED_ERROR 0.05

/* How wrong the growth of user and system time may be, each of which has steps, and the growth of
 * the load's own clock. */
static double steps_ms(void)
{
    return (2.0 * (double)load_split().step_ns + (double)load_clock_step_ns()) / MS;
}

void verify_cycles(struct verification *verification)
{
    struct camp_kernel kernel;
    struct camp_error error = { 0 };

    camp_kernel_read(NULL, &kernel, sizeof kernel, &error);
    if (has_failed(verification, "cycles-rate", &error) ||
        !is_known(verification, "cycles-rate", kernel.known, CAMP_KERNEL_CYCLES, "cycles"))
        return;
    if (clock_has_cycles())
        decide(verification, "cycles-rate", cycles_per_second() / 1e6,
               (double)kernel.cycles_hz / 1e6, RATE_ERROR * cycles_per_second() / 1e6);
    else
        not_tested(verification, "cycles-rate", "this processor has no time-stamp counter");
}

/* User and system time of all threads of the subject. */
static double threads_ms(const struct subject *subject, struct camp_error *error)
{
    static struct camp_thread threads[THREADS_MAX];
    double sum = 0;
    size_t count = 0;

    camp_thread_list(NULL, &subject->process, threads, sizeof threads[0], THREADS_MAX, &count,
                     error);
    for (size_t i = 0; i < count && error->code == CAMP_OK; i++) {
        struct camp_task task = { .known = 0 };

        camp_thread_read(NULL, &threads[i], CAMP_TASK_USER | CAMP_TASK_SYSTEM, &task, sizeof task,
                         error);
        sum += (double)(task.user_ns + task.system_ns) / MS;
    }
    return sum;
}

static void judge_process(struct verification *verification, const struct observed *observed)
{
    const struct camp_task *a = &observed->before, *b = &observed->after;
    const double own = (double)subject_record(&observed->subject)->own_ns / MS;
    const double step = steps_ms();

    if (is_observed(verification, "cpu-measured", observed, CAMP_TASK_CPU | CAMP_TASK_CYCLES,
                    "cycles"))
        decide(verification, "cpu-measured", own, (double)(b->cpu_ns - a->cpu_ns) / MS,
               own * RATE_ERROR + 2);
    if (is_observed(verification, "cpu-sampled", observed, CAMP_TASK_SAMPLED, "ticks"))
        decide(verification, "cpu-sampled", own, (double)(b->sampled_ns - a->sampled_ns) / MS,
               own * SAMPLED_ERROR + 2 * (double)tick_length_ns() / MS);
    if (is_observed(verification, "cpu-user-system", observed, CAMP_TASK_USER | CAMP_TASK_SYSTEM,
                    "user and system time"))
        decide(verification, "cpu-user-system", own,
               (double)(b->user_ns + b->system_ns - a->user_ns - a->system_ns) / MS,
               own * SAMPLED_ERROR + step);
}

/* The load never sleeps, so its CPU is never idle. */
static void judge_pinned(struct verification *verification, const struct camp_cpu *before,
                         const struct camp_cpu *after, const struct camp_error *error)
{
    struct camp_utilisation of;
    struct camp_error library = *error;

    if (library.code == CAMP_OK)
        library.code = camp_cpu_difference(before, after, 1, NULL, &of, sizeof of);
    if (!has_failed(verification, "cpu-pinned", &library))
        decide_between(verification, "cpu-pinned", 100, 100 - of.idle_percent,
                       5 + 2 * of.resolution_percent, 1 + of.resolution_percent);
}

/* The CPU is read at the first and the last moment at which the load surely runs. */
struct pinned_reading {
    int32_t cpu;
    struct camp_cpu before, after;
    struct camp_error error;
};

static DWORD WINAPI read_pinned(void *argument)
{
    struct pinned_reading *reading = argument;
    const uint64_t start_ns = now_ns(CLOCK_MONOTONIC);

    sleep_until(start_ns + FULL_NS / 5);
    camp_cpu_read(NULL, reading->cpu, &reading->before, sizeof reading->before, &reading->error);
    sleep_until(start_ns + FULL_NS / 5 * 4);
    if (reading->error.code == CAMP_OK)
        camp_cpu_read(NULL, reading->cpu, &reading->after, sizeof reading->after, &reading->error);
    return 0;
}

static int run_full(struct observed *observed, struct pinned_reading *reading, double *ret_threads,
                    struct camp_error *threads_error, struct camp_error *error)
{
    const struct load_cpu_plan plan = { .percent = 100,
                                        .cpu = reading->cpu,
                                        .duration_ns = FULL_NS };
    int r = subject_open(&observed->subject, ACT_CPU, &plan, sizeof plan, error);
    HANDLE thread;

    if (r != CAMP_OK)
        return r;
    camp_process_read(NULL, &observed->subject.process, CAMP_TASK_ALL, &observed->before,
                      sizeof observed->before, &observed->library);
    *ret_threads = -threads_ms(&observed->subject, threads_error);
    thread = CreateThread(NULL, 0, read_pinned, reading, 0, NULL);
    if (thread == NULL)
        return windows_failed(error, GetLastError(), "a thread");
    r = subject_do(&observed->subject, error);
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
    if (observed->library.code == CAMP_OK)
        camp_process_read(NULL, &observed->subject.process, CAMP_TASK_ALL, &observed->after,
                          sizeof observed->after, &observed->library);
    *ret_threads += threads_ms(&observed->subject, threads_error);
    return r;
}

void verify_full(struct verification *verification)
{
    struct observed observed = { .before = { .known = 0 } };
    struct pinned_reading reading = { .cpu = load_last_cpu() };
    struct camp_error error = { 0 }, threads_error = { 0 };
    double threads = 0, own;
    int r = run_full(&observed, &reading, &threads, &threads_error, &error);

    if (trial_succeeded(verification, r, &error, NULL)) {
        own = (double)subject_record(&observed.subject)->own_ns / MS;
        judge_process(verification, &observed);
        judge_pinned(verification, &reading.before, &reading.after, &reading.error);
        if (!has_failed(verification, "cpu-threads", &threads_error))
            decide(verification, "cpu-threads", own, threads, own * SAMPLED_ERROR + steps_ms());
    }
    subject_end(&observed.subject);
}

void verify_half(struct verification *verification)
{
    const struct load_cpu_plan plan = { .percent = 40, .cpu = -1, .duration_ns = HALF_NS };
    struct camp_task_utilisation used = { .cpu_percent = 0 };
    struct camp_task previous;
    struct subject subject;
    struct camp_error error = { 0 }, library = { 0 };
    uint64_t start_ns = 0;
    int r = subject_open(&subject, ACT_CPU, &plan, sizeof plan, &error);

    if (r == CAMP_OK) {
        camp_process_read(NULL, &subject.process, CAMP_TASK_CPU | CAMP_TASK_USER | CAMP_TASK_SYSTEM,
                          &previous, sizeof previous, &library);
        start_ns = now_ns(CLOCK_MONOTONIC);
        r = subject_do(&subject, &error);
    }
    if (r == CAMP_OK && library.code == CAMP_OK &&
        !is_known(verification, "cpu-half", previous.known, CAMP_TASK_CPU, "cycles"))
        goto out;
    if (r == CAMP_OK && library.code == CAMP_OK)
        camp_process_utilisation(NULL, &subject.process, 0, &previous, &used, sizeof used,
                                 &library);
    if (trial_succeeded(verification, r, &error, &library)) {
        const double wall = (double)(now_ns(CLOCK_MONOTONIC) - start_ns);
        const double own = 100 * (double)subject_record(&subject)->own_ns / wall;

        decide(verification, "cpu-half", own, used.cpu_percent, 2);
    }
out:
    subject_end(&subject);
}

struct states {
    struct camp_cpu *before, *after; /* [count]; first the total */
    size_t count;
};

static int states_allocate(struct states *ret, struct camp_error *error)
{
    size_t cpus;
    int r = camp_cpu_count(NULL, &cpus, error);

    if (r != CAMP_OK)
        return r;
    ret->count = cpus + 1;
    ret->before = calloc(ret->count, sizeof *ret->before);
    ret->after = calloc(ret->count, sizeof *ret->after);
    return ret->before != NULL && ret->after != NULL ? CAMP_OK : CAMP_E_NOMEM;
}

static void states_release(struct states *states)
{
    free(states->before);
    free(states->after);
}

static double sum_ms(const struct camp_cpu *cpu)
{
    return (double)(cpu->user_ns + cpu->system_ns + cpu->idle_ns + cpu->irq_ns + cpu->softirq_ns) /
           MS;
}

/* The row "cpu-sum" shows the CPU whose sum is furthest from the wall time. */
static void judge_states(struct verification *verification, const struct states *states)
{
    const struct camp_cpu *all = &states->after[0], *first = &states->before[0];
    double worst = 0, wall = 1, sums = 0;
    const double step = 2 * (double)all->resolution_ns / MS;

    for (size_t i = 1; i < states->count; i++) {
        const double elapsed = (double)(states->after[i].time_ns - states->before[i].time_ns) / MS;
        const double sum = sum_ms(&states->after[i]) - sum_ms(&states->before[i]);

        sums += sum;
        if (i == 1 || fabs(sum - elapsed) > fabs(worst - wall)) {
            worst = sum;
            wall = elapsed;
        }
    }
    /* A virtual CPU may lose time to its hypervisor, and each state has a step of its own. */
    decide_between(verification, "cpu-sum", wall, worst, 0.05 * wall + 3 * step, 5 * step);
    decide(verification, "cpu-total", sums, sum_ms(all) - sum_ms(first),
           step * (double)states->count);
}

static void judge_cycles(struct verification *verification, const struct states *states)
{
    const uint32_t known = states->before[0].known & states->after[0].known;
    double cycles = 0, ticks = 0, wall = 0, exceeding = 0;

    if (!is_known(verification, "cpu-idle-limit", known, CAMP_CPU_IDLE_CYCLES, "idle cycles"))
        is_known(verification, "cpu-idle-cycles", known, CAMP_CPU_IDLE_CYCLES, "idle cycles");
    if (!(known & CAMP_CPU_IDLE_CYCLES))
        return;
    for (size_t i = 1; i < states->count; i++) {
        const struct camp_cpu *a = &states->before[i], *b = &states->after[i];
        const double elapsed = (double)(b->time_ns - a->time_ns);

        exceeding += (double)(b->idle_cycles_ns - a->idle_cycles_ns) > 1.01 * elapsed;
        cycles += (double)(b->idle_cycles_ns - a->idle_cycles_ns);
        ticks += (double)(b->idle_ns - a->idle_ns);
        wall += elapsed;
    }
    decide(verification, "cpu-idle-limit", 0, exceeding, 0);
    decide(verification, "cpu-idle-cycles", 100 * ticks / wall, 100 * cycles / wall, 8);
}

void verify_cpu_states(struct verification *verification)
{
    struct states states = { 0 };
    struct camp_system before = { .known = 0 }, after = { .known = 0 };
    struct camp_error error = { 0 }, system_error = { 0 };
    size_t first = 0, count = 0;

    error.code = states_allocate(&states, &error);
    if (error.code == CAMP_OK)
        camp_cpu_read_all(NULL, states.before, sizeof states.before[0], states.count, &first,
                          &error);
    camp_system_read(NULL, CAMP_SYSTEM_INTERRUPTS, &before, sizeof before, &system_error);
    sleep_until(now_ns(CLOCK_MONOTONIC) + STATES_NS);
    if (error.code == CAMP_OK)
        camp_cpu_read_all(NULL, states.after, sizeof states.after[0], states.count, &count, &error);
    camp_system_read(NULL, CAMP_SYSTEM_INTERRUPTS, &after, sizeof after, &system_error);
    if (!has_failed(verification, "system-interrupts", &system_error) &&
        is_known(verification, "system-interrupts", before.known & after.known,
                 CAMP_SYSTEM_INTERRUPTS, "interrupts"))
        decide_between(verification, "system-interrupts", 1,
                       (double)(uint32_t)(after.interrupts - before.interrupts), 0, ANY);
    if (error.code == CAMP_OK && (first != states.count || count != states.count))
        error = (struct camp_error){ .code = CAMP_E_NOTSUP, .message = "a CPU came or went" };
    if (trial_succeeded(verification, CAMP_OK, &error, &error) && states.before != NULL &&
        states.after != NULL) {
        judge_states(verification, &states);
        judge_cycles(verification, &states);
    }
    states_release(&states);
}

/* A load that is locked to the tick: it knows how much of it ticks can see. `measured` and
 * `sampled` are its rows. */
static void run_phase(struct verification *verification, enum load_phase phase,
                      const char *measured, const char *sampled)
{
    const bool is_between = phase == LOAD_BETWEEN_TICKS;
    const struct load_cpu_plan plan = {
        .percent = is_between ? 60 : 20, .phase = phase, .cpu = -1, .duration_ns = PHASE_NS
    };
    struct observed observed = { .before = { .known = 0 } };
    struct camp_error error = { 0 };
    int r = observe(&observed, ACT_CPU, &plan, sizeof plan, &error);

    if (trial_succeeded(verification, r, &error, NULL)) {
        const struct load_cpu_truth *truth = subject_truth(&observed.subject);
        const struct camp_task *a = &observed.before, *b = &observed.after;
        const double own = (double)subject_record(&observed.subject)->own_ns / MS;
        const double sampled_ns = (double)(b->sampled_ns - a->sampled_ns);
        /* Ticks also charge the search for the tick, before the load. */
        const double share = 100 * (sampled_ns - (double)truth->search_ns) / (double)truth->wall_ns;

        if (is_observed(verification, measured, &observed, CAMP_TASK_CPU | CAMP_TASK_CYCLES,
                        "cycles"))
            decide(verification, measured, own, (double)(b->cpu_ns - a->cpu_ns) / MS,
                   own * RATE_ERROR + 2);
        if (is_observed(verification, sampled, &observed, CAMP_TASK_SAMPLED, "ticks"))
            decide(verification, sampled,
                   is_between ? 100 - truth->sampled_percent : truth->sampled_percent,
                   is_between ? 100 - share : share, 15);
    }
    subject_end(&observed.subject);
}

void verify_between_ticks(struct verification *verification)
{
    run_phase(verification, LOAD_BETWEEN_TICKS, "phase-between-measured", "phase-between-sampled");
}

void verify_across_ticks(struct verification *verification)
{
    run_phase(verification, LOAD_ACROSS_TICKS, "phase-across-measured", "phase-across-sampled");
}
