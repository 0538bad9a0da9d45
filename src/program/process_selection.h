/* --pid and --filter of all commands. */
#pragma once

#include "options.h"

#include <camp/camp.h>

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#define PIDS_MAXIMUM 256

#define NO_PID (-1)

/* The processes of --pid: found when the command starts, or for a recording only their pids. */
struct process_selection {
    struct text_list texts;                    /* for OPTION_LIST; selection_processes_release() */
    int32_t pids[PIDS_MAXIMUM];                /* [count]; NO_PID after its exit */
    struct camp_process watched[PIDS_MAXIMUM]; /* [count] */
    bool seen[PIDS_MAXIMUM];                   /* [count] seen in an interval */
    size_t count;
};
void selection_processes_release(struct process_selection *processes);

/* Finds the processes of `texts`. OPTIONS_GO_ON, or a status after a complaint: not a number, no
 * such process. */
int selection_processes(struct process_selection *processes);

/* For a recording, used instead of selection_processes(): parses the pids of `texts`, without
 * looking for living processes. selection_see() notes each pid in the recording, and at the end a
 * pid that never appeared is complained about. */
int selection_numbers(struct process_selection *processes);
void selection_see(struct process_selection *processes, int64_t pid);
int selection_complain_of_missing(const struct process_selection *processes, const char *source);

/* For living processes, after the first interval: a pid that still exists but was not in the
 * interval, or NO_PID. */
int32_t selection_unseen(const struct process_selection *processes);

/* Both complain, and return STATUS_FAILURE. */
int complain_of_missing_process(int32_t pid);
int complain_of_unseen_process(int32_t pid);

/* Stops watching exited processes and zombies, even if their pid is reused. True: some processes
 * were watched, and none of them is left. */
bool selection_all_ended(struct process_selection *processes);

/* Compiles the value of an option, a POSIX extended regular expression, into *ret, and points
 * *ret_used at it. NULL compiles nothing; *ret_used is then NULL. OPTIONS_GO_ON, or STATUS_USAGE
 * after a complaint. */
int pattern_compile(const char *option, const char *text, regex_t *ret, const regex_t **ret_used);
