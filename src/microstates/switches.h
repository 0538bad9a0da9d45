/*
 * The last context switches and wakes of all CPUs.
 *
 * Programs in the kernel write an event for each switch and each wake to a ring in memory, one ring
 * for each CPU. New events overwrite the oldest ones. Nothing is read until the caller asks for a
 * copy of the ring, and the kernel goes on writing meanwhile.
 *
 * A wake has the thread that ran on the CPU where the wake happened. If an interrupt of a device or
 * of a timer woke the thread, that thread had nothing to do with it.
 *
 * Only one thread at a time may use a struct switches.
 */
#pragma once

#include "switches_layout.h"

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>

struct switches;

/* Bounds of `bytes` below. */
#define SWITCHES_BYTES_LEAST UINT64_C(256000)
#define SWITCHES_BYTES_MOST UINT64_C(1000000000)

/* Loads the programs with rings that have `bytes` of memory at most, all together. Each CPU has as
 * many events as the largest power of two that fits, but at least 256. A CPU whose number is higher
 * than that of all CPUs that are online now has no ring.
 *
 * Returns CAMP_E_PERM if capabilities are missing, CAMP_E_NOTSUP if this kernel or this build has
 * no such programs, or CAMP_E_NOMEM; the message says what to do. */
int switches_open(struct switches **ret, uint64_t bytes, struct camp_error *error);

/* The events of one CPU, in the order of their times. */
struct switches_of_cpu {
    uint32_t cpu;
    size_t count;
    const struct switch_event *events; /* [count] */
};

struct switches_copy {
    size_t cpu_count;
    struct switches_of_cpu *cpus; /* [cpu_count] */
    /* Events since switches_open() that are not in any copy: switches on CPUs without a ring, and
     * wakes by an interrupt while another wake was written. */
    uint64_t lost;
    bool lost_is_known;   /* false if the kernel did not report a part of them */
    uint64_t overwritten; /* events of this copy that the kernel overwrote while they were copied */
    /* Three clocks of the moment after the copy: CLOCK_BOOTTIME as of the events, CLOCK_MONOTONIC,
     * and ns since 1970. */
    uint64_t boot_ns, monotonic_ns;
    int64_t real_ns;
    struct switch_event *events; /* internal: the events of all CPUs */
};

/* Copies the rings. The caller frees *ret by switches_copy_release(). Returns CAMP_E_NOMEM; *ret is
 * then unchanged. */
int switches_read(const struct switches *switches, struct switches_copy *ret,
                  struct camp_error *error);

/* Accepts an empty copy. */
void switches_copy_release(struct switches_copy *copy);

/* Returns the memory of the rings, in bytes. */
uint64_t switches_size(const struct switches *switches);

/* Accepts NULL. */
void switches_close(struct switches *switches);
