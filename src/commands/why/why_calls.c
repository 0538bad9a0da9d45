#include "why_calls.h"

#include "counters/units.h"
#include "sources/causes/ends/lock_owner.h"
#include "sources/causes/open_chain.h"
#include "sources/causes/open_sleeps.h"
#include "views/percent.h"

#include <inttypes.h>

#define PROCESSES "/proc"
#define OBJECTS_LOOKED_UP 64 /* if all calls are shown */

#define FIELDS(process, in_state)                                                                  \
    {                                                                                              \
        { "state", "state", "of the sleep" }, { "call", "system call", "" },                       \
            { "object", "object", "of the call, by its first argument, as it is now" },            \
            { "percent", "%", "of the time of all threads", 6, 2 },                                \
            { "sleep_ns", NULL, "in the interval" }, { NULL, "ms", "", 8, 3, .spare = 1 },         \
            { "count", NULL, "sleeps that have ended; with `open` threads that still sleep" },     \
            { NULL, "sleeps", "", 6 }, { "open", NULL, "nothing has woken them yet" },             \
            { "pid", NULL, "of the process that slept; null: it is unknown" },                     \
            { "who", process, "the process that slept; null: it is unknown" },                     \
            { "state_ns", NULL,                                                                    \
              "of an open sleep in a recording: all time of these threads in this state, also "    \
              "that "                                                                              \
              "of sleeps that have ended; null: other sleeps" },                                   \
            { NULL, in_state, "", 11, 3, .spare = 2 },                                             \
    }

const struct field why_call_fields[WHY_CALL_FIELDS] = FIELDS(NULL, NULL);
const struct field why_call_fields_of_many[WHY_CALL_FIELDS] = FIELDS("process", "ms in state");

/* Returns the object with its other end. The text belongs to the document. */
static const char *object_text(struct document *document, const char *name, const char *peer)
{
    return document_text(document, "%s%s%s", name, peer[0] != '\0' ? " " : "", peer);
}

/* A row of the table. */
struct row {
    const struct camp_call_sleeps *sleeps;
    const struct call_name *names;
    const char *peer; /* the other end of the object, or "" */
    const char *who;  /* the process, or "" */
    bool is_open, has_state;
    uint64_t state_ns; /* with `has_state` */
};

static void add_row(struct document *document, size_t table, const struct row *row,
                    uint64_t total_ns)
{
    const struct camp_call_sleeps *sleeps = row->sleeps;
    const struct call_name *names = row->names;
    const double percent = percent_of((double)sleeps->sleep_ns, total_ns);

    DOCUMENT_ADD(
        document, table,
        ((const struct cell[WHY_CALL_FIELDS]){
            cell_text(camp_state_name((int)sleeps->state)),
            cell_text(document_text(document, "%s", names->call)),
            names->object[0] != '\0' ? cell_text(object_text(document, names->object, row->peer))
                                     : cell_unknown(),
            cell_real(percent),
            cell_natural(sleeps->sleep_ns),
            cell_real((double)sleeps->sleep_ns / NS_PER_MS),
            cell_natural(sleeps->count),
            cell_text(document_text(document, "%" PRIu64 "%s", sleeps->count,
                                    row->is_open ? " open" : "")),
            cell_boolean(row->is_open),
            sleeps->pid > 0 ? cell_integer(sleeps->pid) : cell_unknown(),
            row->who[0] != '\0' ? cell_text(document_text(document, "%s", row->who))
                                : cell_unknown(),
            row->has_state ? cell_natural(row->state_ns) : cell_unknown(),
            row->has_state ? cell_real((double)row->state_ns / NS_PER_MS) : cell_unknown(),
        }));
}

/* Finds the other ends. The owner of a lock is known only for this moment, so it is not looked up
 * if the sleeps have ended. */
static void find_objects(struct cause_objects *objects, const struct call_list *calls, size_t most,
                         bool have_ended)
{
    struct camp_call_sleeps looked_up[OBJECTS_LOOKED_UP];
    size_t count = 0;

    most = most != 0 && most < OBJECTS_LOOKED_UP ? most : OBJECTS_LOOKED_UP;
    for (size_t i = 0; i < calls->count && i < most; i++) {
        if (!have_ended || !lock_owner_may_be_known(calls->items[i].call))
            looked_up[count++] = calls->items[i];
    }
    cause_objects_find(objects, looked_up, count, PROCESSES);
}

/* Adds a sleep that has not ended, with its names of now or of the recording. Of all threads, it is
 * the total of those of one process. */
static void add_open(struct document *document, size_t table, const struct cause_objects *objects,
                     const struct causes *causes, size_t at, uint64_t total_ns, bool is_of_all)
{
    const struct open_fact *fact = causes->open_facts != NULL ? &causes->open_facts[at] : NULL;
    struct camp_call_sleeps call = causes->open_calls.items[at];
    struct open_total total = { .state_ns = fact != NULL ? fact->state_ns : 0 };
    struct call_name names = { 0 };
    char who[CAUSE_NAME_SIZE] = "";

    if (is_of_all && fact != NULL && !open_total_of(&total, causes, at))
        return;
    if (is_of_all && fact != NULL)
        call.sleep_ns = total.sleep_ns;
    if (fact == NULL) {
        cause_call_name(names.call, call.call);
        cause_object_name(names.object, &call, PROCESSES);
    }
    if (fact == NULL && call.pid > 0)
        open_process_name(who, call.pid, PROCESSES);
    add_row(document, table,
            &(struct row){
                .sleeps = &call,
                .names = fact != NULL ? &fact->names : &names,
                .peer = fact != NULL ? fact->other_end
                                     : cause_objects_peer(objects, names.object, call.pid),
                .who = fact != NULL ? fact->who : who,
                .is_open = true,
                .has_state = fact != NULL,
                .state_ns = total.state_ns,
            },
            total_ns);
}

/* The sleeps that have ended are of the watched process. */
static void add_ended(struct document *document, size_t table, const struct cause_objects *objects,
                      const struct causes *causes, size_t at, uint64_t total_ns)
{
    const struct camp_call_sleeps *sleeps = &causes->calls.items[at];
    struct call_name names = { 0 };
    char who[CAUSE_NAME_SIZE] = "";

    for (size_t i = 0; i < causes->group_count; i++) {
        if (causes->groups[i].kind == CAMP_GROUP_PROCESS && causes->groups[i].pid == sleeps->pid)
            cause_group_name(who, &causes->groups[i]);
    }
    cause_call_names(&names, causes, at, PROCESSES);
    add_row(document, table,
            &(struct row){ .sleeps = sleeps,
                           .names = &names,
                           .peer = cause_objects_peer(objects, names.object, sleeps->pid),
                           .who = who },
            total_ns);
}

/* Returns whether a row is of the subject. A step of a chain belongs to no group. */
static bool is_of(const struct causes *causes, const struct camp_states_group *group, size_t at,
                  bool is_open)
{
    if (!is_open)
        return group != NULL && group->pid == causes->calls.items[at].pid;
    if (causes->open_facts == NULL)
        return group != NULL;
    return group != NULL ? causes->open_facts[at].group == group->number
                         : causes->open_facts[at].group < CAUSE_GROUPS;
}

void why_call_rows(struct document *document, size_t table, struct cause_objects *objects,
                   const struct why_interval *interval, uint64_t total_ns)
{
    const struct causes *causes = interval->causes;
    const struct camp_states_group *group = cause_group_find(causes, interval->subject);
    const struct call_list *ended = &causes->calls, *open = &causes->open_calls;
    size_t added = 0, at = 0, at_open = 0;

    if (!causes->is_recorded && group != NULL) {
        find_objects(objects, ended, interval->most, true);
        find_objects(objects, open, interval->most, false);
    }
    while ((at < ended->count || at_open < open->count) &&
           (interval->most == 0 || added < interval->most)) {
        const bool is_open =
            at == ended->count ||
            (at_open < open->count && open->items[at_open].sleep_ns >= ended->items[at].sleep_ns);
        const size_t i = is_open ? at_open++ : at++;

        if (!is_of(causes, group, i, is_open))
            continue;
        if (is_open)
            add_open(document, table, objects, causes, i, total_ns, group == NULL);
        else
            add_ended(document, table, objects, causes, i, total_ns);
        added++;
    }
}

uint64_t why_unowned_ns(const struct cause_objects *objects, const struct why_interval *interval)
{
    const struct causes *causes = interval->causes;
    const struct camp_states_group *group = cause_group_find(causes, interval->subject);
    const size_t most = interval->most != 0 && interval->most < OBJECTS_LOOKED_UP
                            ? interval->most
                            : OBJECTS_LOOKED_UP;
    uint64_t sum_ns = 0;

    for (size_t i = 0; group != NULL && i < causes->open_calls.count && i < most; i++) {
        const struct camp_call_sleeps *call = &causes->open_calls.items[i];
        const struct open_fact *fact = causes->open_facts != NULL ? &causes->open_facts[i] : NULL;
        struct call_name names = { 0 };

        if (fact == NULL) {
            cause_call_name(names.call, call->call);
            cause_object_name(names.object, call, PROCESSES);
        }
        if (is_of(causes, group, i, true) &&
            unowned_is(causes, i, fact != NULL ? fact->names.call : names.call,
                       fact != NULL ? fact->other_end
                                    : cause_objects_peer(objects, names.object, call->pid)))
            sum_ns += call->sleep_ns;
    }
    return sum_ns;
}
