/* The CPU and run-queue time of a session by the scheduler's counts in /proc. */
#include "postgres_inside.h"

/* True if the task has run since process->clock was read. This check costs one system call; reading
 * the clock costs six. */
static bool has_run(struct postgres_process *process)
{
    uint64_t cpu_ns = 0;
    const bool is_there = camp_pid_cpu_ns(process->pid, &cpu_ns) == CAMP_OK;
    const bool ret = !is_there || cpu_ns != process->clock_cpu_ns;

    process->clock_cpu_ns = cpu_ns;
    return ret;
}

/* Adds the wait for a CPU that the task is in: since it was found runnable its CPU clock has stood
 * still. The kernel counts the wait when it ends, so the sum never falls. */
static void add_in_flight(const struct postgres_source *source, struct postgres_process *process,
                          uint64_t before_ns)
{
    const uint64_t end_ns = source->sessions.frame.end_ns, since_ns = process->runnable_since_ns;
    uint64_t cpu_ns = 0;

    process->in_flight_ns = 0;
    if (since_ns != 0 && since_ns < end_ns && camp_pid_cpu_ns(process->pid, &cpu_ns) == CAMP_OK &&
        cpu_ns == process->runnable_cpu_ns)
        process->in_flight_ns = end_ns - since_ns;
    if (process->clock.run_queue_ns + process->in_flight_ns < before_ns)
        process->in_flight_ns = before_ns - process->clock.run_queue_ns;
    process->clock.run_queue_ns += process->in_flight_ns;
}

/* Reads the last counts of a session from its exit record. */
static bool read_exit(const struct postgres_source *source, struct postgres_process *process,
                      struct session *session)
{
    const struct frame *frame = &source->sessions.frame;
    const struct child_exit *exit =
        child_exits_find(&source->exits, process->pid, process->start_us);
    const struct proc_clock before = process->clock;
    const bool is_new = process->start_ns >= frame->start_ns;
    uint64_t end_ns;

    if (exit == NULL || (before.time_ns == 0 && !is_new))
        return false;
    end_ns = process->start_ns + exit->elapsed_ns;
    if (is_new)
        session->elapsed_ns = exit->elapsed_ns;
    else if (end_ns > frame->start_ns)
        session->elapsed_ns = end_ns - frame->start_ns;
    if (session->elapsed_ns > frame->end_ns - frame->start_ns)
        session->elapsed_ns = frame->end_ns - frame->start_ns;
    process->clock.cpu_ns = exit->cpu_ns;
    process->clock.run_queue_ns = exit->run_queue_ns;
    proc_clock_since(&before, &process->clock, session->elapsed_ns, &session->cpu_ns,
                     &session->run_queue_ns);
    return true;
}

bool postgres_clock_read(const struct postgres_source *source, struct postgres_process *process,
                         bool is_ended, struct session *session, bool *ret_is_final)
{
    const struct proc_clock before = process->clock;
    const bool is_new = process->start_ns >= source->sessions.frame.start_ns;

    *ret_is_final = false;
    process->clock.run_queue_ns -= process->in_flight_ns < process->clock.run_queue_ns
                                       ? process->in_flight_ns
                                       : process->clock.run_queue_ns;
    if (!process->has_task ||
        (has_run(process) && proc_clock_read(&process->task, &process->clock, NULL) != CAMP_OK)) {
        process->clock = before;
        *ret_is_final = is_ended && read_exit(source, process, session);
        return *ret_is_final;
    }
    add_in_flight(source, process, before.run_queue_ns);
    if (before.time_ns == 0 && !is_new)
        return false;
    if (!proc_clock_since(&before, &process->clock, session->elapsed_ns, &session->cpu_ns,
                          &session->run_queue_ns))
        process->clock_cpu_ns = 0; /* forces a reading in the next interval */
    return true;
}
