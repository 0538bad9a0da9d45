#include "causes_inside.h"

#include "cause_calls.h"
#include "cause_cgroups.h"
#include "cause_fit.h"
#include "cause_release.h"
#include "cause_stacks.h"
#include "counters/error.h"
#include "ledger/active.h"
#include "ledger/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRAIN_INTERVAL_NS 100000000u
#define CAUSES_MAX 100000 /* the ledger has fewer cells that can be above 0 */
#define LENGTHS_MAX (CAUSE_GROUPS * CAMP_STATE_COUNT)
#define CALLS_MAX 4096
#define PROCESSES "/proc"

bool causes_is_wait(uint32_t state)
{
    return state != CAMP_STATE_USER && state != CAMP_STATE_SYSTEM && state != CAMP_STATE_IRQ &&
           state != CAMP_STATE_TRAP;
}

uint64_t causes_total_ns(const struct causes *causes, uint32_t group)
{
    uint64_t sum = 0;

    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        sum += causes->state_ns[group][i];
    return sum;
}

uint64_t causes_on_cpu_ns(const struct causes *causes, uint32_t group)
{
    uint64_t sum = 0;

    for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++)
        sum += causes_is_wait(state) ? 0 : causes->state_ns[group][state];
    return sum;
}

int causes_member(void *context, const struct camp_thread_states *before,
                  const struct camp_thread_states *thread, uint32_t *group)
{
    struct causes_source *source = context;

    (void)before;
    return cause_groups_find(&source->groups, &source->cgroups, thread, group) ? CAMP_OK
                                                                               : CAMP_E_NOMEM;
}

int causes_did(void *context, const struct camp_thread_states *since, uint32_t group)
{
    struct causes_source *source = context;
    struct causes *causes = &source->causes;
    const uint64_t elapsed_ns = since->time_ns - since->begin_ns;
    const uint64_t lock_ns = since->state_ns[CAMP_STATE_LOCK];

    group = group < CAUSE_GROUPS ? group : 0;
    causes->threads[group] += since->count;
    causes->elapsed_ns[group] += elapsed_ns;
    if ((double)lock_ns >= ACTIVE_PARKED_SHARE * (double)elapsed_ns)
        causes->parked_ns[group] += lock_ns;
    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        causes->state_ns[group][i] += since->state_ns[i];
    if ((since->flags & CAMP_THREAD_ENDED) == 0)
        causes->open_ns[group][since->state] += since->state_ns[since->state];
    causes_note_sleep(source, since, group,
                      &(struct open_sleep){ .pid = since->pid,
                                            .tid = since->tid,
                                            .state = since->state,
                                            .most_ns = since->state_ns[since->state] });
    return CAMP_OK;
}

int causes_waited(void *context, uint32_t group, uint32_t state, uint64_t threads, uint64_t wait_ns)
{
    struct causes *causes = &((struct causes_source *)context)->causes;

    group = group < CAUSE_GROUPS ? group : 0;
    causes->threads[group] += threads;
    causes->elapsed_ns[group] += wait_ns;
    causes->parked_ns[group] += state == CAMP_STATE_LOCK ? wait_ns : 0;
    causes->state_ns[group][state] += wait_ns;
    causes->open_ns[group][state] += wait_ns;
    return CAMP_OK;
}

static void release(struct reading *reading)
{
    free(reading->causes);
    free(reading->lengths);
    free(reading->calls);
}

static bool allocate(struct reading *ret)
{
    ret->causes = calloc(CAUSES_MAX, sizeof *ret->causes);
    ret->lengths = calloc(LENGTHS_MAX, sizeof *ret->lengths);
    ret->calls = calloc(CALLS_MAX, sizeof *ret->calls);
    return ret->causes != NULL && ret->lengths != NULL && ret->calls != NULL;
}

int causes_read_ledger(struct causes_source *source, struct camp_error *error)
{
    struct reading *now = &source->now;
    struct camp_states_losses losses;
    uint64_t time_ns;
    int r;

    r = camp_states_causes(source->session, now->causes, sizeof *now->causes, CAUSES_MAX,
                           &now->cause_count, &time_ns, error);
    if (r == CAMP_OK) /* after the causes, so that each group of a cause is there */
        r = camp_states_groups(source->session, source->causes.groups,
                               sizeof source->causes.groups[0], CAUSE_GROUPS,
                               &source->causes.group_count, error);
    if (r == CAMP_OK)
        r = camp_states_wait_lengths(source->session, now->lengths, sizeof *now->lengths,
                                     LENGTHS_MAX, &now->length_count, error);
    if (r == CAMP_OK)
        r = camp_states_call_sleeps(source->session, now->calls, sizeof *now->calls, CALLS_MAX,
                                    &now->call_count, error);
    if (r == CAMP_OK && source->has_stacks)
        r = cause_stacks_read(&source->causes.stacks, source->session, error);
    if (r == CAMP_OK)
        r = camp_states_losses(source->session, &losses, sizeof losses, error);
    if (r == CAMP_OK)
        now->unseen = losses.unseen;
    return r;
}

/* Returns the set of the groups that have causes, or are one: 1 << number. */
static uint64_t used_groups(const struct reading *reading)
{
    uint64_t used = 0;

    for (size_t i = 0; i < reading->cause_count; i++) {
        const struct camp_wait_cause *cause = &reading->causes[i];

        used |= UINT64_C(1) << cause->group % CAUSE_GROUPS;
        if (cause->kind == CAMP_CAUSE_GROUP)
            used |= UINT64_C(1) << cause->id % CAUSE_GROUPS;
    }
    return used;
}

/* All threads find their groups again if a new group has a number, because they may belong to it.
 */
void causes_set_groups(struct causes_source *source, const struct reading *last)
{
    struct causes *causes = &source->causes;

    causes->group_count =
        cause_groups_remove_doubles(causes->groups, causes->group_count, used_groups(last));
    source->subject = causes_find_subject(source);
    if (cause_groups_set(&source->groups, causes->groups, causes->group_count))
        source->registry.regroups = true;
    cause_cgroups_start(&source->cgroups);
}

/* Reads the ledger at the end of an interval. */
int causes_end_interval(struct causes_source *source, struct camp_error *error)
{
    struct causes *causes = &source->causes;
    const int r = causes_read_ledger(source, error);

    causes->start_ns = causes->end_ns;
    causes->end_ns = source_clock_ns(CLOCK_MONOTONIC);
    causes->wall_clock_ns = (int64_t)source_clock_ns(CLOCK_REALTIME);
    if (r == CAMP_OK)
        causes_set_groups(source, &source->now);
    return r;
}

/* Reads the ledger, then all threads. */
static int read_all(struct causes_source *source, struct camp_error *error)
{
    int r = causes_end_interval(source, error);

    if (r == CAMP_OK)
        r = thread_registry_read(&source->registry, source->session, error);
    if (r == CAMP_OK)
        r = thread_registry_read_late(&source->registry, source->session, error);
    return r;
}

int causes_read_groups(struct causes_source *source, struct camp_error *error)
{
    const int r =
        camp_states_groups(source->session, source->causes.groups, sizeof source->causes.groups[0],
                           CAUSE_GROUPS, &source->causes.group_count, error);

    if (r == CAMP_OK)
        causes_set_groups(source, &source->before);
    return r;
}

static int read_exited(struct causes_source *source, struct camp_error *error)
{
    const int r = causes_read_groups(source, error);

    return r == CAMP_OK ? thread_registry_read_exited(&source->registry, source->session, error)
                        : r;
}

static const struct camp_wait_lengths *lengths_before(const struct reading *before, uint32_t group,
                                                      uint32_t state)
{
    for (size_t i = 0; i < before->length_count; i++) {
        if (before->lengths[i].group == group && before->lengths[i].state == state)
            return &before->lengths[i];
    }
    return NULL;
}

static void fill_lengths(struct causes_source *source)
{
    struct causes *causes = &source->causes;

    memset(causes->lengths, 0, sizeof causes->lengths);
    for (size_t i = 0; i < source->now.length_count; i++) {
        const struct camp_wait_lengths *now = &source->now.lengths[i];

        if (now->group < CAUSE_GROUPS && now->state < CAMP_STATE_COUNT)
            causes->lengths[now->group][now->state] =
                wait_lengths_since(lengths_before(&source->before, now->group, now->state), now,
                                   causes->wall_clock_ns - (int64_t)causes->end_ns);
    }
}

/* The session refuses it for what it watches. */
void causes_release_groups(struct causes_source *source)
{
    const uint64_t quiet = cause_quiet_groups(&source->causes);

    for (uint32_t i = 0; i < CAUSE_GROUPS; i++) {
        if ((quiet >> i & 1) != 0 && camp_states_release_group(source->session, i, NULL) == CAMP_OK)
            source->released |= UINT64_C(1) << i;
    }
}

/* Fills source->differences with the causes of the interval. Returns false if there is no memory.
 */
static bool subtract_readings(struct causes_source *source)
{
    const struct reading *before = &source->before, *now = &source->now;

    if (!cause_differences(&source->differences, before->causes, before->cause_count, now->causes,
                           now->cause_count))
        return false;
    source->released = cause_still_released(&source->causes, source->released);
    cause_move_released(&source->differences, source->released, 0 /* CAMP_GROUP_OTHER */);
    return true;
}

void causes_keep_reading(struct causes_source *source)
{
    const struct reading before = source->before;

    source->before = source->now;
    source->now = before;
}

void causes_clear_times(struct causes *causes)
{
    memset(causes->threads, 0, sizeof causes->threads);
    memset(causes->elapsed_ns, 0, sizeof causes->elapsed_ns);
    memset(causes->parked_ns, 0, sizeof causes->parked_ns);
    memset(causes->state_ns, 0, sizeof causes->state_ns);
    memset(causes->open_ns, 0, sizeof causes->open_ns);
}

int causes_finish(struct causes_source *source, const struct causes **ret, struct camp_error *error)
{
    fill_lengths(source);
    source->causes.unseen = source->now.unseen - source->before.unseen;
    source->causes.is_kernel = source->groups.is_kernel;
    if (!subtract_readings(source) || !cause_make_rows(&source->causes, &source->differences) ||
        !cause_cgroups_name(&source->cgroups, &source->causes) ||
        (source->has_stacks && !cause_stacks_fit(&source->causes.stacks, &source->causes)) ||
        !cause_calls_since(&source->causes.calls, source->before.calls, source->before.call_count,
                           source->now.calls, source->now.call_count) ||
        !causes_find_open_calls(source))
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the causes of waits");
    cause_calls_merge_children(&source->causes.calls, PROCESSES);
    cause_calls_fit(&source->causes.calls, &source->causes);
    causes_keep_reading(source);
    source->is_finished = true;
    *ret = &source->causes;
    return CAMP_OK;
}

int causes_next(struct causes_source *source, uint64_t deadline_ns, const struct causes **ret,
                struct camp_error *error)
{
    int r = CAMP_OK;

    causes_clear_times(&source->causes);
    source->open_sleeps.count = 0;
    while (r == CAMP_OK && source_wait(deadline_ns, DRAIN_INTERVAL_NS, source->stop))
        r = read_exited(source, error);
    if (r == CAMP_OK)
        r = read_all(source, error);
    if (r == CAMP_OK)
        r = causes_finish(source, ret, error);
    if (r == CAMP_OK)
        causes_release_groups(source);
    return r;
}

void causes_release(struct causes_source *source)
{
    thread_registry_release(&source->registry);
    cause_groups_release(&source->groups);
    cause_cgroups_release(&source->cgroups);
    release(&source->before);
    release(&source->now);
    free(source->causes.rows.items);
    free(source->causes.calls.items);
    free(source->causes.open_calls.items);
    free(source->causes.open_facts);
    open_sleeps_release(&source->open_sleeps);
    cause_objects_release(&source->objects);
    cause_stacks_release(&source->causes.stacks);
    free(source->differences.items);
}

void causes_close(struct causes_source *source)
{
    if (source == NULL)
        return;
    if (!source->is_beside)
        camp_states_close(source->session);
    causes_release(source);
    free(source);
}

bool causes_allocate(struct causes_source *ret)
{
    return allocate(&ret->before) && allocate(&ret->now);
}

struct causes_source *causes_make_source(void)
{
    struct causes_source *source = calloc(1, sizeof *source);

    if (source == NULL)
        return NULL;
    thread_registry_init(&source->registry, &(struct thread_user){ .context = source,
                                                                   .did = causes_did,
                                                                   .idle = causes_waited,
                                                                   .group = causes_member });
    if (causes_allocate(source))
        return source;
    causes_close(source);
    return NULL;
}

int causes_open(uint32_t options, const volatile sig_atomic_t *stop, struct causes_source **ret,
                struct camp_error *error)
{
    struct causes_source *source = causes_make_source();
    int r;

    if (source == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the causes of waits");
    source->stop = stop;
    source->reads_threads = true;
    r = camp_states_open(&source->session, options | CAMP_STATES_CULPRITS, error);
    if (r == CAMP_OK)
        r = read_all(source, error);
    if (r != CAMP_OK) {
        causes_close(source);
        return r;
    }
    causes_keep_reading(source);
    *ret = source;
    return CAMP_OK;
}

struct camp_states *causes_session(const struct causes_source *source)
{
    return source->session;
}
