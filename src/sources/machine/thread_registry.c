#include "thread_registry.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

static bool is_total(const struct camp_thread_states *thread)
{
    return (thread->flags & CAMP_THREAD_TOTAL) != 0;
}

static struct thread_cell *find_cell(const struct thread_registry *registry, uint32_t group,
                                     uint32_t state)
{
    uint32_t at = group < registry->group_count ? registry->first_cells[group] : 0;

    while (at != 0 && registry->cells[at - 1].state != state)
        at = registry->cells[at - 1].next;
    return at != 0 ? &registry->cells[at - 1] : NULL;
}

/* Returns NULL if there is no memory. */
static struct thread_cell *add_cell(struct thread_registry *registry, uint32_t group,
                                    uint32_t state)
{
    const size_t count = registry->cell_count + 1;

    if (!ARRAY_RESERVE_ZEROED(registry->first_cells, registry->group_count, (size_t)group + 1) ||
        !ARRAY_RESERVE(registry->cells, registry->cell_capacity, count))
        return NULL;
    registry->cells[count - 1] =
        (struct thread_cell){ group, state, .next = registry->first_cells[group] };
    registry->first_cells[group] = (uint32_t)count;
    registry->cell_count = count;
    return &registry->cells[count - 1];
}

static void enter(struct thread_registry *registry, const struct camp_thread_states *thread,
                  uint32_t *note, bool is_idle)
{
    struct thread_cell *cell = find_cell(registry, *note - 1, thread->state);

    if (cell == NULL)
        cell = add_cell(registry, *note - 1, thread->state);
    if (cell == NULL) {
        registry->result = CAMP_E_NOMEM;
        *note = 0;
        return;
    }
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
    struct thread_cell *cell =
        note == 0 || registry->regroups ? NULL : find_cell(registry, note - 1, before->state);

    if (cell == NULL)
        return;
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
static void end_waits(struct thread_registry *registry, struct thread_cell *cell, uint64_t time_ns)
{
    const struct thread_user *user = &registry->user;
    const uint64_t ends = cell->threads * time_ns;

    if (cell->threads > 0 && !registry->tells && user->idle != NULL)
        take_result(registry, user->idle(user->context, cell->group, cell->state, cell->threads,
                                         ends - cell->ends));
    cell->threads += cell->fresh_threads;
    cell->ends = ends + cell->fresh_ends;
    cell->fresh_threads = 0;
    cell->fresh_ends = 0;
}

static bool find_group(struct thread_registry *registry, const struct camp_thread_states *before,
                       const struct camp_thread_states *thread, uint32_t *note)
{
    const struct thread_user *user = &registry->user;
    const bool is_known = *note != 0 && !registry->regroups;
    uint32_t group = is_known ? *note - 1 : 0;
    const int r = user->group != NULL
                      ? user->group(user->context, is_known ? before : NULL, thread, &group)
                      : CAMP_OK;

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
    registry->cell_count = 0;
    if (registry->group_count > 0)
        memset(registry->first_cells, 0, registry->group_count * sizeof *registry->first_cells);
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

static void take_exit(void *context, const struct camp_thread_states *before,
                      const struct camp_thread_states *last, uint32_t note)
{
    struct thread_registry *registry = context;

    if (before != NULL)
        leave(registry, before, note);
    if (find_group(registry, before, last, &note))
        account(registry, before, last, note - 1);
    if (!is_total(last) && registry->user.left != NULL)
        registry->user.left(registry->user.context, last);
}

static void take_missing(void *context, const struct camp_thread_states *before, uint32_t note)
{
    struct thread_registry *registry = context;

    leave(registry, before, note);
    take_result(registry, kept_threads_add(&registry->kept, before));
    if (registry->user.left != NULL)
        registry->user.left(registry->user.context, before);
}

static void take_idle(void *context, uint64_t time_ns)
{
    struct thread_registry *registry = context;

    for (size_t i = 0; i < registry->cell_count; i++)
        end_waits(registry, &registry->cells[i], time_ns);
    registry->idle_ns = time_ns;
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
    free(registry->first_cells);
    kept_threads_release(&registry->kept);
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
    const struct camp_thread_states since =
        is_total(thread) ? kept_threads_rest(&registry->kept, thread)
                         : thread_since(thread, kept_threads_take(&registry->kept, thread));

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
    if (totals > 0)
        kept_threads_sort(&registry->kept);
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
    kept_threads_age(&registry->kept);
    return r;
}
