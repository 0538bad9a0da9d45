/*
 * Runs a load in a child process, which the test measures from outside. The load returns its own
 * numbers (its truth) in shared memory.
 */
#pragma once

#include "counters/error.h"
#include "load/load.h"
#include "program/command.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
    atomic_bool done;
    int result;
    struct camp_error error;
    _Alignas(max_align_t) unsigned char truth[];
};

struct load_process {
    pid_t pid;
    struct shared *shared;
    size_t size;
};

static inline void child_run(struct shared *shared, pid_t parent, load_function *run,
                             const void *plan)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    if (getppid() == parent)
        shared->result = run(plan, shared->truth, &shared->error);
    atomic_store(&shared->done, true);
    _exit(0);
}

/* Forks a child that runs the load. The child has its own copy of `plan`. */
static inline int load_start(struct load_process *process, load_function *run, const void *plan,
                             size_t truth_size, struct camp_error *error)
{
    struct shared *shared;
    pid_t parent = getpid();
    sigset_t stops, before;
    int failed;

    *process = (struct load_process){ .pid = -1, .size = sizeof *shared + truth_size };
    shared = mmap(NULL, process->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return camp_fail_errno(error, errno, "memory shared with a load");
    /* SIGTERM is blocked until its handler is set. Otherwise SIGTERM might end the child before it
     * stores its numbers. */
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGINT);
    sigprocmask(SIG_BLOCK, &stops, &before);
    process->pid = fork();
    failed = errno;
    if (process->pid == 0) {
        stop_requested = 0;
        stop_on_signals();
        sigprocmask(SIG_SETMASK, &before, NULL);
        child_run(shared, parent, run, plan);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (process->pid < 0) {
        munmap(shared, process->size);
        return camp_fail_errno(error, failed, "a process for a load");
    }
    process->shared = shared;
    return CAMP_OK;
}

/* Waits for the end of the load, copies its numbers, and releases the process. If `stop` is set,
 * stops the load first. Returns the result of the load, or CAMP_E_GONE if the load was killed. */
static inline int load_end(struct load_process *process, bool stop, void *ret_truth,
                           size_t truth_size, struct camp_error *error)
{
    struct shared *shared = process->shared;
    int r = CAMP_OK, status = 0;

    if (shared == NULL)
        return camp_fail(error, CAMP_E_INVALID, 0, "this load was never started");
    if (stop)
        kill(process->pid, SIGTERM);
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    memset(ret_truth, 0, truth_size);
    if (atomic_load(&shared->done)) {
        r = shared->result;
        memcpy(ret_truth, shared->truth,
               truth_size < process->size - sizeof *shared ? truth_size
                                                           : process->size - sizeof *shared);
        if (r != CAMP_OK && error != NULL)
            *error = shared->error;
    } else {
        r = camp_fail(error, CAMP_E_GONE, 0, "the load was killed (signal %d): try again",
                      WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    }
    munmap(shared, process->size);
    *process = (struct load_process){ .pid = -1 };
    return r;
}
