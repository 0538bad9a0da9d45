/*
 * A library for LD_PRELOAD that makes one allocation, or one system call, of a program fail
 * (tools/torture). What fails is in the environment:
 *
 *   TORTURE_ALLOCATION=N   The N-th allocation fails with ENOMEM. 0: none.
 *   TORTURE_LASTING=1      All allocations after it fail, too.
 *   TORTURE_TRACE=1        The failing allocation is shown on stderr, with its callers.
 *   TORTURE_UNCONFINED=1   no_new_privs is refused, so camp runs without its sandbox, in which
 *                          LeakSanitizer could not stop the threads.
 *   TORTURE_COUNT=FD       A file of one uint64_t, in which allocations are counted.
 *   TORTURE_CALL=NAME      The kernel asks the parent process about each system call of this name.
 *   TORTURE_SOCKET=FD      A Unix socket, to which the descriptor for these questions is sent.
 *
 * Allocations: malloc(3) and its relatives are replaced. All code of the process is affected, also
 * libc itself, which allocates by the replaced functions (asprintf(3), fopen(3), getline(3) and so
 * on). The dynamic loader is affected only when it loads a library later, by dlopen(3).
 *
 * If SIGSEGV or SIGABRT ends the program, the line "torture: crash" and the callers are shown.
 *
 * System calls: a replaced read(3) would not be used by libc itself, for example by fflush(3). So
 * seccomp(2) intercepts the call in the kernel, with SECCOMP_RET_USER_NOTIF (Linux 5.5). The filter
 * is installed when all libraries are loaded, before main(). It works together with a filter that
 * the program installs itself.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    int number;
} calls[] = {
#define CALL(name)                                                                                 \
    {                                                                                              \
#name, SYS_##name                                                                          \
    }
    CALL(accept4),       CALL(bpf),        CALL(clone),       CALL(clone3),
    CALL(connect),       CALL(dup),        CALL(dup3),        CALL(epoll_ctl),
    CALL(epoll_create1), CALL(eventfd2),   CALL(fcntl),       CALL(fdatasync),
    CALL(fsync),         CALL(ftruncate),  CALL(getdents64),  CALL(mkdirat),
    CALL(mmap),          CALL(newfstatat), CALL(openat),      CALL(pipe2),
    CALL(ppoll),         CALL(pread64),    CALL(pwrite64),    CALL(read),
    CALL(renameat),      CALL(sendto),     CALL(socket),      CALL(timerfd_create),
    CALL(write),         CALL(recvfrom),   CALL(epoll_pwait),
#ifdef SYS_poll /* not on newer architectures, where libc calls the variant above */
    CALL(dup2),          CALL(epoll_wait), CALL(mkdir),       CALL(poll),
    CALL(rename),
#endif
};

static uint64_t failing;      /* the number of the allocation that fails */
static uint64_t *allocations; /* how many allocations there were; NULL: not counted yet */
static int traces;            /* whether the failing allocation is shown */

static int lasting;    /* whether all later ones fail, too */
static int unconfined; /* whether no_new_privs is refused */

static int fails(void)
{
    void *callers[32];
    uint64_t number;

    if (allocations == NULL)
        return 0;
    number = __atomic_add_fetch(allocations, 1, __ATOMIC_RELAXED);
    if (failing == 0 || number < failing || (number > failing && !lasting))
        return 0;
    if (traces && number == failing)
        backtrace_symbols_fd(callers, backtrace(callers, 32), STDERR_FILENO);
    errno = ENOMEM;
    return 1;
}

/* The function that is replaced: that of libc, or of LeakSanitizer. dlsym(3) allocates nothing when
 * it finds the name. */
#define REPLACED(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void *malloc(size_t size)
{
    static void *(*replaced)(size_t);

    if (replaced == NULL)
        replaced = REPLACED(malloc);
    return fails() ? NULL : replaced(size);
}

void *calloc(size_t count, size_t size)
{
    static void *(*replaced)(size_t, size_t);

    if (replaced == NULL)
        replaced = REPLACED(calloc);
    return fails() ? NULL : replaced(count, size);
}

void *realloc(void *block, size_t size)
{
    static void *(*replaced)(void *, size_t);

    if (replaced == NULL)
        replaced = REPLACED(realloc);
    return fails() ? NULL : replaced(block, size);
}

void *reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, bytes);
}

void *memalign(size_t alignment, size_t size)
{
    static void *(*replaced)(size_t, size_t);

    if (replaced == NULL)
        replaced = REPLACED(memalign);
    return fails() ? NULL : replaced(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
    void *block = memalign(alignment, size);

    if (block == NULL)
        return ENOMEM;
    *ret = block;
    return 0;
}

int prctl(int option, ...)
{
    unsigned long words[4];
    va_list arguments;

    va_start(arguments, option);
    for (int i = 0; i < 4; i++)
        words[i] = va_arg(arguments, unsigned long);
    va_end(arguments);
    if (unconfined && option == PR_SET_NO_NEW_PRIVS) {
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]);
}

static void stop(const char *what)
{
    perror(what);
    _exit(125);
}

/* Afterwards the instruction fails again, and the signal ends the program. backtrace(3) loads a
 * library; if a lock that it needs is held, SIGALRM ends the program. */
static void show_crash(int number)
{
    static const char line[] = "torture: crash\n";
    void *callers[32];

    allocations = NULL;
    alarm(5);
    signal(number, SIG_DFL);
    if (write(STDERR_FILENO, line, sizeof line - 1) > 0)
        backtrace_symbols_fd(callers, backtrace(callers, 32), STDERR_FILENO);
}

static int descriptor_of(const char *variable)
{
    const char *text = getenv(variable);

    return text != NULL ? atoi(text) : -1;
}

static void send_descriptor(int socket, int descriptor)
{
    char byte = 0, control[CMSG_SPACE(sizeof(int))] = "";
    struct iovec part = { &byte, 1 };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control
    };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    if (sendmsg(socket, &message, 0) != 1)
        stop("torture: sendmsg");
}

/* Asks the parent process about each system call `number`. sendmsg(2) and close(2), which this
 * function itself uses afterwards, are not in the table of calls. */
static void intercept(int number, int socket)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };
    int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);

    if (listener < 0) { /* without CAP_SYS_ADMIN, a filter needs no_new_privs */
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    }
    if (listener < 0)
        stop("torture: seccomp");
    send_descriptor(socket, listener);
    close(listener);
    close(socket);
}

__attribute__((constructor)) static void start(void)
{
    const char *name = getenv("TORTURE_CALL"), *number = getenv("TORTURE_ALLOCATION");
    const int socket = descriptor_of("TORTURE_SOCKET"), file = descriptor_of("TORTURE_COUNT");
    const struct sigaction crash = { .sa_handler = show_crash };
    int call = -1;

    for (size_t i = 0; name != NULL && i < sizeof calls / sizeof calls[0]; i++) {
        if (strcmp(calls[i].name, name) == 0)
            call = calls[i].number;
    }
    lasting = getenv("TORTURE_LASTING") != NULL;
    unconfined = getenv("TORTURE_UNCONFINED") != NULL;
    /* Programs that this one executes are not affected. */
    unsetenv("LD_PRELOAD");
    unsetenv("TORTURE_CALL");
    unsetenv("TORTURE_SOCKET");
    if (number != NULL) {
        void *map = mmap(NULL, sizeof *allocations, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

        if (map == MAP_FAILED)
            stop("torture: mmap");
        failing = strtoull(number, NULL, 10);
        close(file);
        unsetenv("TORTURE_ALLOCATION");
        unsetenv("TORTURE_COUNT");
        traces = getenv("TORTURE_TRACE") != NULL && backtrace((void *[]){ NULL }, 1) >= 0;
        if (!unconfined) { /* LeakSanitizer replaces sigaction(2), and is not ready yet */
            sigaction(SIGSEGV, &crash, NULL);
            sigaction(SIGABRT, &crash, NULL);
        }
        allocations = map;
    }
    if (call >= 0)
        intercept(call, socket);
    else if (name != NULL) { /* this architecture has no such call */
        close(socket);
    }
}
