#include "explain_record.h"

#include "explain_limits.h"

#include "counters/units.h"
#include "ledger/characters.h"
#include "ledger/words.h"
#include "views/memory_text.h"
#include "views/summary_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDENT 5 /* columns before the sentences, below the ids of rules */

static const struct field summary_fields[] = {
    { "time", NULL, "wall clock of the end" },
    { "elapsed_s", NULL, "the length of all intervals", 0, 6 },
    { "intervals", NULL, "how many were read" },
    { "source", NULL, "what was read" },
    { "kind", NULL, "what its rows are" },
    { "tier", NULL, "how it was measured" },
    { "rules", NULL, "how many there are" },
    { "fired", NULL, "how many found something" },
    { "inapplicable", NULL, "how many cannot be applied" },
};

static const struct field machine_fields[] = {
    { "cpus", NULL, "how many" },
    { "busy_percent", NULL, "of the time of all CPUs", 0, 2 },
    { "fullest_cpu", NULL, "the number of the CPU that was busy for longest" },
    { "fullest_busy_percent", NULL, "of its time", 0, 2 },
    { "emptiest_cpu", NULL, "the number of the CPU that was idle for longest" },
    { "emptiest_idle_percent", NULL, "of its time", 0, 2 },
    { "outside_ns_per_s", NULL, "CPU time of threads outside of this PID namespace" },
};

#define CAUSE "cause" /* the object of these fields in JSON */

static const struct field finding_fields[] = {
    { "rule", NULL, "its id, which never changes" },
    { "name", NULL, "what the rule says in a few words" },
    { "lost_ns_per_s", NULL, "time lost or misreported a second, of all entities together" },
    { "value", NULL, "what was compared with the threshold", 0, 6 },
    { "threshold", NULL, "from which the rule fires", 0, 6 },
    { "unit", NULL, "of both: share, s_per_s, per_s or count" },
    { "provenance", NULL, "of the value: measured, sampled, scaled or derived" },
    { "who", NULL, "the entity with most of it" },
    { "pid", NULL, "its process, if it is a living one" },
    { "sentence", NULL, "with all figures" },
    { "command", NULL, "shows more; null: it cannot be shown" },
    { "waiter", NULL, "the group of threads whose waits have the cause; null: none is known",
      .group = CAUSE },
    { "waiter_pid", NULL, "its process; null: the group is a name", .group = CAUSE },
    { "state", NULL, "of the waits", .group = CAUSE },
    { "kind", NULL, "of the cause: group, device, timer, ... as in camp.why/1", .group = CAUSE },
    { "by", NULL, "what ran meanwhile on the CPU, or ended the waits", .group = CAUSE },
    { "by_meanwhile", NULL, "what that group did itself; null: unknown, or no group",
      .group = CAUSE },
    { "wait_ns", NULL, "of the waiter in this state, for this cause", .group = CAUSE },
    { "percent", NULL, "of the time of the waiter's threads", 0, 2, .group = CAUSE },
    { "cause_provenance", NULL, "of wait_ns and percent: the causes of waits are measured",
      .group = CAUSE },
    { "cause_command", NULL, "shows the same figures; null: it cannot be shown", .group = CAUSE },
};
#define CAUSE_FIELDS 10

static const struct field unknown_fields[] = {
    { "rule", NULL, "its id; null: of all rules" },
    { "name", NULL, "what the rule says in a few words" },
    { "reason", NULL, "why it cannot be known here" },
};

static const struct field loss_fields[] = {
    { "unseen", NULL, "context switches without an event, or processes without a record" },
    { "lost", NULL, "threads without an account or without last numbers" },
    { "unread_ns", NULL, "CPU time that may be in no row" },
    { "partial", NULL, "entities whose interval is incomplete" },
};

static const struct field rule_fields[] = {
    { "rule", "rule", "its id, which never changes" },
    { "name", "name", "what it says in a few words" },
    { NULL, "from", "its threshold" },
    { "threshold", NULL, "from which it fires", 0, 6 },
    { "unit", NULL, "of the threshold: share, s_per_s, per_s or count" },
    { "looks_at", "looks at", "what is compared with the threshold" },
    { "command", NULL, "shows more, of this machine" },
    { "command_from", NULL, "shows more, of another source" },
};

enum { SUMMARY, MACHINE, FINDINGS, UNKNOWN, LOSSES };

static const struct table tables[] = {
    [SUMMARY] = DOCUMENT_ONE("summary", TABLE_INLINE, summary_fields),
    [MACHINE] = DOCUMENT_ONE("machine", TABLE_OBJECT, machine_fields),
    [FINDINGS] = { "findings", TABLE_ROWS, finding_fields, ARRAY_COUNT(finding_fields), NULL, 0,
                   true },
    [UNKNOWN] = { "unknown", TABLE_ROWS, unknown_fields, ARRAY_COUNT(unknown_fields), NULL, 0,
                  true },
    [LOSSES] = DOCUMENT_ONE("losses", TABLE_OBJECT, loss_fields),
};
static const struct record layout = DOCUMENT_LAYOUT("camp.explain/1", tables, FINDINGS);

static const struct table rule_tables[] = { DOCUMENT_ROWS("rules", rule_fields) };
static const struct record rule_layout = DOCUMENT_LAYOUT("camp.rules/1", rule_tables, 0);

static const char *unit_of(const struct rule *rule)
{
    static const char *const names[] = { [FIGURE_NONE] = "count",
                                         [FIGURE_TIME] = "s_per_s",
                                         [FIGURE_PERCENT] = "share",
                                         [FIGURE_RATE] = "per_s",
                                         [FIGURE_COUNT] = "count" };

    return names[rule->unit];
}

static struct cell nanoseconds(double seconds)
{
    return cell_natural((uint64_t)llround(fmax(seconds, 0) * NS_PER_S));
}

static void add_machine(struct document *document, const struct evidence_machine *machine)
{
    const struct cell unknown = cell_unknown();
    const bool rows = machine->has_rows;
    const struct cell cells[] = {
        machine->cpus > 0 ? cell_natural(machine->cpus) : unknown,
        machine->has_load ? cell_real(100 * machine->busy) : unknown,
        rows ? cell_integer(machine->fullest.id) : unknown,
        rows ? cell_real(100 * machine->fullest.share) : unknown,
        rows ? cell_integer(machine->emptiest.id) : unknown,
        rows ? cell_real(100 * machine->emptiest.share) : unknown,
        rows ? nanoseconds(machine->outside) : unknown,
    };

    DOCUMENT_ADD(document, MACHINE, cells);
}

/* Fills the fields of a cause; without one they stay unknown. */
static void fill_cause(struct document *document, struct cell ret[CAUSE_FIELDS],
                       const struct judgement *judgement, const char *from)
{
    const struct finding_cause *cause = &judgement->finding.cause;
    const char *chain = cause->chain[0] != '\0' ? cause->chain + strlen(", ") : "";
    char command[COMMAND_SIZE];

    if (cause->waiter[0] == '\0')
        return;
    cause_command_text(command, judgement, from);
    memcpy(ret,
           ((const struct cell[CAUSE_FIELDS]){
               cell_text(document_text(document, "%s", cause->waiter)),
               cause->pid > 0 ? cell_integer(cause->pid) : cell_unknown(),
               cell_text(camp_state_name((int)cause->state)),
               cell_text(cause_kind_key(cause->kind)),
               cell_text_or_unknown(document_text(document, "%s", cause->by)),
               cell_text_or_unknown(document_text(document, "%s", chain)),
               cell_natural(cause->wait_ns),
               cell_real(100 * finding_cause_share(cause)),
               cell_text(camp_provenance_name(CAMP_MEASURED)),
               cell_text_or_unknown(document_text(document, "%s", command)),
           }),
           CAUSE_FIELDS * sizeof *ret);
}

static void add_finding(struct document *document, const struct explain_facts *facts,
                        const struct judgement *judgement)
{
    const struct finding *finding = &judgement->finding;
    char sentence[SENTENCE_SIZE], command[COMMAND_SIZE];

    sentence_text(sentence, judgement);
    command_text(command, judgement, facts->evidence, facts->from);
    {
        struct cell cells[ARRAY_COUNT(finding_fields)] = {
            cell_text(judgement->rule->id),
            cell_text(judgement->rule->name),
            nanoseconds(finding->lost_s),
            cell_real(finding->value),
            cell_real(judgement->rule->threshold),
            cell_text(unit_of(judgement->rule)),
            cell_text(camp_provenance_name((int)finding->provenance)),
            cell_text_or_unknown(document_text(document, "%s", finding->who)),
            finding->pid > 0 ? cell_integer(finding->pid) : cell_unknown(),
            cell_text(document_text(document, "%s", sentence)),
            cell_text_or_unknown(document_text(document, "%s", command)),
        };

        fill_cause(document, cells + ARRAY_COUNT(finding_fields) - CAUSE_FIELDS, judgement,
                   facts->from);
        DOCUMENT_ADD(document, FINDINGS, cells);
    }
}

/* Writes a command on a line of its own, unless it is "". */
static void write_command(FILE *stream, char *command)
{
    make_printable(command);
    if (command[0] != '\0')
        fprintf(stream, "%*s%s\n", INDENT, "", command);
}

/* Writes a text that may have line feeds, each line after some blanks. */
static void write_lines(FILE *stream, char *text, size_t width)
{
    make_printable(text);
    summary_wrap(text, width > 2 * INDENT ? width - INDENT : width);
    for (char *line = text, *end; line != NULL; line = end) {
        end = strchr(line, '\n');
        if (end != NULL)
            *end++ = '\0';
        fprintf(stream, "%*s%s\n", INDENT, "", line);
    }
}

static void write_finding(FILE *stream, const struct explain_facts *facts,
                          const struct judgement *judgement)
{
    const struct finding *finding = &judgement->finding;
    char text[SENTENCE_SIZE], lost[FIGURE_SIZE], command[COMMAND_SIZE], of_cause[COMMAND_SIZE];

    figure_text(lost, finding->lost_s, FIGURE_TIME);
    fprintf(stream, "\n%s  %s: %s a second, %s\n", judgement->rule->id, judgement->rule->name, lost,
            camp_provenance_name((int)finding->provenance));
    sentence_text(text, judgement);
    write_lines(stream, text, facts->width);
    command_text(command, judgement, facts->evidence, facts->from);
    cause_command_text(of_cause, judgement, facts->from);
    if (strcmp(command, of_cause) != 0)
        write_command(stream, command);
    write_command(stream, of_cause);
}

/* Writes each reason once, after the ids of its rules. */
static void write_unknown(FILE *stream, const struct explain_facts *facts,
                          const struct judgement *judgements, size_t first)
{
    char reason[REASON_SIZE];

    if (first < rule_count)
        fprintf(stream, "\nCannot be known here:\n");
    for (size_t i = first; i < rule_count; i++) {
        bool is_reported = false;

        for (size_t j = first; j < i; j++)
            is_reported |= strcmp(judgements[j].reason, judgements[i].reason) == 0;
        if (is_reported)
            continue;
        for (size_t j = i; j < rule_count; j++) {
            if (strcmp(judgements[j].reason, judgements[i].reason) == 0)
                fprintf(stream, "%s%s", j > i ? " " : "", judgements[j].rule->id);
        }
        fputc('\n', stream);
        memcpy(reason, judgements[i].reason, sizeof reason);
        write_lines(stream, reason, facts->width);
    }
}

#define LOAD_COLUMNS 25 /* of "  128 CPUs, 100.0 % busy" */

static void write_headline(FILE *stream, const struct explain_facts *facts,
                           const struct evidence *evidence, size_t fired, size_t unknown)
{
    const struct evidence_machine *machine = &evidence->machine;
    char source[SENTENCE_SIZE], tier[SENTENCE_SIZE];
    int columns;

    copy_text(source, sizeof source, facts->source, strlen(facts->source));
    copy_text(tier, sizeof tier, facts->tier, strlen(facts->tier));
    make_printable(source);
    make_printable(tier);
    columns = fprintf(stream, "%.8s  %.2f s", time_of_day(facts->time), evidence_seconds(evidence));
    if (evidence->intervals > 1)
        columns += fprintf(stream, " in %" PRIu64 " intervals", evidence->intervals);
    columns += fprintf(stream, "  %s  tier %s", source, tier);
    if (machine->has_load)
        fprintf(stream, "%s%zu %s, %.1f %% busy",
                columns + LOAD_COLUMNS > (int)facts->width ? "\n" : "  ", machine->cpus,
                noun_of(machine->cpus, "CPU", "CPUs"), 100 * machine->busy);
    fprintf(stream,
            "\n%zu of %zu rules found something, the most time first; %zu cannot be applied.",
            fired, rule_count, unknown);
}

static void write_text(FILE *stream, const struct explain_facts *facts,
                       const struct evidence *evidence, const struct judgement *judgements,
                       size_t fired, size_t first_unknown)
{
    size_t shown = facts->most > 0 && facts->most < fired ? facts->most : fired;
    struct explain_limits limits;

    for (size_t i = 0; i < shown; i++)
        write_finding(stream, facts, &judgements[i]);
    if (shown < fired)
        fprintf(stream, "\nnot shown  %zu %s (--top 0 shows all)\n", fired - shown,
                noun_of(fired - shown, "finding", "findings"));
    explain_limits_fill(&limits, evidence);
    write_unknown(stream, facts, judgements, first_unknown);
    if (limits.count > 0)
        fputs(first_unknown < rule_count ? "any\n" : "\nCannot be known here:\n", stream);
    for (size_t i = 0; i < limits.count; i++)
        write_lines(stream, limits.texts[i], facts->width);
}

static int add_headline(struct document *document, const struct explain_facts *facts,
                        const struct evidence *evidence, size_t fired, size_t first_unknown)
{
    struct memory_text text;

    if (!memory_text_open(&text))
        return CAMP_E_NOMEM;
    write_headline(text.stream, facts, evidence, fired, rule_count - first_unknown);
    if (!memory_text_close(&text))
        return CAMP_E_NOMEM;
    document->record.headline = document_text(document, "%s", text.text);
    free(text.text);
    return CAMP_OK;
}

/* Adds each line of the text as a note; the tables are for the other formats. */
static int add_text(struct document *document, const struct explain_facts *facts,
                    const struct evidence *evidence, const struct judgement *judgements,
                    size_t fired, size_t first_unknown)
{
    struct memory_text text;

    if (!memory_text_open(&text))
        return CAMP_E_NOMEM;
    write_text(text.stream, facts, evidence, judgements, fired, first_unknown);
    if (!memory_text_close(&text))
        return CAMP_E_NOMEM;
    for (char *line = text.text, *end; line[0] != '\0'; line = end) {
        end = line + strcspn(line, "\n");
        if (*end != '\0')
            *end++ = '\0';
        document_note(document, "%s", line);
    }
    free(text.text);
    return CAMP_OK;
}

static void add_unknown(struct document *document, const struct evidence *evidence,
                        const struct judgement *judgements, size_t first)
{
    struct explain_limits limits;

    for (size_t i = first; i < rule_count; i++) {
        const struct cell cells[] = { cell_text(judgements[i].rule->id),
                                      cell_text(judgements[i].rule->name),
                                      cell_text(judgements[i].reason) };

        DOCUMENT_ADD(document, UNKNOWN, cells);
    }
    explain_limits_fill(&limits, evidence);
    for (size_t i = 0; i < limits.count; i++) {
        const struct cell cells[] = { cell_unknown(), cell_unknown(),
                                      cell_text(document_text(document, "%s", limits.texts[i])) };

        DOCUMENT_ADD(document, UNKNOWN, cells);
    }
}

static void add_losses(struct document *document, const struct losses *losses)
{
    const struct cell cells[] = { cell_natural(losses->unseen), cell_natural(losses->lost),
                                  cell_natural(losses->unread_ns), cell_natural(losses->partial) };

    DOCUMENT_ADD(document, LOSSES, cells);
}

int explain_record_fill(struct document *ret, const struct explain_facts *facts,
                        const struct evidence *evidence, const struct judgement *judgements)
{
    size_t fired = 0, first_unknown = 0;
    int r;

    while (fired < rule_count && judgements[fired].verdict == VERDICT_FIRES)
        fired++;
    while (first_unknown < rule_count && judgements[first_unknown].verdict != VERDICT_UNKNOWN)
        first_unknown++;
    document_start(ret, &layout);
    {
        const struct cell cells[] = {
            cell_text(facts->time),
            cell_real(evidence_seconds(evidence)),
            cell_natural(evidence->intervals),
            cell_text(facts->source),
            cell_text(facts->kind),
            cell_text(facts->tier),
            cell_natural(rule_count),
            cell_natural(fired),
            cell_natural(rule_count - first_unknown),
        };

        DOCUMENT_ADD(ret, SUMMARY, cells);
    }
    add_machine(ret, &evidence->machine);
    for (size_t i = 0; i < fired && (facts->most == 0 || i < facts->most); i++)
        add_finding(ret, facts, &judgements[i]);
    add_unknown(ret, evidence, judgements, first_unknown);
    add_losses(ret, &evidence->losses);
    r = add_headline(ret, facts, evidence, fired, first_unknown);
    if (r == CAMP_OK)
        r = add_text(ret, facts, evidence, judgements, fired, first_unknown);
    return r == CAMP_OK ? document_finish(ret) : r;
}

int explain_rules_fill(struct document *ret)
{
    document_start(ret, &rule_layout);
    for (size_t i = 0; i < rule_count; i++) {
        const struct rule *rule = &rules[i];
        const struct judgement none = { .rule = rule };
        char threshold[FIGURE_SIZE], command[COMMAND_SIZE], command_from[COMMAND_SIZE];

        figure_text(threshold, rule->threshold, rule->unit);
        command_text(command, &none, EVIDENCE_THREADS, "");
        command_text(command_from, &none, EVIDENCE_THREADS, " --from SOURCE");
        {
            const struct cell cells[] = {
                cell_text(rule->id),
                cell_text(rule->name),
                cell_text(document_text(
                    ret, "%s%s", threshold,
                    rule->unit == FIGURE_TIME || rule->unit == FIGURE_RATE ? " a second" : "")),
                cell_real(rule->threshold),
                cell_text(unit_of(rule)),
                cell_text(rule->looks_at),
                cell_text(document_text(ret, "%s", command)),
                cell_text(document_text(ret, "%s", command_from)),
            };

            DOCUMENT_ADD(ret, 0, cells);
        }
    }
    return document_finish(ret);
}
