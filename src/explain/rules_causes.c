/*
 * Rules about the causes of waits: what ran while threads were ready, and what ended their sleeps.
 * A group is all processes with one name, or one process (sources/causes/causes.h).
 */
#include "rule.h"

#include "counters/units.h"
#include "ledger/words.h"
#include "sources/causes/open_sleeps.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define STATE(name) (1u << CAMP_STATE_##name)
#define WORK_LEAST 0.05 /* the share of its time from which a group runs, or is ready to */
#define CAUSE_LEAST 0.5 /* the share of a state from which one cause is its cause */
#define BUSY_LEAST 0.5  /* busy time of the other end, in each second of the wait for it */

/* Returns a time in seconds a second. */
static double rate(const struct evidence *evidence, uint64_t time_ns)
{
    const double seconds = evidence_seconds(evidence);

    return seconds > 0 ? (double)time_ns / NS_PER_S / seconds : 0;
}

/* Returns whether the waits of a group count: those of the processes of --pid, or of all. */
static bool is_counted(const struct evidence *evidence, uint32_t group)
{
    return !evidence->is_part || cause_is_of_one(evidence, group);
}

/* Names the group that waited longest: that of `named`, or that of `any` if only groups of many
 * names waited. */
static void name_waiter(struct finding *ret, const struct evidence *evidence,
                        const struct cause *named, const struct cause *any)
{
    const struct cause *row = named != NULL ? named : any;

    if (row == NULL)
        return;
    finding_cause_fill(&ret->cause, evidence, row);
    snprintf(ret->who, sizeof ret->who, "%s", ret->cause.waiter);
    ret->pid = ret->cause.pid;
}

/* Sets what camp why takes to show the sum of the finding: of all threads that of `culprit`, or
 * all threads if it is NULL. The processes of --pid are those that waited. */
static void set_sum_operand(struct finding *ret, const struct evidence *evidence,
                            const struct camp_states_group *culprit)
{
    if (culprit != NULL && !evidence->is_part)
        cause_operand(ret->sum_operand, culprit);
    if (evidence->is_part || (culprit != NULL && ret->sum_operand[0] == '\0'))
        snprintf(ret->sum_operand, sizeof ret->sum_operand, "%s", ret->cause.operand);
}

/* The waits for a CPU with one kind of cause, and with CAMP_CAUSE_GROUP those behind one group. */
struct queue_waits {
    uint64_t sum_ns;
    const struct cause *named, *any; /* the largest of one name or process, and of any group */
};

static void add_queue_wait(struct queue_waits *waits, const struct evidence *evidence,
                           const struct cause *row)
{
    waits->sum_ns += row->wait_ns;
    if (waits->any == NULL || row->wait_ns > waits->any->wait_ns)
        waits->any = row;
    if (cause_is_of_one(evidence, row->group) &&
        (waits->named == NULL || row->wait_ns > waits->named->wait_ns))
        waits->named = row;
}

/* A culprit is a name or a process. Waits behind threads of the own group are left out. */
void find_neighbour(const struct evidence *evidence, struct finding *ret)
{
    const struct cause_list *rows = &evidence->causes->rows;
    struct queue_waits waits[CAUSE_GROUPS] = { 0 };
    uint32_t most = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct cause *row = &rows->items[i];

        if (row->state == CAMP_STATE_RUN_QUEUE && row->kind == CAMP_CAUSE_GROUP &&
            row->id < CAUSE_GROUPS && row->id != row->group && is_counted(evidence, row->group) &&
            cause_group_is_one(evidence->causes, row->id))
            add_queue_wait(&waits[row->id], evidence, row);
    }
    for (uint32_t i = 1; i < CAUSE_GROUPS; i++)
        most = waits[i].sum_ns > waits[most].sum_ns ? i : most;
    name_waiter(ret, evidence, waits[most].named, waits[most].any);
    set_sum_operand(ret, evidence, cause_group_find(evidence->causes, most));
    ret->value = ret->lost_s = rate(evidence, waits[most].sum_ns);
}

/* Adds up the waits for a CPU with one kind of cause. Returns the waits for all causes. */
static uint64_t find_queue_waits(const struct evidence *evidence, struct finding *ret,
                                 uint32_t kind)
{
    const struct cause_list *rows = &evidence->causes->rows;
    struct queue_waits waits = { 0 };
    uint64_t all_ns = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct cause *row = &rows->items[i];

        if (row->state != CAMP_STATE_RUN_QUEUE || !is_counted(evidence, row->group))
            continue;
        all_ns += row->wait_ns;
        if (row->kind == kind)
            add_queue_wait(&waits, evidence, row);
    }
    name_waiter(ret, evidence, waits.named, waits.any);
    set_sum_operand(ret, evidence, NULL);
    ret->value = ret->lost_s = rate(evidence, waits.sum_ns);
    return all_ns;
}

void find_real_time(const struct evidence *evidence, struct finding *ret)
{
    find_queue_waits(evidence, ret, CAMP_CAUSE_REAL_TIME);
}

void find_interrupted(const struct evidence *evidence, struct finding *ret)
{
    find_queue_waits(evidence, ret, CAMP_CAUSE_INTERRUPTS);
}

void find_late_wakeups(const struct evidence *evidence, struct finding *ret)
{
    const double all = rate(evidence, find_queue_waits(evidence, ret, CAMP_CAUSE_IDLE));

    ret->second = all > 0 ? ret->lost_s / all : 0;
}

/* Returns the time of a group on a CPU, ready, or in a wait that delays it. */
static uint64_t busy_ns(const struct causes *causes, uint32_t group)
{
    static const uint32_t delays = STATE(RUN_QUEUE) | STATE(THROTTLED) | STATE(TEXT_FAULT) |
                                   STATE(DATA_FAULT) | STATE(KERNEL_FAULT) | STATE(DISK) |
                                   STATE(LOCK);
    uint64_t sum = causes_on_cpu_ns(causes, group);

    for (uint32_t i = 0; i < CAMP_STATE_COUNT; i++)
        sum += (delays & 1u << i) != 0 ? causes->state_ns[group][i] : 0;
    return sum;
}

/* A group that does little else than wait is idle, whatever ends its waits. */
static bool has_work(const struct causes *causes, uint32_t group)
{
    const double work_ns = (double)causes_on_cpu_ns(causes, group) +
                           (double)causes->state_ns[group][CAMP_STATE_RUN_QUEUE] +
                           (double)causes->state_ns[group][CAMP_STATE_THROTTLED];

    return work_ns >= WORK_LEAST * (double)causes_total_ns(causes, group);
}

/* Returns whether the wait is the largest part of its state, in a group that has work. */
static bool is_main_cause(const struct evidence *evidence, const struct cause *row)
{
    const struct causes *causes = evidence->causes;

    return cause_is_of_one(evidence, row->group) && has_work(causes, row->group) &&
           (double)row->wait_ns >= CAUSE_LEAST * (double)causes->state_ns[row->group][row->state];
}

static bool is_by_other_group(const struct causes *causes, const struct cause *row)
{
    return row->kind == CAMP_CAUSE_GROUP && row->id != row->group &&
           cause_group_is_one(causes, row->id);
}

/* A group that is idle most of the time, such as a client between two requests, does not delay the
 * waiter. */
static bool is_by_busy_group(const struct evidence *evidence, const struct cause *row)
{
    return is_by_other_group(evidence->causes, row) &&
           rate(evidence, busy_ns(evidence->causes, row->id)) >=
               BUSY_LEAST * fmin(rate(evidence, row->wait_ns), 1);
}

static void find_sleep_for(const struct evidence *evidence, struct finding *ret, uint32_t state,
                           bool needs_busy)
{
    const struct cause_list *rows = &evidence->causes->rows;
    const struct cause *most = NULL;

    for (size_t i = 0; i < rows->count; i++) {
        const struct cause *row = &rows->items[i];

        if (row->state == state && (most == NULL || row->wait_ns > most->wait_ns) &&
            is_main_cause(evidence, row) &&
            (needs_busy ? is_by_busy_group(evidence, row)
                        : is_by_other_group(evidence->causes, row)))
            most = row;
    }
    name_waiter(ret, evidence, most, NULL);
    ret->value = ret->lost_s = most != NULL ? rate(evidence, most->wait_ns) : 0;
}

void find_lock_holder(const struct evidence *evidence, struct finding *ret)
{
    find_sleep_for(evidence, ret, CAMP_STATE_LOCK, false);
}

void find_pipe_end(const struct evidence *evidence, struct finding *ret)
{
    find_sleep_for(evidence, ret, CAMP_STATE_PIPE, true);
}

void find_socket_peer(const struct evidence *evidence, struct finding *ret)
{
    find_sleep_for(evidence, ret, CAMP_STATE_SOCKET, true);
}

/* Returns whether a system call waits for the lock of a file. */
static bool is_file_lock(const char *call)
{
    return strcmp(call, "flock") == 0 || strcmp(call, "fcntl") == 0 || strcmp(call, "fcntl64") == 0;
}

/* Returns whether it waits for a futex or a semaphore, which may have an owner. */
static bool is_owned_lock(const char *call)
{
    return strcmp(call, "futex") == 0 || strcmp(call, "semop") == 0 ||
           strcmp(call, "semtimedop") == 0;
}

/* Returns for how long the process of a sleep that has not ended waited for a lock; 0 if the sleep
 * may be one for work. A process that waits for the lock of a file does so in all of its time in
 * this state, but a thread that waits in futex(2) waits for work in the same state. */
static uint64_t blocked_ns(const struct causes *causes, size_t at, bool *ret_of_one_group)
{
    const struct open_fact *fact = &causes->open_facts[at];
    struct open_total total;

    *ret_of_one_group = false;
    if (causes->open_calls.items[at].state != CAMP_STATE_LOCK || !open_total_of(&total, causes, at))
        return 0;
    *ret_of_one_group = total.is_of_one_group;
    if (is_file_lock(fact->names.call))
        return total.state_ns;
    return is_owned_lock(fact->names.call) && fact->other_end[0] != '\0' ? total.sleep_ns : 0;
}

/* Sets what camp why takes for the process: its pid, or in a recording the name of its group. */
static void set_operand(struct finding_cause *ret, const struct evidence *evidence, int32_t pid,
                        uint32_t number)
{
    const struct camp_states_group *group = cause_group_find(evidence->causes, number);
    const bool is_own = group != NULL && group->kind == CAMP_GROUP_PROCESS && group->pid == pid;

    if (evidence->is_live || is_own)
        snprintf(ret->operand, sizeof ret->operand, "%" PRId32, pid);
    else if (group != NULL && group->kind == CAMP_GROUP_NAME)
        snprintf(ret->operand, sizeof ret->operand, "%s", group->name);
}

/* A lock that another thread holds is not work to wait for. So a wait for it counts also in a
 * process that does nothing else. */
void find_blocked(const struct evidence *evidence, struct finding *ret)
{
    const struct causes *causes = evidence->causes;
    const struct open_fact *most = NULL;
    uint64_t sum_ns = 0, most_ns = 0;
    uint32_t group = CAUSE_GROUPS; /* of the longest, if it is one */

    for (size_t i = 0; i < causes->open_calls.count; i++) {
        const int32_t pid = causes->open_calls.items[i].pid;
        bool is_of_one_group;
        const uint64_t time_ns = blocked_ns(causes, i, &is_of_one_group);

        if (time_ns == 0 || (evidence->is_part && evidence_process_find(evidence, pid).count == 0))
            continue;
        ret->count++;
        sum_ns += time_ns;
        if (time_ns <= most_ns)
            continue;
        most_ns = time_ns;
        most = &causes->open_facts[i];
        group = is_of_one_group ? most->group : CAUSE_GROUPS;
        ret->pid = pid;
    }
    if (most == NULL)
        return;
    snprintf(ret->who, sizeof ret->who, "%s", most->who);
    snprintf(ret->clause, sizeof ret->clause, "%s for %s%s%s", most->names.call, most->names.object,
             most->other_end[0] != '\0' ? ", " : "", most->other_end);
    if (ret->count > 1)
        snprintf(ret->other, sizeof ret->other, "; %" PRIu64 " other %s for such locks",
                 ret->count - 1, noun_of(ret->count - 1, "wait", "waits"));
    set_operand(&ret->cause, evidence, ret->pid, group);
    ret->second = rate(evidence, most_ns);
    ret->value = ret->lost_s = rate(evidence, sum_ns);
}

void find_timeouts(const struct evidence *evidence, struct finding *ret)
{
    static const uint32_t answers = STATE(LOCK) | STATE(PIPE) | STATE(SOCKET);
    const struct cause_list *rows = &evidence->causes->rows;
    const struct cause *most = NULL;

    for (size_t i = 0; i < rows->count; i++) {
        const struct cause *row = &rows->items[i];

        if (row->kind == CAMP_CAUSE_TIMER && (answers & 1u << row->state) != 0 &&
            (most == NULL || row->wait_ns > most->wait_ns) && is_main_cause(evidence, row))
            most = row;
    }
    name_waiter(ret, evidence, most, NULL);
    ret->value = ret->lost_s = most != NULL ? rate(evidence, most->wait_ns) : 0;
}
