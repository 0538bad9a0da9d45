/* The clock, the wait and the failed system calls of systems with POSIX. */
#undef _GNU_SOURCE /* for strerror_r() of POSIX instead of glibc */
#define _POSIX_C_SOURCE 200809L

#include "clock.h"
#include "error.h"
#include "platform.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

uint64_t camp_now_ns(void)
{
    return now_ns(CLOCK_MONOTONIC);
}

void camp_sleep_ms(unsigned ms)
{
    const struct timespec time = { .tv_sec = (time_t)(ms / 1000),
                                   .tv_nsec = (long)(ms % 1000 * NS_PER_MS) };

    nanosleep(&time, NULL);
}

static int code_of_errno(int system_error)
{
    switch (system_error) {
    case ENOENT:
    case ESRCH:
    case ENODEV:
    case ENXIO:
        return CAMP_E_GONE;
    case EACCES:
    case EPERM:
        return CAMP_E_PERM;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
        return CAMP_E_NOMEM;
    default:
        return CAMP_E_IO;
    }
}

static const char *advice(int code, int system_error)
{
    switch (code) {
    case CAMP_E_GONE:
        return "it does not exist, or no longer exists";
    case CAMP_E_PERM:
        return "run as its owner, or as root";
    case CAMP_E_NOMEM:
        return system_error == EMFILE   ? "raise the limit of open files (ulimit -n)"
               : system_error == ENFILE ? "raise the machine's limit of open files (fs.file-max)"
                                        : "free some memory, or try again later";
    default:
        return "check that it can be read";
    }
}

int camp_fail_errno(struct camp_error *error, int system_error, const char *what)
{
    const char *unmounted = system_error == ENOENT ? camp_unmounted(what) : NULL;
    int code = code_of_errno(system_error);
    char text[64];

    if (unmounted != NULL)
        return camp_fail(error, CAMP_E_IO, system_error, "%s", unmounted);
    if (error == NULL)
        return code;
    if (strerror_r(system_error, text, sizeof text) != 0)
        snprintf(text, sizeof text, "error %d", system_error);
    return camp_fail(error, code, system_error, "%s: %s; %s", what, text,
                     advice(code, system_error));
}
