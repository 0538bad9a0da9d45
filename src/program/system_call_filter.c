#include "system_call_filter.h"

#include <endian.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/net.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__ && !defined __ILP32__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __i386__
#define ARCHITECTURE AUDIT_ARCH_I386
#elif defined __aarch64__ && __BYTE_ORDER == __LITTLE_ENDIAN
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined __arm__ && __BYTE_ORDER == __LITTLE_ENDIAN
#define ARCHITECTURE AUDIT_ARCH_ARM
#elif defined __s390x__
#define ARCHITECTURE AUDIT_ARCH_S390X
#elif defined __powerpc64__ && __BYTE_ORDER == __LITTLE_ENDIAN
#define ARCHITECTURE AUDIT_ARCH_PPC64LE
#elif defined __riscv && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#define ARCHITECTURE 0
#endif

/* On x86-64, the calls of the x32 interface have this bit. */
#define X32_BIT 0x40000000u

/* clone(2) has its flags in the second argument on s390x. */
#ifdef __s390x__
#define CLONE_FLAGS_ARGUMENT 1
#else
#define CLONE_FLAGS_ARGUMENT 0
#endif

/* Newer than the headers of Debian 12. The numbers are the same on all architectures here. */
#define FCHMODAT2 452
#define SETXATTRAT 463
#define REMOVEXATTRAT 466
#define FILE_SETATTR 469

/* The part of the second argument of socket(2) that is no flag. */
#define SOCKET_TYPE 0xf

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
    { SYS_listen, CALLS_SOCKETS },
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
#ifdef SYS_mount_setattr
    { SYS_mount_setattr, 0 },
#endif
    { SYS_setns, 0 },
    { SYS_unshare, 0 },
    { SYS_swapon, 0 },
    { SYS_swapoff, 0 },
    { SYS_reboot, 0 },
    { SYS_acct, 0 },
    { SYS_quotactl, 0 },
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

#define REFUSED_COUNT (sizeof refused_calls / sizeof refused_calls[0])
#define INSTRUCTIONS_MAXIMUM (2 * REFUSED_COUNT + 120)

struct program {
    struct sock_filter instructions[INSTRUCTIONS_MAXIMUM];
    unsigned short count;
};

static void add(struct program *program, struct sock_filter instruction)
{
    program->instructions[program->count++] = instruction;
}

static void load(struct program *program, size_t offset)
{
    add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* The lower half of an argument. */
static void load_argument(struct program *program, unsigned number)
{
    const size_t half = __BYTE_ORDER == __BIG_ENDIAN ? sizeof(uint32_t) : 0;

    load(program, offsetof(struct seccomp_data, args) + number * sizeof(uint64_t) + half);
}

static void end_with(struct program *program, uint32_t result)
{
    add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, result));
}

static void refuse(struct program *program, int system_error)
{
    end_with(program, SECCOMP_RET_ERRNO | (uint32_t)system_error);
}

/* The next `count` instructions are executed only if the comparison is true. */
static void skip_unless(struct program *program, uint16_t comparison, uint32_t value, uint8_t count)
{
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | comparison | BPF_K, value, 0, count));
}

/* Begins instructions that are executed only if the system call has this number. Returns what
 * end_call() needs. They must end with a result. */
static unsigned short begin_call(struct program *program, uint32_t number)
{
    skip_unless(program, BPF_JEQ, number, 0);
    return program->count;
}

static void end_call(struct program *program, unsigned short begin)
{
    program->instructions[begin - 1].jf = (uint8_t)(program->count - begin);
}

/* Refuses the call unless the number that was loaded is one of `values`. */
static void require(struct program *program, const uint32_t *values, uint8_t count)
{
    for (uint8_t i = 0; i < count; i++)
        add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, values[i],
                                                  (uint8_t)(count - i), 0));
    refuse(program, EPERM);
}

/* Calls of another interface, such as those of 32-bit programs, would have other numbers. */
static void check_interface(struct program *program)
{
    load(program, offsetof(struct seccomp_data, arch));
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
    refuse(program, EPERM);
    load(program, offsetof(struct seccomp_data, nr));
    if (ARCHITECTURE == AUDIT_ARCH_X86_64) {
        skip_unless(program, BPF_JGE, X32_BIT, 1);
        refuse(program, EPERM);
    }
}

/* Threads may be created, processes not. The flags of clone3(2) are in memory, which a filter
 * cannot read. libc uses clone(2) if a kernel does not know clone3(2). */
static void check_clone(struct program *program)
{
#ifdef SYS_clone3
    skip_unless(program, BPF_JEQ, SYS_clone3, 1);
    refuse(program, ENOSYS);
#endif
    skip_unless(program, BPF_JEQ, SYS_clone, 4);
    load_argument(program, CLONE_FLAGS_ARGUMENT);
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
    refuse(program, EPERM);
    end_with(program, SECCOMP_RET_ALLOW);
}

/* Sockets of TCP and of Unix, as servers need them, and what else the rights name. Landlock does
 * not know connections of other protocols, and a raw socket can send and receive anything. */
static void check_socket(struct program *program, unsigned rights)
{
    static const uint32_t local[] = { AF_UNIX, AF_NETLINK };
    static const uint32_t families[] = { AF_UNIX, AF_INET, AF_INET6 };
    static const uint32_t protocols[] = { 0, IPPROTO_TCP, IPPROTO_UDP };
    static const uint32_t types[] = { SOCK_STREAM, SOCK_DGRAM };
    const unsigned short begin = begin_call(program, SYS_socket);

    load_argument(program, 0);
    for (size_t i = 0; i < 2 && (rights & CALLS_CONNECTIONS) != 0; i++) {
        skip_unless(program, BPF_JEQ, local[i], 1);
        end_with(program, SECCOMP_RET_ALLOW);
    }
    require(program, families, 3);
    load_argument(program, 2);
    require(program, protocols, 3);
    load_argument(program, 1);
    add(program, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE));
    require(program, types, (rights & CALLS_INTERNET) != 0 ? 2 : 1);
    end_with(program, SECCOMP_RET_ALLOW);
    end_call(program, begin);
}

/* Limits and the scheduling of other processes stay as they are. 0 means the caller. */
static void check_own_process(struct program *program)
{
    static const uint32_t calls[] = { SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setscheduler,
                                      SYS_sched_setparam, SYS_sched_setattr };
    const uint32_t own[] = { 0, (uint32_t)getpid() };

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const unsigned short begin = begin_call(program, calls[i]);

        load_argument(program, 0);
        require(program, own, 2);
        end_with(program, SECCOMP_RET_ALLOW);
        end_call(program, begin);
    }
}

/* With MSG_FASTOPEN, these calls connect. Both have their flags in different arguments. */
static void check_sending(struct program *program)
{
    static const struct {
        uint32_t number;
        unsigned flags;
    } calls[] = { { SYS_sendto, 3 }, { SYS_sendmsg, 2 }, { SYS_sendmmsg, 3 } };

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        skip_unless(program, BPF_JEQ, calls[i].number, 4);
        load_argument(program, calls[i].flags);
        skip_unless(program, BPF_JSET, MSG_FASTOPEN, 1);
        refuse(program, EPERM);
        end_with(program, SECCOMP_RET_ALLOW);
    }
}

#ifdef SYS_socketcall
/* On i386 and s390x, libc may make the calls of sockets through this one, whose first argument says
 * which. The others are in memory, which a filter cannot read. So sendto(2) is refused with any
 * flags, and sendmsg(2), which servers need, with none. */
static void check_socketcall(struct program *program, unsigned rights)
{
    static const struct refused_call calls[] = {
        { SYS_SOCKET, CALLS_SOCKETS },      { SYS_SOCKETPAIR, CALLS_SOCKETS },
        { SYS_BIND, CALLS_SOCKETS },        { SYS_LISTEN, CALLS_SOCKETS },
        { SYS_CONNECT, CALLS_CONNECTIONS }, { SYS_SENDTO, CALLS_CONNECTIONS },
    };
    unsigned count = 0;

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        count += (calls[i].unless & rights) == 0;
    skip_unless(program, BPF_JEQ, SYS_socketcall, (uint8_t)(2 * count + 2));
    load_argument(program, 0);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if ((calls[i].unless & rights) != 0)
            continue;
        skip_unless(program, BPF_JEQ, (uint32_t)calls[i].number, 1);
        refuse(program, EPERM);
    }
    end_with(program, SECCOMP_RET_ALLOW);
}
#endif

/* raise(3) and abort(3) send a signal to a thread of their own process. */
static void check_signals(struct program *program)
{
    skip_unless(program, BPF_JEQ, SYS_tgkill, 4);
    load_argument(program, 0);
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 1, 0));
    refuse(program, EPERM);
    end_with(program, SECCOMP_RET_ALLOW);
}

bool system_call_filter_exists(void)
{
    return ARCHITECTURE != 0 && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
}

void system_call_filter_enter(unsigned rights)
{
    struct program program = { .count = 0 };
    struct sock_fprog filter;

    if (!system_call_filter_exists())
        return;
    check_interface(&program);
    for (size_t i = 0; i < REFUSED_COUNT; i++) {
        if ((refused_calls[i].unless & rights) != 0)
            continue;
        skip_unless(&program, BPF_JEQ, (uint32_t)refused_calls[i].number, 1);
        refuse(&program, EPERM);
    }
    if ((rights & CALLS_PROCESSES) == 0)
        check_clone(&program);
    if ((rights & CALLS_SOCKETS) != 0)
        check_socket(&program, rights);
    check_sending(&program);
    check_own_process(&program);
#ifdef SYS_socketcall
    check_socketcall(&program, rights);
#endif
    check_signals(&program);
    end_with(&program, SECCOMP_RET_ALLOW);
    filter = (struct sock_fprog){ program.count, program.instructions };
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}
