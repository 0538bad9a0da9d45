#include "threads_causes.h"

#include "causes_inside.h"
#include "counters/error.h"
#include "sources/thread_observer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct threads_causes {
    struct source source; /* must be the first member */
    struct source *threads;
    struct thread_observer observer;
    struct causes_source causes; /* without a registry: it observes that of the threads */
    const char *subject;         /* until the session is open */
};

/* Returns the pid of a text of digits, 0 for another text, and -1 if no pid is so large. */
static int32_t pid_of(const char *text)
{
    char *end;
    long pid;

    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
        return 0;
    errno = 0;
    pid = strtol(text, &end, 10);
    return errno != 0 || pid < 1 || pid > INT32_MAX ? -1 : (int32_t)pid;
}

static int watch(struct threads_causes *source, struct camp_error *error)
{
    const int32_t pid = source->subject != NULL ? pid_of(source->subject) : 0;

    if (source->subject == NULL)
        return CAMP_OK;
    if (pid < 0)
        return camp_fail(error, CAMP_E_INVALID, 0, "'%s' is not a pid", source->subject);
    return pid > 0 ? causes_watch_process(&source->causes, pid, error)
                   : causes_watch_name(&source->causes, source->subject, error);
}

static int opened(void *context, struct camp_states *session, struct camp_error *error)
{
    struct threads_causes *source = context;

    source->causes.session = session;
    return watch(source, error);
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

    return cause_groups_find(&causes->groups, &causes->cgroups, thread, &group)
               ? causes_waited(causes, group, state, threads, wait_ns)
               : CAMP_E_NOMEM;
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
    r = source->threads->next(source->threads, deadline_ns, ret_frame, error);
    if (r != CAMP_OK)
        return r;
    causes->start_ns = (*ret_frame)->start_ns;
    causes->end_ns = (*ret_frame)->end_ns;
    causes->wall_clock_ns = (*ret_frame)->wall_clock_ns;
    return causes_finish(&source->causes, &(const struct causes *){ NULL }, error);
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

int threads_causes_open(uint32_t options, const char *subject, const volatile sig_atomic_t *stop,
                        struct source **ret, struct camp_error *error)
{
    struct threads_causes *source = calloc(1, sizeof *source);
    int r;

    if (source == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the causes of waits");
    source->source = (struct source){ describe, next, close_causes, beside, set_idle, causes };
    source->subject = subject;
    source->observer =
        (struct thread_observer){ source, opened, before_exits, before_snapshot, did, waited };
    r = causes_allocate(&source->causes)
            ? threads_source_open_observed(options | CAMP_STATES_CULPRITS, stop, &source->observer,
                                           &source->threads, error)
            : camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the causes of waits");
    source->subject = NULL;
    if (r != CAMP_OK) {
        close_causes(&source->source);
        return r;
    }
    causes_keep_reading(&source->causes);
    *ret = &source->source;
    return CAMP_OK;
}
