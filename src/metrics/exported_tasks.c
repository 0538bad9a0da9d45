/* With tier "bpf": the metrics of threads, from microstates. With other tiers: metrics of
 * processes, of which only the CPU time is known; the states of groups are absent. */
#include "exported_inside.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "microstates/table.h"
#include "sources/containers/thread_cgroups.h"

#include <stdio.h>
#include <string.h>

static int find_tier(const char *name, enum tasks_tier *ret, struct camp_error *error)
{
    *ret = TASKS_AUTOMATIC;
    for (int i = TASKS_TASKSTATS; name != NULL && i <= TASKS_BPF; i++) {
        if (strcmp(name, tasks_tiers[i].name) == 0)
            *ret = (enum tasks_tier)i;
    }
    return name == NULL || *ret != TASKS_AUTOMATIC
               ? CAMP_OK
               : camp_fail(error, CAMP_E_INVALID, 0,
                           "--tier %s: the tiers are bpf, taskstats and schedstat", name);
}

/* Opens the wanted tier, or the best available tier. If the kernel refuses tier "bpf",
 * exported->note says why. */
static int open_tier(struct exported *exported, enum tasks_tier wanted, bool why,
                     struct camp_error *error)
{
    enum tasks_tier tier = TASKS_BPF;
    int r = CAMP_E_NOTSUP;

    if (wanted == TASKS_AUTOMATIC || wanted == TASKS_BPF)
        r = camp_states_open(&exported->session,
                             thread_cgroups_option() | (why ? CAMP_STATES_CULPRITS : 0), error);
    if (r != CAMP_OK && (wanted == TASKS_BPF || why))
        return r;
    if (r != CAMP_OK) {
        if (wanted == TASKS_AUTOMATIC && error != NULL)
            snprintf(exported->note, sizeof exported->note, "%s", error->message);
        r = tasks_source_open(wanted, &exported_goes_on, &exported->tasks, &tier, error);
    }
    exported->tier = tasks_tiers[tier].name;
    return r;
}

/* Without BPF, refuses groups by user, cgroup, label or rules, because only the name of an exited
 * process is known. */
static int refuse_group(const struct exported *exported, struct camp_error *error)
{
    const bool was_requested = exported->note[0] == '\0'; /* the user chose this tier by --tier */

    return camp_fail(error, was_requested ? CAMP_E_INVALID : CAMP_E_PERM, 0,
                     "tier %s has groups by command alone, others take tier bpf%s%s",
                     exported->tier, exported->note[0] != '\0' ? ": " : "", exported->note);
}

const char *exported_group_note(const struct exported *exported)
{
    struct containers *containers = exported->sums.members.containers;

    if (exported->sessions != NULL)
        return exported_sessions_note(exported);
    return containers != NULL ? containers_note(containers) : "";
}

int exported_tasks_open(struct exported *exported, const struct exported_options *options,
                        struct camp_error *error)
{
    struct members members;
    enum tasks_tier wanted;
    int r = find_tier(options->tier, &wanted, error);

    if (r == CAMP_OK)
        r = members_init(&members, options->group, options->rules, options->label, error);
    if (r != CAMP_OK)
        return r;
    r = thread_sums_init(&exported->sums, &members, options->groups, options->new_groups);
    if (r == CAMP_OK)
        r = open_tier(exported, wanted, options->why, error);
    return r == CAMP_OK && exported->session == NULL && options->group != GROUP_NAME
               ? refuse_group(exported, error)
               : r;
}

static void set_counts(struct exported *exported)
{
    static const struct {
        enum threads_counter counter;
        enum exported_family family;
        size_t series;
    } places[] = {
        { THREADS_RUN_DELAY, TASK_RUN_DELAY, 0 },
        { THREADS_SYSTEM_CALLS, TASK_CALLS, 0 },
        { THREADS_SIGNALS, TASK_SIGNALS, 0 },
        { THREADS_VOLUNTARY_SWITCHES, TASK_SWITCHES, 0 },
        { THREADS_INVOLUNTARY_SWITCHES, TASK_SWITCHES, 1 },
        { THREADS_MINOR_FAULTS, TASK_FAULTS, 0 },
        { THREADS_MAJOR_FAULTS, TASK_FAULTS, 1 },
        { THREADS_READ_BYTES, TASK_STORAGE, 0 },
        { THREADS_WRITTEN_BYTES, TASK_STORAGE, 1 },
    };
    const uint64_t unmeasured = threads_unmeasured(exported->session);

    for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
        if ((unmeasured >> places[i].counter & 1) == 0)
            exported_set(exported, places[i].family, places[i].series,
                         exported->sums.counts[places[i].counter]);
    }
    exported_set(exported, THREADS, 0, exported->sums.threads.threads);
    exported_set(exported, PROCESSES, 0, exported->sums.threads.processes);
}

static int read_threads(struct exported *exported, struct camp_error *error)
{
    const int r =
        thread_sums_read(&exported->sums, exported->session, exported->rules_changed, error);

    if (r != CAMP_OK)
        return r;
    exported->rules_changed = false;
    set_counts(exported);
    return CAMP_OK;
}

/* Accounts a row, which is one process, or several exited processes with the same name. */
static int add_process(struct exported *exported, const struct frame *frame, size_t row)
{
    struct top_k *top = &exported->sums.top;
    const struct entity *entity = &frame->entities[row];
    const uint64_t *from = frame_values(frame, row);
    uint64_t values[THREAD_SUM_COUNT] = { 0 };
    struct top_k_key key = { 0 };
    uint32_t group;
    int r;

    snprintf(key.text, sizeof key.text, "%s", entity->name);
    r = top_k_find(top, &key, &group);
    if (r != CAMP_OK)
        return r;
    values[SUM_MEASURED] = from[TASKS_MEASURED];
    values[SUM_SAMPLED] = from[TASKS_SAMPLED];
    top_k_add(top, group, values, values[SUM_MEASURED]);
    return CAMP_OK;
}

static int read_processes(struct exported *exported, struct camp_error *error)
{
    struct top_k *top = &exported->sums.top;
    const struct frame *frame;
    int r = exported->tasks->next(exported->tasks, 0, &frame, error);

    if (r != CAMP_OK)
        return r;
    top_k_start(top, frame->end_ns - frame->start_ns);
    for (size_t i = 0; i < frame->entity_count && r == CAMP_OK; i++)
        r = add_process(exported, frame, i);
    if (r == CAMP_OK)
        r = top_k_finish(top);
    if (r == CAMP_OK)
        r = members_name(&exported->sums.members, top);
    exported->lost += frame->losses.lost;
    exported->unseen += frame->losses.unseen;
    exported->unread_ns += frame->losses.unread_ns;
    exported_set(exported, PROCESSES, 0, tasks_source_living(exported->tasks));
    return r;
}

int exported_tasks_read(struct exported *exported, struct camp_error *error)
{
    return exported->session != NULL ? read_threads(exported, error)
                                     : read_processes(exported, error);
}

static bool has_sampled(const struct exported *exported)
{
    return strcmp(exported->tier, tasks_tiers[TASKS_SCHEDSTAT].name) != 0;
}

static void add_series(struct metric_family *family, const char *name, const char *state,
                       uint64_t value)
{
    family->series[family->count++] = (struct series){ { name, state }, value, true };
}

/* A state that the session does not measure has no series. */
static bool has_state(const struct exported *exported, size_t state)
{
    return (states_measured(exported->session) & 1u << state) != 0;
}

static void fill_group(struct exported *exported, const char *name, const uint64_t *values)
{
    struct metric_family *families = exported->families;

    for (size_t i = 0; i < CAMP_STATE_COUNT; i++)
        if (has_state(exported, i))
            add_series(&families[GROUP_STATE], name, camp_state_name((int)i), values[i]);
    add_series(&families[GROUP_MEASURED], name, NULL, values[SUM_MEASURED]);
    if (has_sampled(exported))
        add_series(&families[GROUP_SAMPLED], name, NULL, values[SUM_SAMPLED]);
}

static void fill_totals(struct exported *exported)
{
    const struct top_k *top = &exported->sums.top;

    for (size_t i = 0; i < CAMP_STATE_COUNT; i++) {
        if (!has_state(exported, i))
            continue;
        exported_set(exported, TASK_STATE, i, top->total[i]);
        exported_set(exported, RETIRED_STATE, i, top->retired[i]);
    }
    exported_set(exported, TASK_CPU_MEASURED, 0, top->total[SUM_MEASURED]);
    exported_set(exported, RETIRED_MEASURED, 0, top->retired[SUM_MEASURED]);
    if (!has_sampled(exported))
        return;
    exported_set(exported, TASK_CPU_SAMPLED, 0, top->total[SUM_SAMPLED]);
    exported_set(exported, RETIRED_SAMPLED, 0, top->retired[SUM_SAMPLED]);
}

void exported_groups_fill(struct exported *exported)
{
    const struct top_k *top = &exported->sums.top;

    exported->families[GROUP_STATE].count = 0;
    exported->families[GROUP_MEASURED].count = 0;
    exported->families[GROUP_SAMPLED].count = 0;
    for (size_t i = 0; i < top->count; i++) {
        if (top->groups[i].shown != NULL)
            fill_group(exported, top->groups[i].name, top->groups[i].shown);
    }
    fill_group(exported, "other", top->other);
    fill_totals(exported);
}
