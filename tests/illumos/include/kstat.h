/*
 * What camp uses of libkstat, declared for systems that do not have it: the tests run the code of
 * src/counters/illumos on Linux, with the library of tests/unit/illumos/fake_kstat.c.
 *
 * The names, types and values are those of the published interface: kstat(3KSTAT) and kstat(9S) of
 * illumos. src/counters/illumos/layout.h checks the places of the members on each system.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define KSTAT_STRLEN 31

enum { KSTAT_TYPE_RAW, KSTAT_TYPE_NAMED, KSTAT_TYPE_INTR, KSTAT_TYPE_IO, KSTAT_TYPE_TIMER };

enum {
    KSTAT_DATA_CHAR = 0,
    KSTAT_DATA_INT32 = 1,
    KSTAT_DATA_UINT32 = 2,
    KSTAT_DATA_INT64 = 3,
    KSTAT_DATA_UINT64 = 4,
    KSTAT_DATA_STRING = 9
};

typedef int kid_t;
typedef long long hrtime_t;

/* A statistic: its identity, and a copy of its data after kstat_read(). */
typedef struct kstat {
    hrtime_t ks_crtime;
    struct kstat *ks_next;
    kid_t ks_kid;
    char ks_module[KSTAT_STRLEN];
    unsigned char ks_resv;
    int ks_instance;
    char ks_name[KSTAT_STRLEN];
    unsigned char ks_type;
    char ks_class[KSTAT_STRLEN];
    unsigned char ks_flags;
    void *ks_data;
    unsigned ks_ndata;
    size_t ks_data_size;
    hrtime_t ks_snaptime;
    int (*ks_update)(struct kstat *, int);
    void *ks_private;
    int (*ks_snapshot)(struct kstat *, void *, int);
    void *ks_lock;
} kstat_t;

/* An element of the data of type KSTAT_TYPE_NAMED. */
typedef struct kstat_named {
    char name[KSTAT_STRLEN];
    unsigned char data_type;
    union {
        char c[16];
        int32_t i32;
        uint32_t ui32;
        int64_t i64;
        uint64_t ui64;
    } value;
} kstat_named_t;

/* The data of type KSTAT_TYPE_IO. */
typedef struct kstat_io {
    unsigned long long nread;
    unsigned long long nwritten;
    unsigned reads;
    unsigned writes;
    hrtime_t wtime;
    hrtime_t wlentime;
    hrtime_t wlastupdate;
    hrtime_t rtime;
    hrtime_t rlentime;
    hrtime_t rlastupdate;
    unsigned wcnt;
    unsigned rcnt;
} kstat_io_t;

typedef struct kstat_ctl {
    kid_t kc_chain_id;
    kstat_t *kc_chain;
    int kc_kd;
} kstat_ctl_t;

kstat_ctl_t *kstat_open(void);
int kstat_close(kstat_ctl_t *control);
kid_t kstat_read(kstat_ctl_t *control, kstat_t *statistic, void *data);
kid_t kstat_chain_update(kstat_ctl_t *control);
