#include "why_calls.h"

#include "counters/units.h"

#include <inttypes.h>
#include <math.h>

#define PROCESSES "/proc"
#define OBJECTS_LOOKED_UP 64 /* if all calls are shown */

const struct field why_call_fields[WHY_CALL_FIELDS] = {
    { "state", "state", "of the sleep" },
    { "call", "system call", "" },
    { "object", "object", "of the call, by its first argument, as it is now" },
    { "percent", "%", "of the time of all threads", 6, 2 },
    { "sleep_ns", NULL, "in the interval" },
    { NULL, "ms", "", 8, 3, .spare = 1 },
    { "count", NULL, "sleeps that have ended; with `open` threads that still sleep" },
    { NULL, "sleeps", "", 6 },
    { "open", NULL, "nothing has woken them yet" },
};

/* Returns the object with its other end. The text belongs to the document. */
static const char *object_text(struct document *document, const char *name, const char *peer)
{
    return document_text(document, "%s%s%s", name, peer[0] != '\0' ? " " : "", peer);
}

static void add_call(struct document *document, size_t table, const struct camp_call_sleeps *sleeps,
                     const struct call_name *names, const char *peer, uint64_t total_ns, bool open)
{
    const double percent = total_ns > 0 ? 100.0 * (double)sleeps->sleep_ns / (double)total_ns : NAN;

    DOCUMENT_ADD(
        document, table,
        ((const struct cell[WHY_CALL_FIELDS]){
            cell_text(camp_state_name((int)sleeps->state)),
            cell_text(document_text(document, "%s", names->call)),
            names->object[0] != '\0' ? cell_text(object_text(document, names->object, peer))
                                     : cell_unknown(),
            cell_real(percent),
            cell_natural(sleeps->sleep_ns),
            cell_real((double)sleeps->sleep_ns / NS_PER_MS),
            cell_natural(sleeps->count),
            cell_text(document_text(document, "%" PRIu64 "%s", sleeps->count, open ? " open" : "")),
            cell_boolean(open),
        }));
}

static void find_objects(struct cause_objects *objects, const struct call_list *calls, size_t most)
{
    const size_t looked_up = most != 0 ? most : OBJECTS_LOOKED_UP;

    cause_objects_find(objects, calls->items, looked_up < calls->count ? looked_up : calls->count,
                       PROCESSES);
}

/* Adds a sleep that has not ended, with its names of now or of the recording. */
static void add_open(struct document *document, size_t table, const struct cause_objects *objects,
                     const struct causes *causes, size_t at, uint64_t total_ns)
{
    const struct camp_call_sleeps *call = &causes->open_calls.items[at];
    const struct open_fact *fact = causes->open_facts != NULL ? &causes->open_facts[at] : NULL;
    struct call_name names = { 0 };

    if (fact == NULL) {
        cause_call_name(names.call, call->call);
        cause_object_name(names.object, call, PROCESSES);
    }
    add_call(document, table, call, fact != NULL ? &fact->names : &names,
             fact != NULL ? fact->other_end : cause_objects_peer(objects, names.object), total_ns,
             true);
}

/* Returns whether a row is of the subject. */
static bool is_of(const struct causes *causes, const struct camp_states_group *group, size_t at,
                  bool is_open)
{
    if (!is_open)
        return group->pid == causes->calls.items[at].pid;
    return causes->open_facts == NULL || causes->open_facts[at].group == group->number;
}

void why_call_rows(struct document *document, size_t table, struct cause_objects *objects,
                   const struct why_interval *interval, uint64_t total_ns)
{
    const struct causes *causes = interval->causes;
    const struct camp_states_group *group = cause_group_find(causes, interval->subject);
    const struct call_list *ended = &causes->calls, *open = &causes->open_calls;
    size_t added = 0, at = 0, at_open = 0;

    if (group == NULL)
        return;
    if (!causes->is_recorded) {
        find_objects(objects, ended, interval->most);
        find_objects(objects, open, interval->most);
    }
    while ((at < ended->count || at_open < open->count) &&
           (interval->most == 0 || added < interval->most)) {
        const bool is_open =
            at == ended->count ||
            (at_open < open->count && open->items[at_open].sleep_ns >= ended->items[at].sleep_ns);
        const size_t i = is_open ? at_open++ : at++;
        struct call_name names = { 0 };

        if (!is_of(causes, group, i, is_open))
            continue;
        if (is_open) {
            add_open(document, table, objects, causes, i, total_ns);
        } else {
            cause_call_names(&names, causes, i, PROCESSES);
            add_call(document, table, &ended->items[i], &names,
                     cause_objects_peer(objects, names.object), total_ns, false);
        }
        added++;
    }
}
