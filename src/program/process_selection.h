#pragma once

#include "options.h"

#include <camp/camp.h>

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#define PIDS_MAXIMUM 256

#define NO_PID (-1)

/* The processes of --pid. They are found when the command starts; for a recording only their
 * pids are known. */
struct process_selection {
    struct text_list texts;
    int32_t pids[PIDS_MAXIMUM]; /* [count]; NO_PID after the process exited */
    struct camp_process watched[PIDS_MAXIMUM];
    bool seen[PIDS_MAXIMUM]; /* [count] whether the process was in an interval */
    size_t count;
};
void selection_processes_release(struct process_selection *processes);

/* Finds the processes of `texts`. Prints an error and returns an exit status if a text is not a
 * number or a process does not exist. Otherwise returns OPTIONS_GO_ON. */
int selection_processes(struct process_selection *processes);

/* Parses the pids of `texts` for a recording, without looking for living processes.
 * selection_see() then notes each pid in the recording. At the end
 * selection_complain_of_missing() complains about a pid that the recording does not have. */
int selection_numbers(struct process_selection *processes);
void selection_see(struct process_selection *processes, int64_t pid);
int selection_complain_of_missing(const struct process_selection *processes, const char *source);

/* Returns the pid of a living process that was not in the first interval. If all processes exited
 * before the first interval, returns the first pid. Otherwise returns NO_PID. Must be called after
 * the first interval, and not for a recording. */
int32_t selection_unseen(const struct process_selection *processes);

/* Returns the pid of a text of digits, NO_PID if no process can have this number, or 0 if the text
 * is a name. */
int32_t pid_or_name(const char *text);

/* Returns whether a process has exited. A zombie, which its parent has not waited for, has. */
bool process_has_ended(const struct camp_process *process);

/* Print an error about the process, and return STATUS_FAILURE. */
int complain_of_missing_process(int32_t pid);

/* Returns a process that has a thread with this name now, or 0. */
int32_t process_of_thread_named(const char *name);

/* Says that no process has a name, which a thread of the process has. Returns STATUS_FAILURE. */
int complain_of_thread_name(const char *name, int32_t pid);
int complain_of_unseen_process(int32_t pid);
/* Prints an error and returns STATUS_FAILURE. `pid` is the result of selection_unseen(). */
int selection_complain_of_unseen(const struct process_selection *processes, int32_t pid);

/* Stops watching exited processes and zombies, so that a new process with the same pid is not
 * watched. Returns true if there were processes of --pid, and all of them have exited. */
bool selection_all_ended(struct process_selection *processes);

/* Compiles a POSIX extended regular expression, the value of an option, into *ret, and sets
 * *ret_used to `ret`. If the value is NULL, *ret_used is NULL. Returns OPTIONS_GO_ON, or
 * STATUS_USAGE after an error message. */
int pattern_compile(const char *option, const char *text, regex_t *ret, const regex_t **ret_used);
