#include "why_sentence.h"

#include "counters/units.h"
#include "ledger/array.h"
#include "ledger/characters.h"
#include "ledger/index.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES "/sys/kernel/irq"
#define ALL_TENTHS 1000u

void why_append(char ret[WHY_SENTENCE_SIZE], const char *format, ...)
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
    cause_phrase(ret, causes, kind, id, DEVICES);
    make_printable(ret);
}

/* Time by cause. */
struct sums {
    struct cause *items; /* [count] */
    size_t count, capacity;
    struct index index;
};

static bool is_same(const void *context, uint32_t position, const void *key)
{
    const struct cause *a = &((const struct sums *)context)->items[position], *b = key;

    return a->kind == b->kind && a->id == b->id;
}

static bool add_sum(struct sums *sums, const struct cause *row)
{
    const uint32_t hash = index_hash_number((uint64_t)row->kind << 32 | row->id);
    const struct index_slot *slot = index_find(&sums->index, hash, is_same, sums, row);

    if (slot != NULL) {
        sums->items[slot->position].wait_ns += row->wait_ns;
        return true;
    }
    if (!ARRAY_RESERVE(sums->items, sums->capacity, sums->count + 1) ||
        !index_reserve(&sums->index, sums->count + 1))
        return false;
    index_add(&sums->index, hash, (uint32_t)sums->count);
    sums->items[sums->count++] = *row;
    return true;
}

/* Sets *ret to the cause with the most time of all sleeps, or of the run queue. Returns false if
 * there is no memory. */
static bool find_largest(struct cause *ret, const struct causes *causes, uint32_t subject,
                         bool of_sleeps)
{
    struct sums sums = { 0 };
    bool done = true;

    *ret = (struct cause){ 0 };
    for (size_t i = 0; i < causes->rows.count && done; i++) {
        const struct cause *row = &causes->rows.items[i];

        if ((subject == WHY_ALL || row->group == subject) && row->kind != CAUSE_NOT_ENDED &&
            (of_sleeps ? causes_is_sleep(row->state) : row->state == CAMP_STATE_RUN_QUEUE))
            done = add_sum(&sums, row);
    }
    for (size_t i = 0; i < sums.count; i++)
        *ret = sums.items[i].wait_ns > ret->wait_ns ? sums.items[i] : *ret;
    free(sums.items);
    index_release(&sums.index);
    return done;
}

/* What the sentence says of the time of a subject, in tenths of a percent, which add up. */
struct shares {
    struct cause behind, waker;
    uint64_t asleep_ns;
    uint32_t on_cpu, ready, asleep, throttled, is_behind;
};

static void share_out(struct shares *ret, const struct why_tree *tree)
{
    struct why_node whole[3] = { 0 }, ready[3] = { 0 }; /* on a CPU, ready, asleep */

    for (size_t i = 0; i < tree->count; i++) {
        const struct why_node *node = &tree->nodes[i];
        const bool throttled = !node->on_cpu && node->state == CAMP_STATE_THROTTLED;

        if (node->level != WHY_STATE)
            continue;
        whole[node->on_cpu ? 0 : causes_is_sleep(node->state) ? 2 : 1].time_ns += node->time_ns;
        ready[0].time_ns += throttled ? node->time_ns : 0;
    }
    ready[1].time_ns = ret->behind.wait_ns;
    ready[2].time_ns = whole[1].time_ns - ready[0].time_ns - ready[1].time_ns;
    why_share_out(whole, 3, ALL_TENTHS, tree->total_ns);
    why_share_out(ready, 3, whole[1].hundredths, whole[1].time_ns);
    ret->asleep_ns = whole[2].time_ns;
    ret->on_cpu = whole[0].hundredths;
    ret->ready = whole[1].hundredths;
    ret->asleep = whole[2].hundredths;
    ret->throttled = ready[0].hundredths;
    ret->is_behind = ready[1].hundredths;
}

static void append_ready(char ret[WHY_SENTENCE_SIZE], const struct causes *causes,
                         const struct shares *shares)
{
    char who[CAUSE_NAME_SIZE];

    if (shares->ready == 0)
        return;
    why_append(ret, ", ready %.1f %%", shares->ready / 10.0);
    if (shares->throttled > 0)
        why_append(ret, ": %.1f %% its own quota", shares->throttled / 10.0);
    if (shares->is_behind == 0)
        return;
    why_cause_name(who, causes, shares->behind.kind, shares->behind.id);
    why_append(ret, "%s %.1f %% behind %s", shares->throttled > 0 ? "," : ":",
               shares->is_behind / 10.0, who);
}

/* Says in which state most of the sleep was, and what ended most of it, if anything has. */
static void append_asleep(char ret[WHY_SENTENCE_SIZE], const struct causes *causes,
                          uint32_t subject, const struct shares *shares)
{
    uint64_t of_states[CAMP_STATE_COUNT] = { 0 }, open_ns = 0;
    bool may_have_ended = false;
    char name[CAUSE_NAME_SIZE];
    uint32_t most = 0;

    for (size_t i = 0; i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];

        if ((subject != WHY_ALL && row->group != subject) || !causes_is_sleep(row->state))
            continue;
        of_states[row->state] += row->wait_ns;
        if (row->kind != CAUSE_NOT_ENDED)
            continue;
        open_ns += row->wait_ns;
        may_have_ended |= cause_open_may_have_ended(causes, subject, row->state);
    }
    for (uint32_t i = 0; i < CAMP_STATE_COUNT; i++)
        most = of_states[i] > of_states[most] ? i : most;
    if (of_states[most] == 0)
        return;
    cause_state_title(name, most);
    why_append(ret, ", %.0f %% of it %s%s", percent(of_states[most], shares->asleep_ns),
               most == CAMP_STATE_STOPPED ? "" : "in ", name);
    why_cause_name(name, causes, shares->waker.kind, shares->waker.id);
    if (open_ns > shares->waker.wait_ns && may_have_ended)
        why_append(ret, ", and %.0f %% of it lasted beyond an interval",
                   percent(open_ns, shares->asleep_ns));
    else if (open_ns > shares->waker.wait_ns)
        why_append(ret, ", and nothing has woken %.0f %% of it yet",
                   percent(open_ns, shares->asleep_ns));
    else
        why_append(ret, ", %.0f %% of it woken by %s",
                   percent(shares->waker.wait_ns, shares->asleep_ns), name);
}

bool why_sentence(char ret[WHY_SENTENCE_SIZE], const struct causes *causes, uint32_t subject,
                  const char *name, const struct why_tree *tree)
{
    struct shares shares = { 0 };
    char shown[CAUSE_NAME_SIZE];

    if (!find_largest(&shares.behind, causes, subject, false) ||
        !find_largest(&shares.waker, causes, subject, true))
        return false;
    share_out(&shares, tree);
    snprintf(shown, sizeof shown, "%s", name);
    make_printable(shown);
    ret[0] = '\0';
    if (tree->total_ns == 0) {
        why_append(ret, "%s had no thread in this interval.", shown);
        return true;
    }
    why_append(ret, "%s %s on a CPU %.1f %% of %.2f s", shown, subject == WHY_ALL ? "were" : "was",
               shares.on_cpu / 10.0, (double)tree->total_ns / NS_PER_S);
    append_ready(ret, causes, &shares);
    why_append(ret, "; asleep %.1f %%", shares.asleep / 10.0);
    append_asleep(ret, causes, subject, &shares);
    why_append(ret, ".");
    return true;
}

static void append_step(char ret[WHY_SENTENCE_SIZE], const struct causes *causes,
                        const struct chain_step *step)
{
    const struct cause *cause = &step->cause;
    const double share = percent(cause->wait_ns, step->total_ns);
    char who[CAUSE_NAME_SIZE], state[CAUSE_STATE_SIZE];

    why_cause_name(who, causes, cause->kind, cause->id);
    cause_state_title(state, cause->state);
    if (cause->state == CAMP_STATE_RUN_QUEUE && cause->wait_ns < step->queue_ns)
        why_append(ret, " waited %.1f %% for a CPU: %.1f %% behind %s",
                   percent(step->queue_ns, step->total_ns), share, who);
    else if (cause->state == CAMP_STATE_RUN_QUEUE)
        why_append(ret, " waited %.1f %% for a CPU behind %s", share, who);
    else if (cause->state == CAMP_STATE_THROTTLED)
        why_append(ret, " was throttled %.1f %% by %s", share, who);
    else if (cause->state == CAMP_STATE_TIMER && cause->kind == CAMP_CAUSE_TIMER)
        why_append(ret, " slept %.1f %% until %s", share, who);
    else if (cause->kind == CAMP_CAUSE_GROUP && cause->id == step->group)
        why_append(ret, " waited %.1f %% in %s for threads of its own", share, state);
    else
        why_append(ret, " waited %.1f %% in %s for %s", share, state, who);
}

void why_chain_sentence(char ret[WHY_SENTENCE_SIZE], const struct causes *causes,
                        const struct chain *chain)
{
    const struct chain_step *last = &chain->steps[chain->count - 1];

    ret[0] = '\0';
    why_cause_name(ret, causes, CAMP_CAUSE_GROUP, chain->steps[0].group);
    for (size_t i = 0; i + 1 < chain->count; i++) {
        append_step(ret, causes, &chain->steps[i]);
        why_append(ret, ", which");
    }
    switch (chain->end) {
    case CHAIN_RUNS:
        why_append(ret, " ran %.1f %% on a CPU", percent(last->on_cpu_ns, last->total_ns));
        break;
    case CHAIN_CIRCLE:
        why_append(ret, " is in this chain already");
        break;
    case CHAIN_UNKNOWN:
        why_append(ret, " had no wait that has ended");
        break;
    case CHAIN_CAUSE:
    case CHAIN_ITSELF:
    case CHAIN_LONG:
        append_step(ret, causes, last);
        break;
    }
    why_append(ret, ".");
}
