#include "load/load_tools.h"
#include "load_system.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "program/command.h"

#include <errno.h>
#include <psapi.h>

#define CPUS_OF_GROUP 64 /* the id of a CPU is 64 times its group and its number in the group */
#define PERIOD_NS (20u * NS_PER_MS)
#define TIMER_DELAY_NS NS_PER_MS

int windows_failed(struct camp_error *error, DWORD system_error, const char *what)
{
    char text[768]; /* sentences of some languages have three bytes for each character */
    DWORD length = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS |
                                      FORMAT_MESSAGE_MAX_WIDTH_MASK,
                                  NULL, system_error, 0, text, sizeof text, NULL);
    int code = CAMP_E_IO;

    if (system_error == ERROR_FILE_NOT_FOUND || system_error == ERROR_PATH_NOT_FOUND)
        code = CAMP_E_GONE;
    if (system_error == ERROR_ACCESS_DENIED)
        code = CAMP_E_PERM;
    if (system_error == ERROR_NOT_ENOUGH_MEMORY || system_error == ERROR_COMMITMENT_LIMIT)
        code = CAMP_E_NOMEM;
    while (length > 0 && (text[length - 1] <= ' ' || text[length - 1] == '.'))
        length--;
    text[length] = '\0';
    if (length == 0)
        return camp_fail(error, code, (int)system_error, "%s: error %lu", what,
                         (unsigned long)system_error);
    return camp_fail(error, code, (int)system_error, "%s: %s (error %lu)", what, text,
                     (unsigned long)system_error);
}

/* What load_place_set() changed in this thread. */
static _Thread_local struct {
    GROUP_AFFINITY affinity;
    int priority;
    bool known;
} saved;

/* Sets *ret_first and *ret_last to CPUs that the calling thread may run on, or to -1. */
static void find_cpus(int *ret_first, int *ret_last)
{
    GROUP_AFFINITY allowed;

    *ret_first = *ret_last = -1;
    if (!GetThreadGroupAffinity(GetCurrentThread(), &allowed))
        return;
    for (int number = 0; number < (int)(8 * sizeof allowed.Mask); number++) {
        if ((allowed.Mask >> number & 1) == 0)
            continue;
        *ret_last = allowed.Group * CPUS_OF_GROUP + number;
        if (*ret_first < 0)
            *ret_first = *ret_last;
    }
}

int load_last_cpu(void)
{
    int first, last;

    find_cpus(&first, &last);
    return last;
}

int load_tick_cpu(void)
{
    int first, last;

    find_cpus(&first, &last);
    return first;
}

uint64_t load_timer_delay_ns(void)
{
    return TIMER_DELAY_NS;
}

static int stay_on(int cpu, struct camp_error *error)
{
    const int number = cpu % CPUS_OF_GROUP;
    GROUP_AFFINITY only = { .Group = (WORD)(cpu / CPUS_OF_GROUP) };

    if (number < (int)(8 * sizeof only.Mask))
        only.Mask = (KAFFINITY)1 << number;
    if (only.Mask != 0 && cpu / CPUS_OF_GROUP <= UINT16_MAX &&
        SetThreadGroupAffinity(GetCurrentThread(), &only, NULL))
        return CAMP_OK;
    return camp_fail(error, CAMP_E_GONE, (int)GetLastError(),
                     "CPU %d is unavailable: it is absent or not allowed; see camp list cpus", cpu);
}

int load_place_set(int cpu, struct camp_error *error)
{
    saved.priority = GetThreadPriority(GetCurrentThread());
    saved.known = GetThreadGroupAffinity(GetCurrentThread(), &saved.affinity) &&
                  saved.priority != THREAD_PRIORITY_ERROR_RETURN;
    return cpu >= 0 ? stay_on(cpu, error) : CAMP_OK;
}

void load_place_restore(void)
{
    if (!saved.known)
        return;
    SetThreadPriority(GetCurrentThread(), saved.priority);
    SetThreadGroupAffinity(GetCurrentThread(), &saved.affinity, NULL);
    saved.known = false;
}

/* sleep_until() uses timers of high resolution, where the system has them. */
void load_precise_timers(void)
{
}

bool load_become_realtime(void)
{
    return SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_TIME_CRITICAL);
}

int32_t load_thread_id(void)
{
    return (int32_t)GetCurrentThreadId();
}

int load_helper_start(pthread_t *ret, void *(*run)(void *argument), void *argument)
{
    return pthread_create(ret, NULL, run, argument);
}

/* The semaphore has only timeouts by the wall clock. No signal interrupts the wait, so it lasts at
 * most PERIOD_NS before stop_requested is checked. */
bool load_semaphore_wait(sem_t *semaphore, uint64_t until_ns)
{
    for (;;) {
        const uint64_t now = now_ns(CLOCK_MONOTONIC);
        const uint64_t left = until_ns > now ? until_ns - now : 0;
        const uint64_t end = now_ns(CLOCK_REALTIME) + (left < PERIOD_NS ? left : PERIOD_NS);
        const struct timespec time = { .tv_sec = (time_t)(end / NS_PER_S),
                                       .tv_nsec = (long)(end % NS_PER_S) };

        if (sem_timedwait(semaphore, &time) == 0)
            return true;
        if (left == 0 || stop_requested)
            return false;
    }
}

long load_preemptions(void)
{
    return -1;
}

struct load_faults load_faults(void)
{
    PROCESS_MEMORY_COUNTERS counters = { .cb = sizeof counters };

    if (is_wine() || !K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters))
        return (struct load_faults){ .has_all = false };
    return (struct load_faults){ .has_all = true, .all = counters.PageFaultCount };
}

const char *load_refusal(enum load_wish wish)
{
    switch (wish) {
    case LOAD_COLD_READS:
        return "Windows does not tell a program what it read from storage; use --direct";
    case LOAD_HUGE_PAGES:
        return "Windows gives large pages only to programs with a privilege; remove it";
    case LOAD_NAMESPACES:
        return "Windows has no network namespaces; remove it";
    case LOAD_PAGE_FAULTS:
        return is_wine() ? "Wine does not count page faults, so this load could not report them"
                         : NULL;
    case LOAD_TICK:
        return is_wine() ? "Wine has no clock tick" : NULL;
    default:
        return NULL;
    }
}
