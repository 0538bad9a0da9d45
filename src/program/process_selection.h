/* --pid and --filter, as every command takes them. */
#ifndef CAMP_PROGRAM_PROCESS_SELECTION_H
#define CAMP_PROGRAM_PROCESS_SELECTION_H

#include "options.h"

#include <camp/camp.h>

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#define PIDS_MAXIMUM 256

#define NO_PID (-1)

/* The processes of --pid, as they were when the command began, or of a recording by number. */
struct process_selection {
    struct text_list texts;                    /* for OPTION_LIST; selection_processes_release() */
    int32_t pids[PIDS_MAXIMUM];                /* [count]; NO_PID once it has ended */
    struct camp_process watched[PIDS_MAXIMUM]; /* [count] */
    bool met[PIDS_MAXIMUM];                    /* [count] seen in an interval */
    size_t count;
};
void selection_processes_release(struct process_selection *processes);

/* Finds those of `texts`. OPTIONS_GO_ON, or a status after a complaint: no number, no process. */
int selection_processes(struct process_selection *processes);

/* Of a recording, instead: only the numbers of `texts`, for nobody who lives now is asked. Each pid
 * that is in it is then told by selection_meet(), and once it was read one that never was is
 * complained of. */
int selection_numbers(struct process_selection *processes);
void selection_meet(struct process_selection *processes, int64_t pid);
int selection_complain_of_missing(const struct process_selection *processes, const char *source);

/* Of processes that run, after the first interval: one that is still there and was not in it, or
 * NO_PID. */
int32_t selection_unseen(const struct process_selection *processes);

/* STATUS_FAILURE, after a complaint. */
int complain_of_missing_process(int32_t pid);
int complain_of_unseen_process(int32_t pid);

/* Whose pid was watched and has ended is watched no more, whoever has that pid next; a zombie has
 * ended too. True when some were watched, and none of them is left. */
bool selection_all_ended(struct process_selection *processes);

/* Compiles --filter (POSIX extended) into *ret. NULL compiles nothing; *ret_used says whether. */
int selection_filter(const char *text, regex_t *ret, const regex_t **ret_used);

#endif
