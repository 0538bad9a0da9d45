#include "../calls.h"

#include "layout.h"

#include <string.h>
#include <sys/syscall.h>

struct call {
    long number;
    uint8_t kind;
};

/* System calls in which a thread may sleep. Some architectures lack some of them. In any other
 * call, a sleep is CAMP_STATE_OTHER_SLEEP. */
static const struct call calls[] = {
    { SYS_futex, CAMP_STATE_LOCK },
#ifdef SYS_futex_waitv
    { SYS_futex_waitv, CAMP_STATE_LOCK },
#endif

#ifdef SYS_poll
    { SYS_poll, CAMP_STATE_POLL },
    { SYS_select, CAMP_STATE_POLL },
    { SYS_epoll_wait, CAMP_STATE_POLL },
#endif
    { SYS_ppoll, CAMP_STATE_POLL },
    { SYS_pselect6, CAMP_STATE_POLL },
    { SYS_epoll_pwait, CAMP_STATE_POLL },
#ifdef SYS_epoll_pwait2
    { SYS_epoll_pwait2, CAMP_STATE_POLL },
#endif
    { SYS_io_getevents, CAMP_STATE_POLL },
#ifdef SYS_io_pgetevents
    { SYS_io_pgetevents, CAMP_STATE_POLL },
#endif
    { SYS_io_uring_enter, CAMP_STATE_POLL },

    { SYS_accept, CAMP_STATE_SOCKET },
    { SYS_accept4, CAMP_STATE_SOCKET },
    { SYS_connect, CAMP_STATE_SOCKET },
    { SYS_recvfrom, CAMP_STATE_SOCKET },
    { SYS_recvmsg, CAMP_STATE_SOCKET },
    { SYS_recvmmsg, CAMP_STATE_SOCKET },
    { SYS_sendto, CAMP_STATE_SOCKET },
    { SYS_sendmsg, CAMP_STATE_SOCKET },
    { SYS_sendmmsg, CAMP_STATE_SOCKET },

    { SYS_read, KIND_BY_DESCRIPTOR },
    { SYS_readv, KIND_BY_DESCRIPTOR },
    { SYS_write, KIND_BY_DESCRIPTOR },
    { SYS_writev, KIND_BY_DESCRIPTOR },
    { SYS_splice, CAMP_STATE_PIPE },
    { SYS_tee, CAMP_STATE_PIPE },
    { SYS_vmsplice, CAMP_STATE_PIPE },

    { SYS_restart_syscall, KIND_BY_RESTART },

    { SYS_nanosleep, CAMP_STATE_TIMER },
    { SYS_clock_nanosleep, CAMP_STATE_TIMER },

    { SYS_wait4, CAMP_STATE_CHILD },
    { SYS_waitid, CAMP_STATE_CHILD },
#ifdef SYS_vfork
    { SYS_vfork, CAMP_STATE_CHILD },
#endif
    /* With CLONE_VFORK, as in posix_spawn(3), the caller sleeps until the child exits or runs
       another program. */
    { SYS_clone, CAMP_STATE_CHILD },
#ifdef SYS_clone3
    { SYS_clone3, CAMP_STATE_CHILD },
#endif
};

void camp_calls_fill(uint8_t *kind_of_call, size_t count)
{
    memset(kind_of_call, CAMP_STATE_OTHER_SLEEP, count);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (calls[i].number >= 0 && (size_t)calls[i].number < count)
            kind_of_call[calls[i].number] = calls[i].kind;
    }
}
