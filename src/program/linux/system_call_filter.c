#include "system_call_filter.h"

#include "refused_calls.h"

#include <endian.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/net.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
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

/* The part of the second argument of socket(2) that is no flag. */
#define SOCKET_TYPE 0xf

#define REFUSED_COUNT (sizeof refused_calls / sizeof refused_calls[0])
#define INSTRUCTIONS_MAXIMUM (2 * REFUSED_COUNT + 150)

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

#if defined SYS_socketcall && !defined __powerpc64__
/* On i386 and s390x, libc may make the calls of sockets through this one, whose first argument says
 * which. The other arguments are in memory, which a filter cannot read: families and types are not
 * checked. Without CALLS_CONNECTIONS, sendto(2) is refused whatever its flags are. sendmsg(2) is
 * always permitted, because servers need it. */
static void check_socketcall(struct program *program, unsigned rights)
{
    static const struct refused_call calls[] = {
        { SYS_SOCKET, CALLS_SOCKETS },      { SYS_SOCKETPAIR, CALLS_SOCKETS },
        { SYS_BIND, CALLS_SOCKETS },        { SYS_LISTEN, CALLS_LISTEN },
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

/* raise(3) and abort(3) send a signal to a thread of their own process. The thread of tkill(2) may
 * be the first one only, which has the id of the process. */
static void check_signals(struct program *program)
{
    static const uint32_t calls[] = { SYS_tgkill, SYS_tkill, SYS_rt_sigqueueinfo,
                                      SYS_rt_tgsigqueueinfo };
    const uint32_t own = (uint32_t)getpid();

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const unsigned short begin = begin_call(program, calls[i]);

        load_argument(program, 0);
        require(program, &own, 1);
        end_with(program, SECCOMP_RET_ALLOW);
        end_call(program, begin);
    }
}

/* These requests type into the terminal, as if the user did, and change attributes of files. */
static void check_ioctl(struct program *program)
{
    static const uint32_t requests[] = { TIOCSTI, TIOCLINUX, FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR };
    const unsigned short begin = begin_call(program, SYS_ioctl);

    load_argument(program, 1);
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        skip_unless(program, BPF_JEQ, requests[i], 1);
        refuse(program, EPERM);
    }
    end_with(program, SECCOMP_RET_ALLOW);
    end_call(program, begin);
}

bool system_call_filter_exists(void)
{
    return ARCHITECTURE != 0 && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
}

int system_call_filter_enter(unsigned rights)
{
    struct program program = { .count = 0 };
    struct sock_fprog filter;

    if (!system_call_filter_exists())
        return 0;
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
#if defined SYS_socketcall && !defined __powerpc64__
    check_socketcall(&program, rights);
#endif
    check_signals(&program);
    check_ioctl(&program);
    end_with(&program, SECCOMP_RET_ALLOW);
    filter = (struct sock_fprog){ program.count, program.instructions };
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0 ? 0 : errno;
}
