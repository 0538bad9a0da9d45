/*
 * A chain of kstats that a test makes, and libkstat for it (<kstat.h> of tests/illumos/include).
 *
 * As in the system, an opened chain has the names of all statistics, but no data before
 * kstat_read(), and an element of the chain belongs to the one who opened it.
 */
#pragma once

#include <camp/camp.h>

#include <kstat.h>
#include <sys/swap.h>

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Empties the chain. Fails if a chain is still open. */
void fake_reset(void);

/* Adds a statistic at the end of the chain. Returns its number, for the functions below. The time
 * of its data is `snaptime`. */
size_t fake_add(const char *module, int instance, const char *name, const char *class, int type,
                hrtime_t snaptime);

/* Adds a value to a statistic of the type KSTAT_TYPE_NAMED. */
void fake_u64(size_t statistic, const char *name, uint64_t value);
void fake_u32(size_t statistic, const char *name, uint32_t value);
void fake_i32(size_t statistic, const char *name, int32_t value);
void fake_text(size_t statistic, const char *name, const char *value);

/* The statistic claims to have this number of values, whatever the length of its data. */
void fake_claim(size_t statistic, unsigned values);

void fake_io(size_t statistic, const kstat_io_t *io);

/* From now on the statistic cannot be read: errno is `system_error`. */
void fake_fail(size_t statistic, int system_error);

/* Removes a statistic from the chain of those who open it or update it from now on. */
void fake_remove(size_t statistic);

/* What swapctl() returns. Empty after fake_reset(). */
struct fake_area {
    long pages;
    long unused;
};

struct fake_swap {
    int system_error; /* if not 0, swapctl() fails with it */
    int count;        /* of the areas */
    struct fake_area areas[2];
    struct anoninfo anonymous;
};

extern struct fake_swap fake_swap;
