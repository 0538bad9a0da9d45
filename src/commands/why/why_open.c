#include "why_open.h"

#include "ledger/characters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSES "/proc"

/* Returns whether an open sleep is of a group. Without facts, all are of the watched one. */
static bool is_of(const struct causes *causes, size_t at, uint32_t group)
{
    return causes->open_facts == NULL || causes->open_facts[at].group == group;
}

/* Returns the number of the longest open sleep of a group in a state, or SIZE_MAX. */
static size_t longest(const struct causes *causes, uint32_t group, uint32_t state)
{
    for (size_t i = 0; i < causes->open_calls.count; i++) {
        if (causes->open_calls.items[i].state == state && is_of(causes, i, group))
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

/* Fills the chain that starts at an open sleep. */
static void fill_chain(struct why_open *ret, struct cause_objects *objects,
                       const struct causes *causes, size_t first)
{
    ret->state = causes->open_calls.items[first].state;
    ret->count = causes->open_facts != NULL
                     ? recorded_chain(ret->steps, causes, first)
                     : open_chain(ret->steps, &causes->open_calls.items[first], objects, PROCESSES);
}

/* Returns whether the process at the other end of the chain's first sleep is known. */
static bool has_other_end(const struct why_open *chain, const struct causes *causes, size_t first)
{
    return chain->count > 1 ||
           (causes->open_facts != NULL && causes->open_facts[first].holder != 0);
}

static void name_call(struct call_name *ret, const struct causes *causes, size_t at)
{
    *ret = (struct call_name){ 0 };
    if (causes->open_facts != NULL) {
        *ret = causes->open_facts[at].names;
        return;
    }
    cause_call_name(ret->call, causes->open_calls.items[at].call);
    cause_object_name(ret->object, &causes->open_calls.items[at], PROCESSES);
}

/* Open sleeps of the group for one object. */
struct share {
    size_t first; /* the longest of them */
    uint32_t state;
    uint64_t time_ns;
    struct call_name names;
};

#define SHARES_MOST 64 /* objects; processes that wait for further ones are left out */

static size_t add_up(struct share shares[SHARES_MOST], const struct causes *causes, uint32_t group)
{
    size_t count = 0;

    for (size_t i = 0; i < causes->open_calls.count; i++) {
        const struct camp_call_sleeps *call = &causes->open_calls.items[i];
        struct call_name names;
        size_t at = 0;

        if (!is_of(causes, i, group) || call->state == CAMP_STATE_STOPPED)
            continue;
        name_call(&names, causes, i);
        while (at < count &&
               (shares[at].state != call->state || strcmp(shares[at].names.call, names.call) != 0 ||
                strcmp(shares[at].names.object, names.object) != 0))
            at++;
        if (at == SHARES_MOST)
            continue;
        if (at == count)
            shares[count++] = (struct share){ .first = i, .state = call->state, .names = names };
        shares[at].time_ns += call->sleep_ns;
    }
    return count;
}

/* Returns the number of the largest share above a time, or `count`. */
static size_t largest(const struct share *shares, size_t count, uint64_t above_ns)
{
    size_t found = count;

    for (size_t i = 0; i < count; i++) {
        if (shares[i].time_ns > above_ns) {
            above_ns = shares[i].time_ns;
            found = i;
        }
    }
    return found;
}

bool why_open_find(struct why_open *ret, struct cause_objects *objects,
                   const struct why_interval *interval, uint64_t above_ns)
{
    const struct causes *causes = interval->causes;
    struct share *shares = calloc(SHARES_MOST, sizeof *shares);
    const size_t count = shares != NULL ? add_up(shares, causes, interval->subject) : 0;
    bool found = false;

    /* Not all shares are searched, the largest ones first, because each search takes time. */
    for (size_t at; !found && (at = largest(shares, count, above_ns)) < count;) {
        *ret = (struct why_open){ .time_ns = shares[at].time_ns };
        fill_chain(ret, objects, causes, shares[at].first);
        found = has_other_end(ret, causes, shares[at].first);
        shares[at].time_ns = 0;
    }
    free(shares);
    return found;
}

void why_open_longest(struct why_open *ret, struct cause_objects *objects,
                      const struct why_interval *interval, const struct cause *open)
{
    const size_t first = longest(interval->causes, open->group, open->state);

    *ret = (struct why_open){ .count = 1, .state = open->state };
    ret->steps[0].call.state = open->state;
    ret->steps[0].does = open->state == CAMP_STATE_STOPPED ? OPEN_STOPS : OPEN_WAITS;
    if (first != SIZE_MAX)
        fill_chain(ret, objects, interval->causes, first);
    ret->time_ns = open->wait_ns;
}

void why_open_show(struct document *document, size_t table, const struct why_interval *interval,
                   const struct why_open *chain, char ret[WHY_SENTENCE_SIZE])
{
    const struct causes *causes = interval->causes;
    const struct open_step *steps = chain->steps;
    const uint64_t total_ns = causes_total_ns(causes, interval->subject);
    const double share = total_ns > 0 ? 100.0 * (double)chain->time_ns / (double)total_ns : 0;
    const bool stops = chain->state == CAMP_STATE_STOPPED;
    const size_t count = chain->count;
    char title[CAUSE_STATE_SIZE], who[CAUSE_NAME_SIZE];

    cause_who(who, causes, CAMP_CAUSE_GROUP, interval->subject, "");
    for (size_t i = 0; i < count; i++)
        add_row(document, table, i + 1, i > 0 ? steps[i].who : who, &steps[i],
                i + 1 < count ? &steps[i + 1] : NULL, i > 0 ? cell_unknown() : cell_real(share));
    make_printable(who);
    cause_state_title(title, chain->state);
    ret[0] = '\0';
    why_append(ret, stops ? "%s was %s %.1f %%" : "%s waited in %s %.1f %%", who, title, share);
    if (!stops && steps[0].names.call[0] != '\0') {
        why_append(ret, ",");
        append_call(ret, &steps[0], count > 1);
    }
    for (size_t i = 1; i < count; i++)
        append_step(ret, &steps[i], i + 1 < count);
    if (count == 1 && cause_open_may_have_ended(causes, interval->subject, chain->state))
        why_append(ret, ", beyond an interval");
    else if (count == 1)
        why_append(ret,
                   stops ? ", and nothing has continued it yet" : ", and nothing has woken it yet");
    why_append(ret, ".");
}
