#include "frame_notes.h"

#include "counters/units.h"
#include "ledger/array.h"
#include "ledger/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* note_sums() lists a state if on average at least this many entities are in it. */
#define SUM_LEAST 0.005
/* note_over() reports entities whose states add up to at least this share of their time. A smaller
 * share would be shown as 100.0 %. */
#define OVER_LEAST 1.0005

const char *frame_kind(const struct frame_facts *facts, const struct schema *schema)
{
    if (facts->kind[0] != '\0')
        return facts->kind;
    return schema->label_count > 0 ? "sessions" : schema->name;
}

const char *kind_noun(const char *kind, uint64_t count)
{
    static const struct {
        const char *kind, *one;
    } nouns[] = {
        { "sessions", "session" }, { "processes", "process" }, { "threads", "thread" },
        { "users", "user" },       { "commands", "command" },  { "cgroups", "cgroup" },
        { "cpus", "CPU" },         { "hosts", "host" },        { "groups", "group" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(nouns); i++) {
        if (strcmp(nouns[i].kind, kind) == 0)
            return count == 1 ? nouns[i].one : strcmp(kind, "cpus") == 0 ? "CPUs" : nouns[i].kind;
    }
    return noun_of(count, "entity", "entities");
}

static void __attribute__((format(printf, 2, 3)))
append(char note[FRAME_NOTE_TEXT_SIZE], const char *format, ...)
{
    const size_t length = strlen(note);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(note + length, FRAME_NOTE_TEXT_SIZE - length, format, arguments);
    va_end(arguments);
}

static double interval_of(const struct frame *frame)
{
    return (double)(frame->end_ns - frame->start_ns);
}

/* Writes the number of entities and the sum of each state: "10 sessions, on average 3.20 in CPU".
 */
static void note_sums(char *note, const struct frame *frame, const struct frame_columns *columns,
                      const char *kind)
{
    const char *between = ", on average ", *in = "in ";
    const uint64_t size = frame_size(frame);

    append(note, "%" PRIu64 " %s", size, kind_noun(kind, size));
    for (size_t column = 0; column < columns->state_column_count; column++) {
        const double average = columns->states[column].average;

        if (average < SUM_LEAST)
            continue;
        append(note, "%s%.2f %s%s", between, average, in, state_column_title(columns, column));
        between = ", ";
        in = "";
    }
    if (fabs(columns->unaccounted) >= SUM_LEAST)
        append(note, "%s%.2f unaccounted", between, columns->unaccounted);
}

static void note_over(char *note, const struct frame *frame)
{
    size_t count = 0, worst = 0;
    double most = OVER_LEAST;

    for (size_t i = 0; i < frame->entity_count; i++) {
        const int64_t unaccounted_ns = frame_unaccounted_ns(frame, i);
        const double accounted = 1 - (double)unaccounted_ns / (double)frame->elapsed_ns[i];

        if (unaccounted_ns >= 0)
            continue;
        count += accounted >= OVER_LEAST;
        if (!(accounted >= most))
            continue;
        most = accounted;
        worst = i;
    }
    if (count == 1)
        append(note, "! the states of %s add up to %.1f %% of its time",
               frame->entities[worst].name, 100 * most);
    else if (count > 1)
        append(note,
               "! the states of %zu rows add up to more than their time, at most %.1f %% (%s)",
               count, 100 * most, frame->entities[worst].name);
}

/* Appends which percentage of the context switches no event reported. Appends nothing if `cpus` has
 * no count of reported switches. */
static void append_share(char *note, const struct frame *cpus, uint64_t unseen)
{
    const size_t column = cpus != NULL && cpus->entity_count > 0
                              ? schema_find_counter(cpus->schema, "switches")
                              : SIZE_MAX;
    const double seen = column != SIZE_MAX ? (double)frame_values(cpus, 0)[column] : 0;

    if (seen > 0)
        append(note, " (%.3f %%)", 100 * (double)unseen / (seen + (double)unseen));
}

/* Writes what is missing from the numbers or estimated. On tier bpf, losses->unseen counts context
 * switches that no event reported, and the times around such a switch are estimated. If the rows
 * are sessions, losses->unseen also counts sessions that the database hides from the role that camp
 * uses. */
static void note_losses(char *note, const struct frame *frame, const struct frame *cpus,
                        const struct frame_facts *facts, const char *kind)
{
    const struct losses *losses = &frame->losses;
    const uint64_t cpus_partial = cpus != NULL ? cpus->losses.partial : 0;
    const bool by_switches = strcmp(facts->tier, "bpf") == 0;
    const bool are_sessions = strcmp(kind, "sessions") == 0;
    const struct {
        const char *what, *name;
        uint64_t count;
    } all[] = { { by_switches ? "switches or sessions" : kind_noun(kind, losses->unseen), "unseen",
                  by_switches && !are_sessions ? 0 : losses->unseen },
                { schema_has_servers(frame->schema) ? "servers or sessions"
                                                    : kind_noun(kind, losses->lost),
                  "lost", losses->lost },
                { kind_noun(kind, losses->partial), "not whole", losses->partial },
                { kind_noun("cpus", cpus_partial), "not whole", cpus_partial } };
    const char *between = "not in these numbers: ";

    if (by_switches && !are_sessions && losses->unseen > 0) {
        append(note, "estimated: the times around %" PRIu64 " unseen %s", losses->unseen,
               noun_of(losses->unseen, "switch", "switches"));
        append_share(note, cpus, losses->unseen);
        between = "; not in these numbers: ";
    }
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        if (all[i].count == 0)
            continue;
        append(note, "%s%" PRIu64 " %s %s", between, all[i].count, all[i].what, all[i].name);
        between = ", ";
    }
    if (losses->unread_ns > 0)
        append(note, "%sat most %.3f s of CPU time", between, (double)losses->unread_ns / NS_PER_S);
}

static void note_samples(char *note, const struct frame *frame)
{
    const struct schema *schema = frame->schema;
    const size_t column = schema_find_counter(schema, "samples");
    double samples = 0, sessions = 0;

    for (size_t i = 0; column != SIZE_MAX && i < frame->entity_count; i++) {
        samples += (double)frame_values(frame, i)[column];
        sessions += frame->entities[i].count;
    }
    if (sessions > 0 && samples > 0)
        append(note,
               "samples: %.1f of each; of one, a share of 50 %% has a standard error of %.0f "
               "points",
               samples / sessions, 50 / sqrt(samples / sessions));
    else if (sessions > 0 && column < schema->column_count)
        append(note, "samples: none in this interval");
}

/* For hosts, writes the measured busy time, the busy time that the kernels sampled at their ticks,
 * and the host where these two times differ most. */
static void note_sampled(char *note, const struct frame *frame)
{
    const size_t column = schema_find_counter(frame->schema, "sampled_busy_ns");
    const double interval = interval_of(frame);
    double all = 0, all_sampled = 0, most = 0;
    size_t worst = 0;

    if (column == SIZE_MAX || frame->entity_count == 0 || interval <= 0)
        return;
    for (size_t i = 0; i < frame->entity_count; i++) {
        const double sampled = (double)frame_values(frame, i)[column];
        const double busy = (double)class_ns(frame, i, CLASS_CPU);

        all += busy;
        all_sampled += sampled;
        if (fabs(sampled - busy) >= fabs(most)) {
            most = sampled - busy;
            worst = i;
        }
    }
    append(note, "on a CPU: measured %.2f, sampled %.2f; most off is %s: sampled %+.2f",
           all / interval, all_sampled / interval, frame->entities[worst].name, most / interval);
}

/* Sessions are also known by their labels, unless they are grouped by one: then it is the name. */
static void note_unmatched(char *note, const struct schema *schema, const struct frame_facts *facts,
                           const char *kind)
{
    const char *between = "";

    if (strcmp(kind, "sessions") != 0 || facts->group != NULL || schema->label_count == 0) {
        append(note, "no row: no name matches --filter");
        return;
    }
    append(note, "no row: no name matches --filter, and no value of a label: ");
    for (size_t i = 0; i < schema->label_count; i++, between = ", ")
        append(note, "%s%s", between, schema->label_names[i]);
}

void frame_notes_fill(struct frame_notes *ret, const struct frame *frame, const struct frame *cpus,
                      const struct frame_columns *columns, const struct frame_facts *facts,
                      bool is_unmatched)
{
    const char *const notes[] = {
        ret->unmatched, ret->sums, ret->sampled, ret->samples,
        ret->over,      ret->lost, frame->note,  facts->note,
    };
    const char *kind = frame_kind(facts, frame->schema);
    size_t count = 0;

    *ret = (struct frame_notes){ 0 };
    if (is_unmatched)
        note_unmatched(ret->unmatched, frame->schema, facts, kind);
    note_sums(ret->sums, frame, columns, kind);
    note_sampled(ret->sampled, frame);
    note_samples(ret->samples, frame);
    note_over(ret->over, frame);
    note_losses(ret->lost, frame, cpus, facts, kind);
    for (size_t i = 0; i < ARRAY_COUNT(notes); i++) {
        if (notes[i] != NULL && notes[i][0] != '\0')
            ret->list[count++] = notes[i];
    }
}
