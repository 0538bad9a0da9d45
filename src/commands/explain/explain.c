/*
 * camp explain says where time is lost: rules over the sums of an interval of this machine, or of a
 * recording, a table or database sessions (explain/rule.h). It also says which rules cannot be
 * applied, and why.
 */
#include "counters/units.h"
#include "explain_causes.h"
#include "explain_live.h"
#include "explain_record.h"
#include "ledger/words.h"
#include "program/command.h"
#include "program/from_options.h"
#include "program/intervals.h"
#include "program/process_selection.h"
#include "sources/servers/servers.h"
#include "views/frame_notes.h"
#include "views/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_INTERVAL_NS (10 * (uint64_t)NS_PER_S)

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };
static const char *const formats[] = { "text", "json", "csv", NULL };

struct explain {
    struct from_options from;
    uint64_t interval_ns, top;
    int format;
    bool lists, reads_causes;
    const char *fail_on;
    const struct view *view;
    struct view_options view_options;
    struct source *source;
    struct from_facts facts;
    struct process_selection processes;
    struct selection selection;
    struct selected selected;
    struct explain_live live;
    struct explain_causes causes;
    struct evidence evidence;
    struct judgement *judgements; /* [rule_count] */
    struct document document;
    char from_text[COMMAND_SIZE]; /* the options that open the source again */
    char why[FRAME_NOTE_SIZE + 64];
    int64_t end_ns; /* wall clock of the last interval's end */
    int status;     /* of reading: not STATUS_OK if only a part was read, and so shown */
};

static int parse(struct explain *explain, int argc, char **argv, int *ret_first)
{
    const struct option_spec specs[] = {
        FROM_SOURCE_OPTIONS(&explain->from),
        COMMON_OPTION(COMMON_INTERVAL, &explain->interval_ns,
                      .help = "How long to measure, for a live source (10s)."),
        COMMON_OPTION(COMMON_FORMAT, &explain->format,
                      .help = "text, json (one object, camp.explain/1) or csv (the findings).",
                      .choices = formats),
        COLOR_OPTION,
        COMMON_OPTION(COMMON_PID, &explain->processes.texts,
                      .help = "Apply the rules to the threads of this process only; repeat the "
                              "option for more processes. CPUs are those of the machine."),
        COMMON_OPTION(COMMON_TOP, &explain->top, .help = "Show at most N findings; 0: all (0)."),
        { "why", 0, OPTION_FLAG, &explain->reads_causes, NULL,
          "Also read the causes of waits, for the rules about them. Needs CAP_BPF and CAP_PERFMON. "
          "Those of a recording of camp record --why are always read.",
          0, 0, NULL },
        { "fail-on", 0, OPTION_TEXT, &explain->fail_on, "RULE,...",
          "End with exit status 5 if one of these rules found something, such as E01,E03; "
          "any: if any rule did. A rule that cannot be applied finds nothing.",
          0, 0, NULL },
        { "list", 0, OPTION_FLAG, &explain->lists, NULL,
          "List the rules, with what they look at and from which threshold they find something.", 0,
          0, NULL },
    };
    const struct option_table table = {
        .usage = "camp explain [OPTIONS] [INTERVAL]",
        .about = "Where time is lost, and why: rules over all threads and CPUs of an interval, or\n"
                 "over a recording, a part of it, or database sessions. Each finding has its\n"
                 "figures, how they were obtained, and the command that shows more. The most\n"
                 "lost time comes first. What cannot be known here is listed with the reason.",
        .specs = specs,
        .count = sizeof specs / sizeof specs[0],
    };

    return options_parse(&table, argc, argv, ret_first);
}

/* Calls use() for each word of --fail-on, and returns the first word for which it returns true in
 * ret[8], or false. A word that is too long is cut, so it is no rule. */
static bool find_word(const char *list, char ret[8],
                      bool (*use)(const struct explain *explain, const char *word),
                      const struct explain *explain)
{
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        copy_text(ret, 8, at, strcspn(at, ","));
        if (use(explain, ret))
            return true;
    }
    return false;
}

static bool is_no_rule(const struct explain *explain, const char *word)
{
    (void)explain;
    return strcmp(word, "any") != 0 && rule_find(word) == NULL;
}

/* Returns the first finding of a rule of --fail-on, or NULL. */
static const struct rule *fired_of(const struct explain *explain, const char *word)
{
    const struct rule *rule = rule_find(word);

    for (size_t i = 0; i < rule_count; i++) {
        if (explain->judgements[i].verdict == VERDICT_FIRES &&
            (rule == NULL || explain->judgements[i].rule == rule))
            return explain->judgements[i].rule;
    }
    return NULL;
}

static bool has_fired(const struct explain *explain, const char *word)
{
    return fired_of(explain, word) != NULL;
}

static int read_options(struct explain *explain, int argc, char **argv)
{
    char word[8];
    int first, status;

    from_options_init(&explain->from);
    status = parse(explain, argc, argv, &first);
    if (status != OPTIONS_GO_ON)
        return status;
    explain->from.from.interval_ns = explain->interval_ns;
    if (explain->interval_ns == 0)
        explain->interval_ns = DEFAULT_INTERVAL_NS;
    if (explain->fail_on != NULL && find_word(explain->fail_on, word, is_no_rule, explain))
        return complain(STATUS_USAGE,
                        "--fail-on: there is no rule '%s'; camp explain --list lists the rules",
                        word);
    explain->view = view_by_name(formats[explain->format]);
    explain->view_options = view_options_of(stdout);
    return OPTIONS_GO_ON;
}

static bool reads_check(const struct explain *explain)
{
    return explain->from.from.text != NULL && strcmp(explain->from.from.text, "check") == 0;
}

/* Returns what opens one of several servers again, or `shown` of a server that was never reached:
 * it may have secrets. */
static const char *from_of_server(const struct explain *explain, size_t at,
                                  const struct from_shown *shown)
{
    const struct server_report report = servers_source_report(explain->source, at);

    return report.from != NULL && report.from[0] != '\0' ? report.from : shown->text;
}

/* Writes the options that open the same source again. A connection that cannot be shown is "...",
 * which the user replaces. */
static void describe_source(struct explain *explain)
{
    const struct from_options *options = &explain->from;
    const struct from *from = &options->from;
    const char *text = from->text != NULL ? from->text : "";
    const struct from_shown shown = from_shown(text);
    /* A connection is shown as a few characters, and only a long path is cut. */
    const bool is_cut = strlen(shown.text) == sizeof shown.text - 1;
    const struct {
        const char *option, *value;
    } given[] = {
        { "--from", from->more_count > 0             ? from_of_server(explain, 0, &shown)
                    : explain->facts.from[0] != '\0' ? explain->facts.from
                    : is_cut                         ? text
                                                     : shown.text },
        { "--query", from->query },
        { "--host", from->host },
        { "--column", from->column },
        { "--unit", from->unit },
        { "--tier", from->tier },
        { "--rules", from->rules },
        { "--begin", options->begin },
        { "--end", options->end },
    };

    explain->from_text[0] = '\0';
    if (from->text == NULL || reads_check(explain))
        return; /* camp check measures the same, and takes no --from for it */
    for (size_t i = 0; i < ARRAY_COUNT(given); i++) {
        if (given[i].value == NULL)
            continue;
        if (!shell_append(explain->from_text, sizeof explain->from_text, given[i].option) ||
            !shell_append(explain->from_text, sizeof explain->from_text, given[i].value)) {
            snprintf(explain->from_text, sizeof explain->from_text, " --from ...");
            return;
        }
    }
    for (size_t i = 0; i < from->more_count; i++) {
        const struct from_shown more = from_shown(from->more[i]);

        if (!shell_append(explain->from_text, sizeof explain->from_text, "--from") ||
            !shell_append(explain->from_text, sizeof explain->from_text,
                          from_of_server(explain, i + 1, &more))) {
            snprintf(explain->from_text, sizeof explain->from_text, " --from ...");
            return;
        }
    }
}

/* Writes why the rows lack columns. */
static void describe_lack(struct explain *explain)
{
    const struct from_facts *facts = &explain->facts;

    if (strcmp(facts->tier, "table") == 0)
        return;
    if (strcmp(facts->kind, "sessions") == 0 && facts->live && !facts->note_warns)
        snprintf(explain->why, sizeof explain->why, "tier %s", facts->tier);
    else if (facts->live && facts->note_warns)
        snprintf(explain->why, sizeof explain->why, "%s", facts->note);
    else if (facts->live)
        snprintf(explain->why, sizeof explain->why,
                 "tier %s (camp doctor shows what this kernel counts)", facts->tier);
    else
        snprintf(explain->why, sizeof explain->why, "recorded on tier %s", facts->tier);
}

static bool reads_threads(const struct explain *explain)
{
    return explain->from.from.text == NULL || strcmp(explain->from.from.text, "threads") == 0;
}

/* Finds the living processes of --pid first, because that needs no capability. */
static int select_processes(struct explain *explain)
{
    const bool is_now = reads_threads(explain);
    const int status =
        is_now ? selection_processes(&explain->processes) : selection_numbers(&explain->processes);

    explain->selection.pids = explain->processes.pids;
    explain->selection.pid_count = explain->processes.count;
    explain->evidence.is_part = explain->processes.count > 0;
    return status;
}

static int open_source(struct explain *explain)
{
    struct from_options *from = &explain->from;
    int status = select_processes(explain);

    if (status != OPTIONS_GO_ON)
        return status;
    from->from.wants_states = !reads_check(explain);
    if (explain->reads_causes)
        status = explain_causes_ask(&from->from, &explain->processes);
    else if (reads_threads(explain))
        from->from.states_options = CAMP_STATES_DISKS;
    if (status == OPTIONS_GO_ON)
        status = from_options_open(from, &explain->source, &explain->facts);
    if (status != OPTIONS_GO_ON)
        return status;
    evidence_start(&explain->evidence, explain->source->describe(explain->source),
                   strcmp(explain->facts.kind, "threads") == 0);
    explain->evidence.is_live = explain->facts.live;
    explain->evidence.own_pid = explain->facts.live && explain->facts.cpus > 0 ? getpid() : 0;
    describe_lack(explain);
    return OPTIONS_GO_ON;
}

static const struct frame *cpus_beside(const struct explain *explain, const struct frame *rows)
{
    return strcmp(explain->facts.kind, "cpus") == 0 ? rows : source_beside(explain->source);
}

static int read_interval(struct explain *explain, uint64_t deadline_ns, struct camp_error *error)
{
    const bool is_machine = explain->facts.live && explain->facts.cpus > 0;
    const struct frame *rows, *cpus;
    int r = explain->source->next(explain->source, deadline_ns, &rows, error);

    if (r != CAMP_OK)
        return r;
    from_options_note(&explain->from, rows);
    for (size_t i = 0; i < rows->entity_count; i++)
        selection_see(&explain->processes, (int32_t)entity_pid(&rows->entities[i]));
    explain->end_ns = rows->wall_clock_ns;
    r = explain_causes_add(&explain->causes, explain->source, error);
    if (r == CAMP_OK)
        r = selection_pick(&explain->selected, rows, &explain->selection);
    if (r != CAMP_OK)
        return r;
    rows = explain->selected.picked;
    cpus = cpus_beside(explain, rows);
    if (is_machine)
        r = explain_live_end(&explain->live, explain->source, rows, &explain->evidence, &cpus,
                             error);
    if (r == CAMP_OK && strcmp(explain->facts.kind, "cpus") == 0)
        cpus = rows;
    return r == CAMP_OK ? evidence_add(&explain->evidence, rows, cpus) : r;
}

/* Keeps the status of a source that is damaged, or that was not read to its end, after a message.
 */
static void keep_status(struct explain *explain, int r, const struct camp_error *error)
{
    if (r != CAMP_OK && r != SOURCE_END)
        explain->status = complain_of(r, error);
    else if (stop_requested && !explain->facts.live && r != SOURCE_END)
        explain->status = complain(STATUS_FAILURE,
                                   "interrupted before all of %s was read; the findings are those "
                                   "of its first part",
                                   explain->facts.name);
}

/* Reads one interval of a live source, or all of another. What was read before an error is shown.
 */
static int read_all(struct explain *explain)
{
    struct intervals intervals = { .length_ns = explain->interval_ns,
                                   .count = explain->facts.live ? 1 : 0 };
    struct camp_error error = { 0 };
    int r = CAMP_OK;

    if (explain->facts.live && explain->facts.cpus > 0)
        r = explain_live_start(&explain->live, explain->source, &explain->facts,
                               reads_threads(explain) && !explain->reads_causes, &error);
    while (r == CAMP_OK && next_interval(&intervals))
        r = read_interval(explain, intervals.deadline_ns, &error);
    progress_clear(&explain->from.progress);
    if (r == CAMP_E_NOMEM || (explain->evidence.intervals == 0 && r != CAMP_OK && r != SOURCE_END))
        return complain_of(r, &error);
    if (explain->evidence.intervals == 0)
        return complain(STATUS_FAILURE,
                        stop_requested ? "%s: stopped before its first interval"
                                       : "%s has no interval in that time: nothing to explain",
                        explain->facts.name);
    keep_status(explain, r, &error);
    if (explain->causes.is_damaged)
        explain->status = STATUS_FAILURE;
    return selection_complain_of_missing(&explain->processes, explain->facts.name);
}

static int show(struct explain *explain)
{
    const struct frame_facts frame_facts = { .kind = explain->facts.kind };
    char time[TIME_TEXT_SIZE];
    struct explain_facts facts = {
        .time = time,
        .source = explain->facts.name,
        .tier = explain->facts.tier,
        .kind = frame_kind(&frame_facts, explain->evidence.rows.frame.schema),
        .evidence = explain->evidence.kind,
        .from = explain->from_text,
        .width = view_width(stdout),
        .most = (size_t)explain->top,
    };

    time_text(time, sizeof time, explain->end_ns);
    explain->judgements = calloc(rule_count, sizeof *explain->judgements);
    if (explain->judgements == NULL ||
        evidence_finish(&explain->evidence, explain->facts.cpus) != CAMP_OK)
        return complain(STATUS_FAILURE, "out of memory");
    explain_causes_finish(&explain->causes, &explain->evidence);
    judge_all(explain->judgements, &explain->evidence, explain->why);
    if (explain_record_fill(&explain->document, &facts, &explain->evidence, explain->judgements) !=
        CAMP_OK)
        return complain(STATUS_FAILURE, "out of memory");
    return show_document(&explain->document, explain->view, &explain->view_options, 0);
}

static int list_rules(struct explain *explain)
{
    int status;

    if (explain_rules_fill(&explain->document) != CAMP_OK)
        return complain(STATUS_FAILURE, "out of memory");
    status = show_document(&explain->document, explain->view, &explain->view_options, 0);
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}

static int explain_source(struct explain *explain)
{
    char word[8];
    int status;

    stop_on_signals();
    status = open_source(explain);
    if (status == OPTIONS_GO_ON)
        status = read_all(explain);
    if (status == OPTIONS_GO_ON) {
        describe_source(explain);
        status = show(explain);
    }
    if (status != OPTIONS_GO_ON)
        return status;
    if (explain->status != STATUS_OK)
        return explain->status;
    if (explain->fail_on != NULL && find_word(explain->fail_on, word, has_fired, explain))
        return complain(STATUS_FOUND, "--fail-on %s: %s found something", explain->fail_on,
                        fired_of(explain, word)->id);
    return STATUS_OK;
}

int command_explain(int argc, char **argv)
{
    struct explain explain = { 0 };
    int status = read_options(&explain, argc, argv);

    if (status == OPTIONS_GO_ON)
        status = explain.lists ? list_rules(&explain) : explain_source(&explain);
    source_close(explain.source);
    explain_causes_release(&explain.causes);
    selected_release(&explain.selected);
    selection_processes_release(&explain.processes);
    explain_live_close(&explain.live);
    evidence_release(&explain.evidence);
    document_release(&explain.document);
    free(explain.judgements);
    return status;
}
