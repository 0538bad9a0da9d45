#include "why_sentence.h"

#include "counters/units.h"
#include "ledger/characters.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEVICES "/sys/kernel/irq"

/* Appends to a sentence; what has no space is left out. */
__attribute__((format(printf, 2, 3))) static void append(char ret[WHY_SENTENCE_SIZE],
                                                         const char *format, ...)
{
    const size_t length = strlen(ret);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(ret + length, WHY_SENTENCE_SIZE - length, format, arguments);
    va_end(arguments);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

void why_cause_name(char ret[CAUSE_NAME_SIZE], const struct causes *causes, uint32_t kind,
                    uint32_t id)
{
    static const char *const names[CAUSE_KIND_COUNT] = {
        [CAMP_CAUSE_IDLE] = "an idle CPU",
        [CAMP_CAUSE_INTERRUPTS] = "interrupts",
        [CAMP_CAUSE_REAL_TIME] = "real-time threads",
        [CAMP_CAUSE_TIMER] = "a timer",
        [CAMP_CAUSE_SIGNAL] = "a signal",
        [CAMP_CAUSE_OTHER_INTERRUPT] = "an interrupt",
        [CAMP_CAUSE_UNKNOWN] = "an unknown cause",
        [CAUSE_NOT_ENDED] = "nothing yet",
        [CAUSE_QUOTA] = "its own quota",
    };

    cause_who(ret, causes, kind, id, DEVICES);
    if (ret[0] == '\0' && kind < CAUSE_KIND_COUNT && names[kind] != NULL)
        snprintf(ret, CAUSE_NAME_SIZE, "%s", names[kind]);
    make_printable(ret);
}

static bool is_ready(const struct why_node *node)
{
    return !node->on_cpu &&
           (node->state == CAMP_STATE_RUN_QUEUE || node->state == CAMP_STATE_THROTTLED);
}

/* Returns the time of the tree's states that are ready, or of those that are asleep. */
static uint64_t time_of(const struct why_tree *tree, bool ready)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < tree->count; i++) {
        const struct why_node *node = &tree->nodes[i];

        if (node->level == WHY_STATE && !node->on_cpu && is_ready(node) == ready)
            sum += node->time_ns;
    }
    return sum;
}

static bool is_sleep(uint32_t state)
{
    return causes_is_wait(state) && state != CAMP_STATE_RUN_QUEUE && state != CAMP_STATE_THROTTLED;
}

/* Returns the cause with the most time of all sleeps, or of the run queue. */
static struct cause largest(const struct causes *causes, uint32_t subject, bool of_sleeps)
{
    struct cause best = { 0 };

    for (size_t i = 0; i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];
        struct cause sum = *row;

        if ((subject != WHY_ALL && row->group != subject) || row->kind == CAUSE_NOT_ENDED ||
            (of_sleeps ? !is_sleep(row->state) : row->state != CAMP_STATE_RUN_QUEUE))
            continue;
        sum.wait_ns = 0;
        for (size_t j = 0; j < causes->rows.count; j++) {
            const struct cause *other = &causes->rows.items[j];

            if ((subject == WHY_ALL || other->group == subject) && other->kind == row->kind &&
                other->id == row->id && is_sleep(other->state) == of_sleeps &&
                other->state != CAMP_STATE_THROTTLED)
                sum.wait_ns += other->wait_ns;
        }
        if (sum.wait_ns > best.wait_ns)
            best = sum;
    }
    return best;
}

static void append_ready(char ret[WHY_SENTENCE_SIZE], const struct causes *causes, uint32_t subject,
                         const struct why_tree *tree)
{
    const struct cause behind = largest(causes, subject, false);
    uint64_t throttled = 0;
    char who[CAUSE_NAME_SIZE];

    for (size_t i = 0; i < tree->count; i++) {
        const struct why_node *node = &tree->nodes[i];

        if (node->level == WHY_STATE && !node->on_cpu && node->state == CAMP_STATE_THROTTLED)
            throttled = node->time_ns;
    }
    append(ret, ", ready %.1f %%", percent(time_of(tree, true), tree->total_ns));
    if (throttled > 0)
        append(ret, ": %.1f %% its own quota", percent(throttled, tree->total_ns));
    if (behind.wait_ns == 0)
        return;
    why_cause_name(who, causes, behind.kind, behind.id);
    append(ret, "%s %.1f %% behind %s", throttled > 0 ? "," : ":",
           percent(behind.wait_ns, tree->total_ns), who);
}

void why_sentence(char ret[WHY_SENTENCE_SIZE], const struct causes *causes, uint32_t subject,
                  const char *name, const struct why_tree *tree)
{
    const uint64_t asleep = time_of(tree, false), ready = time_of(tree, true);
    const struct cause waker = largest(causes, subject, true);
    char shown[CAUSE_NAME_SIZE], who[CAUSE_NAME_SIZE];

    snprintf(shown, sizeof shown, "%s", name);
    make_printable(shown);
    ret[0] = '\0';
    if (tree->total_ns == 0) {
        append(ret, "%s had no thread in this interval.", shown);
        return;
    }
    append(ret, "%s %s on a CPU %.1f %% of %.2f s", shown, subject == WHY_ALL ? "were" : "was",
           percent(tree->total_ns - asleep - ready, tree->total_ns),
           (double)tree->total_ns / NS_PER_S);
    append_ready(ret, causes, subject, tree);
    append(ret, "; asleep %.1f %%", percent(asleep, tree->total_ns));
    if (waker.wait_ns > 0) {
        why_cause_name(who, causes, waker.kind, waker.id);
        append(ret, ", %.0f %% of it woken by %s", percent(waker.wait_ns, asleep), who);
    }
    append(ret, ".");
}

static void append_step(char ret[WHY_SENTENCE_SIZE], const struct causes *causes,
                        const struct chain_step *step)
{
    const struct cause *cause = &step->cause;
    char who[CAUSE_NAME_SIZE];

    why_cause_name(who, causes, cause->kind, cause->id);
    if (cause->state == CAMP_STATE_RUN_QUEUE)
        append(ret, " waited %.1f %% for a CPU behind %s", percent(cause->wait_ns, step->total_ns),
               who);
    else
        append(ret, " waited %.1f %% in %s for %s", percent(cause->wait_ns, step->total_ns),
               camp_state_name((int)cause->state), who);
}

void why_chain_sentence(char ret[WHY_SENTENCE_SIZE], const struct causes *causes,
                        const struct chain *chain)
{
    const struct chain_step *last = &chain->steps[chain->count - 1];

    ret[0] = '\0';
    why_cause_name(ret, causes, CAMP_CAUSE_GROUP, chain->steps[0].group);
    for (size_t i = 0; i + 1 < chain->count; i++) {
        append_step(ret, causes, &chain->steps[i]);
        append(ret, ", which");
    }
    switch (chain->end) {
    case CHAIN_RUNS:
        append(ret, " ran %.1f %% on a CPU", percent(last->on_cpu_ns, last->total_ns));
        break;
    case CHAIN_CIRCLE:
        append(ret, " is in this chain already");
        break;
    case CHAIN_UNKNOWN:
        append(ret, " had no wait that has ended");
        break;
    case CHAIN_CAUSE:
    case CHAIN_LONG:
        append_step(ret, causes, last);
        break;
    }
    append(ret, ".");
}
