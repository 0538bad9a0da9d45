#include "final_exits.h"

#include "counters/units.h"
#include "ledger/array.h"

/* After this time a final clock is not expected any more. It arrives after an RCU grace period,
 * which is rarely longer than a second. It never arrives for a zombie that its parent does not
 * reap. */
#define PATIENCE_NS (30ull * NS_PER_S)

void final_exits_release(struct final_exits *exits)
{
    free(exits->waiting);
    free(exits->finals);
    *exits = (struct final_exits){ 0 };
}

int final_exits_add(struct final_exits *exits, const struct camp_task_exit *exit, uint64_t after_ns,
                    uint64_t before_ns)
{
    /* elapsed_ns is rounded down to microseconds */
    const uint64_t oldest_ns = exit->elapsed_ns + NS_PER_US;
    struct waiting_exit *waiting;

    if (!ARRAY_RESERVE(exits->waiting, exits->waiting_capacity, exits->waiting_count + 1))
        return CAMP_E_NOMEM;
    waiting = &exits->waiting[exits->waiting_count++];
    *waiting = (struct waiting_exit){
        .exit = *exit,
        .earliest_ns = after_ns > oldest_ns ? after_ns - oldest_ns : 0,
        .latest_ns = before_ns > exit->elapsed_ns ? before_ns - exit->elapsed_ns : 0,
        .number = exits->records++,
    };
    return CAMP_OK;
}

int final_exits_add_final(struct final_exits *exits, const struct final_clock *final)
{
    if (!ARRAY_RESERVE(exits->finals, exits->final_capacity, exits->final_count + 1))
        return CAMP_E_NOMEM;
    exits->finals[exits->final_count++] = *final;
    return CAMP_OK;
}

struct reading {
    struct final_exits *exits;
    int result;
};

static void take(void *context, const struct final_clock *final)
{
    struct reading *reading = context;

    if (reading->result == CAMP_OK)
        reading->result = final_exits_add_final(reading->exits, final);
}

int final_exits_read(struct final_exits *exits, struct final_clocks *clocks)
{
    struct reading reading = { exits, CAMP_OK };

    final_clocks_read(clocks, take, &reading);
    return reading.result;
}

static int compare_waiting(const void *a, const void *b)
{
    const struct waiting_exit *left = a, *right = b;

    if (left->exit.pid != right->exit.pid)
        return left->exit.pid < right->exit.pid ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

static int compare_finals(const void *a, const void *b)
{
    const struct final_clock *left = a, *right = b;

    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    return left->start_ns < right->start_ns ? -1 : left->start_ns > right->start_ns;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Sets the times of an exit to its final times, and accounts the process. */
static int account(struct waiting_exit *waiting, struct tasks_table *table, uint64_t measured_ns,
                   uint64_t sampled_ns)
{
    struct camp_task_exit *exit = &waiting->exit;
    const struct camp_task_exit before = *exit;

    exit->measured_ns = larger(exit->measured_ns, measured_ns);
    exit->sampled_ns = larger(exit->sampled_ns, sampled_ns);
    exit->at_most_ns = exit->measured_ns;
    if (!waiting->is_accounted) {
        waiting->is_accounted = true;
        return tasks_table_end(table, exit);
    }
    return tasks_table_end_later(table, exit, exit->measured_ns - before.measured_ns,
                                 exit->sampled_ns - before.sampled_ns);
}

static bool is_of(const struct waiting_exit *waiting, const struct final_clock *final)
{
    return waiting->exit.pid == final->pid && final->start_ns >= waiting->earliest_ns &&
           final->start_ns <= waiting->latest_ns;
}

int final_exits_match(struct final_exits *exits, struct tasks_table *table)
{
    size_t kept = 0, final = 0;
    int r = CAMP_OK;

    if (exits->final_count == 0)
        return CAMP_OK;
    if (exits->waiting_count > 0)
        qsort(exits->waiting, exits->waiting_count, sizeof *exits->waiting, compare_waiting);
    qsort(exits->finals, exits->final_count, sizeof *exits->finals, compare_finals);
    for (size_t i = 0; i < exits->waiting_count; i++) {
        struct waiting_exit *waiting = &exits->waiting[i];
        const struct final_clock *found;

        while (final < exits->final_count &&
               (exits->finals[final].pid < waiting->exit.pid ||
                (exits->finals[final].pid == waiting->exit.pid &&
                 exits->finals[final].start_ns < waiting->earliest_ns)))
            final++;
        found = &exits->finals[final];
        if (r == CAMP_OK && final < exits->final_count && is_of(waiting, found)) {
            r = account(waiting, table, found->measured_ns, found->sampled_ns);
            final++;
        } else {
            exits->waiting[kept++] = *waiting;
        }
    }
    exits->waiting_count = kept;
    exits->final_count = 0;
    return r;
}

/* Reads the CPU clock of a process that has exited, if its parent has not reaped it yet. */
static bool read_zombie(const struct camp_task_exit *exit, uint64_t *ret_ns)
{
    struct camp_process process;
    struct camp_task task;

    return camp_pid_cpu_ns(exit->pid, ret_ns) == CAMP_OK && *ret_ns >= exit->measured_ns &&
           camp_process_identify(NULL, exit->pid, &process, sizeof process, NULL) == CAMP_OK &&
           camp_process_read(NULL, &process, CAMP_TASK_STATE, &task, sizeof task, NULL) ==
               CAMP_OK &&
           task.state == 'Z';
}

int final_exits_finish(struct final_exits *exits, struct tasks_table *table, uint64_t now_ns)
{
    size_t kept = 0;
    int r = CAMP_OK;

    for (size_t i = 0; i < exits->waiting_count; i++) {
        struct waiting_exit *waiting = &exits->waiting[i];
        uint64_t clock_ns = 0;

        if (r == CAMP_OK && !waiting->is_accounted) {
            if (!read_zombie(&waiting->exit, &clock_ns))
                clock_ns = tasks_table_estimate(table, &waiting->exit);
            r = account(waiting, table, clock_ns, 0);
        }
        if (now_ns < waiting->latest_ns + waiting->exit.elapsed_ns + PATIENCE_NS)
            exits->waiting[kept++] = *waiting;
    }
    exits->waiting_count = kept;
    return r;
}
