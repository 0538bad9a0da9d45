#include "check_sessions.h"

#include "check_inside.h"
#include "counters/units.h"
#include "ledger/array.h"
#include "ledger/characters.h"
#include "program/command.h"
#include "program/intervals.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define MEASURED_LEAST 0.1 /* percent of wall time; below it, no relative error is shown */

static const struct field summary_fields[] = {
    { .name = "time", .help = "end of the interval, RFC 3339" },
    { .name = "interval_s", .help = "its real length; of all intervals their sum" },
    { .name = "source", .help = "as --from says it, or its file" },
    { .name = "tier", .help = "how it was measured" },
    { .name = "sessions", .help = "in the interval; of all intervals the most of one" },
    { .name = "session_s", .help = "sum of the sessions' wall times" },
    { .name = "intervals", .help = "of all together: how many they are; null of one" },
};

static const struct field state_fields[] = {
    { "state", "state", "cpu, run_queue, contention, wait, idle, unaccounted", -11, 0 },
    { "measured_s", "measured s", "time of all sessions in it", 10, 3 },
    { "measured_percent", "meas. %", "of the sessions' wall time", 7, 2 },
    { "reported_s", "reported s", "the same, as the database reports", 10, 3 },
    { "reported_percent", "rep. %", "of the sessions' wall time", 6, 2 },
    { "error_points", "points", "reported - measured, in percent of the sessions' wall time", 7,
      2 },
    { "error_percent", "error %",
      "(reported - measured) / measured; null where measured is below 0.1 % of the wall times", 7,
      1 },
    { "rms_ms_per_s", "RMS ms/s",
      "root of the mean square of the sessions' errors, in ms per second of a session", 8, 1 },
};

static const struct field loss_fields[] = {
    { .name = "unseen", .help = "sessions that started and ended unseen" },
    { .name = "lost", .help = "sessions whose last numbers are lost" },
    { .name = "partial", .help = "sessions whose interval is incomplete" },
};

enum { SUMMARY, STATES, LOSSES, TABLE_COUNT };

static const struct table tables[TABLE_COUNT] = {
    [SUMMARY] = DOCUMENT_ONE("interval", TABLE_INLINE, summary_fields),
    [STATES] = DOCUMENT_ROWS("states", state_fields),
    [LOSSES] = DOCUMENT_ONE("losses", TABLE_OBJECT, loss_fields),
};

static const struct record layout = DOCUMENT_LAYOUT("camp.check.sessions/1", tables, STATES);

bool check_sessions_can(const struct source *source)
{
    struct reported_columns columns;

    return reported_columns_find(&columns, source->describe(source));
}

/* A small negative number must not be shown as -0.000. */
static struct cell seconds_cell(double ns)
{
    return cell_real(fabs(ns) < 500000 ? 0 : ns / NS_PER_S);
}

static struct cell points_cell(double percent)
{
    return cell_real(fabs(percent) < 0.005 ? 0 : percent);
}

static void add_states(struct document *document, const struct reported_error *error)
{
    for (size_t i = 0; i < REPORTED_COUNT; i++) {
        const struct reported_sum *sum = &error->sums[i];
        const double measured = 100 * sum->measured_ns / NS_PER_S / error->session_s;
        const double reported = 100 * sum->reported_ns / NS_PER_S / error->session_s;
        const double relative = 100 * (sum->reported_ns - sum->measured_ns) / sum->measured_ns;
        const bool is_reported = i < REPORTED_UNACCOUNTED && measured >= MEASURED_LEAST;
        const struct cell cells[] = {
            cell_text(i < SESSION_STATE_COUNT ? session_state_names[i] : "unaccounted"),
            seconds_cell(sum->measured_ns),
            points_cell(measured),
            seconds_cell(sum->reported_ns),
            points_cell(reported),
            emphasised(points_cell(reported - measured),
                       emphasis_of_error(relative, reported - measured)),
            cell_real(is_reported ? relative : NAN),
            cell_real(reported_error_rms(error, i)),
        };

        DOCUMENT_ADD(document, STATES, cells);
    }
}

/* Returns whether a state has the provenance, such as CAMP_SAMPLED. If `run` is true, only the
 * states CPU and run queue are searched. If `run` is false, only the other states are searched. */
static bool has_provenance(const struct schema *schema, bool run, enum camp_provenance provenance)
{
    for (size_t i = 0; i < schema->state_count; i++) {
        if ((i <= SESSION_RUN_QUEUE) == run && schema->columns[i].provenance == provenance)
            return true;
    }
    return false;
}

/* Adds a note for a tier that measures CPU and run queue, and divides the remaining time among the
 * other states in the proportions of samples. The note compares the remaining time with the time
 * asleep that the samples show. */
static void note_scaled(struct document *document, const struct reported_error *error)
{
    const double session_ns = error->session_s * NS_PER_S;
    const double left_ns = session_ns - error->sums[SESSION_CPU].measured_ns -
                           error->sums[SESSION_RUN_QUEUE].measured_ns;
    const char *samples = "";

    if (error->sampled_ns > 0)
        samples =
            document_text(document, " Samples alone saw %.2f %% asleep, where %.2f %% was left.",
                          100 * error->sampled_ns / session_ns, 100 * left_ns / session_ns);
    document_note(document,
                  "On this tier CPU and run queue are measured; the other states are what is left, "
                  "divided as samples saw it.%s",
                  samples);
}

/* The comparison needs measured times, so a note names the states that are only sampled. */
static void note_provenance(struct document *document, const struct reported_error *error,
                            const struct schema *schema)
{
    if (error->session_s <= 0)
        document_note(document, "No session: nothing to compare.");
    else if (has_provenance(schema, true, CAMP_SAMPLED))
        document_note(document,
                      "On this tier nothing is measured: the table compares two samples.");
    else if (has_provenance(schema, false, CAMP_SCALED))
        note_scaled(document, error);
    else if (has_provenance(schema, false, CAMP_SAMPLED))
        document_note(document,
                      "On this tier CPU and run queue are measured; the other states are sampled "
                      "too, and compare two samples.");
}

static void add_notes(struct document *document, const struct reported_error *error,
                      const struct frame *frame, const struct from_facts *facts)
{
    const char *const notes[] = { frame->note, facts->note };

    note_provenance(document, error, frame->schema);
    for (size_t i = 0; i < ARRAY_COUNT(notes); i++) {
        if (notes[i] != NULL && notes[i][0] != '\0')
            document_note(document, "%s", notes[i]);
    }
}

static void add_summary(struct document *document, const struct reported_error *error,
                        const struct sessions_interval *interval, const struct from_facts *facts)
{
    const struct losses *losses = &interval->losses;
    const struct cell summary[] = {
        cell_text(document_text(document, "%s", interval->time)),
        cell_real(interval->length_s),
        cell_text(facts->name),
        cell_text(facts->tier),
        cell_natural(error->sessions),
        cell_real(error->session_s),
        interval->intervals > 0 ? cell_natural(interval->intervals) : cell_unknown(),
    };
    const struct cell lost[] = { cell_natural(losses->unseen), cell_natural(losses->lost),
                                 cell_natural(losses->partial) };

    DOCUMENT_ADD(document, SUMMARY, summary);
    DOCUMENT_ADD(document, LOSSES, lost);
}

static const char *headline(struct document *document, const struct reported_error *error,
                            const struct sessions_interval *interval,
                            const struct from_facts *facts)
{
    char name[sizeof facts->name];
    const char *all = "";

    if (interval->intervals > 0)
        all = document_text(document, "all %" PRIu64 " intervals: ", interval->intervals);
    snprintf(name, sizeof name, "%s", facts->name);
    make_printable(name);
    return document_text(
        document, "%s  %s%.2f s  %s  tier %s  %s%" PRIu64 " sessions, %.1f session-seconds",
        interval->time, all, interval->length_s, name, facts->tier,
        interval->intervals > 0 ? "at most " : "", error->sessions, error->session_s);
}

void check_sessions_fill(struct document *document, const struct reported_error *error,
                         const struct frame *frame, const struct sessions_interval *interval,
                         const struct from_facts *facts)
{
    document_start(document, &layout);
    add_summary(document, error, interval, facts);
    add_states(document, error);
    add_notes(document, error, frame, facts);
    document->tables[STATES].hidden_in_text = error->session_s == 0;
    document->record.headline = headline(document, error, interval, facts);
}

struct run {
    struct check *check;
    struct reported_columns columns;
    struct reported_error all;
    struct sessions_interval whole; /* the sums of all intervals */
    char note[FRAME_NOTE_SIZE];     /* the note of the last interval with unseen sessions */
    uint64_t shown;
    struct document document;
};

static int show(struct run *run, const struct reported_error *error, const struct frame *frame,
                struct sessions_interval interval)
{
    const struct check *check = run->check;
    char time[TIME_TEXT_SIZE];

    time_text(time, sizeof time, frame->wall_clock_ns);
    interval.time = time;
    check_sessions_fill(&run->document, error, frame, &interval, &check->recorded.facts);
    return show_document(&run->document, check->view, &check->view_options, run->shown++);
}

static int add_interval(struct run *run, const struct frame *frame)
{
    const struct sessions_interval interval = {
        .length_s = (double)(frame->end_ns - frame->start_ns) / NS_PER_S,
        .losses = frame->losses,
    };
    struct reported_error error = { 0 };

    reported_error_add(&error, &run->columns, frame);
    reported_error_add(&run->all, &run->columns, frame);
    if (frame->losses.unseen > 0)
        snprintf(run->note, sizeof run->note, "%s", frame->note != NULL ? frame->note : "");
    losses_add(&run->whole.losses, &frame->losses);
    run->whole.length_s += interval.length_s;
    run->whole.intervals++;
    return show(run, &error, frame, interval);
}

static int finish(struct run *run, const struct frame *last, int status)
{
    if (status != OPTIONS_GO_ON)
        return status;
    if (run->whole.intervals == 0 && !stop_requested)
        return complain(STATUS_FAILURE, "%s has no interval in that time: nothing to show",
                        run->check->recorded.facts.name);
    if (run->whole.intervals > 1 && last != NULL)
        status = show(run, &run->all, last, run->whole);
    if (status == OPTIONS_GO_ON && run->all.session_s == 0 && run->note[0] != '\0')
        return complain(STATUS_PRIVILEGE, "nothing could be compared: %s", run->note);
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}

int check_sessions_run(struct check *check)
{
    struct source *source = check->recorded.source;
    struct intervals intervals = { .length_ns = check->options.interval_ns,
                                   .count = check->options.count };
    struct run run = { .check = check };
    const struct frame *frame = NULL;
    int status = OPTIONS_GO_ON;

    reported_columns_find(&run.columns, source->describe(source));
    while (status == OPTIONS_GO_ON && next_interval(&intervals)) {
        struct camp_error error = { 0 };
        const int r = source->next(source, intervals.deadline_ns, &frame, &error);

        progress_clear(&check->options.from.progress);
        if (r == SOURCE_END)
            break;
        status = r == CAMP_OK ? add_interval(&run, frame) : complain_of(r, &error);
    }
    status = finish(&run, frame, status);
    document_release(&run.document);
    return status;
}
