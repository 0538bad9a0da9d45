/*
 * The throttled time of a wait is charged like the rest of the wait, because no event reports when
 * a group is throttled. It is subtracted afterwards, by CULPRIT_CORRECTION, and nobody knows from
 * which culprit. So it is divided among those that were charged in the same interval.
 *
 * Only what was charged since the last reading is corrected. If the whole sum since the start of
 * the session were, a throttled time would also change the charges of earlier intervals, and the
 * difference of two readings could be negative. If the throttled time is longer than all that was
 * charged in the interval, the rest is subtracted from what the next intervals charge.
 */
#include "correction.h"

/* Subtracts `owed` from the growths, which have the sum `sum`, in proportion. The divisions round
 * down, so up to CULPRITS_MAX ns remain, which the first ones give. */
static void divide(int64_t *growth, int64_t sum, int64_t owed)
{
    int64_t left = owed;

    for (uint32_t i = 0; i < CULPRITS_MAX; i++) {
        int64_t part = (int64_t)((long double)growth[i] * (long double)owed / (long double)sum);

        if (part > growth[i])
            part = growth[i];
        if (part > left)
            part = left;
        growth[i] -= part;
        left -= part;
    }
    for (uint32_t i = 0; i < CULPRITS_MAX && left > 0; i++) {
        const int64_t part = growth[i] < left ? growth[i] : left;

        growth[i] -= part;
        left -= part;
    }
}

/* A charge may fall, too: the wait that goes on at a reading is charged to the group that has the
 * CPU, and its interrupts are separated at the next switch. */
void camp_correct_charges(struct corrected *corrected, const int64_t *ns)
{
    int64_t growth[CULPRITS_MAX], sum = 0, owed = corrected->owed_ns;

    for (uint32_t i = 0; i < CULPRITS_MAX; i++) {
        growth[i] = ns[i] - corrected->read_ns[i];
        corrected->read_ns[i] = ns[i];
        if (growth[i] < 0) {
            owed -= growth[i];
            growth[i] = 0;
        }
        sum += growth[i];
    }
    corrected->owed_ns = owed > sum ? owed - sum : 0;
    if (owed >= sum)
        return;
    if (owed > 0)
        divide(growth, sum, owed);
    for (uint32_t i = 0; i < CULPRITS_MAX; i++)
        corrected->reported_ns[i] += growth[i];
}
