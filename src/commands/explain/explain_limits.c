#include "explain_limits.h"

#include "counters/units.h"
#include "ledger/words.h"
#include "sources/causes/open_sleeps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OUTSIDE_LEAST 0.001 /* CPUs */

/* Fills *ret with the waits in futex(2) whose owner is unknown: those of the processes of --pid, or
 * of all. */
static void find_unowned(struct unowned_waits *ret, const struct evidence *evidence)
{
    const struct causes *causes = evidence->causes;

    *ret = (struct unowned_waits){ 0 };
    if (causes != NULL && !evidence->is_part)
        *ret = causes->unowned;
    for (size_t i = 0; causes != NULL && i < causes->open_calls.count; i++) {
        const struct camp_call_sleeps *call = &causes->open_calls.items[i];
        const struct open_fact *fact = &causes->open_facts[i];

        if (fact->group >= CAUSE_GROUPS ||
            !unowned_is(causes, i, fact->names.call, fact->other_end) ||
            (evidence->is_part && evidence_process_find(evidence, call->pid).count == 0))
            continue;
        ret->wait_ns += call->sleep_ns;
        ret->threads += call->count;
        if (call->sleep_ns <= ret->most_ns)
            continue;
        ret->most_ns = call->sleep_ns;
        memcpy(ret->who, fact->who, sizeof ret->who);
    }
}

void explain_limits_fill(struct explain_limits *ret, const struct evidence *evidence)
{
    const double seconds = evidence_seconds(evidence);
    struct unowned_waits unowned;
    char time[FIGURE_SIZE];

    ret->count = 0;
    find_unowned(&unowned, evidence);
    if (unowned.wait_ns > 0 && seconds > 0) {
        figure_text(time, (double)unowned.wait_ns / NS_PER_S / seconds, FIGURE_TIME);
        snprintf(
            ret->texts[ret->count++], SENTENCE_SIZE,
            "Who holds a futex whose memory does not say it (only mutexes of glibc, robust ones "
            "and those with priority inheritance do): %" PRIu64 " %s waited %s a second for "
            "one without an end, for a lock or for work, %s most.",
            unowned.threads, noun_of(unowned.threads, "thread", "threads"), time,
            unowned.who[0] != '\0' ? unowned.who : "an unknown process");
    }
    if (evidence->machine.outside >= OUTSIDE_LEAST)
        snprintf(
            ret->texts[ret->count++], SENTENCE_SIZE,
            "Threads outside of this container (PID namespace) used CPU time, too. No rule can "
            "name them.");
}
