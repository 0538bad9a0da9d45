/* What the programs in the kernel and the session share. */
#ifndef CAMP_MICROSTATES_LAYOUT_H
#define CAMP_MICROSTATES_LAYOUT_H

#include <camp/states.h>

#define CPUS_MAX 1024
#define CALLS_MAX 512 /* system call numbers; a sleep in a higher one is other sleep */
#define EXITS_BYTES (4u << 20)

/* How a sleep in a system call is booked: a state, or this: by what its descriptor is of. */
#define KIND_BY_DESCRIPTOR 255

/* One CPU, alone in its cache lines. */
struct cpu_account {
    uint64_t begin_ns;           /* its first switch in the session; 0: none yet */
    uint64_t since_ns;           /* its last switch */
    uint64_t busy_ns, idle_ns;   /* until since_ns, without interrupts */
    uint64_t system_ns;          /* of busy_ns */
    uint64_t irq_ns, softirq_ns; /* interrupts that ended */
    uint64_t interrupt_since_ns; /* the one that runs; 0: none */
    uint64_t irq_before_ns;      /* irq_ns + softirq_ns at since_ns */
    uint64_t run_ns;             /* the scheduler's count of who runs, at since_ns */
    uint64_t running_task; /* its address in the kernel: who it is, while its tid may change */
    int32_t running;       /* tid; 0: idle */
    uint32_t depth;        /* of interrupts */
    uint64_t switches;
    uint64_t unseen;     /* switches of which the kernel told nobody */
    uint64_t lost;       /* times a thread got no account: no memory */
    uint64_t exits_lost; /* ended threads for which the ring had no room */
} __attribute__((aligned(64)));

#endif
