#include "backend_shares.h"

struct parts {
    struct backend_part *parts; /* [count] */
    size_t count;
};

static void add(struct parts *to, const struct backend_part *part)
{
    if (part->ns > 0)
        to->parts[to->count++] = *part;
}

static void add_shares(struct parts *to, const struct backend_statements *now,
                       const struct backend_statements *before)
{
    for (size_t i = 0; i < BACKEND_SHARES; i++) {
        const struct backend_share *share = &now->shares[i];
        /* If the place had another share at the previous reading, this one is new. */
        const uint64_t before_ns =
            before != NULL && before->shares[i].added == share->added ? before->shares[i].ns : 0;

        if (share->used == 0)
            continue;
        add(to, &(struct backend_part){ .statement = share->statement,
                                        .event = share->event,
                                        .activity = share->activity,
                                        .ns = share->ns > before_ns ? share->ns - before_ns : 0 });
    }
}

/* Adds the time that is in no share yet, and subtracts what the previous reading added so. The
 * statement may have turned out to be another one; then too much is left, which limit() subtracts
 * from the largest part. */
static void add_pending(struct parts *to, const struct backend_statements *now,
                        const struct backend_statements *before, uint32_t event, uint64_t ns,
                        uint64_t before_ns)
{
    for (size_t i = 0; before != NULL && i < to->count; i++) {
        struct backend_part *part = &to->parts[i];

        if (part->event == event && part->statement == before->statement)
            part->ns -= part->ns < before_ns ? part->ns : before_ns;
    }
    add(to, &(struct backend_part){ .statement = now->statement,
                                    .event = event,
                                    .activity = BACKEND_ACTIVITY_NONE,
                                    .ns = ns });
}

/* The kinds of time that an account has the sum of. */
enum kind { KIND_CPU, KIND_RUN_QUEUE, KIND_THROTTLED, KIND_WAIT };

static enum kind kind_of(uint32_t event)
{
    return event == BACKEND_EVENT_CPU         ? KIND_CPU
           : event == BACKEND_EVENT_RUN_QUEUE ? KIND_RUN_QUEUE
           : event == BACKEND_EVENT_THROTTLED ? KIND_THROTTLED
                                              : KIND_WAIT;
}

bool backend_part_is_wait(const struct backend_part *part)
{
    return kind_of(part->event) == KIND_WAIT;
}

/* Subtracts what is more than `most_ns` from the largest parts of a kind. Returns what is missing.
 */
static uint64_t limit(struct parts *to, enum kind kind, uint64_t most_ns)
{
    uint64_t sum_ns = 0;

    for (size_t i = 0; i < to->count; i++)
        sum_ns += kind_of(to->parts[i].event) == kind ? to->parts[i].ns : 0;
    while (sum_ns > most_ns) {
        struct backend_part *largest = NULL;
        uint64_t off_ns;

        for (size_t i = 0; i < to->count; i++) {
            struct backend_part *part = &to->parts[i];

            if (kind_of(part->event) == kind && (largest == NULL || part->ns > largest->ns))
                largest = part;
        }
        if (largest == NULL)
            break;
        off_ns = largest->ns < sum_ns - most_ns ? largest->ns : sum_ns - most_ns;
        largest->ns -= off_ns;
        sum_ns -= off_ns;
    }
    return most_ns - sum_ns;
}

static uint64_t ns_of(const struct parts *of, uint32_t event, uint32_t activity)
{
    uint64_t ns = 0;

    for (size_t i = 0; i < of->count; i++) {
        if (of->parts[i].event == event && of->parts[i].activity == activity)
            ns += of->parts[i].ns;
    }
    return ns;
}

static void add_other(struct parts *to, uint32_t event, uint32_t activity, uint64_t ns)
{
    add(to,
        &(struct backend_part){ .is_other = true, .event = event, .activity = activity, .ns = ns });
}

/* Adds the waits that are in no share. Where the account has a whole class of events in one wait,
 * and the shares have the events, waits of that class seem to be missing: so `rest_ns` limits what
 * is added. */
static void add_other_waits(struct parts *to, const struct backend_account *since, uint64_t rest_ns)
{
    for (uint32_t i = 0; i < since->wait_count && rest_ns > 0; i++) {
        const struct backend_wait *wait = &since->waits[i];
        const uint64_t in_shares_ns = ns_of(to, wait->event, wait->activity);
        const uint64_t missing_ns = wait->ns > in_shares_ns ? wait->ns - in_shares_ns : 0;
        const uint64_t ns = missing_ns < rest_ns ? missing_ns : rest_ns;

        add_other(to, wait->event, wait->activity, ns);
        rest_ns -= ns;
    }
}

size_t backend_parts_since(const struct backend_statements *now,
                           const struct backend_statements *before,
                           const struct backend_account *since,
                           struct backend_part ret[BACKEND_PARTS_MAX])
{
    struct parts parts = { .parts = ret };
    uint64_t waits_ns = 0, cpu_ns, run_queue_ns, throttled_ns;

    for (uint32_t i = 0; i < since->wait_count; i++)
        waits_ns += since->waits[i].ns;
    add_shares(&parts, now, before);
    add_pending(&parts, now, before, BACKEND_EVENT_CPU, now->cpu_ns,
                before != NULL ? before->cpu_ns : 0);
    add_pending(&parts, now, before, BACKEND_EVENT_RUN_QUEUE, now->run_queue_ns,
                before != NULL ? before->run_queue_ns : 0);
    add_pending(&parts, now, before, BACKEND_EVENT_THROTTLED, now->throttled_ns,
                before != NULL ? before->throttled_ns : 0);
    cpu_ns = limit(&parts, KIND_CPU, since->cpu_ns);
    run_queue_ns = limit(&parts, KIND_RUN_QUEUE, since->run_queue_ns);
    throttled_ns = limit(&parts, KIND_THROTTLED, since->throttled_ns);
    add_other_waits(&parts, since, limit(&parts, KIND_WAIT, waits_ns));
    add_other(&parts, BACKEND_EVENT_CPU, BACKEND_ACTIVITY_NONE, cpu_ns);
    add_other(&parts, BACKEND_EVENT_RUN_QUEUE, BACKEND_ACTIVITY_NONE, run_queue_ns);
    add_other(&parts, BACKEND_EVENT_THROTTLED, BACKEND_ACTIVITY_NONE, throttled_ns);
    return parts.count;
}
