#include "why_record.h"

#include "counters/units.h"
#include "ledger/words.h"
#include "program/command.h"
#include "views/percent.h"
#include "views/summary_text.h"
#include "why_calls.h"
#include "why_chain.h"
#include "why_inflicted.h"
#include "why_stack_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES "/sys/kernel/irq"
#define OTHERS_NOTED 5.0  /* percent */
#define REDUCED_NOTED 1.0 /* percent */
#define UNOWNED_NOTED 5.0 /* percent */

static const struct field summary_fields[] = {
    { "time", NULL, "wall clock of the interval's end" },
    { "interval_s", NULL, "its length" },
    { "subject", NULL, "whose waits these are: a process, a name, or all threads" },
    { "pid", NULL, "of the process; null: a name, or all threads" },
    { "threads", NULL, "that had time in the interval" },
    { "time_ns", NULL, "the time of these threads, which is 100 %" },
    { "sentence", NULL, "the causes in one sentence" },
    { "chain_text", NULL, "the chain of causes in one sentence; null: of all threads" },
    { "inflicted_ns", NULL,
      "what all others waited for a CPU while a thread of the subject had it; null: of all "
      "threads" },
    { "intervals", NULL, "of a recording, that are added up" },
};

static const struct field tree_fields[] = {
    { "level", NULL, "state, cause or who: each row is a part of the row before with less level" },
    { "state", NULL, "name of the state; on_cpu: user, system, interrupts and traps together" },
    { "cause", NULL, "kind of the cause; null: the whole state" },
    { "who", NULL, "the group or the device; null: the whole cause" },
    { "pid", NULL, "of the process; null: the group is a name" },
    { "merged", NULL, "of how many groups or devices the row is; null: of one" },
    { NULL, "state, cause, who", "" }, /* as wide as its names, or wrapped */
    { "percent", "%", "of the time of all threads; parts add up to their whole", 6, 2 },
    { "time_ns", NULL, "in the interval" },
    { NULL, "ms", "", 8, 3, .spare = 1 },
    { "waits", "waits", "that have ended in the interval", 5, .spare = 2 },
    { "p50_ns", NULL, "half of them lasted no longer, to a factor of 2" },
    { NULL, "p50 ms", "", 6, 3, .spare = 3 },
    { "p99_ns", NULL, "99 % of them lasted no longer, to a factor of 2" },
    { NULL, "p99 ms", "", 6, 3, .spare = 3 },
    { "longest_ns", NULL, "the longest that has ended" },
    { NULL, "max ms", "", 6, 3 },
    { "longest_tid", NULL, "thread of the longest" },
    { "longest_time", NULL, "wall clock of its end" },
};
#define LENGTHS 9 /* fields from "waits" on */

static const struct field chain_fields[] = {
    { "step", NULL, "from 1 on" },
    { "who", NULL, "the group that waited" },
    { "state", NULL, "of its largest wait; null: it had none that has ended" },
    { "percent", NULL, "of the group's time; null: what a process does at the end of the interval",
      0, 2 },
    { "cause", NULL, "kind of the cause" },
    { "by", NULL, "the group or the device of the cause" },
    { "on_cpu_percent", NULL, "of the group's time", 0, 2 },
    { "call", NULL, "of a sleep that has not ended; null: another wait, or it is unknown" },
    { "object", NULL, "of the call, with its other end" },
};

static const struct field loss_fields[] = {
    { "unseen", NULL, "switches and wakeups that no event reported, in the interval" },
    { "unattributed_percent", NULL, "of the time of all threads: waits without a known cause", 0,
      2 },
    { "others_percent", NULL,
      "of the time of all threads: waits that processes without a group caused", 0, 2 },
    { "reduced_percent", NULL,
      "of the time of all threads: what the causes had more than their states, and were reduced by",
      0, 2 },
    { "unowned_percent", NULL,
      "of the time of all threads: sleeps in futex(2) that have not ended, and whose owner is "
      "unknown",
      0, 2 },
    { "groups", NULL, "that are told apart: of names at most 53, the others are other processes" },
};

#define HIDDEN_ROWS(name, fields)                                                                  \
    {                                                                                              \
        name, TABLE_ROWS, fields, ARRAY_COUNT(fields), NULL, 0, true                               \
    }

#define TABLES(call_fields)                                                                          \
    {                                                                                                \
        [WHY_SUMMARY] = DOCUMENT_ONE("summary", TABLE_INLINE, summary_fields),                       \
        [WHY_TREE] = DOCUMENT_ROWS("tree", tree_fields), [WHY_CALLS] = { "calls",                    \
                                                                         TABLE_ROWS,                 \
                                                                         call_fields,                \
                                                                         WHY_CALL_FIELDS,            \
                                                                         NULL,                       \
                                                                         0,                          \
                                                                         false },                    \
        [WHY_STACKS] = { "stacks", TABLE_ROWS, why_stack_fields, WHY_STACK_FIELDS, NULL, 0, false }, \
        [WHY_INFLICTED] = { "inflicted",                                                             \
                            TABLE_ROWS,                                                              \
                            why_inflicted_fields,                                                    \
                            WHY_INFLICTED_FIELDS,                                                    \
                            NULL,                                                                    \
                            0,                                                                       \
                            false },                                                                 \
        [WHY_CHAIN] = HIDDEN_ROWS("chain", chain_fields),                                            \
        [WHY_LOSSES] = DOCUMENT_ONE("losses", TABLE_OBJECT, loss_fields),                            \
    }

static const struct table tables[WHY_TABLE_COUNT] = TABLES(why_call_fields);
static const struct table tables_of_many[WHY_TABLE_COUNT] = TABLES(why_call_fields_of_many);

static const struct record layout = DOCUMENT_LAYOUT("camp.why/1", tables, WHY_TREE);
static const struct record layout_of_many = DOCUMENT_LAYOUT("camp.why/1", tables_of_many, WHY_TREE);

const char *const why_table_names[] = { "tree",   "calls",   "stacks", "inflicted", "chain",
                                        "losses", "summary", "waits",  NULL };

static double milliseconds(uint64_t ns)
{
    return (double)ns / NS_PER_MS;
}

static struct cell pid_of(const struct causes *causes, uint32_t number)
{
    const struct camp_states_group *group = cause_group_find(causes, number);

    return group != NULL && group->pid != 0 ? cell_integer(group->pid) : cell_unknown();
}

static const char *name_of(struct document *document, const struct causes *causes, uint32_t kind,
                           uint32_t id)
{
    char name[CAUSE_NAME_SIZE];

    cause_who(name, causes, kind, id, DEVICES);
    return name[0] != '\0' ? document_text(document, "%s", name) : NULL;
}

static const char *state_name(const struct why_node *node)
{
    return node->on_cpu ? "on_cpu" : camp_state_name((int)node->state);
}

static const char *label_of(struct document *document, const struct why_interval *interval,
                            const struct why_node *node, const char *who)
{
    if (node->level == WHY_STATE)
        return node->on_cpu ? "on a CPU" : threads_schema.columns[node->state].title;
    if (node->level == WHY_CAUSE && node->kind == CAUSE_NOT_ENDED &&
        cause_open_may_have_ended(interval->causes, interval->subject, node->state))
        return "  lasted beyond an interval";
    if (node->level == WHY_CAUSE)
        return document_text(document, "  %s", cause_kind_name(node->state, node->kind));
    if (node->merged != 0)
        return document_text(document, "    %" PRIu32 " others", node->merged);
    return document_text(document, "    %s", who != NULL ? who : "?");
}

static void fill_lengths(struct document *document, struct cell ret[LENGTHS],
                         const struct wait_lengths *lengths)
{
    char time[TIME_TEXT_SIZE];

    if (lengths->count == 0)
        return;
    time_text(time, sizeof time, lengths->longest_wall_clock_ns);
    memcpy(ret,
           ((const struct cell[LENGTHS]){
               cell_natural(lengths->count),
               cell_natural(lengths->p50_ns),
               cell_real(milliseconds(lengths->p50_ns)),
               cell_natural(lengths->p99_ns),
               cell_real(milliseconds(lengths->p99_ns)),
               cell_natural(lengths->longest_ns),
               cell_real(milliseconds(lengths->longest_ns)),
               cell_integer(lengths->longest_tid),
               cell_text(document_text(document, "%s", time)),
           }),
           LENGTHS * sizeof *ret);
}

/* Only states of one group have lengths. */
static void add_node(struct document *document, const struct why_interval *interval,
                     const struct why_node *node)
{
    static const char *const levels[] = { "state", "cause", "who" };
    const bool is_one = node->level == WHY_WHO && node->merged == 0;
    const char *who = is_one ? name_of(document, interval->causes, node->kind, node->id) : NULL;
    struct cell cells[ARRAY_COUNT(tree_fields)] = {
        cell_text(levels[node->level]),
        cell_text(state_name(node)),
        node->level >= WHY_CAUSE ? cell_text(cause_kind_key(node->kind)) : cell_unknown(),
        cell_text(who),
        is_one && node->kind == CAMP_CAUSE_GROUP ? pid_of(interval->causes, node->id)
                                                 : cell_unknown(),
        node->merged != 0 ? cell_natural(node->merged) : cell_unknown(),
        cell_text(label_of(document, interval, node, who)),
        cell_real(node->hundredths / 100.0),
        cell_natural(node->time_ns),
        cell_real(milliseconds(node->time_ns)),
    };

    if (node->level == WHY_STATE && !node->on_cpu && interval->subject < CAUSE_GROUPS)
        fill_lengths(document, cells + ARRAY_COUNT(tree_fields) - LENGTHS,
                     &interval->causes->lengths[interval->subject][node->state]);
    DOCUMENT_ADD(document, WHY_TREE, cells);
}

/* Shares of the time of the subject, in percent. */
struct loss_shares {
    double unattributed, others, reduced, unowned;
};

static struct loss_shares losses_of(const struct why_record *record,
                                    const struct why_interval *interval)
{
    const struct causes *causes = interval->causes;
    const bool all = interval->subject == WHY_ALL;
    const uint64_t total_ns = record->tree.total_ns;
    uint64_t unattributed = 0, others = 0, reduced = 0;

    for (uint32_t i = 0; i < CAUSE_GROUPS; i++)
        reduced += all || i == interval->subject ? causes->reduced_ns[i] : 0;
    for (size_t i = 0; i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];
        const struct camp_states_group *who =
            row->kind == CAMP_CAUSE_GROUP ? cause_group_find(causes, row->id) : NULL;

        if (!all && row->group != interval->subject)
            continue;
        unattributed += row->kind == CAMP_CAUSE_UNKNOWN ? row->wait_ns : 0;
        others += who != NULL && who->kind == CAMP_GROUP_OTHER ? row->wait_ns : 0;
    }
    if (total_ns == 0)
        return (struct loss_shares){ 0 };
    return (struct loss_shares){
        percent_of((double)unattributed, total_ns), percent_of((double)others, total_ns),
        percent_of((double)reduced, total_ns),
        percent_of((double)why_unowned_ns(&record->objects, interval), total_ns)
    };
}

/* Returns the noun of the groups, such as "processes": that of most groups, because the subject may
 * be of another kind. */
static const char *noun_of_groups(const struct causes *causes)
{
    size_t processes = 0, cgroups = 0, names = 0;

    for (size_t i = 0; i < causes->group_count; i++) {
        processes += causes->groups[i].kind == CAMP_GROUP_PROCESS;
        cgroups += causes->groups[i].kind == CAMP_GROUP_CGROUP;
        names += causes->groups[i].kind == CAMP_GROUP_NAME;
    }
    return processes > names && processes >= cgroups ? "processes"
           : cgroups > names                         ? "cgroups"
                                                     : "names";
}

#define NOTE_INDENT "           " /* as wide as what a note starts with */

/* Adds a sentence after a word, wrapped at the width of the terminal. */
static void add_note(struct document *document, const char *word, const char *sentence,
                     size_t width)
{
    char text[WHY_SENTENCE_SIZE];

    snprintf(text, sizeof text, "%s", sentence);
    if (width > 2 * strlen(NOTE_INDENT))
        summary_wrap(text, width - strlen(NOTE_INDENT));
    for (char *line = text, *end; line != NULL; line = end) {
        end = strchr(line, '\n');
        if (end != NULL)
            *end++ = '\0';
        document_note(document, "%-11s%s", line == text ? word : "", line);
    }
}

static void add_notes(struct document *document, const struct causes *causes,
                      const struct loss_shares *losses, size_t width)
{
    const char *others = document_text(
        document,
        "%.2f %% was caused by processes that are not told apart: more than 53 %s caused waits",
        losses->others, noun_of_groups(causes));

    if (causes->unseen > 0)
        add_note(document, "unseen",
                 document_text(document, "%" PRIu64 " %s: what they caused is estimated",
                               causes->unseen, noun_of(causes->unseen, "switch", "switches")),
                 width);
    if (losses->unowned > UNOWNED_NOTED)
        add_note(
            document, "owner",
            document_text(document,
                          "it is unknown who holds the futex in %.2f %% of the time: only mutexes "
                          "of glibc, robust ones and those with priority inheritance say it in "
                          "memory",
                          losses->unowned),
            width);
    if (losses->others > OTHERS_NOTED)
        add_note(document, "others", others, width);
    if (losses->reduced > REDUCED_NOTED)
        add_note(document, "reduced",
                 document_text(document,
                               "the causes had %.2f %% more than their states: they are reduced in "
                               "proportion",
                               losses->reduced),
                 width);
}

static void add_rest(struct why_record *ret, const struct why_interval *interval,
                     const struct loss_shares *losses, const char *sentence, const char *chain)
{
    const struct causes *causes = interval->causes;
    struct document *document = &ret->document;

    DOCUMENT_ADD(
        document, WHY_SUMMARY,
        ((const struct cell[]){
            cell_text(document_text(document, "%s", interval->time)),
            cell_real((double)(causes->end_ns - causes->start_ns) / NS_PER_S),
            cell_text(document_text(document, "%s", interval->name)),
            interval->subject < CAUSE_GROUPS ? pid_of(causes, interval->subject) : cell_unknown(),
            cell_natural(ret->tree.threads),
            cell_natural(ret->tree.total_ns),
            cell_text(sentence),
            cell_text(chain),
            interval->subject < CAUSE_GROUPS ? cell_natural(why_inflicted_sum_ns(interval))
                                             : cell_unknown(),
            cell_natural(causes->intervals > 1 ? causes->intervals : 1),
        }));
    DOCUMENT_ADD(document, WHY_LOSSES,
                 ((const struct cell[]){
                     cell_natural(causes->unseen),
                     cell_real(losses->unattributed),
                     cell_real(losses->others),
                     cell_real(losses->reduced),
                     cell_real(losses->unowned),
                     cell_natural(causes->group_count),
                 }));
}

static bool is_one_process(const struct why_interval *interval)
{
    const struct camp_states_group *group = cause_group_find(interval->causes, interval->subject);

    return group != NULL && group->kind == CAMP_GROUP_PROCESS;
}

int why_record_fill(struct why_record *ret, const struct why_interval *interval)
{
    const struct causes *causes = interval->causes;
    struct document *document = &ret->document;
    char sentence[WHY_SENTENCE_SIZE], text[WHY_SENTENCE_SIZE];
    const char *chain_text = NULL;
    struct loss_shares losses;

    document_start(document, is_one_process(interval) ? &layout : &layout_of_many);
    if (!why_tree_fill(&ret->tree, causes, interval->subject, interval->most))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < ret->tree.count; i++)
        add_node(document, interval, &ret->tree.nodes[i]);
    why_call_rows(document, WHY_CALLS, &ret->objects, interval, ret->tree.total_ns);
    why_stack_rows(document, WHY_STACKS, interval, ret->tree.total_ns);
    why_inflicted_rows(document, WHY_INFLICTED, interval);
    if (why_inflicted_text(text, interval))
        add_note(document, "behind it", text, interval->width);
    if (!why_sentence(sentence, causes, interval->subject, interval->name, &ret->tree))
        return CAMP_E_NOMEM;
    if (interval->subject < CAUSE_GROUPS && ret->tree.total_ns > 0) {
        why_chain_add(ret, interval, text);
        chain_text = document_text(document, "%s", text);
        add_note(document, "chain", text, interval->width);
    }
    if (interval->kernel_is_hidden)
        add_note(document, "stacks", WHY_KERNEL_IS_HIDDEN, interval->width);
    losses = losses_of(ret, interval);
    add_notes(document, causes, &losses, interval->width);
    add_rest(ret, interval, &losses, document_text(document, "%s", sentence), chain_text);
    if (interval->width > 0)
        summary_wrap(sentence, interval->width);
    document->record.headline =
        document_text(document, "%.8s  %.2f s  %" PRIu64 " %s\n%s", time_of_day(interval->time),
                      (double)(causes->end_ns - causes->start_ns) / NS_PER_S, ret->tree.threads,
                      noun_of(ret->tree.threads, "thread", "threads"), sentence);
    return document_finish(document);
}

void why_record_release(struct why_record *record)
{
    document_release(&record->document);
    why_tree_release(&record->tree);
    cause_objects_release(&record->objects);
}
