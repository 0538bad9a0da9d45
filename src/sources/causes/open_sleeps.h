/*
 * The sleeps of one group that nothing had ended at the end of an interval: in which system call,
 * and for which object.
 *
 * The ledger has for each state of the group the time of such sleeps (CAUSE_NOT_ENDED). Which
 * threads sleep is known from the readings of threads, and in which call each of them sleeps from
 * /proc/PID/task/TID/syscall (Linux: proc_pid_syscall()), whenever the sleep began. Only root, or a
 * caller that may trace the process, can read that file; of other threads the call is unknown.
 *
 * The time of a thread that slept through the interval is exact. Of several threads that went to
 * sleep within it in the same state, each has a part of the rest in proportion to all of its time
 * in that state. The parts always add up to the time in the ledger.
 */
#pragma once

#include "causes.h"

#define OPEN_SLEEPS_READ 256 /* of so many threads at most the call is read */
/* Of so many of these it is read because it was not read in the intervals before. */
#define OPEN_SLEEPS_LATE 64

struct open_sleep {
    int32_t pid, tid; /* tid is 0 of several idle threads of a process */
    uint32_t group, state;
    uint32_t threads; /* 0 is the same as 1 */
    bool is_whole;    /* the thread slept through the interval */
    uint64_t most_ns; /* it slept no longer */
    uint64_t sleep_ns;
};

enum open_known {
    OPEN_NEW,    /* the process has slept for one interval, or one of its threads has run */
    OPEN_UNREAD, /* its calls were not read yet, because those of others were */
    OPEN_READ,
    /* All threads of the process sleep, and none in a call for a lock whose owner may be known. So
     * the process need not be read as long as all of them sleep. */
    OPEN_WITHOUT_LOCK
};

/* A process of open sleeps. */
struct open_process {
    int32_t pid;
    uint32_t threads; /* that slept through the interval; 0 if another thread is among them */
    enum open_known known;
    uint32_t unowned;    /* threads for which unowned_note() returned true when it was read */
    size_t first, count; /* its sleeps: open_sleeps.items[first + ...] */
};

/* An all-zero struct is empty. */
struct open_sleeps {
    struct open_sleep *items; /* [count] */
    size_t count, capacity;
    bool failed; /* there was no memory for all of them */
    /* [process_count] by open_sleeps_sort(), sorted by pid, and those of the interval before */
    struct open_process *processes, *last_processes;
    size_t process_count, process_capacity, last_count, last_capacity;
};

/* Notes a thread that sleeps at the end of the interval. */
void open_sleeps_note(struct open_sleeps *sleeps, const struct open_sleep *sleep);

/* Sorts the sleeps by process, and lists the processes with what is known of them since the last
 * interval. Returns false if there is no memory. */
bool open_sleeps_sort(struct open_sleeps *sleeps);

/* Fills *ret with the calls of the open sleeps of a group, the longest first. `count` of a row is
 * the number of threads, and `call` is CALL_UNKNOWN if it could not be read. For each state, the
 * rows add up to the time of CAUSE_NOT_ENDED in causes->rows. `pid` is that of the group, or 0.
 * Processes are in `folder` (/proc). Returns false if there is no memory. */
bool open_sleeps_calls(struct open_sleeps *sleeps, const struct causes *causes, uint32_t group,
                       int32_t pid, const char *folder, struct call_list *ret);

/* Adds a sleep to causes->open_calls, and what is known of it to causes->open_facts: both have
 * *capacity elements. Returns false if there is no memory. */
bool open_call_add(struct causes *causes, size_t *capacity, const struct camp_call_sleeps *call,
                   const struct open_fact *fact);

/* Sorts both, the longest sleep first. */
void open_calls_sort(struct causes *causes);

/* The open sleeps of one process for one object. In a sum of intervals there may be several,
 * because a process has another group when its name has got one. */
struct open_total {
    uint64_t sleep_ns, state_ns;
    bool is_of_one_group;
};

/* Fills *ret with the total of causes->open_calls.items[at] and those like it. Returns false if an
 * earlier one is like it, or if it is a step of a chain. `open_facts` is not NULL. */
bool open_total_of(struct open_total *ret, const struct causes *causes, size_t at);

struct cause_objects;

/* Fills causes->open_calls and causes->open_facts, the longest sleep first, and after them the
 * steps of the chain of the group `subject`, if that hangs. The sleeps of the subject add up to
 * CAUSE_NOT_ENDED of each state; of other groups there are those for file locks, and those through
 * the whole interval for a futex or a semaphore whose owner is known (ends/lock_owner.h).
 * Processes are in `folder` (/proc). Returns false if there is no memory. */
bool open_facts_fill(struct causes *causes, struct open_sleeps *sleeps, uint32_t subject,
                     struct cause_objects *objects, const char *folder);

/*
 * Waits in futex(2) whose owner is unknown (ends/lock_owner.h): so the wait may be one for a lock
 * that another thread holds, or one for work.
 */

/* Notes a thread of a sleep, if it waits so through the interval: it sleeps in this system call,
 * which is one of `state`. The threads of a process are noted one after the other. Returns whether
 * it was noted. */
bool unowned_note(struct unowned_waits *waits, const struct open_sleep *sleep, int32_t call,
                  uint32_t state);

/* Notes the threads of a process that need not be read again (OPEN_WITHOUT_LOCK). */
void unowned_note_again(struct unowned_waits *waits, const struct open_sleeps *sleeps,
                        const struct open_process *process);

/* Adds those of another interval. */
void unowned_add(struct unowned_waits *sum, const struct unowned_waits *more);

/* Returns whether the open sleep causes->open_calls.items[at] is such a wait. `call` is the name of
 * its system call, and `other_end` that of its object, or "". */
bool unowned_is(const struct causes *causes, size_t at, const char *call, const char *other_end);

void open_sleeps_release(struct open_sleeps *sleeps);
