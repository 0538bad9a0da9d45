/*
 * How each system obtains the times that it counts. The provenance of a number follows from this
 * table, unless a reading says it. camp_kernel_read() of Windows and illumos returns these facts.
 * On Linux they are what most kernels do, and camp_kernel_read() finds out what this kernel does.
 * The column "obtained" of docs/counters.md is made from all three.
 */
#pragma once

#include <camp/camp.h>

struct camp_usual {
    struct camp_kernel kernel;
    int split;    /* enum camp_provenance of user_ns and system_ns of a task */
    int children; /* enum camp_provenance of children_ns of a process */
};

/* The tick samples user and system time. It stops in all idle periods, which are measured. */
#define USUAL_ON_LINUX                                                                             \
    {                                                                                              \
        .kernel = { .known = CAMP_KERNEL_ACCOUNTING | CAMP_KERNEL_TICKLESS_IDLE |                  \
                             CAMP_KERNEL_SHORT_IDLE,                                               \
                    .accounting = CAMP_ACCOUNTING_TICK,                                            \
                    .tickless_idle = 1 },                                                          \
        .split = CAMP_SCALED, .children = CAMP_SCALED                                              \
    }

/* Since Windows 8 the tick stops on idle CPUs, but their idle time still grows by ticks. */
#define USUAL_ON_WINDOWS                                                                           \
    {                                                                                              \
        .kernel = { .known =                                                                       \
                        CAMP_KERNEL_ACCOUNTING | CAMP_KERNEL_SHORT_IDLE | CAMP_KERNEL_IRQ_TIME,    \
                    .accounting = CAMP_ACCOUNTING_TICK,                                            \
                    .short_idle_sampled = 1 },                                                     \
        .split = CAMP_SAMPLED, .children = CAMP_UNKNOWN                                            \
    }

/* The times of children are whole ticks (psinfo), all others come from microstates. */
#define USUAL_ON_ILLUMOS                                                                           \
    {                                                                                              \
        .kernel = { .known = CAMP_KERNEL_ACCOUNTING, .accounting = CAMP_ACCOUNTING_MICROSTATES },  \
        .split = CAMP_MEASURED, .children = CAMP_SAMPLED                                           \
    }

extern const struct camp_usual camp_usual; /* of the system of the library */
