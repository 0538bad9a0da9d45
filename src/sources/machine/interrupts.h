/*
 * The interrupts of each CPU since boot, from /proc/interrupts (show_interrupts() of the kernel and
 * arch_show_interrupts() of each architecture).
 *
 * The file has a column for each online CPU and a row for each interrupt. The sum of a column are
 * the CPU's interrupts, with those of its clock and those that other CPUs sent: the sums of all
 * CPUs are `intr` of /proc/stat. Two kinds of rows are left out: rows without a column for each CPU
 * (ERR, MIS), and TLB shootdowns, which the kernel counts as function calls, too.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct cpu_interrupts {
    int32_t cpu;
    uint64_t interrupts;
    uint64_t cross_calls; /* of these: another CPU asked this one to call a function */
};

/* An all-zero struct is empty. */
struct interrupts {
    struct cpu_interrupts *items; /* [count], in the order of the file: ascending by CPU */
    size_t count, capacity;
};

/* Fills *ret with the numbers of a text like /proc/interrupts. Returns CAMP_OK, CAMP_E_NOMEM or
 * CAMP_E_FORMAT. */
int interrupts_scan(FILE *stream, struct interrupts *ret);

/* The same for /proc/interrupts of this machine. Returns also CAMP_E_NOTSUP if it cannot be
 * opened. */
int interrupts_read(struct interrupts *ret);

/* Returns the numbers of a CPU, or NULL if there are none. */
const struct cpu_interrupts *interrupts_of_cpu(const struct interrupts *interrupts, int64_t cpu);

void interrupts_release(struct interrupts *interrupts);
