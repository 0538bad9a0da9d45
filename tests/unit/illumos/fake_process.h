/* Processes of illumos with their usage, from a /proc that the test makes. */
#pragma once

#include "fake_proc.h"

#define S INT64_C(1000000000)
#define STARTED (1700000000 * S + 5)

static const prusage_t some_usage = {
    .pr_count = 2,
    .pr_tstamp = { 100, 7 },
    .pr_create = { 40, 8 },
    .pr_rtime = { 60, 0 },
    .pr_utime = { 10, 1 },
    .pr_stime = { 2, 20 },
    .pr_ttime = { 0, 300 },
    .pr_slptime = { 40, 0 },
    .pr_wtime = { 3, 4000 },
    .pr_minf = 11,
    .pr_majf = 12,
    .pr_inblk = 13,
    .pr_oublk = 14,
    .pr_vctx = 15,
    .pr_ictx = 16,
    .pr_sysc = 17,
    .pr_ioch = 18,
};

static inline psinfo_t write_process(int32_t pid, const char *name)
{
    psinfo_t psinfo = fake_psinfo(pid, name, STARTED);

    psinfo.pr_size = 5000;
    psinfo.pr_rssize = 3000;
    psinfo.pr_ctime = time_of_ns(20000000);
    write_psinfo(&psinfo);
    write_usage(pid, &some_usage);
    return psinfo;
}

static inline struct camp_process identify(int32_t pid)
{
    struct camp_process process;

    assert_int_equal(camp_process_identify(&fake_source, pid, &process, sizeof process, NULL),
                     CAMP_OK);
    return process;
}
