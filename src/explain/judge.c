#include "judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_reasons[EVIDENCE_KIND_COUNT] = {
    [EVIDENCE_OTHER] = "",
    [EVIDENCE_THREADS] = "the rows are no threads",
    [EVIDENCE_CHECK] = "the rows have no sampled CPU time",
    [EVIDENCE_SESSIONS] = ("the rows are no sessions of a database (--from postgres:, mariadb: or "
                           "odbc:)"),
};

/* Returns the reason for the first kind that the rule is about. */
static const char *reason_of_kind(const struct rule *rule)
{
    for (enum evidence_kind i = EVIDENCE_THREADS; i < EVIDENCE_KIND_COUNT; i++) {
        if ((rule->kinds & 1u << i) != 0)
            return kind_reasons[i];
    }
    return kind_reasons[EVIDENCE_OTHER];
}

static bool has_class(const struct schema *schema, enum column_class class)
{
    for (size_t i = 0; i < schema->state_count; i++) {
        if (schema->columns[i].class == class)
            return true;
    }
    return false;
}

static bool has_any(const struct schema *schema, const char *names)
{
    const struct frame none = { .schema = schema };

    return measure_columns(&none, 1, names).count > 0;
}

static const char *missing_class(const struct rule *rule, const struct schema *schema)
{
    for (enum column_class i = CLASS_CPU; i < CLASS_COUNT; i++) {
        if ((rule->classes & 1u << i) != 0 && !has_class(schema, i))
            return column_class_title(i);
    }
    return NULL;
}

/* Returns whether a process of --pid has causes by itself. */
static bool has_own_causes(const struct evidence *evidence)
{
    for (size_t i = 0; i < evidence->causes->group_count; i++) {
        if (cause_is_of_one(evidence, evidence->causes->groups[i].number))
            return true;
    }
    return false;
}

/* Returns why a rule that is not about sessions cannot be applied to them, or NULL. */
static const char *reason_of_sessions(const struct rule *rule, const struct evidence *evidence)
{
    const struct schema *schema = evidence->rows.frame.schema;

    if (evidence->kind != EVIDENCE_SESSIONS || rule->kinds != 0)
        return NULL;
    if (rule->needs_causes || rule->needs_open)
        return "the rows are sessions of a database: camp why shows who blocks whom among them";
    if (rule->needs_pressure || rule->cpu_columns != NULL)
        return "the rows are sessions of a database, and this is about the machine that they run "
               "on: camp explain without --from looks at this machine";
    if ((rule->classes & 1u << CLASS_THROTTLED) != 0 && !has_class(schema, CLASS_THROTTLED))
        return "the throttled time of sessions is in their run queue: only tier bpf knows it, from "
               "Linux 6.6 on";
    if (rule->columns != NULL && !columns_has(schema, rule->columns, NULL))
        return "the rows are sessions of a database, which have no such state of threads";
    return NULL;
}

/* Returns why none of the processes of --pid has causes by itself. A recording that is divided by
 * name has one process by itself at most: that of --why-of. */
static const char *reason_of_no_own(const struct causes *causes)
{
    size_t processes = 0;

    for (size_t i = 0; i < causes->group_count; i++)
        processes += causes->groups[i].kind == CAMP_GROUP_PROCESS;
    return processes > 1 ? "the processes of --pid only slept, or came after the first 53 that are "
                           "told apart: camp record --why-of PID has the causes of one"
                         : "the causes are those of names: camp record --why-of PID has those of a "
                           "process";
}

/* Writes why the rule cannot be applied. Returns false if it can. */
static bool find_reason(char ret[REASON_SIZE], const struct rule *rule,
                        const struct evidence *evidence, const char *why)
{
    const struct schema *schema = evidence->rows.frame.schema;
    const struct schema *cpus = evidence->cpus.frame.schema;
    const char *also = why[0] != '\0' ? ": " : "", *class;
    char missing[COLUMN_NAME_SIZE];

    if (reason_of_sessions(rule, evidence) != NULL)
        snprintf(ret, REASON_SIZE, "%s", reason_of_sessions(rule, evidence));
    else if (rule->kinds != 0 && (rule->kinds & 1u << evidence->kind) == 0)
        snprintf(ret, REASON_SIZE, "%s", reason_of_kind(rule));
    else if (rule->columns != NULL && !columns_has(schema, rule->columns, missing))
        snprintf(ret, REASON_SIZE, "the rows lack %s%s%s",
                 evidence->kind == EVIDENCE_SESSIONS || columns_has(schema, "text_fault_ns", NULL)
                     ? missing
                     : "states and counts",
                 also, why);
    else if (rule->any_columns != NULL && !has_any(schema, rule->any_columns))
        snprintf(ret, REASON_SIZE, "the rows have none of the columns %s%s%s", rule->any_columns,
                 also, why);
    else if ((class = missing_class(rule, schema)) != NULL)
        snprintf(ret, REASON_SIZE, "the rows lack the state %s%s%s", class, also, why);
    else if (rule->cpu_columns != NULL && cpus == NULL)
        snprintf(ret, REASON_SIZE, "there are no CPUs beside the rows%s%s", also, why);
    else if (rule->cpu_columns != NULL && !columns_known(cpus, rule->cpu_columns))
        snprintf(ret, REASON_SIZE, "the CPUs lack %s%s%s", rule->cpu_columns, also, why);
    else if ((rule->needs_load && !evidence->machine.has_load) ||
             (rule->needs_each_cpu && !evidence->machine.has_rows))
        snprintf(ret, REASON_SIZE, "how busy each CPU was is unknown%s%s", also, why);
    else if (rule->needs_all && evidence->is_part)
        snprintf(ret, REASON_SIZE, "it is about all processes, not about those of --pid");
    else if (rule->needs_own && evidence->own_pid == 0)
        snprintf(ret, REASON_SIZE, "it is about this camp while it measures threads itself");
    else if (rule->needs_causes && evidence->causes == NULL)
        snprintf(ret, REASON_SIZE, "%s", evidence->why_no_causes);
    else if (rule->needs_open && evidence->causes == NULL)
        snprintf(ret, REASON_SIZE, "%s", evidence->why_no_causes);
    else if (rule->needs_open && !evidence->causes->has_open_facts)
        snprintf(ret, REASON_SIZE,
                 "the recording is of an earlier camp, without the sleeps that had not ended");
    else if (rule->needs_causes && evidence->is_part && !has_own_causes(evidence))
        snprintf(ret, REASON_SIZE, "%s", reason_of_no_own(evidence->causes));
    else if (rule->needs_pressure && !evidence->pressure.is_known)
        snprintf(ret, REASON_SIZE, "%s",
                 evidence->is_live ? "this kernel does not count pressure (PSI)"
                                   : "pressure (PSI) is only read live, of this machine");
    else
        return false;
    return true;
}

void judge(struct judgement *ret, const struct rule *rule, const struct evidence *evidence,
           const char *why)
{
    *ret = (struct judgement){ .rule = rule,
                               .is_part = evidence->is_part,
                               .is_of_sessions = evidence->kind == EVIDENCE_SESSIONS,
                               .finding.provenance = CAMP_MEASURED };
    if (find_reason(ret->reason, rule, evidence, why)) {
        ret->verdict = VERDICT_UNKNOWN;
        return;
    }
    rule->find(evidence, &ret->finding);
    ret->verdict = ret->finding.value >= rule->threshold ? VERDICT_FIRES : VERDICT_QUIET;
}

static int rank_of(enum verdict verdict)
{
    return verdict == VERDICT_FIRES ? 0 : verdict == VERDICT_QUIET ? 1 : 2;
}

static int compare(const void *left, const void *right)
{
    const struct judgement *a = left, *b = right;
    const int rank = rank_of(a->verdict) - rank_of(b->verdict);

    if (rank != 0)
        return rank;
    if (a->verdict == VERDICT_FIRES &&
        (a->finding.lost_s < b->finding.lost_s || a->finding.lost_s > b->finding.lost_s))
        return a->finding.lost_s > b->finding.lost_s ? -1 : 1;
    return (a->rule > b->rule) - (a->rule < b->rule);
}

size_t judge_all(struct judgement *ret, const struct evidence *evidence, const char *why)
{
    size_t fired = 0;

    for (size_t i = 0; i < rule_count; i++) {
        judge(&ret[i], &rules[i], evidence, why);
        fired += ret[i].verdict == VERDICT_FIRES;
    }
    qsort(ret, rule_count, sizeof *ret, compare);
    return fired;
}
