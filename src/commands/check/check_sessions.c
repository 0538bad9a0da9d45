#include "check_sessions.h"

#include "check_record.h"
#include "counters/units.h"
#include "ledger/array.h"
#include "program/command.h"
#include "program/intervals.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MEASURED_LEAST 0.1 /* percent of the wall times: below, a relative error says nothing */

static const struct field summary_fields[] = {
    { .name = "time", .help = "end of the interval, RFC 3339" },
    { .name = "interval_s", .help = "its real length; of all intervals their sum" },
    { .name = "source", .help = "as --from says it, or its file" },
    { .name = "tier", .help = "how it was measured" },
    { .name = "sessions", .help = "in the interval; of all intervals the most of one" },
    { .name = "session_s", .help = "sum of the sessions' wall times" },
    { .name = "intervals", .help = "of all together: how many they are; null of one" },
};

static const struct field state_fields[CHECK_SESSIONS_FIELDS] = {
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

bool check_sessions_can(const struct source *source)
{
    struct reported_columns columns;

    return reported_columns_find(&columns, source->describe(source));
}

/* Never -0.000. */
static struct cell seconds_cell(double ns)
{
    return cell_real(fabs(ns) < 500000 ? 0 : ns / NS_PER_S);
}

static struct cell points_cell(double percent)
{
    return cell_real(fabs(percent) < 0.005 ? 0 : percent);
}

static void fill_states(struct check_sessions_record *ret, const struct reported_error *error)
{
    struct cell *cells = ret->cells;

    for (size_t i = 0; i < REPORTED_COUNT; i++) {
        const struct reported_sum *sum = &error->sums[i];
        const double measured = 100 * sum->measured_ns / NS_PER_S / error->session_s;
        const double reported = 100 * sum->reported_ns / NS_PER_S / error->session_s;
        const double relative = 100 * (sum->reported_ns - sum->measured_ns) / sum->measured_ns;
        const bool is_reported = i < REPORTED_UNACCOUNTED && measured >= MEASURED_LEAST;

        *cells++ = cell_text(i < SESSION_STATE_COUNT ? session_state_names[i] : "unaccounted");
        *cells++ = seconds_cell(sum->measured_ns);
        *cells++ = points_cell(measured);
        *cells++ = seconds_cell(sum->reported_ns);
        *cells++ = points_cell(reported);
        *cells++ = emphasised(points_cell(reported - measured),
                              emphasis_of_error(relative, reported - measured));
        *cells++ = cell_real(is_reported ? relative : NAN);
        *cells++ = cell_real(reported_error_rms(error, i));
    }
}

static void fill_losses(struct check_sessions_record *ret, const struct losses *losses)
{
    ret->losses[0] = cell_natural(losses->unseen);
    ret->losses[1] = cell_natural(losses->lost);
    ret->losses[2] = cell_natural(losses->partial);
}

/* `run`: of CPU and run queue; otherwise of the other states. */
static bool has_provenance(const struct schema *schema, bool run, enum camp_provenance provenance)
{
    for (size_t i = 0; i < schema->state_count; i++) {
        if ((i <= SESSION_RUN_QUEUE) == run && schema->columns[i].provenance == provenance)
            return true;
    }
    return false;
}

/* The rest is right by construction; the samples that divide it are not: their error is noted. */
static void note_scaled(struct check_sessions_record *ret, const struct reported_error *error)
{
    const size_t size = sizeof ret->provenance;
    const int length = snprintf(ret->provenance, size,
                                "On this tier CPU and run queue are measured; the other states are "
                                "what is left, divided as samples saw it.");
    const double left_ns = error->session_s * NS_PER_S - error->sums[SESSION_CPU].measured_ns -
                           error->sums[SESSION_RUN_QUEUE].measured_ns;

    if (error->sampled_ns > 0)
        snprintf(ret->provenance + length, size - (size_t)length,
                 " Samples alone saw %.2f %% asleep, where %.2f %% was left.",
                 100 * error->sampled_ns / NS_PER_S / error->session_s,
                 100 * left_ns / NS_PER_S / error->session_s);
}

/* A sampled state is no reference to compare with, so the notes say which states are sampled. */
static void note_provenance(struct check_sessions_record *ret, const struct reported_error *error,
                            const struct schema *schema)
{
    ret->provenance[0] = '\0';
    if (has_provenance(schema, true, CAMP_SAMPLED))
        snprintf(ret->provenance, sizeof ret->provenance,
                 "On this tier nothing is measured: the table compares two samples.");
    else if (has_provenance(schema, false, CAMP_SCALED))
        note_scaled(ret, error);
    else if (has_provenance(schema, false, CAMP_SAMPLED))
        snprintf(ret->provenance, sizeof ret->provenance,
                 "On this tier CPU and run queue are measured; the other states are sampled too, "
                 "and compare two samples.");
}

static void fill_notes(struct check_sessions_record *ret, const struct frame *frame,
                       const struct from_facts *facts)
{
    const char *const notes[] = { ret->provenance, frame->note, facts->note };
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_COUNT(notes); i++) {
        if (notes[i] != NULL && notes[i][0] != '\0')
            ret->notes[count++] = notes[i];
    }
    ret->notes[count] = NULL;
}

static void fill_summary(struct check_sessions_record *ret, const struct reported_error *error,
                         double interval_s, const struct from_facts *facts, uint64_t intervals)
{
    char all[48] = "";

    ret->summary[0] = cell_text(ret->time);
    ret->summary[1] = cell_real(interval_s);
    ret->summary[2] = cell_text(facts->name);
    ret->summary[3] = cell_text(facts->tier);
    ret->summary[4] = cell_natural(error->sessions);
    ret->summary[5] = cell_real(error->session_s);
    ret->summary[6] = intervals > 0 ? cell_natural(intervals) : cell_unknown();
    if (intervals > 0)
        snprintf(all, sizeof all, "all %" PRIu64 " intervals: ", intervals);
    snprintf(ret->headline, sizeof ret->headline,
             "%s  %s%.2f s  %s  tier %s  %s%" PRIu64 " sessions, %.1f session-seconds", ret->time,
             all, interval_s, facts->name, facts->tier, intervals > 0 ? "at most " : "",
             error->sessions, error->session_s);
}

void check_sessions_fill(struct check_sessions_record *ret, const struct reported_error *error,
                         const struct frame *frame, const struct from_facts *facts,
                         const char *time, double interval_s, uint64_t intervals)
{
    snprintf(ret->time, sizeof ret->time, "%s", time);
    fill_summary(ret, error, interval_s, facts, intervals);
    fill_states(ret, error);
    fill_losses(ret, &frame->losses);
    if (error->session_s > 0)
        note_provenance(ret, error, frame->schema);
    else
        snprintf(ret->provenance, sizeof ret->provenance, "No session: nothing to compare.");
    fill_notes(ret, frame, facts);
    ret->tables[0] = TABLE_OF_ONE("interval", TABLE_INLINE, summary_fields, ret->summary);
    ret->tables[1] = TABLE_OF_ROWS("states", state_fields, ret->cells, REPORTED_COUNT);
    ret->tables[1].hidden_in_text = error->session_s == 0;
    ret->tables[2] = TABLE_OF_ONE("losses", TABLE_OBJECT, loss_fields, ret->losses);
    ret->record = (struct record){
        "camp.check.sessions/1", ret->headline, ret->tables, ARRAY_COUNT(ret->tables), 1, ret->notes
    };
}

struct run {
    const struct check_sessions *check;
    struct reported_columns columns;
    struct reported_error all;
    struct losses losses;       /* of all intervals */
    char note[FRAME_NOTE_SIZE]; /* of the last interval with unseen or lost events */
    double all_s;
    uint64_t shown, intervals;
    struct check_sessions_record record;
};

static int show(struct run *run, const struct reported_error *error, const struct frame *frame,
                double interval_s, uint64_t intervals)
{
    char time[TIME_TEXT_SIZE];
    int failed;

    time_text(time, sizeof time, frame->wall_clock_ns);
    check_sessions_fill(&run->record, error, frame, run->check->facts, time, interval_s, intervals);
    if (intervals > 0)
        fill_losses(&run->record, &run->losses);
    failed = run->check->view->record(run->check->view_options, &run->record.record, run->shown++);
    return failed != 0 ? output_failed(failed) : OPTIONS_GO_ON;
}

static int add_interval(struct run *run, const struct frame *frame)
{
    const double interval_s = (double)(frame->end_ns - frame->start_ns) / NS_PER_S;
    struct reported_error error = { 0 };

    reported_error_add(&error, &run->columns, frame);
    reported_error_add(&run->all, &run->columns, frame);
    run->losses.unseen += frame->losses.unseen;
    if (frame->losses.unseen > 0)
        snprintf(run->note, sizeof run->note, "%s", frame->note != NULL ? frame->note : "");
    run->losses.lost += frame->losses.lost;
    run->losses.partial += frame->losses.partial;
    run->all_s += interval_s;
    run->intervals++;
    return show(run, &error, frame, interval_s, 0);
}

int check_sessions_run(const struct check_sessions *check, struct from_options *from)
{
    struct intervals intervals = { .length_ns = check->interval_ns, .count = check->count };
    struct run run = { .check = check };
    const struct frame *frame = NULL;
    int status = OPTIONS_GO_ON;

    reported_columns_find(&run.columns, check->source->describe(check->source));
    while (status == OPTIONS_GO_ON && next_interval(&intervals)) {
        struct camp_error error = { 0 };
        int r;

        r = check->source->next(check->source, intervals.deadline_ns, &frame, &error);
        progress_clear(&from->progress);
        if (r == SOURCE_END)
            break;
        status = r == CAMP_OK ? add_interval(&run, frame) : complain_of(r, &error);
    }
    if (status == OPTIONS_GO_ON && run.intervals == 0 && !stop_requested)
        return complain(STATUS_FAILURE, "%s has no interval in that time: nothing to show",
                        check->facts->name);
    if (status == OPTIONS_GO_ON && run.intervals > 1 && frame != NULL)
        status = show(&run, &run.all, frame, run.all_s, run.intervals);
    if (status == OPTIONS_GO_ON && run.all.session_s == 0 && run.note[0] != '\0')
        return complain(STATUS_PRIVILEGE, "nothing could be compared: %s", run.note);
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}
