#include "time_child.h"

#include "counters/units.h"
#include "program/command.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A shell returns these exit statuses for a command that cannot be executed or does not exist. */
#define STATUS_NOT_RUN 126
#define STATUS_NOT_FOUND 127

pid_t child_start(char **argv, const sigset_t *mask, int failure)
{
    pid_t pid = fork();
    int reason;

    if (pid != 0)
        return pid;
    sigprocmask(SIG_SETMASK, mask, NULL);
    restore_signals();
    execvp(argv[0], argv);
    reason = errno;
    complain(STATUS_NOT_RUN, "%s: %s", argv[0], strerror(reason));
    if (write(failure, &reason, sizeof reason) < 0)
        _exit(STATUS_NOT_RUN);
    _exit(reason == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN);
}

bool child_has_not_run(int failure)
{
    int reason;

    return read(failure, &reason, sizeof reason) == sizeof reason;
}

bool child_reap(pid_t command, int *ret_status)
{
    bool ended = false;
    pid_t pid;
    int status;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != command)
            continue;
        *ret_status = status;
        ended = true;
    }
    return ended || (pid < 0 && errno == ECHILD);
}

void child_wait(uint64_t most_ns)
{
    const struct timespec most = { (time_t)(most_ns / NS_PER_S), (long)(most_ns % NS_PER_S) };
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigtimedwait(&child, NULL, &most);
}

int child_exit_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
