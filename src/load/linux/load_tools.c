#include "load/load_tools.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "load/linux/cpu_set.h"
#include "program/command.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

uint64_t load_process_ns(void)
{
    return now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t load_thread_ns(void)
{
    return now_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t load_clock_step_ns(void)
{
    return 1;
}

int load_last_cpu(void)
{
    struct cpu_set allowed;
    int last;

    if (!cpu_set_read(&allowed))
        return -1;
    last = cpu_set_last(&allowed);
    cpu_set_release(&allowed);
    return last;
}

int load_tick_cpu(void)
{
    return load_last_cpu();
}

uint64_t load_timer_delay_ns(void)
{
    return 0;
}

static int stay_on(int cpu, struct camp_error *error)
{
    const int system_error = cpu_set_use_one(cpu);

    if (system_error == 0)
        return CAMP_OK;
    if (system_error == ENOMEM)
        return camp_fail(error, CAMP_E_NOMEM, ENOMEM, "no memory for a set of CPUs");
    return camp_fail(error, system_error == EINVAL ? CAMP_E_GONE : CAMP_E_PERM, system_error,
                     "CPU %d is unavailable: it is offline, absent or not allowed; "
                     "see /sys/devices/system/cpu/online",
                     cpu);
}

/* What load_place_set() changed in this thread. */
static _Thread_local struct {
    struct cpu_set cpus;
    int policy;
    struct sched_param parameter;
    int slack;
    bool known;
} saved;

int load_place_set(int cpu, struct camp_error *error)
{
    saved.policy = sched_getscheduler(0);
    saved.slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    cpu_set_release(&saved.cpus); /* if the caller sets a place twice */
    saved.known = cpu_set_read(&saved.cpus) && sched_getparam(0, &saved.parameter) == 0;
    load_precise_timers();
    return cpu >= 0 ? stay_on(cpu, error) : CAMP_OK;
}

void load_place_restore(void)
{
    if (saved.known) {
        sched_setscheduler(0, saved.policy, &saved.parameter);
        cpu_set_use(&saved.cpus);
        prctl(PR_SET_TIMERSLACK, saved.slack, 0, 0, 0);
    }
    cpu_set_release(&saved.cpus);
    saved.known = false;
}

void load_precise_timers(void)
{
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

bool load_become_realtime(void)
{
    const struct sched_param parameter = { .sched_priority = 1 };

    return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameter) == 0;
}

int32_t load_thread_id(void)
{
    return (int32_t)gettid();
}

/* All signals are blocked in the thread, so that they interrupt the thread that runs the load. */
int load_helper_start(pthread_t *ret, void *(*run)(void *argument), void *argument)
{
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    failed = pthread_create(ret, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed == 0)
        pthread_setname_np(*ret, "camp-waker");
    return failed;
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };
}

static int wait_once(sem_t *semaphore, uint64_t until_ns)
{
#ifdef HAS_SEM_CLOCKWAIT
    const struct timespec time = timespec_of(until_ns);

    return sem_clockwait(semaphore, CLOCK_MONOTONIC, &time);
#else /* musl: if the wall clock is set meanwhile, the wait ends earlier or later */
    const uint64_t now = now_ns(CLOCK_MONOTONIC);
    const struct timespec time =
        timespec_of(now_ns(CLOCK_REALTIME) + (until_ns > now ? until_ns - now : 0));

    return sem_timedwait(semaphore, &time);
#endif
}

bool load_semaphore_wait(sem_t *semaphore, uint64_t until_ns)
{
    while (wait_once(semaphore, until_ns) != 0)
        if (errno != EINTR || stop_requested)
            return false;
    return true;
}

long load_preemptions(void)
{
    struct rusage usage = { .ru_nivcsw = 0 };

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

struct load_faults load_faults(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return (struct load_faults){ .has_all = false };
    return (struct load_faults){ true, true, (uint64_t)(usage.ru_minflt + usage.ru_majflt),
                                 (uint64_t)usage.ru_minflt, (uint64_t)usage.ru_majflt };
}

static uint64_t ns_of_timeval(struct timeval time)
{
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_usec * NS_PER_US;
}

struct load_split load_split(void)
{
    struct rusage usage = { .ru_nivcsw = 0 };

    getrusage(RUSAGE_SELF, &usage);
    return (struct load_split){ ns_of_timeval(usage.ru_utime), ns_of_timeval(usage.ru_stime),
                                NS_PER_US };
}

const char *load_refusal(enum load_wish wish)
{
    (void)wish;
    return NULL;
}
