#include "why_events.h"

#include "counters/units.h"
#include "ledger/array.h"
#include "ledger/characters.h"
#include "ledger/words.h"
#include "program/output_part.h"
#include "sources/causes/wait_lengths.h"
#include "sources/source.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MOST 1024 /* later ones are "(other)": a hostile server may invent more */
#define NONE "(none)"
#define OTHER "(other)"
#define WHOLE "(all events)"

const struct field why_event_fields[WHY_EVENT_FIELDS] = {
    { "wait_event", NULL,
      "as the database names it; null: time on a CPU, in the run queue, in a sleep without an "
      "event, and unaccounted; or all events, if sessions are not divided by them" },
    { NULL, "wait event", "" },
    { "state", "state", "contention, wait or idle: the one with most of its time", -10 },
    { "time_ns", NULL,
      "of all sessions in the event; all rows add up to the sessions' time. null: they are not "
      "divided by event" },
    { NULL, "time s", "", 8, 3 },
    { NULL, "%", "of the sessions' time", 5, 1, .spare = 2 },
    { "waits", "waits", "sleeps that ended in the interval; null: unknown", 7 },
    { "waits_ns", NULL, "the sum of their lengths" },
    { "p50_ns", NULL, "half of them lasted no longer, to a factor of 2" },
    { "p99_ns", NULL, "99 % of them lasted no longer, to a factor of 2" },
    { NULL, "p50 ms", "", 8, 3, .spare = 1 },
    { NULL, "p99 ms", "", 8, 3, .spare = 1 },
    { "max_ns", NULL, "the longest of them" },
    { NULL, "max ms", "", 9, 3 },
    { "max_pid", "max id", "the session of the longest, by the server", 7, .spare = 3 },
};

struct why_event {
    char name[LABELS_VALUE_SIZE];
    uint64_t ns, waits_ns;
    uint64_t class_ns[CLASS_COUNT];
    struct wait_lengths lengths;
    int64_t longest_id;
};

void why_events_start(struct why_events *events, bool are_divided)
{
    events->count = 0;
    events->elapsed_ns = 0;
    events->are_divided = are_divided;
    events->has_lengths = events->failed = false;
}

void why_events_release(struct why_events *events)
{
    free(events->events);
    *events = (struct why_events){ 0 };
}

/* Returns the index of waits_ns, which is the column before the longest wait; 0: there is none. */
static size_t find_sum(const struct schema *schema)
{
    return schema->longest > 0 && strcmp(schema->columns[schema->longest - 1].name, "waits_ns") == 0
               ? schema->longest - 1
               : 0;
}

static struct why_event *event_of(struct why_events *events, const char *name)
{
    struct why_event *event;

    if (events->count >= EVENTS_MOST)
        name = OTHER;
    for (size_t i = 0; i < events->count; i++) {
        if (strcmp(events->events[i].name, name) == 0)
            return &events->events[i];
    }
    if (!ARRAY_RESERVE(events->events, events->capacity, events->count + 1)) {
        events->failed = true;
        return NULL;
    }
    event = &events->events[events->count++];
    memset(event, 0, sizeof *event);
    copy_text(event->name, sizeof event->name, name, strlen(name));
    return event;
}

static void add_lengths(struct why_event *event, const struct frame *frame, size_t row, size_t sum)
{
    const uint64_t *values = frame_values(frame, row);
    struct wait_lengths lengths = wait_lengths_of_row(frame, row);

    if (lengths.count == 0)
        return;
    if (event->lengths.count == 0 || lengths.longest_ns > event->lengths.longest_ns)
        event->longest_id = (int64_t)values[frame->schema->longest + 1];
    event->waits_ns += values[sum];
    wait_lengths_add(&event->lengths, &lengths);
}

void why_events_add(struct why_events *events, const struct frame *frame,
                    bool (*is_wanted)(const void *context, const struct frame *frame, size_t row),
                    const void *context)
{
    const struct schema *schema = frame->schema;
    const size_t label = schema_find_label(schema, SOURCE_LABEL_WAIT_EVENT), sum = find_sum(schema);

    events->has_lengths |= sum > 0;
    for (size_t i = 0; i < frame->entity_count; i++) {
        const bool has_event = events->are_divided && label != SIZE_MAX;
        struct why_event *event;

        if (is_wanted != NULL && !is_wanted(context, frame, i))
            continue;
        event = event_of(events, has_event ? labels_value(frame->entities[i].labels, label) : "");
        if (event == NULL)
            return;
        event->ns += frame->elapsed_ns[i];
        events->elapsed_ns += frame->elapsed_ns[i];
        for (size_t j = 0; j < schema->state_count; j++)
            event->class_ns[schema->columns[j].class] += frame_values(frame, i)[j];
        if (sum > 0)
            add_lengths(event, frame, i, sum);
    }
}

/* Returns the name of the state in which an event has most time, or NULL if it has none. */
static const char *state_of(const struct why_event *event)
{
    const uint64_t contention_ns = event->class_ns[CLASS_CONTENTION];
    const uint64_t idle_ns = event->class_ns[CLASS_IDLE];
    uint64_t wait_ns = 0;

    for (int i = CLASS_IO; i < CLASS_IDLE; i++)
        wait_ns += i != CLASS_CONTENTION ? event->class_ns[i] : 0;
    if (event->name[0] == '\0' || contention_ns + idle_ns + wait_ns == 0)
        return NULL;
    return contention_ns >= idle_ns && contention_ns >= wait_ns ? "contention"
           : idle_ns > wait_ns                                  ? "idle"
                                                                : "wait";
}

/* Those with work to do are first, then idle ones, then the time without an event. */
static int rank_of(const struct why_event *event)
{
    const char *state = state_of(event);

    return event->name[0] == '\0' ? 2 : state != NULL && strcmp(state, "idle") == 0;
}

static int compare_events(const void *left, const void *right)
{
    const struct why_event *a = left, *b = right;
    const int a_rank = rank_of(a), b_rank = rank_of(b);

    if (a_rank != b_rank)
        return a_rank < b_rank ? -1 : 1;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

int why_events_finish(struct why_events *events)
{
    if (events->count > 1)
        qsort(events->events, events->count, sizeof *events->events, compare_events);
    return events->failed ? CAMP_E_NOMEM : CAMP_OK;
}

static struct cell milliseconds(bool is_known, uint64_t ns)
{
    return is_known ? cell_real((double)ns / NS_PER_MS) : cell_unknown();
}

static void add_row(struct document *document, size_t table, const struct why_events *events,
                    const struct why_event *event, const char *title)
{
    const struct wait_lengths *lengths = &event->lengths;
    const bool is_named = event->name[0] != '\0', has_time = events->are_divided;
    const bool has_lengths = events->has_lengths && lengths->count > 0;
    const char *state = state_of(event);
    char name[LABELS_VALUE_SIZE];

    copy_text(name, sizeof name, event->name, strlen(event->name));
    make_printable(name);
    {
        const struct cell cells[WHY_EVENT_FIELDS] = {
            is_named ? cell_text(document_text(document, "%s", name)) : cell_unknown(),
            cell_text(document_text(document, "%s", is_named && title == NULL ? name : title)),
            cell_text(state),
            has_time ? cell_natural(event->ns) : cell_unknown(),
            has_time ? cell_real((double)event->ns / NS_PER_S) : cell_unknown(),
            has_time ? cell_real(events->elapsed_ns > 0
                                     ? 100.0 * (double)event->ns / (double)events->elapsed_ns
                                     : NAN)
                     : cell_unknown(),
            events->has_lengths ? cell_natural(lengths->count) : cell_unknown(),
            events->has_lengths ? cell_natural(event->waits_ns) : cell_unknown(),
            has_lengths ? cell_natural(lengths->p50_ns) : cell_unknown(),
            has_lengths ? cell_natural(lengths->p99_ns) : cell_unknown(),
            milliseconds(has_lengths, lengths->p50_ns),
            milliseconds(has_lengths, lengths->p99_ns),
            has_lengths ? cell_natural(lengths->longest_ns) : cell_unknown(),
            milliseconds(has_lengths, lengths->longest_ns),
            has_lengths ? cell_integer(event->longest_id & ENTITY_NUMBER_MASK) : cell_unknown(),
        };

        DOCUMENT_ADD(document, table, cells);
    }
}

/* Adds the events from the one with this number on as one row. */
static void add_others(struct document *document, size_t table, const struct why_events *events,
                       size_t first)
{
    struct why_event sum = { .name = OTHER };

    for (size_t i = first; i < events->count; i++) {
        const struct why_event *event = &events->events[i];

        sum.ns += event->ns;
        sum.waits_ns += event->waits_ns;
        if (sum.lengths.count == 0 || event->lengths.longest_ns > sum.lengths.longest_ns)
            sum.longest_id = event->longest_id;
        wait_lengths_add(&sum.lengths, &event->lengths);
    }
    add_row(document, table, events, &sum,
            document_text(document, "and %zu more", events->count - first));
}

void why_events_add_rows(struct document *document, size_t table, const struct why_events *events,
                         size_t most)
{
    for (size_t i = 0; i < events->count; i++) {
        const struct why_event *event = &events->events[i];

        if (most > 0 && i + 1 >= most && i + 1 < events->count) {
            add_others(document, table, events, i);
            return;
        }
        add_row(document, table, events, event,
                event->name[0] != '\0' ? NULL
                : events->are_divided  ? NONE
                                       : WHOLE);
    }
}
