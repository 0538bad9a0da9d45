#include "thread_states.h"

#include "ledger/frame.h"

#include <string.h>

bool thread_states_same(const struct camp_thread_states *a, const struct camp_thread_states *b)
{
    return a->pid == b->pid && a->begin_ns == b->begin_ns;
}

void thread_states_subtract(struct camp_thread_states *now, const struct camp_thread_states *then)
{
    states_since(now->state_ns, then->state_ns, now->state_ns, CAMP_STATE_COUNT);
    now->begin_ns += then->time_ns - then->begin_ns;
    now->cpu_ns = counted_since(then->cpu_ns, now->cpu_ns);
    now->run_delay_ns = counted_since(then->run_delay_ns, now->run_delay_ns);
    now->sampled_ns = counted_since(then->sampled_ns, now->sampled_ns);
    now->minor_faults = counted_since(then->minor_faults, now->minor_faults);
    now->major_faults = counted_since(then->major_faults, now->major_faults);
    now->voluntary_switches = counted_since(then->voluntary_switches, now->voluntary_switches);
    now->involuntary_switches =
        counted_since(then->involuntary_switches, now->involuntary_switches);
    now->system_calls = counted_since(then->system_calls, now->system_calls);
    now->signals = counted_since(then->signals, now->signals);
    now->read_bytes = counted_since(then->read_bytes, now->read_bytes);
    now->written_bytes = counted_since(then->written_bytes, now->written_bytes);
    now->read_chars = counted_since(then->read_chars, now->read_chars);
    now->written_chars = counted_since(then->written_chars, now->written_chars);
}

void thread_states_subtract_members(struct camp_thread_states *total, void *pending, size_t count,
                                    size_t stride)
{
    uint32_t left = total->count;

    for (int same_parent = 1; same_parent >= 0; same_parent--) {
        for (size_t i = 0; i < count && left > 0; i++) {
            struct camp_thread_states *then = (void *)((char *)pending + i * stride);

            if ((then->flags & CAMP_THREAD_ENDED) != 0 || strcmp(then->name, total->name) != 0 ||
                (same_parent != 0 && then->parent != total->parent))
                continue;
            thread_states_subtract(total, then);
            then->flags |= CAMP_THREAD_ENDED;
            left--;
        }
    }
}
