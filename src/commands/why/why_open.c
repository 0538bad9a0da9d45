#include "why_open.h"

#include "ledger/characters.h"
#include "sources/causes/open_chain.h"

#include <inttypes.h>
#include <stdio.h>

#define PROCESSES "/proc"

/* Returns the longest open sleep in a state, or NULL. */
static const struct camp_call_sleeps *longest(const struct causes *causes, uint32_t state)
{
    for (size_t i = 0; i < causes->open_calls.count; i++) {
        if (causes->open_calls.items[i].state == state)
            return &causes->open_calls.items[i];
    }
    return NULL;
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
    const struct camp_call_sleeps *first = longest(causes, open->state);
    const double share = share_of(causes, open);
    const bool stops = open->state == CAMP_STATE_STOPPED;
    struct open_step steps[OPEN_CHAIN_MAX] = { { .call.state = open->state } };
    size_t count = 1;
    char title[CAUSE_STATE_SIZE], who[CAUSE_NAME_SIZE];

    steps[0].does = stops ? OPEN_STOPS : OPEN_WAITS;
    if (first != NULL)
        count = open_chain(steps, first, objects, PROCESSES);
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
