/* Copies of the accounts of backends that the kernel may be writing. */
#pragma once

#include "../backends_layout.h"

#include <stdbool.h>

/* The maps that the programs in the kernel write, each [BACKENDS_MAX]. */
struct backend_maps {
    struct backend_slot *slots;
    struct backend_statements *statements; /* NULL if times are not divided by statement */
    struct backend_blocks *blocks;         /* NULL if blockers are not noted */
    /* The program in the kernel that reads a wait in the run queue, and what it reads; NULL if
     * throttled time is not measured. */
    struct backend_open_wait *open_wait;
    int read_open_wait; /* file descriptor */
};

/* A copy of what belongs to one slot. `statements` and `blocks` may be NULL. */
struct backend_copy {
    struct backend_account *account;
    struct backend_statements *statements;
    struct backend_blocks *blocks;
};

/* Copies slot `number`, and repeats the copy if the kernel changed the slot meanwhile.
 * After BUSY_TRIES copies this function sleeps between copies, because a hypervisor may have
 * stopped the CPU that is writing. Returns false if the slot changed during each copy; *ret is then
 * the last copy. The order of the loads is that of order.bpf.h; the clock is read after the copy
 * and before the second load of `sequence`, so the copy was still valid at that time. */
bool backend_copy_slot(const struct backend_copy *ret, const struct backend_maps *maps,
                       uint32_t number);
