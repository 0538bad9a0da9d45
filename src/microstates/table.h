/*
 * The microstates, one row for each state. Tables, pictures and exporters take all that they show
 * of a state from here.
 *
 * ROW(state, name, title, short_title, class, figure, help): `state` is the suffix of the enum
 * camp_state. `name` is used in JSON, in metrics and, with "_ns", as the name of a column. `title`
 * and `short_title` are titles of that column; a text table adds up the states with the same short
 * title in one column. CLASS_`class` (enum column_class of ledger/frame.h) says what a thread does
 * in the state. `figure` is the state's line in the summary of camp time --figure.
 */
#pragma once

#include <camp/states.h>

/* clang-format off */
#define MICROSTATES(ROW)                                                                           \
    ROW(USER, "user", "user", "usr", CPU, "User CPU time",                                         \
        "on a CPU outside system calls")                                                           \
    ROW(SYSTEM, "system", "system", "sys", CPU, "System call time",                                \
        "on a CPU in a system call; kernel threads: on a CPU")                                     \
    ROW(IRQ, "irq", "irq", "sys", CPU, "Interrupt time",                                           \
        "on a CPU that served an interrupt")                                                       \
    ROW(TEXT_FAULT, "text_fault", "text fault", "flt", IO, "Text pfault sleep",                    \
        "asleep for a page of its code")                                                           \
    ROW(DATA_FAULT, "data_fault", "data fault", "flt", IO, "Data pfault sleep",                    \
        "asleep for another page")                                                                 \
    ROW(KERNEL_FAULT, "kernel_fault", "kernel fault", "flt", IO, "Kernel pfault sleep",            \
        "asleep for a page that a system call touched")                                            \
    ROW(LOCK, "lock", "lock", "lck", CONTENTION, "User lock sleep",                                \
        "asleep in futex(2)")                                                                      \
    ROW(DISK, "disk", "disk", "dsk", IO, "Disk sleep",                                             \
        "asleep until a block device answers")                                                     \
    ROW(POLL, "poll", "poll", "slp", IDLE, "Poll sleep",                                           \
        "asleep until a descriptor is ready")                                                      \
    ROW(SOCKET, "socket", "socket", "slp", IDLE, "Socket sleep",                                   \
        "asleep in a call on a socket")                                                            \
    ROW(PIPE, "pipe", "pipe", "slp", IDLE, "Pipe sleep",                                           \
        "asleep in a call on a pipe")                                                              \
    ROW(TIMER, "timer", "timer", "slp", IDLE, "Timer sleep",                                       \
        "asleep for a time it asked for")                                                          \
    ROW(CHILD, "child", "child", "slp", IDLE, "Child sleep",                                       \
        "asleep until a child ends or runs another program")                                       \
    ROW(OTHER_SLEEP, "other_sleep", "other sleep", "slp", IDLE, "Other sleep time",                \
        "asleep in anything else")                                                                 \
    ROW(RUN_QUEUE, "run_queue", "run queue", "runq", READY, "Wait for CPU time",                   \
        "runnable and allowed to run, and no CPU runs it")                                                          \
    ROW(STOPPED, "stopped", "stopped", "slp", IDLE, "Stopped time",                                \
        "stopped by a signal or a tracer, or frozen with its cgroup")                              \
    ROW(THROTTLED, "throttled", "throttled", "thrt", THROTTLED,  "Throttled time",                 \
        "runnable, and its group or itself has used up its CPU time")                              \
    ROW(TRAP, "trap", "trap", "sys", CPU, "Trap CPU time",                                         \
        "on a CPU outside system calls: the kernel handles a page fault")                          \
    ROW(SLEEP, "sleep", "sleep", "slp", IDLE, "Sleep time",                                        \
        "asleep, but not for a lock or a page")
/* clang-format on */

#define MICROSTATE_ONE(...) +1
_Static_assert(0 MICROSTATES(MICROSTATE_ONE) == CAMP_STATE_COUNT, "a state has no row, or two");

/* Returns the states that a session measures, as bits of enum camp_state; without a session 0. */
static inline uint32_t states_measured(const struct camp_states *session)
{
    struct camp_states_known known;

    return camp_states_known(session, &known, sizeof known, NULL) == CAMP_OK ? known.states : 0;
}

/* Returns the time on a CPU without interrupts. */
static inline uint64_t states_busy_ns(const uint64_t state_ns[CAMP_STATE_COUNT])
{
    return state_ns[CAMP_STATE_USER] + state_ns[CAMP_STATE_SYSTEM] + state_ns[CAMP_STATE_TRAP];
}
