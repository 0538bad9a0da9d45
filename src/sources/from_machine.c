#include "from_machine.h"

#include "check.h"
#include "counters/error.h"
#include "from_list.h"
#include "groups.h"
#include "parts.h"
#include "sources/causes/threads_causes.h"
#include "sources/causes/waits_source.h"
#include "sources/containers/container_labels.h"
#include "sources/containers/thread_cgroups.h"
#include "sources/machine/hidden.h"
#include "sources/machine/threads_schedstat.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *name_of(const struct from *from)
{
    return from->text != NULL ? from->text : FROM_DEFAULT;
}

/* Finds --tier in tiers[count], and sets *ret to its index. Skips elements that are NULL. Without
 * --tier, *ret is unchanged. */
static int find_tier(const struct from *from, const char *const *tiers, size_t count, size_t *ret,
                     struct camp_error *error)
{
    char names[80] = "";
    size_t length = 0;

    if (from->tier == NULL)
        return CAMP_OK;
    for (size_t i = 0; i < count; i++) {
        if (tiers[i] == NULL)
            continue;
        if (strcmp(from->tier, tiers[i]) == 0) {
            *ret = i;
            return CAMP_OK;
        }
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                   length > 0 ? ", " : "", tiers[i]);
    }
    return camp_fail(error, CAMP_E_INVALID, 0, "--tier %s: the tiers of %s are %s", from->tier,
                     name_of(from), names);
}

static int open_states(const struct from *from, struct source **ret, struct from_facts *facts,
                       struct camp_error *error)
{
    static const char *const tiers[] = { "bpf" };
    size_t tier = 0;
    const uint32_t options = from->states_options | thread_cgroups_option();
    const int r = find_tier(from, tiers, 1, &tier, error);

    facts->tier = tiers[0];
    facts->live = true;
    facts->has_causes = from->causes;
    if (r == CAMP_OK && from->causes)
        return threads_causes_open(options, from->causes_pid, from->causes_name, from->stop, ret,
                                   error);
    return r == CAMP_OK ? threads_source_open(options, from->stop, ret, error) : r;
}

/* Fails with the message of `refusal`. If capabilities are missing, the message also names the
 * sources that need no capabilities, unless these have no causes of waits. */
static int fail_without_states(int result, bool needs_causes, const struct camp_error *refusal,
                               struct camp_error *error)
{
    return camp_fail(error, result, refusal->system_error,
                     result == CAMP_E_PERM && !needs_causes
                         ? "%s; without them: --from threads, processes, users, "
                           "commands, cpus or check"
                         : "%s",
                     refusal->message);
}

static int fail_without_causes(struct camp_error *error)
{
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "the causes of waits are known only on the tier bpf");
}

static enum group_key key_of(const char *rows)
{
    static const struct {
        const char *rows;
        enum group_key key;
    } keys[] = { { "processes", GROUP_PROCESS },
                 { "users", GROUP_USER },
                 { "commands", GROUP_NAME },
                 { "cgroups", GROUP_CGROUP } };

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(keys[i].rows, rows) == 0)
            return keys[i].key;
    }
    return GROUP_NONE;
}

/* Adds a warning to the note if /proc hides processes from this user (hidden.h). */
static void note_hidden(struct from_facts *facts)
{
    char hidden[HIDDEN_NOTE_SIZE];
    const size_t length = strlen(facts->note);

    hidden_note(hidden);
    if (hidden[0] == '\0')
        return;
    facts->note_warns = true;
    snprintf(facts->note + length, sizeof facts->note - length, "%s%s", length > 0 ? "; " : "",
             hidden);
}

static int open_schedstat(const struct from *from, struct source **ret, struct from_facts *facts,
                          struct camp_error *error)
{
    const struct schedstat_selection selection = { from->pids, from->pid_count,
                                                   from->no_kernel_threads };

    facts->tier = "schedstat";
    facts->live = true;
    note_hidden(facts);
    if (from->rows_without_states != NULL) {
        snprintf(facts->name, sizeof facts->name, "%s", from->rows_without_states);
        snprintf(facts->kind, sizeof facts->kind, "%s", from->rows_without_states);
    }
    return threads_schedstat_open(&selection, from->stop, ret, error);
}

/* Opens threads by microstates. If microstates are not permitted or not supported, opens threads by
 * the counters of the scheduler, with a note. But then fails if the user asked for the tier bpf, an
 * option needs microstates, or the rows are cgroups. */
static int open_tasks(const struct from *from, struct source **ret, struct from_facts *facts,
                      struct camp_error *error)
{
    enum { AUTOMATIC, BPF, SCHEDSTAT };
    static const char *const tiers[] = { [BPF] = "bpf", [SCHEDSTAT] = "schedstat" };
    const bool has_schedstat = strcmp(name_of(from), "cgroups") != 0;
    struct from of_states = *from;
    struct camp_error refusal = { 0 };
    size_t tier = AUTOMATIC;
    int r = find_tier(from, tiers, has_schedstat ? SCHEDSTAT + 1 : BPF + 1, &tier, error);

    of_states.tier = NULL;
    if (r == CAMP_OK && tier == SCHEDSTAT && from->causes)
        return fail_without_causes(error);
    if (r != CAMP_OK || tier == SCHEDSTAT)
        return r == CAMP_OK ? open_schedstat(from, ret, facts, error) : r;
    r = open_states(&of_states, ret, facts, &refusal);
    if (r == CAMP_OK)
        return r;
    if (!camp_is_refusal(r) || !has_schedstat || tier == BPF || from->microstates_alone ||
        from->causes || (from->states_options & ~(uint32_t)CAMP_STATES_DISKS) != 0)
        return fail_without_states(r, from->causes, &refusal, error);
    facts->note_warns = true;
    snprintf(facts->note, sizeof facts->note,
             "Only the scheduler's counts are shown, not why threads sleep: %s", refusal.message);
    return open_schedstat(from, ret, facts, error);
}

static int open_threads(const struct from *from, struct source **ret, struct from_facts *facts,
                        struct camp_error *error)
{
    struct source *threads;
    enum group_key key;
    int r;

    if (from->waits) {
        facts->tier = "bpf";
        facts->live = true;
        return waits_source_open(from->states_options, from->stop, ret, error);
    }
    r = open_tasks(from, &threads, facts, error);
    if (r == CAMP_OK && from->names_containers)
        r = container_labels_open(threads, &threads, error);
    if (r != CAMP_OK)
        return r;
    key = key_of(facts->kind);
    if (key != GROUP_NONE)
        return groups_source_open(threads, key, ret, error);
    *ret = threads;
    return CAMP_OK;
}

static int open_cpus(const struct from *from, struct source **ret, struct from_facts *facts,
                     struct camp_error *error)
{
    enum { AUTOMATIC, BPF, PROC };
    static const char *const tiers[] = { [BPF] = "bpf", [PROC] = "proc" };
    struct from of_threads = *from;
    struct source *threads;
    size_t tier = AUTOMATIC;
    int r = find_tier(from, tiers, sizeof tiers / sizeof tiers[0], &tier, error);

    if (r == CAMP_OK && tier == PROC && from->causes)
        r = fail_without_causes(error);
    if (r != CAMP_OK)
        return r;
    of_threads.tier = NULL;
    if (tier != PROC) {
        r = open_states(&of_threads, &threads, facts, error);
        if (r == CAMP_OK)
            return beside_source_open(threads, ret);
        if (tier == BPF || from->causes)
            return r;
        snprintf(facts->note, sizeof facts->note, "Sampled by the system, not measured: %s",
                 error->message);
    }
    facts->live = true;
    facts->tier = tiers[PROC];
    return cpus_source_open(NULL, from->stop, ret, error);
}

static int open_check(const struct from *from, struct source **ret, struct from_facts *facts,
                      struct camp_error *error)
{
    const char *tiers[TASKS_TIER_COUNT] = { NULL };
    size_t wanted = TASKS_AUTOMATIC;
    enum tasks_tier tier;
    int r;

    for (size_t i = 1; tasks_tier_choices[i] != NULL; i++)
        tiers[tasks_tier_of(tasks_tier_choices[i])] = tasks_tier_choices[i];
    r = find_tier(from, tiers, TASKS_TIER_COUNT, &wanted, error);
    if (r == CAMP_OK)
        r = check_source_open((enum tasks_tier)wanted, from->stop, ret, &tier, error);
    if (r != CAMP_OK)
        return r;
    facts->live = true;
    facts->tier = tasks_tiers[tier].name;
    if (tier == TASKS_SCHEDSTAT)
        snprintf(
            facts->note, sizeof facts->note,
            "Without CAP_NET_ADMIN: sampled time of processes is not known, so errors are not");
    if (!tasks_tiers[tier].is_measured) {
        facts->note_warns = facts->is_unmeasured = true;
        snprintf(facts->note, sizeof facts->note, "tier %s lacks %s", facts->tier,
                 tasks_tiers[tier].lacks);
    }
    if (tier != TASKS_BPF)
        note_hidden(facts);
    return CAMP_OK;
}

static const struct from_source *find(const char *name)
{
    const struct from_source *source = from_source_find(name);

    return source != NULL && source->opener <= OPENS_CHECK ? source : NULL;
}

bool from_machine_has(const char *name)
{
    return find(name) != NULL;
}

int from_machine_open(const struct from *from, struct source **ret, struct from_facts *facts,
                      struct camp_error *error)
{
    const struct from_source *source = find(name_of(from));
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    if (source == NULL)
        return camp_fail(error, CAMP_E_INVALID, 0, "this machine has no source '%s'",
                         name_of(from));
    snprintf(facts->name, sizeof facts->name, "%s", source->name);
    snprintf(facts->kind, sizeof facts->kind, "%s", source->name);
    facts->cpus = cpus > 0 ? (size_t)cpus : 0;
    if (source->opener == OPENS_CPUS)
        return open_cpus(from, ret, facts, error);
    return source->opener == OPENS_CHECK ? open_check(from, ret, facts, error)
                                         : open_threads(from, ret, facts, error);
}
