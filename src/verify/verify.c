/*
 * camp verify checks whether the numbers of the library are right on this machine. Its loads know
 * their own CPU time, reads, writes and so on. This file has the options, repeats the trials, and
 * sets the exit status. verify_rows.c has the table of all rows, verify_findings.c the results, and
 * verify_show.c the output. The rows and trials are those of the system: verify/linux, windows.
 */
#include "verify_findings.h"

#include "counters/clock.h"
#include "program/command.h"
#include "program/progress.h"
#include "views/view.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEAL_MAX_PERCENT 1.0 /* in percent of one CPU */
#define WHOLE_TAKES "20 s"

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };
static const char *const formats[] = { "text", "json", "csv", NULL };

struct verify_run {
    struct verification verification;
    uint64_t count;
    int format;
    const char *only;
    bool list;
    struct verify_record record;
    struct progress progress;
    uint64_t start_ns;
    int status;
};

static bool start_try(struct verification *verification)
{
    bool any = false;

    for (size_t i = 0; i < verification->running_count; i++) {
        struct finding *finding = &verification->running[i];

        finding->trying = finding->wanted && finding->verdict == VERDICT_OPEN &&
                          (finding->tries == 0 || finding->interfered);
        if (!finding->trying)
            continue;
        finding->tries++;
        finding->interfered = false;
        finding->reason[0] = '\0';
        any = true;
    }
    return any;
}

/* Rows without a verdict become "not tested", so that they do not count as passed. */
static void close_trial(struct verification *verification)
{
    for (size_t i = 0; i < verification->running_count; i++) {
        verification->running[i].interfered = false;
        not_tested(verification, verification->running[i].spec->name, "%s",
                   stop_requested != 0 ? "stopped" : "the trial ended without an answer");
    }
}

/* Makes failed rows undecided again, because a hypervisor stole CPU time during this try. */
static void excuse_stolen(struct verification *verification, double stolen_percent)
{
    for (size_t i = 0; i < verification->running_count; i++) {
        struct finding *finding = &verification->running[i];

        if (!finding->trying || finding->verdict != VERDICT_FAIL)
            continue;
        finding->verdict = VERDICT_OPEN;
        interfered(verification, finding->spec->name, "the hypervisor took %.1f %% of a CPU",
                   stolen_percent);
    }
}

/* Writes to stderr which rows are being measured, if stderr is a terminal. */
static void show_progress(struct verify_run *run, size_t round)
{
    const struct verification *verification = &run->verification;
    const unsigned long long so_far_s = (now_ns(CLOCK_MONOTONIC) - run->start_ns) / NS_PER_S;
    size_t wanted = 0, decided = 0, trying = 0;
    const char *name = "";
    char text[256], rounds[64] = "";

    for (size_t i = 0; i < verification->count; i++) {
        wanted += verification->findings[i].wanted;
        decided +=
            verification->findings[i].wanted && verification->findings[i].verdict != VERDICT_OPEN;
    }
    for (size_t i = 0; i < verification->running_count; i++)
        if (verification->running[i].trying && trying++ == 0)
            name = verification->running[i].spec->name;
    if (run->count > 1)
        snprintf(rounds, sizeof rounds, "round %zu of %llu, ", round + 1,
                 (unsigned long long)run->count);
    snprintf(text, sizeof text, "camp verify: %srow %zu of %zu, %s%s; %llu s %s", rounds,
             decided + 1, wanted, name, trying > 1 ? " and others" : "", so_far_s,
             wanted == verification->count ? "of about " WHOLE_TAKES : "so far");
    progress_text(&run->progress, text);
}

static void run_trial(struct verify_run *run, const struct trial *trial, size_t round)
{
    struct verification *verification = &run->verification;

    while (!stop_requested && start_try(verification)) {
        uint64_t start_ns = now_ns(CLOCK_MONOTONIC), stolen_ns = verify_stolen_ns();
        double stolen_percent;

        show_progress(run, round);
        trial->run(verification);
        stolen_percent = 100.0 * (double)(verify_stolen_ns() - stolen_ns) /
                         (double)(now_ns(CLOCK_MONOTONIC) - start_ns);
        if (trial->timed && stolen_percent > STEAL_MAX_PERCENT)
            excuse_stolen(verification, stolen_percent);
    }
    close_trial(verification);
}

static void run_all(struct verify_run *run, size_t round)
{
    struct verification *verification = &run->verification;
    struct finding *next = verification->findings;

    for (size_t i = 0; i < verify_trial_count; i++) {
        verification->running = next;
        while (next < verification->findings + verification->count &&
               next->trial == &verify_trials[i])
            next++;
        verification->running_count = (size_t)(next - verification->running);
        run_trial(run, &verify_trials[i], round);
    }
    progress_clear(&run->progress);
}

static int read_distortion(struct verification *verification, const char *text)
{
    struct distortion *distortion = &verification->distortions[verification->distortion_count];
    const char *colon = strrchr(text, ':');
    char *rest;

    if (verification->distortion_count == DISTORTIONS_MAX || colon == NULL || colon == text ||
        (size_t)(colon - text) >= sizeof distortion->row)
        return complain(STATUS_USAGE, "CAMP_VERIFY_DISTORT takes ROW:FACTOR,..., not '%s'", text);
    memcpy(distortion->row, text, (size_t)(colon - text));
    distortion->factor = strtod(colon + 1, &rest);
    if (rest == colon + 1 || *rest != '\0')
        return complain(STATUS_USAGE, "CAMP_VERIFY_DISTORT: '%s' is no factor", colon + 1);
    for (size_t i = 0; i < verification->count; i++) {
        if (fnmatch(distortion->row, verification->findings[i].spec->name, 0) == 0) {
            verification->distortion_count++;
            return OPTIONS_GO_ON;
        }
    }
    return complain(STATUS_USAGE, "CAMP_VERIFY_DISTORT: there is no row '%s'; see --list",
                    distortion->row);
}

static int read_distortions(struct verification *verification)
{
    const char *text = getenv("CAMP_VERIFY_DISTORT");
    char copy[4096], *state = NULL;
    int status = OPTIONS_GO_ON;

    if (text == NULL)
        return status;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *part = strtok_r(copy, ",", &state); part != NULL && status == OPTIONS_GO_ON;
         part = strtok_r(NULL, ",", &state))
        status = read_distortion(verification, part);
    return status;
}

static int read_options(struct verify_run *run, int argc, char **argv)
{
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_FORMAT, &run->format,
                      .help = "text, json (one object a line), or csv.", .choices = formats),
        COLOR_OPTION,
        { "only", 0, OPTION_TEXT, &run->only, "GLOB",
          "Test only rows whose name matches, such as 'cpu-*'.", 0, 0, NULL },
        { "list", 0, OPTION_FLAG, &run->list, NULL,
          "List what each row compares, and test nothing.", 0, 0, NULL },
        COMMON_OPTION(COMMON_COUNT, &run->count, .help = "Repeat all tests N times.", .minimum = 1,
                      .maximum = 10000),
    };
    const struct option_table table = {
        .usage = "camp verify [OPTIONS]",
        .about = "Is every number right on this machine? Runs loads that measure themselves, and\n"
                 "compares their reports with those of libcamp. Takes about " WHOLE_TAKES ", and\n"
                 "up to three times that under concurrent load.\n"
                 "Exit status: 0 all rows passed; 1 a row failed; 3 no row failed, but some could\n"
                 "not be tested here; these rows give the reason.",
        .specs = specs,
        .count = sizeof specs / sizeof specs[0],
    };
    int first, status = options_parse(&table, argc, argv, &first);

    if (status != OPTIONS_GO_ON)
        return status;
    findings_open(&run->verification, run->only);
    if (findings_count(run->verification.findings, run->verification.count, VERDICT_OPEN) == 0)
        return complain(STATUS_USAGE, "--only %s: there is no such row; see --list", run->only);
    return read_distortions(&run->verification);
}

static int show(struct verify_run *run, size_t number)
{
    const bool text = run->format == FORMAT_TEXT;
    const struct view_options options = { .stream = stdout,
                                          .colour = text && view_wants_colour(stdout),
                                          .width = text ? view_limit(stdout) : 0 };
    int failed = view_by_name(formats[run->format])->record(&options, &run->record.record, number);

    return failed != 0 ? output_failed(failed) : OPTIONS_GO_ON;
}

static int run_once(struct verify_run *run, size_t number)
{
    const struct finding *findings = run->verification.findings;
    char time[TIME_TEXT_SIZE];
    struct summary summary = { .time = time, .distorted = run->verification.distortion_count > 0 };

    run->start_ns = now_ns(CLOCK_MONOTONIC);
    findings_open(&run->verification, run->only);
    run_all(run, number);
    summary.elapsed_s = (double)(now_ns(CLOCK_MONOTONIC) - run->start_ns) / NS_PER_S;
    time_text(time, sizeof time, (int64_t)now_ns(CLOCK_REALTIME));
    if (findings_count(findings, run->verification.count, VERDICT_FAIL) > 0)
        run->status = STATUS_FAILURE;
    else if (findings_count(findings, run->verification.count, VERDICT_NOT_TESTED) > 0 &&
             run->status == STATUS_OK)
        run->status = STATUS_PARTIAL;
    verify_record_fill(&run->record, findings, run->verification.count, &summary);
    return show(run, number);
}

int command_verify(int argc, char **argv)
{
    static struct verify_run run; /* too large for the stack; zero, so that it is not in the file */
    int status;

    run.count = 1;
    status = read_options(&run, argc, argv);
    if (status != OPTIONS_GO_ON)
        return status;
    if (run.list) {
        verify_record_list(&run.record, run.verification.findings, run.verification.count);
        status = show(&run, 0);
        return status == OPTIONS_GO_ON ? STATUS_OK : status;
    }
    stop_on_signals();
    for (size_t i = 0; i < run.count && status == OPTIONS_GO_ON && !stop_requested; i++)
        status = run_once(&run, i);
    return status != OPTIONS_GO_ON ? status : run.status;
}
