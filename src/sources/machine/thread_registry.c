#include "thread_registry.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

/* A kept reading of a missing thread. */
struct kept_thread {
    struct camp_thread_states reading;
    uint32_t snapshots; /* further snapshots since the thread was first missing */
    enum { KEPT_FREE, KEPT_IN_TOTAL, KEPT_DONE } use;
};

#define KEPT_SNAPSHOTS 3

static bool is_total(const struct camp_thread_states *thread)
{
    return (thread->flags & CAMP_THREAD_TOTAL) != 0;
}

static uint32_t hash_of(const struct camp_thread_states *thread)
{
    return index_hash_number(thread->begin_ns ^ (uint64_t)(uint32_t)thread->pid << 32);
}

static bool has_account(const struct kept_thread *kept, const struct camp_thread_states *thread)
{
    return kept->use != KEPT_DONE && kept->reading.pid == thread->pid &&
           kept->reading.begin_ns == thread->begin_ns;
}

static bool is_same(const void *kept, uint32_t position, const void *key)
{
    const struct kept_thread *one = (const struct kept_thread *)kept + position;

    return has_account(one, key) &&
           one->reading.tid == ((const struct camp_thread_states *)key)->tid;
}

static bool is_same_by_exec(const void *kept, uint32_t position, const void *key)
{
    const struct kept_thread *one = (const struct kept_thread *)kept + position;
    const struct camp_thread_states *thread = key;

    return has_account(one, key) &&
           (one->reading.tid == one->reading.pid || thread->tid == thread->pid);
}

static void keep(struct thread_registry *registry, const struct camp_thread_states *reading)
{
    const size_t count = registry->kept_count;

    if (!ARRAY_RESERVE(registry->kept, registry->kept_capacity, count + 1) ||
        !index_reserve(&registry->kept_index, count + 1)) {
        registry->result = CAMP_E_NOMEM;
        return;
    }
    registry->kept[count] = (struct kept_thread){ .reading = *reading };
    index_add(&registry->kept_index, hash_of(reading), (uint32_t)count);
    registry->kept_count++;
}

/* Returns whether a total can have the thread of a kept reading. */
static bool may_be_in(const struct kept_thread *one, const struct camp_thread_states *total,
                      bool same_parent)
{
    return one->use == KEPT_FREE && (!same_parent || one->reading.parent == total->parent) &&
           strcmp(one->reading.name, total->name) == 0 && thread_fits(&one->reading, total);
}

static const struct camp_thread_states *take_other(struct thread_registry *registry,
                                                   const struct camp_thread_states *late)
{
    for (size_t i = 0; i < registry->kept_count; i++) {
        struct kept_thread *one = &registry->kept[i];

        if (may_be_in(one, late, false)) {
            one->use = KEPT_IN_TOTAL;
            return &one->reading;
        }
    }
    return NULL;
}

/* Takes the kept reading of a late thread. Returns NULL if there is none. */
static const struct camp_thread_states *take_kept(struct thread_registry *registry,
                                                  const struct camp_thread_states *late)
{
    const struct index *index = &registry->kept_index;
    const struct index_slot *slot = index_find(index, hash_of(late), is_same, registry->kept, late);
    struct kept_thread *one;
    bool is_in_total;

    if (slot == NULL)
        slot = index_find(index, hash_of(late), is_same_by_exec, registry->kept, late);
    if (slot == NULL)
        return NULL;
    one = &registry->kept[slot->position];
    is_in_total = one->use == KEPT_IN_TOTAL;
    one->use = KEPT_DONE;
    return is_in_total ? take_other(registry, late) : &one->reading;
}

static int longest_first(const void *a, const void *b)
{
    const uint64_t left = thread_length_ns(&((const struct kept_thread *)a)->reading);
    const uint64_t right = thread_length_ns(&((const struct kept_thread *)b)->reading);

    return left > right ? -1 : left < right;
}

static struct camp_thread_states rest_of_total(struct thread_registry *registry,
                                               const struct camp_thread_states *total)
{
    struct camp_thread_states rest = *total;
    uint32_t threads = total->count;

    for (int any_parent = 0; any_parent <= 1; any_parent++) {
        for (size_t i = 0; i < registry->kept_count && threads > 0; i++) {
            struct kept_thread *one = &registry->kept[i];

            if (!may_be_in(one, &rest, any_parent == 0))
                continue;
            rest = thread_since(&rest, &one->reading);
            one->use = KEPT_IN_TOTAL;
            threads--;
        }
    }
    rest.flags |= THREAD_NEW;
    return rest;
}

/* Drops kept readings that are no longer needed, or too old. */
static void age_kept(struct thread_registry *registry)
{
    size_t count = 0;

    index_clear(&registry->kept_index);
    for (size_t i = 0; i < registry->kept_count; i++) {
        struct kept_thread *one = &registry->kept[i];

        if (one->use == KEPT_DONE || one->snapshots++ == KEPT_SNAPSHOTS)
            continue;
        registry->kept[count] = *one;
        index_add(&registry->kept_index, hash_of(&one->reading), (uint32_t)count++);
    }
    registry->kept_count = count;
}

static void enter(struct thread_registry *registry, const struct camp_thread_states *thread,
                  uint32_t *note, bool is_idle)
{
    const uint32_t group = *note - 1;
    struct thread_cell *cell;

    if (!ARRAY_RESERVE_ZEROED(registry->cells, registry->group_count, (size_t)group + 1)) {
        registry->result = CAMP_E_NOMEM;
        *note = 0;
        return;
    }
    cell = &registry->cells[group][thread->state];
    cell->threads += is_idle;
    cell->fresh_threads += !is_idle;
    cell->fresh_ends += is_idle ? 0 : thread->time_ns;
    registry->threads++;
    registry->processes += thread->tid == thread->pid;
}

/* `before` is the last reading of a thread. Its group is note - 1, or 0 if it has not entered. */
static void leave(struct thread_registry *registry, const struct camp_thread_states *before,
                  uint32_t note)
{
    struct thread_cell *cell;

    if (note == 0 || registry->regroups)
        return;
    cell = &registry->cells[note - 1][before->state];
    cell->threads--;
    cell->ends -= before->time_ns;
    registry->threads--;
    registry->processes -= before->tid == before->pid;
}

static void take_result(struct thread_registry *registry, int r)
{
    if (registry->result == CAMP_OK)
        registry->result = r;
}

/* Accounts the waits of a cell until time_ns. */
static void end_waits(struct thread_registry *registry, uint32_t group, uint32_t state,
                      uint64_t time_ns)
{
    const struct thread_user *user = &registry->user;
    struct thread_cell *cell = &registry->cells[group][state];

    if (cell->threads > 0 && !registry->tells && user->idle != NULL)
        take_result(registry, user->idle(user->context, group, state, cell->threads,
                                         cell->threads * time_ns - cell->ends));
    *cell = (struct thread_cell){
        .threads = cell->threads + cell->fresh_threads,
        .ends = cell->threads * time_ns + cell->fresh_ends,
    };
}

static bool find_group(struct thread_registry *registry, const struct camp_thread_states *before,
                       const struct camp_thread_states *thread, uint32_t *note)
{
    const struct thread_user *user = &registry->user;
    const bool is_known = *note != 0 && !registry->regroups;
    uint32_t group = is_known ? *note - 1 : 0;
    int r = CAMP_OK;

    if (user->group != NULL)
        r = user->group(user->context, is_known ? before : NULL, thread, &group);
    *note = r == CAMP_OK ? group + 1 : 0;
    take_result(registry, r);
    return r == CAMP_OK;
}

static void forget_groups(struct thread_registry *registry)
{
    struct late_list *lists[] = { &registry->late, &registry->held };

    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < lists[i]->count; k++) {
            uint32_t note = 0;

            if (find_group(registry, NULL, &lists[i]->threads[k].thread, &note))
                lists[i]->threads[k].group = note - 1;
        }
    }
    if (registry->group_count > 0)
        memset(registry->cells, 0, registry->group_count * sizeof *registry->cells);
    registry->threads = registry->processes = 0;
}

static void tell(struct thread_registry *registry, const struct camp_thread_states *since,
                 uint32_t group)
{
    take_result(registry, registry->user.did(registry->user.context, since, group));
}

static void put_off(struct thread_registry *registry, struct late_list *list,
                    const struct camp_thread_states *thread, uint32_t group)
{
    if (ARRAY_RESERVE(list->threads, list->capacity, list->count + 1))
        list->threads[list->count++] = (struct late_thread){ *thread, group };
    else
        registry->result = CAMP_E_NOMEM;
}

static void account(struct thread_registry *registry, const struct camp_thread_states *before,
                    const struct camp_thread_states *now, uint32_t group)
{
    const bool may_be_kept = before == NULL && now->begin_ns < registry->snapshot_ns;

    if (may_be_kept || is_total(now)) {
        put_off(registry, &registry->late, now, group);
    } else {
        const struct camp_thread_states since = thread_since(now, before);

        if (registry->is_listed)
            put_off(registry, &registry->held, &since, group);
        else
            tell(registry, &since, group);
    }
}

static void take_seen(void *context, const struct camp_thread_states *before,
                      const struct camp_thread_states *now, uint32_t *note)
{
    struct thread_registry *registry = context;

    if (before != NULL)
        leave(registry, before, *note);
    if (!find_group(registry, before, now, note))
        return;
    account(registry, before, now, *note - 1);
    enter(registry, now, note, false);
}

static void take_wait(void *context, const struct camp_states_wait *wait)
{
    struct thread_registry *registry = context;
    const struct thread_user *user = &registry->user;
    uint32_t *note = wait->note;
    int r = CAMP_OK;

    if (*note == 0 || registry->regroups) {
        if (!find_group(registry, NULL, wait->thread, note))
            return;
        enter(registry, wait->thread, note, true);
    }
    if (user->waited != NULL)
        r = user->waited(user->context, wait, *note - 1);
    else if (user->idle != NULL)
        r = user->idle(user->context, *note - 1, wait->state, 1, wait->elapsed_ns);
    take_result(registry, r);
}

static void tell_left(struct thread_registry *registry, const struct camp_thread_states *last)
{
    if (registry->user.left != NULL)
        registry->user.left(registry->user.context, last);
}

static void take_exit(void *context, const struct camp_thread_states *before,
                      const struct camp_thread_states *last, uint32_t note)
{
    struct thread_registry *registry = context;

    if (before != NULL)
        leave(registry, before, note);
    if (find_group(registry, before, last, &note))
        account(registry, before, last, note - 1);
    if (!is_total(last))
        tell_left(registry, last);
}

static void take_missing(void *context, const struct camp_thread_states *before, uint32_t note)
{
    struct thread_registry *registry = context;

    leave(registry, before, note);
    keep(registry, before);
    tell_left(registry, before);
}

static void take_idle(void *context, uint64_t time_ns)
{
    struct thread_registry *registry = context;

    for (uint32_t group = 0; group < registry->group_count; group++) {
        for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++)
            end_waits(registry, group, state, time_ns);
    }
    registry->regroups = false;
}

static struct camp_states_visitor visitor_of(struct thread_registry *registry)
{
    return (struct camp_states_visitor){
        registry, take_seen, registry->tells ? take_wait : NULL, take_exit, take_missing, take_idle
    };
}

void thread_registry_init(struct thread_registry *ret, const struct thread_user *user)
{
    *ret = (struct thread_registry){ .user = *user,
                                     .snapshot_ns = now_ns(CLOCK_MONOTONIC),
                                     .regroups = true };
}

void thread_registry_release(struct thread_registry *registry)
{
    free(registry->cells);
    free(registry->kept);
    index_release(&registry->kept_index);
    free(registry->late.threads);
    free(registry->held.threads);
    *registry = (struct thread_registry){ 0 };
}

/* Tells what an earlier interval has left to this one. */
static void tell_held(struct thread_registry *registry)
{
    for (size_t i = 0; i < registry->held.count; i++)
        tell(registry, &registry->held.threads[i].thread, registry->held.threads[i].group);
    registry->held.count = 0;
}

int thread_registry_read_exited(struct thread_registry *registry, struct camp_states *session,
                                struct camp_error *error)
{
    const struct camp_states_visitor visitor = visitor_of(registry);
    int r;

    registry->result = CAMP_OK;
    tell_held(registry);
    r = camp_states_visit_exits(session, &visitor, sizeof visitor, error);
    return r == CAMP_OK ? registry->result : r;
}

static void resolve(struct thread_registry *registry, const struct late_thread *late)
{
    const struct camp_thread_states *thread = &late->thread;
    const struct camp_thread_states since = is_total(thread)
                                                ? rest_of_total(registry, thread)
                                                : thread_since(thread, take_kept(registry, thread));

    tell(registry, &since, late->group);
}

/* Single readings are matched before totals, because each matches one kept reading. Which of them
 * belong to a total can only be guessed. The index is not valid while totals are resolved. */
static void resolve_late(struct thread_registry *registry)
{
    struct late_list *late = &registry->late;
    size_t totals = 0;

    for (size_t i = 0; i < late->count; i++) {
        if (is_total(&late->threads[i].thread))
            late->threads[totals++] = late->threads[i];
        else
            resolve(registry, &late->threads[i]);
    }
    if (totals > 0 && registry->kept_count > 0)
        qsort(registry->kept, registry->kept_count, sizeof *registry->kept, longest_first);
    for (size_t i = 0; i < totals; i++)
        resolve(registry, &late->threads[i]);
    late->count = 0;
}

int thread_registry_read_late(struct thread_registry *registry, struct camp_states *session,
                              struct camp_error *error)
{
    const struct camp_states_visitor visitor = visitor_of(registry);
    int r;

    registry->is_listed = true;
    r = camp_states_visit_exits(session, &visitor, sizeof visitor, error);
    registry->is_listed = false;
    if (r == CAMP_OK)
        resolve_late(registry);
    return r == CAMP_OK ? registry->result : r;
}

int thread_registry_read(struct thread_registry *registry, struct camp_states *session,
                         struct camp_error *error)
{
    struct camp_states_visitor visitor;
    int r;

    registry->result = CAMP_OK;
    registry->tells = registry->user.waited != NULL || registry->regroups;
    if (registry->regroups)
        forget_groups(registry);
    tell_held(registry);
    visitor = visitor_of(registry);
    r = camp_states_visit(session, &visitor, sizeof visitor, error);
    registry->snapshot_ns = now_ns(CLOCK_MONOTONIC);
    if (r == CAMP_OK)
        r = thread_registry_read_late(registry, session, error);
    age_kept(registry);
    return r;
}
