#include "causes_inside.h"
#include "counters/error.h"

int causes_start(struct causes_source *source, bool *ret_regroups, struct camp_error *error)
{
    const int r = causes_end_interval(source, error);

    if (source->is_finished)
        causes_clear_times(&source->causes);
    source->is_finished = false;
    *ret_regroups = source->registry.regroups;
    source->registry.regroups = false;
    return r;
}

int causes_find_group(struct causes_source *source, const struct camp_thread_states *thread,
                      uint32_t *ret)
{
    return causes_member(source, NULL, thread, ret);
}

void causes_account(struct causes_source *source, const struct camp_thread_states *since,
                    uint32_t group)
{
    causes_did(source, since, group);
}

void causes_account_idle(struct causes_source *source, uint32_t group, uint32_t state,
                         uint64_t threads, uint64_t wait_ns)
{
    causes_waited(source, group, state, threads, wait_ns);
}

const struct camp_wait_lengths *causes_lengths(const struct causes_source *source,
                                               size_t *ret_count)
{
    *ret_count = source->before.length_count;
    return source->before.lengths;
}

int causes_beside(struct camp_states *session, struct causes_source **ret, struct camp_error *error)
{
    *ret = causes_make_source();
    if (*ret == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the causes of waits");
    (*ret)->session = session;
    (*ret)->is_beside = true;
    (*ret)->causes.end_ns = source_clock_ns(CLOCK_MONOTONIC);
    return CAMP_OK;
}
