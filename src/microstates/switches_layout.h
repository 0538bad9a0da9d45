/* An event in the ring of switches.h. Programs in the kernel write the events. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SWITCH_NAME_SIZE 16 /* as in the kernel (TASK_COMM_LEN); any bytes, ended by a NUL */

enum switch_kind {
    SWITCH_OF_THREADS, /* A thread left the CPU, and another one got it. */
    SWITCH_PREEMPTED,  /* The same, but the thread that left could have run on. */
    SWITCH_WAKE        /* A sleeping thread, or a new one, became ready to run. */
};

/* All ids are those of the machine, in whatever PID namespace camp runs. */
struct switch_event {
    /* In the ring: the number of the event on its CPU, from 1; 0 while the event is written. */
    uint64_t sequence;
    uint64_t time_ns;  /* CLOCK_BOOTTIME */
    int32_t tid, tgid; /* the thread that left, or the one that was woken */
    /* The thread that got the CPU, or the one that ran on the CPU of a wake. */
    int32_t other_tid, other_tgid;
    char name[SWITCH_NAME_SIZE]; /* of `tid` */
    /* SWITCH_OF_THREADS: bits of the kernel's task states (include/linux/sched.h), with those of
     * the exit state; 0 means ready to run */
    uint32_t state;
    uint16_t kind;            /* enum switch_kind */
    uint16_t target_cpu;      /* SWITCH_WAKE: the CPU on which the woken thread was last */
    int16_t prio, other_prio; /* the kernel's priority: 0 to 99 real time, 100 to 139 fair */
    uint32_t reserved;
};

/* The writing end of one CPU's ring. */
struct switch_head {
    uint64_t count; /* events since the start; event n is at (n - 1) % size */
    uint64_t reserved[7];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct switch_event) == 64, "no padding, and one line of the cache");
_Static_assert(sizeof(struct switch_head) == 64, "one line of the cache");
