/* The command that camp time starts, as a child process. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts the command. If the command cannot be executed, the reason is written to the pipe
 * `failure`. A successful execve(2) closes the pipe. */
pid_t child_start(char **argv, const sigset_t *mask, int failure);

/* Returns whether executing the command failed. Called after the child has exited. */
bool child_has_not_run(int failure);

/* Reaps exited children. Returns true if the command was reaped, or if there are no children.
 * *ret_status is the wait status of the command. */
bool child_reap(pid_t command, int *ret_status);

/* Waits at most most_ns until a child exits. While a command runs, SIGCHLD is blocked, so
 * sigtimedwait(2) also notices an exit before this call. */
void child_wait(uint64_t most_ns);

int child_exit_status(int status);
