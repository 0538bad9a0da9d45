/* The parts of the kernel's structures that the BPF programs read. Loading a program relocates each
 * member to its real offset (CO-RE). So these definitions serve every kernel, and the order of the
 * members does not matter. */
#pragma once

#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kuid {
    unsigned int val;
};
struct cred {
    struct kuid euid;
};
/* Since Linux 6.12 rt_throttled exists only with CONFIG_RT_GROUP_SCHED (commit 5f6bd380c7bd). */
struct rt_rq {
    int rt_throttled;
};
struct rq {
    uint64_t clock;
    struct rt_rq rt;
};
/* throttled_clock_self and throttled_clock_self_time exist since Linux 6.6 (commit 677ea015f231),
 * and only with CONFIG_CFS_BANDWIDTH. */
struct cfs_rq {
    struct rq *rq;
    uint64_t throttled_clock_self, throttled_clock_self_time;
};
struct sched_entity {
    uint64_t sum_exec_runtime;
    struct cfs_rq *cfs_rq;
};
/* These members exist only with CONFIG_RT_GROUP_SCHED. */
struct sched_rt_entity {
    struct sched_rt_entity *parent;
    struct rt_rq *rt_rq;
};
struct sched_dl_entity {
    uint64_t dl_deadline, dl_period, deadline;
    int64_t runtime;
};
struct kernfs_node {
    uint64_t id;
};
struct cgroup_subsys_state {
    struct cgroup *cgroup;
    struct cgroup_subsys_state *parent;
};
struct cgroup {
    struct cgroup_subsys_state self;
    struct kernfs_node *kn;
};
struct task_group {
    struct cgroup_subsys_state css;
    struct cfs_rq **cfs_rq;
};
struct sched_info {
    unsigned long long run_delay, last_queued;
};
struct task_io_accounting {
    uint64_t rchar, wchar, read_bytes, write_bytes;
};
struct inode {
    unsigned short i_mode;
};
struct file {
    struct inode *f_inode;
};
struct fdtable {
    unsigned int max_fds;
    struct file **fd;
};
struct files_struct {
    struct fdtable *fdt;
};
struct css_set {
    struct cgroup *dfl_cgrp;
};
struct thread_info {
    unsigned long flags;
    unsigned int cpu;
};
struct block_device {
    unsigned int bd_dev;
};
struct bio {
    struct block_device *bi_bdev;
};
struct restart_block {
    long (*fn)(struct restart_block *);
};
struct ns_common {
    unsigned int inum;
};
struct pid_namespace {
    struct ns_common ns;
};
struct upid {
    int nr;
    struct pid_namespace *ns;
};
struct pid {
    unsigned int level;
    struct upid numbers[1]; /* [level + 1] */
};
/* times of the process' reaped threads */
typedef struct {
    unsigned long sig[1];
} sigset_t;
struct sigpending {
    sigset_t signal;
};
struct signal_struct {
    struct pid *pids[2];
    struct sigpending shared_pending;
    int nr_threads;
    uint64_t utime, stime;
    unsigned long long sum_sched_runtime;
};
struct list_head {
    struct list_head *next;
};
struct task_struct {
    struct list_head children;
    struct thread_info thread_info;
    struct restart_block restart_block;
    unsigned int __state;
    unsigned int flags;
    int exit_state;
    /* An int before Linux 7.2, then a u8. It must be unsigned, because CO-RE adapts the size of a
     * load only for unsigned members. */
    unsigned int on_cpu;
    unsigned in_iowait : 1;
    unsigned frozen : 1; /* since 5.2 (commit 76f969e8948d) */
    int prio;
    unsigned long jobctl;
    int pagefault_disabled;
    int pid, tgid;
    struct task_struct *real_parent, *group_leader;
    uint64_t start_time, start_boottime, utime, stime;
    struct sched_entity se;
    struct sched_rt_entity rt;
    struct sched_dl_entity dl;
    struct task_group *sched_task_group;
    struct sched_info sched_info;
    unsigned long nvcsw, nivcsw, min_flt, maj_flt;
    const struct cred *cred;
    char comm[16];
    struct files_struct *files;
    struct signal_struct *signal;
    struct sigpending pending;
    sigset_t blocked;
    struct pid *thread_pid;
    struct css_set *cgroups;
    struct task_io_accounting ioac;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
    unsigned long di, orig_ax, ip;
};
#define call_of(regs) ((long)(regs)->orig_ax)
#define first_argument(regs) ((regs)->di)
#define instruction(regs) ((regs)->ip)
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
    uint64_t regs[31], pc;
    uint64_t orig_x0;
    int32_t syscallno;
};
/* On arm64 the kernel keeps the number of the system call in 32 bits. barrier_var() makes the
 * compiler compare it as 64 bits: the verifier does not apply a comparison of 32 bits to a 64-bit
 * index (Linux 6.1). */
#define call_of(regs)                                                                              \
    ({                                                                                             \
        long call_of_ = (regs)->syscallno;                                                         \
        barrier_var(call_of_);                                                                     \
        call_of_;                                                                                  \
    })
#define first_argument(regs) ((regs)->orig_x0)
#define instruction(regs) ((regs)->pc)
#endif

struct bpf_iter_meta {
    struct seq_file *seq;
};
struct bpf_iter__task {
    struct bpf_iter_meta *meta;
    struct task_struct *task;
};

#pragma clang attribute pop

/* Since Linux 6.2 (commit fd264ca02094); on older kernels it is NULL. */
extern void *bpf_rdonly_cast(const void *object, uint32_t type) __weak __ksym;

/* Returns `task` as a pointer that the verifier does not trust. Loads through it may fault, and
 * then yield 0, as all loads of a tracing program. If a program loads a pointer through a trusted
 * pointer, the verifier searches all types of the kernel three times, at each visit: this took more
 * than half of the time to load the programs. */
static inline __attribute__((always_inline)) const struct task_struct *
untrusted(const struct task_struct *task)
{
    if (!bpf_rdonly_cast)
        return task;
    return (const struct task_struct *)bpf_rdonly_cast(task,
                                                       bpf_core_type_id_kernel(struct task_struct));
}

/* libbpf sets it to the version of the running kernel. */
extern int LINUX_KERNEL_VERSION __kconfig;

#define PIDTYPE_TGID 1
#define PF_IO_WORKER 0x00000010
#define PF_USER_WORKER 0x00004000
#define PF_KTHREAD 0x00200000
#define TASK_STOPPED_OR_TRACED (0x4 | 0x8)
#define TASK_DEAD 0x80
/* A thread that the freezer of cgroup version 1, or a suspend of the machine, has frozen. Since 6.1
 * (commit f5d39b020809) its state is TASK_FROZEN, a bit that was unused before. In older kernels
 * its flags had PF_FROZEN, a bit that has another meaning in 6.1 and later. */
#define TASK_FROZEN 0x8000
#define PF_FROZEN 0x00010000
#define VERSION_OF_TASK_FROZEN 0x060100
/* cgroup.freeze (version 2) sets this bit in `jobctl` of a thread. The thread is frozen when its
 * bit `frozen` is set, too. A parent in vfork(2) has only `frozen`, and is not frozen. */
#define JOBCTL_TRAP_FREEZE (1ul << 23)
#define MAX_RT_PRIO 100 /* `prio` is below this in real-time threads, below 0 in SCHED_DEADLINE */
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFIFO 0010000
