/*
 * The structs of <kstat.h>, <procfs.h> and <sys/swap.h>, and where their members are in the 64-bit
 * data model, as published in kstat(9S) and proc(5). These headers are those of the system, or
 * those of tests/illumos/include, with which the tests run this code on Linux. Both must pass.
 */
#pragma once

#include <kstat.h>
#include <procfs.h>
#include <sys/swap.h>

#include <stddef.h>

/* The sizes of a 32-bit build differ; process_files.c refuses what it would misread. */
#define LAYOUT_IS_64_BIT (sizeof(void *) == 8)
#define AT(type, member, place)                                                                    \
    _Static_assert(!LAYOUT_IS_64_BIT || offsetof(type, member) == (place), #type "." #member)
#define SIZE(type, bytes)                                                                          \
    _Static_assert(!LAYOUT_IS_64_BIT || sizeof(type) == (bytes), "size of " #type)

AT(kstat_t, ks_next, 8);
AT(kstat_t, ks_module, 20);
AT(kstat_t, ks_instance, 52);
AT(kstat_t, ks_name, 56);
AT(kstat_t, ks_type, 87);
AT(kstat_t, ks_class, 88);
AT(kstat_t, ks_data, 120);
AT(kstat_t, ks_ndata, 128);
AT(kstat_t, ks_data_size, 136);
AT(kstat_t, ks_snaptime, 144);
SIZE(kstat_t, 184);
AT(kstat_named_t, data_type, 31);
AT(kstat_named_t, value, 32);
SIZE(kstat_named_t, 48);
AT(kstat_io_t, nwritten, 8);
AT(kstat_io_t, reads, 16);
AT(kstat_io_t, writes, 20);
AT(kstat_io_t, wlentime, 32);
AT(kstat_io_t, rtime, 48);
AT(kstat_io_t, rlentime, 56);
AT(kstat_io_t, wcnt, 72);
AT(kstat_io_t, rcnt, 76);
SIZE(kstat_io_t, 80);
AT(kstat_ctl_t, kc_chain, 8);

AT(swapent_t, ste_path, 0);
AT(swapent_t, ste_pages, 24);
AT(swapent_t, ste_free, 32);
SIZE(swapent_t, 48);
AT(swaptbl_t, swt_ent, 8);
AT(struct anoninfo, ani_max, 0);
AT(struct anoninfo, ani_resv, 16);
SIZE(struct anoninfo, 24);

SIZE(timestruc_t, 16);
AT(lwpsinfo_t, pr_lwpid, 4);
AT(lwpsinfo_t, pr_sname, 26);
AT(lwpsinfo_t, pr_start, 40);
AT(lwpsinfo_t, pr_name, 80);
SIZE(lwpsinfo_t, 128);
AT(psinfo_t, pr_nlwp, 4);
AT(psinfo_t, pr_pid, 8);
AT(psinfo_t, pr_ppid, 12);
AT(psinfo_t, pr_euid, 28);
AT(psinfo_t, pr_size, 48);
AT(psinfo_t, pr_rssize, 56);
AT(psinfo_t, pr_start, 88);
AT(psinfo_t, pr_ctime, 120);
AT(psinfo_t, pr_fname, 136);
AT(psinfo_t, pr_psargs, 152);
AT(psinfo_t, pr_dmodel, 256);
AT(psinfo_t, pr_lwp, 288);
SIZE(psinfo_t, 416);
AT(prusage_t, pr_tstamp, 8);
AT(prusage_t, pr_create, 24);
AT(prusage_t, pr_rtime, 56);
AT(prusage_t, pr_utime, 72);
AT(prusage_t, pr_ttime, 104);
AT(prusage_t, pr_slptime, 184);
AT(prusage_t, pr_stoptime, 216);
AT(prusage_t, pr_minf, 328);
AT(prusage_t, pr_vctx, 392);
AT(prusage_t, pr_sysc, 408);
SIZE(prusage_t, 504);
SIZE(prheader_t, 16);

#undef AT
#undef SIZE
