/* Functions that several loads use: CPU clocks, CPUs and scheduling, page faults. Each system has
 * its own, in load/linux and load/windows. */
#pragma once

#include <camp/camp.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

/* CPU clocks of the calling process and thread, in ns. On Linux CLOCK_PROCESS_CPUTIME_ID and
 * CLOCK_THREAD_CPUTIME_ID. On Windows QueryProcessCycleTime() and QueryThreadCycleTime(), divided
 * by the rate of the time-stamp counter. Wine has no cycles, so there they are GetProcessTimes()
 * and GetThreadTimes(). */
typedef uint64_t load_clock(void);
load_clock load_process_ns, load_thread_ns;

/* By how much these clocks may be late: 1 ns, but 20 ms on Wine, where user and system time have
 * steps of 10 ms each. */
uint64_t load_clock_step_ns(void);

/* Uses the CPU in user mode until the CPU clock is at least own_target and CLOCK_MONOTONIC is at
 * least `least`. Returns earlier if CLOCK_MONOTONIC reaches `limit` or a stop is requested. */
void load_burn(load_clock *clock, uint64_t own_target, uint64_t least, uint64_t limit);

/* Lets the timers of the calling thread end as early as the system can, and binds the thread to
 * `cpu` unless it is -1. load_place_restore() restores the previous settings of the calling thread,
 * also after a failure. New threads inherit the settings on Linux. */
int load_place_set(int cpu, struct camp_error *error);
void load_place_restore(void);

/* Lets the timers of the calling thread end as early as the system can. */
void load_precise_timers(void);

/* The last CPU that this process may run on, or -1 if it is unknown. */
int load_last_cpu(void);

/* The CPU on which a load with a phase runs by default. On Linux the last one, which has the fewest
 * interrupts. On Windows the first one, whose clock interrupt moves the tick count. -1 if it is
 * unknown. */
int load_tick_cpu(void);

/* By how much more than on Linux a timer may be late: those of Windows have steps of 0.5 ms. */
uint64_t load_timer_delay_ns(void);

/* Gives the calling thread precedence over all ordinary threads, until load_place_restore().
 * Returns false if that is not permitted. */
bool load_become_realtime(void);

int32_t load_thread_id(void);

/* Starts a thread that the end of a command does not interrupt. Returns 0 or an errno. */
int load_helper_start(pthread_t *ret, void *(*run)(void *argument), void *argument);

/* Waits for the semaphore until CLOCK_MONOTONIC is until_ns. Returns false if a stop was requested
 * or the time has passed. */
bool load_semaphore_wait(sem_t *semaphore, uint64_t until_ns);

/* Returns wall_ns - own_ns, or 0: own_ns may be larger, because the clocks are read one after the
 * other. */
static inline uint64_t load_off_cpu_ns(uint64_t wall_ns, uint64_t own_ns)
{
    return wall_ns > own_ns ? wall_ns - own_ns : 0;
}

/* Returns how long a sleep from start_ns to `now` lasted that was to end at due_ns. The time after
 * due_ns is lateness. A sleep that started at due_ns or later lasted 0. */
static inline uint64_t load_slept_ns(uint64_t start_ns, uint64_t due_ns, uint64_t now)
{
    const uint64_t end_ns = now < due_ns ? now : due_ns;

    return end_ns > start_ns ? end_ns - start_ns : 0;
}

/* How often the calling thread was preempted, or -1: Windows does not count that. */
long load_preemptions(void);

/* Page faults of the calling thread; on Windows of the process. */
struct load_faults {
    bool has_all;   /* false on Wine */
    bool has_parts; /* false on Windows: `minor` and `major` are unknown */
    uint64_t all, minor, major;
};
struct load_faults load_faults(void);

/* User and system time of the process. On Linux the kernel divides the measured time in proportion
 * to the sampled times; Windows samples them at ticks. */
struct load_split {
    uint64_t user_ns, system_ns;
    uint64_t step_ns; /* of both */
};
struct load_split load_split(void);

/* Some wishes cannot be fulfilled on some systems. */
enum load_wish {
    LOAD_COLD_READS, /* reads that wait for a disk, although they use the page cache */
    LOAD_HUGE_PAGES,
    LOAD_NAMESPACES, /* of networks */
    LOAD_PAGE_FAULTS,
    LOAD_TICK /* a phase of the clock tick */
};

/* Returns NULL, or why this system cannot fulfil the wish. */
const char *load_refusal(enum load_wish wish);
