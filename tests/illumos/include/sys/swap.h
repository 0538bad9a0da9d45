/*
 * What camp uses of swapctl(2), declared for systems that do not have it: the tests run the code of
 * src/counters/illumos on Linux, with the swapctl() of tests/unit/illumos/fake_kstat.c.
 *
 * The names, types and values are those of the published interface: swapctl(2) of illumos.
 * src/counters/illumos/layout.h checks the places of the members on each system.
 */
#pragma once

#include <sys/types.h>

#define SC_LIST 2
#define SC_AINFO 5

/* An area of swap. */
typedef struct swapent {
    char *ste_path;
    off_t ste_start;
    off_t ste_length;
    long ste_pages;
    long ste_free;
    int ste_flags;
} swapent_t;

typedef struct swaptable {
    int swt_n;
    struct swapent swt_ent[1]; /* swt_n elements */
} swaptbl_t;

/* Pages of memory without a file behind them: how many there can be, are free and are promised. */
struct anoninfo {
    unsigned long ani_max;
    unsigned long ani_free;
    unsigned long ani_resv;
};

int swapctl(int command, void *argument);
