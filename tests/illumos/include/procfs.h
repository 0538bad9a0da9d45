/*
 * What camp uses of the binary files of /proc, declared for systems that do not have them: the
 * tests write such files, and run the code of src/counters/illumos on Linux.
 *
 * The names and types are those of the published interface: proc(5) of illumos. Members that camp
 * does not use are here too, because they decide the places of the others.
 * src/counters/illumos/layout.h checks these places on each system.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PRFNSZ 16
#define PRARGSZ 80
#define PRCLSZ 8

#define PR_MODEL_UNKNOWN 0
#define PR_MODEL_ILP32 1
#define PR_MODEL_LP64 2

typedef struct {
    long tv_sec;
    long tv_nsec;
} timestruc_t;

/* /proc/PID/lwp/LWP/lwpsinfo: what ps(1) shows of a thread */
typedef struct lwpsinfo {
    int pr_flag;
    int pr_lwpid;
    uintptr_t pr_addr;
    uintptr_t pr_wchan;
    char pr_stype;
    char pr_state;
    char pr_sname;
    char pr_nice;
    short pr_syscall;
    char pr_oldpri;
    char pr_cpu;
    int pr_pri;
    unsigned short pr_pctcpu;
    unsigned short pr_pad;
    timestruc_t pr_start;
    timestruc_t pr_time;
    char pr_clname[PRCLSZ];
    char pr_name[PRFNSZ];
    int pr_onpro;
    int pr_bindpro;
    int pr_bindpset;
    int pr_lgrp;
    int pr_filler[4];
} lwpsinfo_t;

/* /proc/PID/psinfo: what ps(1) shows of a process */
typedef struct psinfo {
    int pr_flag;
    int pr_nlwp;
    pid_t pr_pid;
    pid_t pr_ppid;
    pid_t pr_pgid;
    pid_t pr_sid;
    uid_t pr_uid;
    uid_t pr_euid;
    gid_t pr_gid;
    gid_t pr_egid;
    uintptr_t pr_addr;
    size_t pr_size;
    size_t pr_rssize;
    size_t pr_pad1;
    unsigned long pr_ttydev;
    unsigned short pr_pctcpu;
    unsigned short pr_pctmem;
    timestruc_t pr_start;
    timestruc_t pr_time;
    timestruc_t pr_ctime;
    char pr_fname[PRFNSZ];
    char pr_psargs[PRARGSZ];
    int pr_wstat;
    int pr_argc;
    uintptr_t pr_argv;
    uintptr_t pr_envp;
    char pr_dmodel;
    char pr_pad2[3];
    int pr_taskid;
    int pr_projid;
    int pr_nzomb;
    int pr_poolid;
    int pr_zoneid;
    int pr_contract;
    int pr_filler[1];
    lwpsinfo_t pr_lwp;
} psinfo_t;

/* /proc/PID/usage and /proc/PID/lwp/LWP/lwpusage: times and counts */
typedef struct prusage {
    int pr_lwpid;
    int pr_count;
    timestruc_t pr_tstamp;
    timestruc_t pr_create;
    timestruc_t pr_term;
    timestruc_t pr_rtime;
    timestruc_t pr_utime;
    timestruc_t pr_stime;
    timestruc_t pr_ttime;
    timestruc_t pr_tftime;
    timestruc_t pr_dftime;
    timestruc_t pr_kftime;
    timestruc_t pr_ltime;
    timestruc_t pr_slptime;
    timestruc_t pr_wtime;
    timestruc_t pr_stoptime;
    timestruc_t filltime[6];
    unsigned long pr_minf;
    unsigned long pr_majf;
    unsigned long pr_nswap;
    unsigned long pr_inblk;
    unsigned long pr_oublk;
    unsigned long pr_msnd;
    unsigned long pr_mrcv;
    unsigned long pr_sigs;
    unsigned long pr_vctx;
    unsigned long pr_ictx;
    unsigned long pr_sysc;
    unsigned long pr_ioch;
    unsigned long filler[10];
} prusage_t;

/* The start of /proc/PID/lusage and /proc/PID/lpsinfo, which an array follows. */
typedef struct prheader {
    long pr_nent;
    long pr_entsize;
} prheader_t;
