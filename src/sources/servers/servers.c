#include "servers_inside.h"

#include "counters/clock.h"
#include "counters/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_NS (10 * (uint64_t)NS_PER_MS)
/* How long next() waits for servers after its deadline. A server of which it has waited in vain is
 * late, and gets no such time until it has delivered an interval. */
#define PATIENCE_NS (500 * (uint64_t)NS_PER_MS)
/* While the servers are opened, *stop is tested so often. */
#define STOP_NS (50 * (uint64_t)NS_PER_MS)

bool servers_wait(struct servers *servers, pthread_cond_t *condition, uint64_t until_ns)
{
    const struct timespec until = { (time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S) };

    if (until_ns == UINT64_MAX)
        return pthread_cond_wait(condition, &servers->lock) == 0;
    return pthread_cond_timedwait(condition, &servers->lock, &until) == 0;
}

static const struct schema *describe(const struct source *source)
{
    return &((const struct servers *)source)->columns.schema;
}

static void set_division(struct source *source, const char *label)
{
    atomic_store(&((struct servers *)source)->division, label);
}

static const struct frame *beside(const struct source *source)
{
    const struct servers *servers = (const struct servers *)source;
    const char *division = atomic_load(&servers->division);

    return division != NULL && strcmp(division, SOURCE_DIVISION_BESIDE) == 0 ? &servers->events
                                                                             : NULL;
}

static void ask(struct servers *servers, uint64_t deadline_ns)
{
    pthread_mutex_lock(&servers->lock);
    atomic_store(&servers->deadline_ns, deadline_ns);
    atomic_fetch_add(&servers->request, 1);
    pthread_cond_broadcast(&servers->asked);
    pthread_mutex_unlock(&servers->lock);
}

/* Waits for the end of the interval, and returns its time. It is earlier than the deadline if a
 * signal or source_ends_early() ends it. */
static uint64_t wait_for_end(struct servers *servers, uint64_t deadline_ns)
{
    uint64_t now;

    while (
        !source_is_over() &&
        source_wait(deadline_ns, source_ends_early != NULL ? SLICE_NS : UINT64_MAX, servers->stop))
        ;
    now = now_ns(CLOCK_MONOTONIC);
    if (now >= deadline_ns)
        return deadline_ns > servers->frame.end_ns ? deadline_ns : now;
    atomic_store(&servers->deadline_ns, now);
    return now;
}

/* Whether the interval of a server may still arrive in time. */
static bool is_awaited(const struct servers *servers, const struct server_worker *worker)
{
    return (worker->state == SERVER_RUNS || worker->state == SERVER_WAITS) && !worker->is_late &&
           !worker->is_ready && worker->delivered < atomic_load(&servers->request);
}

static bool awaits_any(const struct servers *servers)
{
    for (size_t i = 0; i < servers->count; i++) {
        if (is_awaited(servers, &servers->workers[i]))
            return true;
    }
    return false;
}

/* Adds the rows of a server. Called with the lock. */
static int take_rows(struct servers *servers, struct server_worker *worker)
{
    const struct frame *from = &worker->interval.frame;
    const size_t count = servers->columns.schema.label_count;
    const char *text = worker->interval.texts;

    for (size_t i = 0; i < from->entity_count; i++) {
        const bool is_lost = from->entities[i].labels == LABELS_LOST;
        const char *values[LABELS_MOST] = { worker->name };
        const bool is_event = i >= worker->interval.first_event;
        struct entity *entity =
            frame_add_row(is_event ? &servers->events : &servers->frame, from, i);

        if (entity == NULL)
            return CAMP_E_NOMEM;
        for (size_t label = 1; label < count; label++) {
            values[label] = is_lost ? "" : text;
            text += strlen(text) + 1;
        }
        entity->labels = labels_intern(values, count);
    }
    return CAMP_OK;
}

static int compare_times(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Returns the end of the interval: the median of the ends of the servers' own intervals, which are
 * after the deadline by the time that each took to answer. Without any it is frame.end_ns. */
static uint64_t median_end(const struct servers *servers)
{
    uint64_t ends[SERVERS_MOST];
    size_t count = 0;

    for (size_t i = 0; i < servers->count; i++) {
        const struct server_worker *worker = &servers->workers[i];

        if (worker->is_ready && !worker->is_late)
            ends[count++] = worker->interval.frame.end_ns;
    }
    if (count == 0)
        return servers->frame.end_ns;
    qsort(ends, count, sizeof *ends, compare_times);
    return ends[(count - 1) / 2] > servers->frame.start_ns ? ends[(count - 1) / 2]
                                                           : servers->frame.end_ns;
}

/* Makes the frame of what the servers have delivered. */
static int take_intervals(struct servers *servers)
{
    struct frame *frame = &servers->frame;
    const uint64_t until_ns = now_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    int r = CAMP_OK;

    pthread_mutex_lock(&servers->lock);
    while (awaits_any(servers) && servers_wait(servers, &servers->answered, until_ns))
        ;
    frame->end_ns = median_end(servers);
    frame->losses = (struct losses){ .lost = servers_note(servers) };
    for (size_t i = 0; i < servers->count; i++) {
        struct server_worker *worker = &servers->workers[i];

        servers_report(worker);
        worker->is_late = is_awaited(servers, worker) || (worker->is_late && !worker->is_ready);
        if (!worker->is_ready)
            continue;
        losses_add(&frame->losses, &worker->interval.frame.losses);
        if (r == CAMP_OK)
            r = take_rows(servers, worker);
        worker->is_ready = false;
    }
    pthread_cond_broadcast(&servers->asked);
    pthread_mutex_unlock(&servers->lock);
    return r;
}

static int next(struct source *source, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct servers *servers = (struct servers *)source;
    struct frame *frame = &servers->frame;
    const uint64_t start_ns = frame->end_ns;
    uint64_t now;
    int r;

    ask(servers, deadline_ns);
    frame->end_ns = wait_for_end(servers, deadline_ns);
    labels_start_interval();
    frame_clear(frame);
    frame->start_ns = start_ns;
    frame_start_at(&servers->events, frame);
    r = take_intervals(servers);
    servers->events.end_ns = frame->end_ns;
    now = now_ns(CLOCK_MONOTONIC);
    frame->wall_clock_ns =
        (int64_t)now_ns(CLOCK_REALTIME) - (int64_t)(now > frame->end_ns ? now - frame->end_ns : 0);
    servers->events.wall_clock_ns = frame->wall_clock_ns;
    frame->note = servers->note;
    frame_count_lost_labels(frame);
    *ret_frame = frame;
    return r == CAMP_OK ? r : camp_fail(error, r, 0, "no memory for the sessions");
}

size_t servers_source_count(const struct source *source)
{
    return ((const struct servers *)source)->count;
}

struct server_report servers_source_report(const struct source *source, size_t at)
{
    return ((const struct servers *)source)->workers[at].report;
}

static void close_servers(struct source *source)
{
    struct servers *servers = (struct servers *)source;

    pthread_mutex_lock(&servers->lock);
    atomic_store(&servers->is_closing, true);
    servers->is_stopped = 1;
    pthread_cond_broadcast(&servers->asked);
    pthread_mutex_unlock(&servers->lock);
    for (size_t i = 0; i < servers->count; i++)
        server_worker_close(&servers->workers[i]);
    frame_release(&servers->frame);
    frame_release(&servers->events);
    servers_columns_release(&servers->columns);
    pthread_cond_destroy(&servers->asked);
    pthread_cond_destroy(&servers->answered);
    pthread_mutex_destroy(&servers->lock);
    free((char *)servers->from.tier);
    free((char *)servers->from.rules);
    free(servers->workers);
    free(servers);
}

/* Waits until each server is open or has failed. Called with the lock. */
static void wait_for_opening(struct servers *servers)
{
    for (size_t i = 0; i < servers->count; i++) {
        while (servers->workers[i].state == SERVER_OPENING) {
            servers_wait(servers, &servers->answered, now_ns(CLOCK_MONOTONIC) + STOP_NS);
            servers->is_stopped |= *servers->stop;
        }
    }
}

static bool is_final(int code)
{
    return code == CAMP_E_INVALID || code == CAMP_E_NOTSUP || code == CAMP_E_NOMEM;
}

/* Finds the failure for which opening all servers fails. */
static int find_failure(const struct servers *servers, struct camp_error *error)
{
    const struct server_worker *first = NULL;
    size_t failed = 0;

    for (size_t i = 0; i < servers->count; i++) {
        const struct server_worker *worker = &servers->workers[i];

        if (worker->state != SERVER_DOWN)
            continue;
        failed++;
        if (first == NULL || (is_final(worker->failure.code) && !is_final(first->failure.code)))
            first = worker;
    }
    if (first == NULL || (failed < servers->count && !is_final(first->failure.code)))
        return CAMP_OK;
    return camp_fail(error, first->failure.code, first->failure.system_error, "%s: %s", first->name,
                     first->failure.message);
}

/* Two servers of this machine are the same one if a process serves a session of both. */
static bool are_same(const struct server_worker *left, const struct server_worker *right)
{
    for (size_t i = 0, j = 0; i < left->pid_count && j < right->pid_count;) {
        if (left->pids[i] == right->pids[j])
            return true;
        if (left->pids[i] < right->pids[j])
            i++;
        else
            j++;
    }
    return false;
}

static int refuse_same(const struct servers *servers, struct camp_error *error)
{
    for (size_t i = 0; i < servers->count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (are_same(&servers->workers[j], &servers->workers[i]))
                return camp_fail(error, CAMP_E_INVALID, 0,
                                 "%s and %s are the same server: name it once",
                                 servers->workers[j].name, servers->workers[i].name);
        }
    }
    return CAMP_OK;
}

static int add_columns(struct servers *servers, struct camp_error *error)
{
    bool are_first = true;
    int r = CAMP_OK;

    for (size_t i = 0; i < servers->count && r == CAMP_OK; i++) {
        const struct source *source = servers->workers[i].source;

        if (servers->workers[i].state != SERVER_WAITS)
            continue;
        r = servers_columns_add(&servers->columns, source->describe(source), are_first);
        are_first = false;
    }
    return r == CAMP_OK ? r : camp_fail(error, r, 0, "no memory for the columns of sessions");
}

static int copy_from(struct servers *servers, const struct from *from)
{
    servers->from = *from;
    servers->from.stop = &servers->is_stopped;
    servers->from.tier = from->tier != NULL ? strdup(from->tier) : NULL;
    servers->from.rules = from->rules != NULL ? strdup(from->rules) : NULL;
    return (from->tier == NULL) == (servers->from.tier == NULL) &&
                   (from->rules == NULL) == (servers->from.rules == NULL)
               ? CAMP_OK
               : CAMP_E_NOMEM;
}

static void init_lock(struct servers *servers)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&servers->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&servers->asked, &attributes);
    pthread_cond_init(&servers->answered, &attributes);
    pthread_condattr_destroy(&attributes);
}

static int start_threads(struct servers *servers, const struct server *of, size_t count)
{
    int r = CAMP_OK;

    servers->workers = calloc(count, sizeof *servers->workers);
    if (servers->workers == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < count && r == CAMP_OK; i++) {
        struct server_worker *worker = &servers->workers[i];

        worker->servers = servers;
        worker->number = i + 1;
        worker->text = strdup(of[i].text);
        memcpy(worker->name, of[i].name, sizeof worker->name);
        worker->report.name = worker->name;
        servers->count = i + 1;
        r = worker->text != NULL ? server_worker_start(worker) : CAMP_E_NOMEM;
    }
    return r;
}

/* Opens all servers, and lets their intervals start. */
static int open_all(struct servers *servers, struct from_facts *facts, struct camp_error *error)
{
    int r;

    pthread_mutex_lock(&servers->lock);
    wait_for_opening(servers);
    r = find_failure(servers, error);
    if (r == CAMP_OK)
        r = refuse_same(servers, error);
    if (r == CAMP_OK)
        r = add_columns(servers, error);
    if (r == CAMP_OK) {
        servers_facts(servers, facts);
        servers->frame.end_ns = now_ns(CLOCK_MONOTONIC);
        servers->goes = true;
        pthread_cond_broadcast(&servers->asked);
    }
    pthread_mutex_unlock(&servers->lock);
    return r;
}

int servers_source_open(const struct from *from, const struct server *servers, size_t count,
                        server_opener *open, struct source **ret, struct from_facts *facts,
                        struct camp_error *error)
{
    struct servers *all = calloc(1, sizeof *all);
    int r;

    if (all == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a source");
    all->source = (struct source){
        .describe = describe,
        .next = next,
        .close = close_servers,
        .beside = beside,
        .set_division = set_division,
    };
    all->stop = from->stop;
    all->open = open;
    init_lock(all);
    frame_init(&all->frame, &all->columns.schema);
    frame_init(&all->events, &all->columns.schema);
    r = copy_from(all, from);
    if (r == CAMP_OK)
        r = start_threads(all, servers, count);
    if (r != CAMP_OK)
        camp_fail(error, r, 0, "no memory for the threads of the servers");
    if (from->before_server != NULL)
        from->before_server(); /* in this thread; each thread of a server does so itself */
    if (r == CAMP_OK)
        r = open_all(all, facts, error);
    if (r != CAMP_OK) {
        close_servers(&all->source);
        return r;
    }
    *ret = &all->source;
    return CAMP_OK;
}
