/* The system calls that the filter refuses whatever their arguments are. */
#pragma once

#include "system_call_filter.h"

#include <sys/syscall.h>

/* Newer than the headers of Debian 11 and 12. The numbers are the same on all architectures. */
#define MOUNT_SETATTR 442
#define QUOTACTL_FD 443
#define FCHMODAT2 452
#define SETXATTRAT 463
#define REMOVEXATTRAT 466
#define OPEN_TREE_ATTR 467
#define FILE_SETATTR 469

/* A call is refused unless `rights` has one of the bits of `unless`. */
struct refused_call {
    int number;
    unsigned unless;
};

static const struct refused_call refused_calls[] = {
    { SYS_execve, CALLS_PROCESSES },
    { SYS_execveat, CALLS_PROCESSES },
    { SYS_kill, CALLS_PROCESSES },
#ifdef SYS_fork
    { SYS_fork, CALLS_PROCESSES },
    { SYS_vfork, CALLS_PROCESSES },
#endif
    { SYS_socket, CALLS_SOCKETS },
    { SYS_socketpair, CALLS_SOCKETS },
    { SYS_bind, CALLS_SOCKETS },
    { SYS_listen, CALLS_LISTEN },
    { SYS_connect, CALLS_CONNECTIONS },
    { SYS_bpf, CALLS_MEASURE },
    { SYS_perf_event_open, CALLS_MEASURE },
    { SYS_process_vm_readv, CALLS_MEASURE },
    { SYS_process_vm_writev, 0 },
    { SYS_ptrace, 0 },
    { SYS_kcmp, 0 },
#ifdef SYS_pidfd_getfd
    { SYS_pidfd_getfd, 0 },
#endif
#ifdef SYS_pidfd_send_signal
    { SYS_pidfd_send_signal, 0 },
#endif
    { SYS_mount, 0 },
    { SYS_umount2, 0 },
    { SYS_pivot_root, 0 },
    { SYS_chroot, 0 },
#ifdef SYS_move_mount
    { SYS_open_tree, 0 },
    { SYS_move_mount, 0 },
    { SYS_fsopen, 0 },
    { SYS_fsconfig, 0 },
    { SYS_fsmount, 0 },
    { SYS_fspick, 0 },
#endif
    { MOUNT_SETATTR, 0 },
    { OPEN_TREE_ATTR, 0 },
#ifdef SYS_umount
    { SYS_umount, 0 },
#endif
    { SYS_setns, 0 },
    { SYS_unshare, 0 },
    { SYS_swapon, 0 },
    { SYS_swapoff, 0 },
    { SYS_reboot, 0 },
    { SYS_acct, 0 },
    { SYS_quotactl, 0 },
    { QUOTACTL_FD, 0 },
    { SYS_sethostname, 0 },
    { SYS_setdomainname, 0 },
    { SYS_init_module, 0 },
    { SYS_finit_module, 0 },
    { SYS_delete_module, 0 },
#ifdef SYS_kexec_load
    { SYS_kexec_load, 0 },
#endif
#ifdef SYS_kexec_file_load
    { SYS_kexec_file_load, 0 },
#endif
    { SYS_name_to_handle_at, 0 },
    { SYS_open_by_handle_at, 0 },
    { SYS_mknodat, 0 },
    { SYS_fchmod, CALLS_OWNERS },
    { SYS_fchmodat, 0 },
    { FCHMODAT2, 0 },
    { SYS_fchown, CALLS_OWNERS },
    { SYS_fchownat, 0 },
#ifdef SYS_chmod
    { SYS_mknod, 0 },
    { SYS_chmod, 0 },
    { SYS_chown, 0 },
    { SYS_lchown, 0 },
#endif
#ifdef SYS_fchown32
    { SYS_chown32, 0 },
    { SYS_lchown32, 0 },
    { SYS_fchown32, CALLS_OWNERS },
#endif
    { SYS_truncate, 0 }, /* Landlock refuses it only from Linux 6.2 on */
#ifdef SYS_truncate64
    { SYS_truncate64, 0 },
#endif
#ifdef SYS_shmget
    { SYS_shmget, 0 },
    { SYS_shmat, 0 },
    { SYS_shmctl, 0 },
    { SYS_semget, 0 },
    { SYS_semctl, 0 },
    { SYS_msgget, 0 },
    { SYS_msgctl, 0 },
    { SYS_msgsnd, 0 },
    { SYS_msgrcv, 0 },
#endif
#ifdef SYS_semop
    { SYS_semop, 0 },
    { SYS_semtimedop, 0 },
#endif
#ifdef SYS_ipc
    { SYS_ipc, 0 },
#endif
    { SYS_mq_open, 0 },
    { SYS_mq_unlink, 0 },
#if defined SYS_socketcall && defined __powerpc64__ /* whose libc does not need it */
    { SYS_socketcall, 0 },
#endif
    { SYS_ioprio_set, 0 },
    { SYS_setxattr, 0 },
    { SYS_lsetxattr, 0 },
    { SYS_fsetxattr, 0 },
    { SYS_removexattr, 0 },
    { SYS_lremovexattr, 0 },
    { SYS_fremovexattr, 0 },
    { SETXATTRAT, 0 },
    { REMOVEXATTRAT, 0 },
    { FILE_SETATTR, 0 },
    { SYS_add_key, 0 },
    { SYS_request_key, 0 },
    { SYS_keyctl, 0 },
#ifdef SYS_io_uring_setup
    { SYS_io_uring_setup, 0 },
    { SYS_io_uring_enter, 0 },
    { SYS_io_uring_register, 0 },
#endif
    { SYS_userfaultfd, 0 },
    { SYS_settimeofday, 0 },
    { SYS_clock_settime, 0 },
#ifdef SYS_clock_settime64
    { SYS_clock_settime64, 0 },
    { SYS_clock_adjtime64, 0 },
#endif
    { SYS_adjtimex, 0 },
    { SYS_clock_adjtime, 0 },
    { SYS_syslog, 0 },
    { SYS_vhangup, 0 },
    { SYS_personality, 0 },
#ifdef SYS_iopl
    { SYS_iopl, 0 },
    { SYS_ioperm, 0 },
#endif
};
