#include "threads_causes.h"

#include "causes_inside.h"
#include "counters/error.h"
#include "sources/thread_observer.h"

#include <stdlib.h>

struct threads_causes {
    struct source source; /* must be the first member */
    struct source *threads;
    struct thread_observer observer;
    struct causes_source causes; /* without a registry: it observes that of the threads */
    int32_t pid;                 /* the watched process, or 0 */
    const char *name;            /* until the session is open: the watched name, or NULL */
};

static int opened(void *context, struct camp_states *session, struct camp_error *error)
{
    struct threads_causes *source = context;

    source->causes.session = session;
    if (source->pid != 0)
        return causes_watch_process(&source->causes, source->pid, error);
    return source->name != NULL ? causes_watch_name(&source->causes, source->name, error) : CAMP_OK;
}

static int before_exits(void *context, struct camp_error *error)
{
    return causes_read_groups(&((struct threads_causes *)context)->causes, error);
}

static int before_snapshot(void *context, struct camp_error *error)
{
    struct causes_source *causes = &((struct threads_causes *)context)->causes;
    const int r = causes_read_ledger(causes, error);

    if (r == CAMP_OK)
        causes_set_groups(causes, &causes->now);
    return r;
}

static int did(void *context, const struct camp_thread_states *since)
{
    struct causes_source *causes = &((struct threads_causes *)context)->causes;
    uint32_t group;

    return cause_groups_find(&causes->groups, &causes->cgroups, since, &group)
               ? causes_did(causes, since, group)
               : CAMP_E_NOMEM;
}

static int waited(void *context, const struct camp_thread_states *thread, uint32_t state,
                  uint64_t threads, uint64_t wait_ns)
{
    struct causes_source *causes = &((struct threads_causes *)context)->causes;
    uint32_t group;

    if (!cause_groups_find(&causes->groups, &causes->cgroups, thread, &group))
        return CAMP_E_NOMEM;
    causes_note_sleep(causes, thread, group,
                      &(struct open_sleep){ .pid = thread->pid,
                                            .state = state,
                                            .threads = (uint32_t)threads,
                                            .is_whole = true,
                                            .most_ns = wait_ns });
    return causes_waited(causes, group, state, threads, wait_ns);
}

static const struct schema *describe(const struct source *base)
{
    const struct source *threads = ((const struct threads_causes *)base)->threads;

    return threads->describe(threads);
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct threads_causes *source = (struct threads_causes *)base;
    struct causes *causes = &source->causes.causes;
    int r;

    causes_clear_times(causes);
    source->causes.open_sleeps.count = 0;
    r = source->threads->next(source->threads, deadline_ns, ret_frame, error);
    if (r != CAMP_OK)
        return r;
    causes->start_ns = (*ret_frame)->start_ns;
    causes->end_ns = (*ret_frame)->end_ns;
    causes->wall_clock_ns = (*ret_frame)->wall_clock_ns;
    r = causes_finish(&source->causes, &(const struct causes *){ NULL }, error);
    if (r == CAMP_OK)
        causes_release_groups(&source->causes);
    return r;
}

static const struct frame *beside(const struct source *base)
{
    return source_beside(((const struct threads_causes *)base)->threads);
}

static void set_idle(struct source *base, enum idle_rows idle)
{
    source_set_idle(((struct threads_causes *)base)->threads, idle);
}

static int causes(struct source *base, const struct causes **ret, struct camp_error *error)
{
    (void)error;
    *ret = &((struct threads_causes *)base)->causes.causes;
    return CAMP_OK;
}

static void close_causes(struct source *base)
{
    struct threads_causes *source = (struct threads_causes *)base;

    source_close(source->threads);
    causes_release(&source->causes);
    free(source);
}

int threads_causes_open(uint32_t options, int32_t pid, const char *name,
                        const volatile sig_atomic_t *stop, struct source **ret,
                        struct camp_error *error)
{
    struct threads_causes *source = calloc(1, sizeof *source);
    int r;

    if (source == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the causes of waits");
    source->source = (struct source){ describe, next, close_causes, beside, set_idle, causes };
    source->causes.names_open_sleeps = true;
    source->pid = pid;
    source->name = name;
    source->observer =
        (struct thread_observer){ source, opened, before_exits, before_snapshot, did, waited };
    r = causes_allocate(&source->causes)
            ? threads_source_open_observed(options | CAMP_STATES_CULPRITS, stop, &source->observer,
                                           &source->threads, error)
            : camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the causes of waits");
    source->name = NULL;
    if (r != CAMP_OK) {
        close_causes(&source->source);
        return r;
    }
    causes_keep_reading(&source->causes);
    *ret = &source->source;
    return CAMP_OK;
}
