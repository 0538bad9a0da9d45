#include "why_open.h"

#include "ledger/characters.h"
#include "sources/causes/open_chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PROCESSES "/proc"

/* Returns the number of the longest open sleep of a group in a state, or SIZE_MAX. */
static size_t longest(const struct causes *causes, uint32_t group, uint32_t state)
{
    for (size_t i = 0; i < causes->open_calls.count; i++) {
        if (causes->open_calls.items[i].state == state &&
            (causes->open_facts == NULL || causes->open_facts[i].group == group))
            return i;
    }
    return SIZE_MAX;
}

/* Returns the step that is a process, or NULL. */
static const struct open_step *step_of(const struct open_step *steps, size_t count, int32_t pid)
{
    for (size_t i = 0; i < count; i++) {
        if (steps[i].pid == pid)
            return &steps[i];
    }
    return NULL;
}

/* Fills a step with what a recording has of a process. Returns the process for which it waits, or
 * 0. */
static int32_t fill_step(struct open_step *ret, const struct causes *causes, size_t at)
{
    const struct camp_call_sleeps *call = &causes->open_calls.items[at];
    const struct open_fact *fact = &causes->open_facts[at];

    *ret = (struct open_step){ .pid = call->pid,
                               .does = fact->does,
                               .threads = call->count,
                               .call = *call,
                               .names = fact->names };
    memcpy(ret->who, fact->who, sizeof ret->who);
    memcpy(ret->other_end, fact->other_end, sizeof ret->other_end);
    return fact->holder;
}

/* Returns the number of the step of a chain that is a process, or SIZE_MAX. */
static size_t find_step(const struct causes *causes, int32_t pid)
{
    for (size_t i = 0; i < causes->open_calls.count; i++) {
        if (causes->open_calls.items[i].pid == pid && causes->open_facts[i].group == CAUSE_GROUPS)
            return i;
    }
    return SIZE_MAX;
}

/* The same as open_chain(), of a recording. */
static size_t recorded_chain(struct open_step *steps, const struct causes *causes, size_t first)
{
    int32_t next = fill_step(&steps[0], causes, first);
    size_t count = 1;

    cause_who(steps[0].who, causes, CAMP_CAUSE_GROUP, causes->open_facts[first].group, "");
    if (steps[0].call.state == CAMP_STATE_STOPPED)
        steps[0].does = OPEN_STOPS;
    while (next != 0 && count < OPEN_CHAIN_MAX && steps[count - 1].does == OPEN_WAITS) {
        const struct open_step *again = step_of(steps, count, next);
        const size_t at = find_step(causes, next);

        if (again != NULL) {
            steps[count] = *again;
            steps[count++].does = OPEN_CIRCLE;
            break;
        }
        if (at == SIZE_MAX)
            break;
        next = fill_step(&steps[count++], causes, at);
    }
    return count;
}

static double share_of(const struct causes *causes, const struct cause *open)
{
    uint64_t total_ns = 0;

    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        total_ns += causes->state_ns[open->group][i];
    return total_ns > 0 ? 100.0 * (double)open->wait_ns / (double)total_ns : 0;
}

static const char *object_text(struct document *document, const struct open_step *step)
{
    return document_text(document, "%s%s%s", step->names.object,
                         step->other_end[0] != '\0' ? " " : "", step->other_end);
}

/* `next` is the step after it, or NULL. */
static void add_row(struct document *document, size_t table, size_t number, const char *who,
                    const struct open_step *step, const struct open_step *next, struct cell percent)
{
    const bool waits = step->does == OPEN_WAITS, stops = step->does == OPEN_STOPS;
    const bool has_call = waits && step->names.call[0] != '\0';
    const uint32_t state = stops ? (uint32_t)CAMP_STATE_STOPPED : step->call.state;

    document_add(
        document, table,
        (const struct cell[]){
            cell_natural(number),
            cell_text(document_text(document, "%s", who)),
            waits || stops ? cell_text(camp_state_name((int)state)) : cell_unknown(),
            percent,
            waits || stops ? cell_text(cause_kind_key(CAUSE_NOT_ENDED)) : cell_unknown(),
            next != NULL ? cell_text(document_text(document, "%s", next->who)) : cell_unknown(),
            cell_unknown(),
            has_call ? cell_text(document_text(document, "%s", step->names.call)) : cell_unknown(),
            has_call && step->names.object[0] != '\0' ? cell_text(object_text(document, step))
                                                      : cell_unknown(),
        },
        9);
}

/* "in read of pipe:[4242]", with the other end if the chain does not go on with it. */
static void append_call(char ret[WHY_SENTENCE_SIZE], const struct open_step *step, bool goes_on)
{
    char object[CAUSE_NAME_SIZE];

    if (step->names.call[0] == '\0')
        return;
    why_append(ret, " in %s", step->names.call);
    snprintf(object, sizeof object, "%s", step->names.object);
    make_printable(object);
    if (object[0] != '\0')
        why_append(ret, " of %s", object);
    if (goes_on || step->other_end[0] == '\0')
        return;
    snprintf(object, sizeof object, "%s", step->other_end);
    make_printable(object);
    why_append(ret, " %s", object);
}

static void append_step(char ret[WHY_SENTENCE_SIZE], const struct open_step *step, bool goes_on)
{
    char who[CAUSE_NAME_SIZE];

    snprintf(who, sizeof who, "%s", step->who);
    make_printable(who);
    why_append(ret, " for %s, which", who);
    switch (step->does) {
    case OPEN_WAITS:
        why_append(ret, " waits");
        append_call(ret, step, goes_on);
        break;
    case OPEN_RUNS:
        why_append(ret, " runs");
        break;
    case OPEN_STOPS:
        why_append(ret, " is stopped");
        break;
    case OPEN_MANY:
        why_append(ret, " has %" PRIu64 " threads", step->threads);
        break;
    case OPEN_CIRCLE:
        why_append(ret, " is in this chain already");
        break;
    case OPEN_GONE:
        why_append(ret, " cannot be read");
        break;
    }
}

void why_open_chain(struct document *document, size_t table, struct cause_objects *objects,
                    const struct why_interval *interval, const struct cause *open,
                    char ret[WHY_SENTENCE_SIZE])
{
    const struct causes *causes = interval->causes;
    const size_t first = longest(causes, open->group, open->state);
    const double share = share_of(causes, open);
    const bool stops = open->state == CAMP_STATE_STOPPED;
    struct open_step steps[OPEN_CHAIN_MAX] = { { .call.state = open->state } };
    size_t count = 1;
    char title[CAUSE_STATE_SIZE], who[CAUSE_NAME_SIZE];

    steps[0].does = stops ? OPEN_STOPS : OPEN_WAITS;
    if (first != SIZE_MAX)
        count = causes->open_facts != NULL
                    ? recorded_chain(steps, causes, first)
                    : open_chain(steps, &causes->open_calls.items[first], objects, PROCESSES);
    cause_who(who, causes, CAMP_CAUSE_GROUP, open->group, "");
    for (size_t i = 0; i < count; i++)
        add_row(document, table, i + 1, i > 0 ? steps[i].who : who, &steps[i],
                i + 1 < count ? &steps[i + 1] : NULL, i > 0 ? cell_unknown() : cell_real(share));
    make_printable(who);
    cause_state_title(title, open->state);
    ret[0] = '\0';
    why_append(ret, stops ? "%s was %s %.1f %%" : "%s waited in %s %.1f %%", who, title, share);
    if (!stops && steps[0].names.call[0] != '\0') {
        why_append(ret, ",");
        append_call(ret, &steps[0], count > 1);
    }
    for (size_t i = 1; i < count; i++)
        append_step(ret, &steps[i], i + 1 < count);
    if (count == 1)
        why_append(ret,
                   stops ? ", and nothing has continued it yet" : ", and nothing has woken it yet");
    why_append(ret, ".");
}
