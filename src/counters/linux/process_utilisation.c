/*
 * A process's CPU time in percent of one CPU.
 *
 * The whole is measured: the difference of two readings of its CPU clock by the difference of their
 * times. User and system are that whole divided in the proportion in which the kernel's own two
 * numbers grew. They grow in steps of 1/100 s: where neither did, the proportion since the process
 * began stands in for it.
 */
#include "process.h"

#include "../block.h"
#include "../error.h"

#define WANTED (CAMP_TASK_CPU | CAMP_TASK_SPLIT)

static uint64_t grown(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

/* The user part of a CPU time: 0 to 1. Before the first charged tick it is unknown; half and half
 * is then wrong by at most half of 1/100 s. */
static double user_share(const struct camp_task *before, const struct camp_task *after)
{
    uint64_t user = grown(before->user_ns, after->user_ns);
    uint64_t system = grown(before->system_ns, after->system_ns);

    if (user == 0 && system == 0) {
        user = after->user_ns;
        system = after->system_ns;
    }
    if (user == 0 && system == 0)
        return 0.5;
    return (double)user / ((double)user + (double)system);
}

static int check_previous(const struct camp_process *process, const struct camp_task *previous,
                          struct camp_error *error)
{
    if (previous == NULL)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "without an interval, pass the reading to compare with");
    if ((previous->known & WANTED) != WANTED || previous->start != process->start)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "the earlier reading is not one of CPU and SPLIT of this process");
    return CAMP_OK;
}

int camp_process_utilisation(const struct camp_source *source, const struct camp_process *process,
                             unsigned interval_ms, struct camp_task *previous,
                             struct camp_task_utilisation *ret, size_t size,
                             struct camp_error *error)
{
    struct camp_task_utilisation utilisation;
    struct camp_task before, after;
    double share;
    int r;

    if (process == NULL || ret == NULL)
        return camp_fail(error, CAMP_E_INVALID, 0, "pass a process and a place for the answer");
    if (interval_ms != 0) {
        r = camp_process_read(source, process, WANTED, &before, sizeof before, error);
        if (r == CAMP_OK)
            camp_block_ms(interval_ms);
    } else {
        r = check_previous(process, previous, error);
        if (r == CAMP_OK)
            before = *previous;
    }
    if (r == CAMP_OK)
        r = camp_process_read(source, process, WANTED, &after, sizeof after, error);
    if (r < 0)
        return r;
    if (after.time_ns <= before.time_ns)
        return camp_fail(error, CAMP_E_INVALID, 0, "no time has passed between the two readings");
    share = user_share(&before, &after);
    utilisation.elapsed_ns = after.time_ns - before.time_ns;
    utilisation.cpu_percent =
        100.0 * (double)grown(before.cpu_ns, after.cpu_ns) / (double)utilisation.elapsed_ns;
    utilisation.user_percent = utilisation.cpu_percent * share;
    utilisation.system_percent = utilisation.cpu_percent - utilisation.user_percent;
    if (previous != NULL)
        *previous = after;
    camp_hand_out(ret, size, &utilisation, sizeof utilisation);
    return CAMP_OK;
}
