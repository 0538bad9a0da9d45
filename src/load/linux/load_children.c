/*
 * The exit of a child also uses CPU time, for example to free the address space. The child cannot
 * report this CPU time. But the CPU clock of a zombie still exists, so the parent waits with
 * WNOWAIT, reads the clock of the child, and only then reaps the child. wait4(2) would report the
 * same CPU time, but truncated to 1 us.
 */
#include "load/load_children.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "load/load_tools.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHARED_SIZE (LOAD_CHILDREN_MAX * sizeof(_Atomic uint64_t))

int load_children_open(struct load_children *ret, struct camp_error *error)
{
    void *shared =
        mmap(NULL, SHARED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    *ret = (struct load_children){ .section = -1 };
    if (shared == MAP_FAILED)
        return camp_fail_errno(error, errno, "memory shared with the children");
    ret->reported_ns = shared;
    return CAMP_OK;
}

void load_children_close(struct load_children *children)
{
    munmap((void *)children->reported_ns, SHARED_SIZE);
}

static void child_run(_Atomic uint64_t *reported, uint64_t burn_ns)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the load is killed, kills the child too */
    load_burn(load_process_ns, burn_ns, 0, UINT64_MAX);
    atomic_store(reported, load_process_ns());
    _exit(0);
}

bool load_child_start(struct load_children *children, unsigned place, uint64_t burn_ns)
{
    pid_t pid;

    atomic_store(&children->reported_ns[place], 0);
    pid = fork();
    if (pid == 0)
        child_run(&children->reported_ns[place], burn_ns);
    if (pid < 0)
        return false;
    children->processes[place] = pid;
    return true;
}

bool load_child_command(int argc, char **argv, int *ret_status)
{
    (void)argc, (void)argv, (void)ret_status;
    return false;
}

/* The child may still be exiting, so its CPU clock is read until it no longer advances. */
static uint64_t whole_clock(pid_t pid)
{
    uint64_t whole_ns = 0, before = UINT64_MAX;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) == 0)
        for (; whole_ns != before; whole_ns = now_ns(clock))
            before = whole_ns;
    return whole_ns;
}

bool load_child_reap(struct load_children *children, unsigned place, bool wait,
                     struct load_child_times *ret)
{
    const pid_t pid = (pid_t)children->processes[place];
    siginfo_t info = { 0 };
    int r;

    do
        r = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | (wait ? 0 : WNOHANG));
    while (r < 0 && errno == EINTR);
    if (r >= 0 && info.si_pid != pid)
        return false;
    ret->reported_ns = atomic_load(&children->reported_ns[place]);
    ret->whole_ns = whole_clock(pid);
    ret->has_whole = true;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    children->processes[place] = 0;
    return true;
}
