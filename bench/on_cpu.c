/*
 * Measures how far two definitions of CPU time are apart for threads that run briefly at each
 * wakeup: the time between the switch to a thread and the switch away from it, which microstates
 * charge to the states on a CPU, and the scheduler's sum_exec_runtime, which is cpu_ns.
 *
 * The scheduler does not read its clock in a switch that a wakeup has just requested
 * (rq_clock_skip_update() in kernel/sched/core.c). The thread that comes is then charged from its
 * wakeup on. Where the CPU was idle, the end of the interrupt and of the idle state lie between the
 * two. They are in cpu_ns, and in the state run_queue, but not in run_delay_ns.
 *
 *   on_cpu CPU SECONDS
 *
 * A line of JSON for each load: two threads that wake each other on one CPU ("pair"), or one thread
 * that a timer wakes ("timer"), with work_us of work at each wakeup. All times are ns a run on the
 * CPU: states_ns (user + system + irq), cpu_ns, cpu_more_ns (the difference), queue_more_ns
 * (run_queue - run_delay_ns), and cpu_unattached_ns, which is cpu_ns while no session is open.
 */
#include "switching.h"

#include <camp/states.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS_MAX 65536u
#define PAUSE_NS 50000
#define SETTLE_US 50000

struct reading {
    uint64_t states_ns, cpu_ns, queue_ns, delay_ns, switches;
};

static struct camp_thread_states *threads;
static size_t cpu;
static unsigned seconds;

static void work(uint64_t work_ns)
{
    uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + work_ns;

    while (work_ns > 0 && clock_ns(CLOCK_MONOTONIC) < end_ns)
        continue;
}

static void start_child(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (pin(cpu) != 0)
        _exit(1);
}

static void pass_bytes(int from, int to, uint64_t work_ns)
{
    char byte;

    start_child();
    while (read(from, &byte, 1) == 1) {
        work(work_ns);
        if (write(to, &byte, 1) != 1)
            break;
    }
    _exit(0);
}

static void sleep_and_work(uint64_t work_ns)
{
    const struct timespec pause = { 0, PAUSE_NS };

    start_child();
    for (;;) {
        nanosleep(&pause, NULL);
        work(work_ns);
    }
}

static void start(bool is_pair, uint64_t work_ns, pid_t children[2])
{
    int there[2], back[2];

    if (pipe(there) != 0 || pipe(back) != 0) {
        perror("on_cpu");
        exit(1);
    }
    for (int i = 0; i < 1 + is_pair; i++) {
        children[i] = fork();
        if (children[i] == 0 && !is_pair)
            sleep_and_work(work_ns);
        if (children[i] == 0)
            pass_bytes(i == 0 ? there[0] : back[0], i == 0 ? back[1] : there[1], work_ns);
    }
    if (write(there[1], "", 1) != 1)
        perror("on_cpu");
    for (int i = 0; i < 2; i++) {
        close(there[i]);
        close(back[i]);
    }
}

static bool read_states(struct camp_states *session, pid_t pid, struct reading *ret)
{
    size_t count = 0;

    if (camp_states_threads(session, threads, sizeof *threads, THREADS_MAX, &count, NULL) !=
        CAMP_OK)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct camp_thread_states *thread = &threads[i];

        if (thread->tid != pid)
            continue;
        *ret = (struct reading){
            thread->state_ns[CAMP_STATE_USER] + thread->state_ns[CAMP_STATE_SYSTEM] +
                thread->state_ns[CAMP_STATE_TRAP] + thread->state_ns[CAMP_STATE_IRQ],
            thread->cpu_ns,
            thread->state_ns[CAMP_STATE_RUN_QUEUE],
            thread->run_delay_ns,
            thread->voluntary_switches + thread->involuntary_switches,
        };
        return true;
    }
    return false;
}

static bool read_clock(pid_t pid, struct reading *ret)
{
    char path[64], line[128];
    clockid_t clock;
    FILE *status;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    status = fopen(path, "r");
    if (status == NULL || clock_getcpuclockid(pid, &clock) != 0)
        return false;
    *ret = (struct reading){ .cpu_ns = clock_ns(clock) };
    while (fgets(line, sizeof line, status) != NULL) {
        const char *colon = strchr(line, ':');

        if (colon != NULL && strstr(line, "voluntary_ctxt_switches") != NULL)
            ret->switches += strtoull(colon + 1, NULL, 10);
    }
    fclose(status);
    return true;
}

static bool read_either(struct camp_states *session, pid_t pid, struct reading *ret)
{
    return session != NULL ? read_states(session, pid, ret) : read_clock(pid, ret);
}

/* Returns the growth of each number within the measured time. */
static bool measure(struct camp_states *session, pid_t pid, struct reading *ret)
{
    struct reading before, after;

    usleep(SETTLE_US);
    if (!read_either(session, pid, &before))
        return false;
    sleep(seconds);
    if (!read_either(session, pid, &after))
        return false;
    *ret = (struct reading){
        after.states_ns - before.states_ns, after.cpu_ns - before.cpu_ns,
        after.queue_ns - before.queue_ns,   after.delay_ns - before.delay_ns,
        after.switches - before.switches,
    };
    return ret->switches > 0;
}

static int run(bool is_pair, uint64_t work_ns)
{
    struct camp_states *session = NULL;
    struct camp_error error = { 0 };
    struct reading attached, unattached;
    pid_t children[2] = { 0 };
    bool ok;

    start(is_pair, work_ns, children);
    ok = measure(NULL, children[0], &unattached);
    if (ok && camp_states_open(&session, CAMP_STATES_NO_SYSCALLS, &error) != CAMP_OK)
        fprintf(stderr, "on_cpu: %s\n", error.message);
    ok = session != NULL && measure(session, children[0], &attached);
    camp_states_close(session);
    for (int i = 0; i < 1 + is_pair; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    if (!ok) {
        fprintf(stderr, "on_cpu: the load ended, or no session could be read\n");
        return 1;
    }
    printf("{\"load\": \"%s\", \"work_us\": %.0f, \"states_ns\": %.0f, \"cpu_ns\": %.0f, "
           "\"cpu_more_ns\": %.0f, \"cpu_more_percent\": %.1f, \"queue_more_ns\": %.0f, "
           "\"cpu_unattached_ns\": %.0f}\n",
           is_pair ? "pair" : "timer", (double)work_ns / 1e3,
           (double)attached.states_ns / (double)attached.switches,
           (double)attached.cpu_ns / (double)attached.switches,
           ((double)attached.cpu_ns - (double)attached.states_ns) / (double)attached.switches,
           100 * ((double)attached.cpu_ns / (double)attached.states_ns - 1),
           ((double)attached.queue_ns - (double)attached.delay_ns) / (double)attached.switches,
           (double)unattached.cpu_ns / (double)unattached.switches);
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    static const uint64_t works_us[] = { 0, 2, 10, 100, 1000 };
    int status = 0;

    if (argc < 3) {
        fprintf(stderr, "on_cpu: which CPU, how many seconds a load?\n");
        return 2;
    }
    cpu = strtoul(argv[1], NULL, 10);
    seconds = (unsigned)strtoul(argv[2], NULL, 10);
    threads = calloc(THREADS_MAX, sizeof *threads);
    if (threads == NULL)
        return 1;
    for (int is_pair = 1; is_pair >= 0; is_pair--)
        for (size_t i = 0; i < sizeof works_us / sizeof works_us[0] && status == 0; i++)
            status = run(is_pair == 1, works_us[i] * 1000);
    free(threads);
    return status;
}
