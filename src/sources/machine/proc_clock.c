#include "proc_clock.h"

#include "counters/error.h"
#include "ledger/frame.h"

int proc_clock_find(int32_t tid, struct camp_thread *ret, struct camp_error *error)
{
    struct camp_process process;
    int r = camp_process_identify(NULL, tid, &process, sizeof process, error);

    /* /proc/TID exists for each thread, although readdir() of /proc returns only processes */
    if (r == CAMP_OK)
        *ret = (struct camp_thread){ .pid = tid, .tid = tid, .start = process.start };
    return r;
}

int proc_clock_read(const struct camp_thread *task, struct proc_clock *ret,
                    struct camp_error *error)
{
    const uint32_t wanted = CAMP_TASK_CPU | CAMP_TASK_RUN_DELAY | CAMP_TASK_STATE;
    struct camp_task now;
    int r = camp_thread_read(NULL, task, wanted, &now, sizeof now, error);

    if (r != CAMP_OK)
        return r;
    if ((now.known & wanted) != wanted)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "this kernel keeps no schedstat of a task: CPU and run queue are "
                         "reported by the database");
    *ret = (struct proc_clock){ .time_ns = now.time_ns,
                                .cpu_ns = now.cpu_ns,
                                .run_queue_ns = now.run_delay_ns,
                                .state = now.state };
    return CAMP_OK;
}

int proc_clock_state(const struct camp_thread *task, char *ret, struct camp_error *error)
{
    struct camp_task now;
    int r = camp_thread_read(NULL, task, CAMP_TASK_STATE, &now, sizeof now, error);

    if (r == CAMP_OK)
        *ret = now.state;
    return r;
}

/* Returns the growth from `before` to *now. If it exceeds `limit`, returns `limit` and subtracts
 * the excess from *now. */
static uint64_t take_at_most(uint64_t before, uint64_t *now, uint64_t limit)
{
    const uint64_t counted = counted_since(before, *now);
    const uint64_t kept = counted < limit ? counted : limit;

    *now -= counted - kept;
    return kept;
}

bool proc_clock_since(const struct proc_clock *before, struct proc_clock *now, uint64_t elapsed_ns,
                      uint64_t *ret_cpu_ns, uint64_t *ret_run_queue_ns)
{
    const struct proc_clock all = *now;

    *ret_cpu_ns = take_at_most(before->cpu_ns, &now->cpu_ns, elapsed_ns);
    *ret_run_queue_ns =
        take_at_most(before->run_queue_ns, &now->run_queue_ns, elapsed_ns - *ret_cpu_ns);
    return now->cpu_ns == all.cpu_ns && now->run_queue_ns == all.run_queue_ns;
}
