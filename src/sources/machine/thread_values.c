#include "thread_values.h"

#include "ledger/array.h"
#include "ledger/frame.h"
#include "sources/source.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    size_t offset;
    uint32_t known; /* enum camp_thread_states_field */
} counters[THREADS_COLUMN_COUNT] = {
#define COUNTER(name, member)                                                                      \
    [THREADS_##name] = { offsetof(struct camp_thread_states, member), CAMP_THREAD_STATES_##name }
    COUNTER(SYSTEM_CALLS, system_calls),
    COUNTER(SIGNALS, signals),
    COUNTER(VOLUNTARY_SWITCHES, voluntary_switches),
    COUNTER(INVOLUNTARY_SWITCHES, involuntary_switches),
    COUNTER(MINOR_FAULTS, minor_faults),
    COUNTER(MAJOR_FAULTS, major_faults),
    COUNTER(READ_BYTES, read_bytes),
    COUNTER(WRITTEN_BYTES, written_bytes),
    COUNTER(READ_CHARS, read_chars),
    COUNTER(WRITTEN_CHARS, written_chars),
    COUNTER(CPU, cpu_ns),
    COUNTER(RUN_DELAY, run_delay_ns),
    COUNTER(SAMPLED, sampled_ns),
#undef COUNTER
};

size_t thread_value_offset(size_t column)
{
    if (column >= CAMP_STATE_COUNT && column < THREADS_COLUMN_COUNT)
        return counters[column].offset;
    return offsetof(struct camp_thread_states, state_ns) + column * sizeof(uint64_t);
}

uint64_t thread_unknown_columns(const struct camp_states_known *known)
{
    uint64_t unknown = ~known->states & ((1u << CAMP_STATE_COUNT) - 1);

    for (size_t i = CAMP_STATE_COUNT; i < THREADS_COLUMN_COUNT; i++) {
        if ((known->thread & counters[i].known) == 0)
            unknown |= UINT64_C(1) << i;
    }
    return unknown;
}

void thread_fill_values(uint64_t *values, const struct camp_thread_states *since)
{
    memcpy(values, since->state_ns, sizeof since->state_ns);
    for (size_t i = CAMP_STATE_COUNT; i < THREADS_COLUMN_COUNT; i++)
        memcpy(&values[i], (const char *)since + counters[i].offset, sizeof values[i]);
}

static void subtract(struct camp_thread_states *now, const struct camp_thread_states *then)
{
    uint64_t before[THREADS_COLUMN_COUNT], after[THREADS_COLUMN_COUNT];

    thread_fill_values(before, then);
    thread_fill_values(after, now);
    states_since(now->state_ns, before, after, CAMP_STATE_COUNT);
    for (size_t i = CAMP_STATE_COUNT; i < THREADS_COLUMN_COUNT; i++) {
        after[i] = counted_since(before[i], after[i]);
        memcpy((char *)now + counters[i].offset, &after[i], sizeof after[i]);
    }
    now->begin_ns += then->time_ns - then->begin_ns;
}

static struct camp_thread_states without_states(const struct camp_thread_states *now)
{
    struct camp_thread_states ret = *now;

    memset(ret.state_ns, 0, sizeof ret.state_ns);
    ret.time_ns = ret.begin_ns;
    return ret;
}

struct camp_thread_states thread_since(const struct camp_thread_states *now,
                                       const struct camp_thread_states *then)
{
    struct camp_thread_states since = *now;

    if (then != NULL) {
        subtract(&since, then);
    } else if ((now->flags & CAMP_THREAD_OLDER) != 0) {
        const struct camp_thread_states attached = without_states(now);

        subtract(&since, &attached);
    } else {
        since.flags |= THREAD_NEW;
    }
    return since;
}

uint64_t thread_length_ns(const struct camp_thread_states *thread)
{
    return thread->time_ns - thread->begin_ns;
}

bool thread_fits(const struct camp_thread_states *part, const struct camp_thread_states *total)
{
    bool fits = thread_length_ns(part) <= thread_length_ns(total);

    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        fits &= part->state_ns[i] <= total->state_ns[i];
    return fits;
}

struct camp_thread_states thread_waited(const struct camp_states_wait *wait)
{
    static const size_t first = offsetof(struct camp_thread_states, cpu_ns);
    struct camp_thread_states since = *wait->thread;

    memset((char *)&since + first, 0, sizeof since - first);
    since.begin_ns = since.time_ns;
    since.time_ns += wait->elapsed_ns;
    since.state_ns[wait->state] = wait->elapsed_ns;
    return since;
}

void thread_list_release(struct thread_list *list)
{
    free(list->threads);
    *list = (struct thread_list){ 0 };
}

int thread_list_add(struct thread_list *list, const struct camp_thread_states *thread)
{
    if (!ARRAY_RESERVE(list->threads, list->capacity, list->count + 1))
        return CAMP_E_NOMEM;
    list->threads[list->count++] = *thread;
    return CAMP_OK;
}
