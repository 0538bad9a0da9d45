#include "../calls.h"

#include "layout.h"

#include <string.h>
#include <sys/syscall.h>

struct call {
    const char *name;
    long number;
    uint8_t kind;
    uint8_t argument; /* enum call_argument */
};

#define CALL(name, kind, argument)                                                                 \
    {                                                                                              \
#name, SYS_##name, kind, argument                                                          \
    }

#define NAMED(name, argument) CALL(name, CAMP_STATE_OTHER_SLEEP, argument)

/* System calls in which a thread may sleep. Some architectures lack some of them. In any other
 * call, a sleep is CAMP_STATE_OTHER_SLEEP. */
static const struct call calls[] = {
    CALL(futex, CAMP_STATE_LOCK, CALL_FUTEX),
#ifdef SYS_futex_waitv
    CALL(futex_waitv, CAMP_STATE_LOCK, CALL_OTHER),
#endif
    /* Locks of files: the other commands of fcntl(2) do not sleep until something is free. */
    CALL(flock, CAMP_STATE_LOCK, CALL_DESCRIPTOR),
    CALL(fcntl, CAMP_STATE_LOCK, CALL_DESCRIPTOR),
#ifdef SYS_fcntl64
    CALL(fcntl64, CAMP_STATE_LOCK, CALL_DESCRIPTOR),
#endif
#ifdef SYS_semop
    CALL(semop, CAMP_STATE_LOCK, CALL_SEMAPHORES),
#endif
#ifdef SYS_semtimedop
    CALL(semtimedop, CAMP_STATE_LOCK, CALL_SEMAPHORES),
#endif

#ifdef SYS_poll
    CALL(poll, CAMP_STATE_POLL, CALL_OTHER),
    CALL(select, CAMP_STATE_POLL, CALL_OTHER),
    CALL(epoll_wait, CAMP_STATE_POLL, CALL_DESCRIPTOR),
#endif
    CALL(ppoll, CAMP_STATE_POLL, CALL_OTHER),
    CALL(pselect6, CAMP_STATE_POLL, CALL_OTHER),
    CALL(epoll_pwait, CAMP_STATE_POLL, CALL_DESCRIPTOR),
#ifdef SYS_epoll_pwait2
    CALL(epoll_pwait2, CAMP_STATE_POLL, CALL_DESCRIPTOR),
#endif
    CALL(io_getevents, CAMP_STATE_POLL, CALL_OTHER),
#ifdef SYS_io_pgetevents
    CALL(io_pgetevents, CAMP_STATE_POLL, CALL_OTHER),
#endif
    CALL(io_uring_enter, CAMP_STATE_POLL, CALL_DESCRIPTOR),

    CALL(accept, CAMP_STATE_SOCKET, CALL_DESCRIPTOR),
    CALL(accept4, CAMP_STATE_SOCKET, CALL_DESCRIPTOR),
    CALL(connect, CAMP_STATE_SOCKET, CALL_DESCRIPTOR),
    CALL(recvfrom, CAMP_STATE_SOCKET, CALL_DESCRIPTOR),
    CALL(recvmsg, CAMP_STATE_SOCKET, CALL_DESCRIPTOR),
    CALL(recvmmsg, CAMP_STATE_SOCKET, CALL_DESCRIPTOR),
    CALL(sendto, CAMP_STATE_SOCKET, CALL_DESCRIPTOR),
    CALL(sendmsg, CAMP_STATE_SOCKET, CALL_DESCRIPTOR),
    CALL(sendmmsg, CAMP_STATE_SOCKET, CALL_DESCRIPTOR),

    CALL(read, KIND_BY_DESCRIPTOR, CALL_DESCRIPTOR),
    CALL(readv, KIND_BY_DESCRIPTOR, CALL_DESCRIPTOR),
    CALL(write, KIND_BY_DESCRIPTOR, CALL_DESCRIPTOR),
    CALL(writev, KIND_BY_DESCRIPTOR, CALL_DESCRIPTOR),
    CALL(splice, CAMP_STATE_PIPE, CALL_DESCRIPTOR),
    CALL(tee, CAMP_STATE_PIPE, CALL_DESCRIPTOR),
    CALL(vmsplice, CAMP_STATE_PIPE, CALL_DESCRIPTOR),

    CALL(restart_syscall, KIND_BY_RESTART, CALL_OTHER),

    CALL(nanosleep, CAMP_STATE_TIMER, CALL_OTHER),
    CALL(clock_nanosleep, CAMP_STATE_TIMER, CALL_OTHER),

    CALL(wait4, CAMP_STATE_CHILD, CALL_CHILD),
    CALL(waitid, CAMP_STATE_CHILD, CALL_OTHER),
#ifdef SYS_vfork
    CALL(vfork, CAMP_STATE_CHILD, CALL_OTHER),
#endif
    /* With CLONE_VFORK, as in posix_spawn(3), the caller sleeps until the child exits or runs
       another program. */
    CALL(clone, CAMP_STATE_CHILD, CALL_OTHER),
#ifdef SYS_clone3
    CALL(clone3, CAMP_STATE_CHILD, CALL_OTHER),
#endif

    /* These are here for their names and their objects. */
    NAMED(rt_sigtimedwait, CALL_OTHER),
    NAMED(rt_sigsuspend, CALL_OTHER),
#ifdef SYS_pause
    NAMED(pause, CALL_OTHER),
#endif
#ifdef SYS_msgrcv
    NAMED(msgrcv, CALL_OTHER),
    NAMED(msgsnd, CALL_OTHER),
#endif
    NAMED(mq_timedreceive, CALL_DESCRIPTOR),
    NAMED(mq_timedsend, CALL_DESCRIPTOR),
    NAMED(sync, CALL_OTHER),
    NAMED(syncfs, CALL_DESCRIPTOR),
    NAMED(fsync, CALL_DESCRIPTOR),
    NAMED(fdatasync, CALL_DESCRIPTOR),
    NAMED(msync, CALL_OTHER),
#ifdef SYS_open
    NAMED(open, CALL_OTHER),
#endif
    NAMED(openat, CALL_OTHER),
    NAMED(close, CALL_DESCRIPTOR),
    NAMED(ioctl, CALL_DESCRIPTOR),
    NAMED(pread64, CALL_DESCRIPTOR),
    NAMED(pwrite64, CALL_DESCRIPTOR),
    NAMED(preadv, CALL_DESCRIPTOR),
    NAMED(pwritev, CALL_DESCRIPTOR),
    NAMED(sendfile, CALL_DESCRIPTOR),
    NAMED(copy_file_range, CALL_DESCRIPTOR),
    NAMED(fallocate, CALL_DESCRIPTOR),
    NAMED(ftruncate, CALL_DESCRIPTOR),
    NAMED(getdents64, CALL_DESCRIPTOR),
    NAMED(unlinkat, CALL_OTHER),
    NAMED(mmap, CALL_OTHER),
    NAMED(munmap, CALL_OTHER),
    NAMED(mprotect, CALL_OTHER),
    NAMED(madvise, CALL_OTHER),
    NAMED(brk, CALL_OTHER),
    NAMED(execve, CALL_OTHER),
    NAMED(exit_group, CALL_OTHER),
    NAMED(mount, CALL_OTHER),
    NAMED(umount2, CALL_OTHER),
    NAMED(getrandom, CALL_OTHER),
};

void camp_calls_fill(uint8_t *kind_of_call, size_t count)
{
    memset(kind_of_call, CAMP_STATE_OTHER_SLEEP, count);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (calls[i].number >= 0 && (size_t)calls[i].number < count)
            kind_of_call[calls[i].number] = calls[i].kind;
    }
}

static const struct call *find(int32_t number)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (calls[i].number == number)
            return &calls[i];
    }
    return NULL;
}

const char *camp_call_name(int32_t number)
{
    const struct call *call = find(number);

    return call != NULL ? call->name : NULL;
}

enum call_argument camp_call_argument(int32_t number)
{
    const struct call *call = find(number);

    return call != NULL ? (enum call_argument)call->argument : CALL_OTHER;
}
