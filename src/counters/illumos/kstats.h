/*
 * Kernel statistics ("kstats"), by libkstat.
 *
 * The kernel has a chain of some thousand statistics. kstat_open() copies the names of all, and
 * kstat_read() copies the data of one. A statistic is named module:instance:name, such as
 * cpu:0:sys. The data of the type KSTAT_TYPE_NAMED are an array of names and values.
 *
 * libkstat allocates memory for these copies, and kstat_close() frees it.
 */
#pragma once

#include "layout.h"

#include <camp/camp.h>

#include <stdbool.h>

/* CAMP_E_NOTSUP if there is a source: kstats are not files below a folder. */
int camp_kstats_open(const struct camp_source *source, kstat_ctl_t **ret, struct camp_error *error);
void camp_kstats_close(kstat_ctl_t *control);

/* True if the statistic has this module and this type (KSTAT_TYPE_*). */
bool camp_kstat_is(const kstat_t *statistic, const char *module, int type);

/* True if a text of up to KSTAT_STRLEN bytes, which may lack its NUL, is `text`. */
bool camp_kstat_text_is(const char bytes[KSTAT_STRLEN], const char *text);

/* Finds unix:0:NAME of the type KSTAT_TYPE_NAMED. Returns NULL if there is none. */
kstat_t *camp_kstat_of_unix(const kstat_ctl_t *control, const char *name);

/* Copies ks_name or a similar text. `capacity` is at least KSTAT_STRLEN + 1. */
void camp_kstat_copy_text(char *ret, size_t capacity, const char bytes[KSTAT_STRLEN]);

/* Copies the data of a statistic from the kernel. CAMP_E_GONE if it was removed meanwhile. */
int camp_kstat_read(kstat_ctl_t *control, kstat_t *statistic, struct camp_error *error);

/* Finds a value in the data of the type KSTAT_TYPE_NAMED. Returns NULL if there is none. */
const kstat_named_t *camp_kstat_value(const kstat_t *statistic, const char *name);

/* If the data have a number of this name that is not negative, sets *ret to it and sets `field` in
 * *known. */
void camp_kstat_number(const kstat_t *statistic, const char *name, uint32_t field, uint64_t *ret,
                       uint32_t *known);

/* A kind of statistics, each of which is read into one struct. */
struct kstat_kind {
    const char *thing; /* such as "disk", for error messages */
    bool (*includes)(const kstat_t *statistic);
    int (*read)(kstat_ctl_t *control, kstat_t *statistic, void *ret, struct camp_error *error);
};

/* Opens the chain, and reads the statistic of this kind and name into *ret. CAMP_E_GONE if there is
 * none. CAMP_E_INVALID if `name` is NULL or empty. */
int camp_kstat_read_named(const struct kstat_kind *kind, const struct camp_source *source,
                          const char *name, void *ret, struct camp_error *error);
