/* The thread of one server: opens its source, reads its intervals, and hands them over with the
 * texts of their labels, because the thread has labels of its own (ledger/labels.h). */
#include "servers_inside.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "ledger/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long a thread waits for the next request before its interval starts with an open end. */
#define REQUEST_NS (50 * (uint64_t)NS_PER_MS)
/* The deadline of an interval with an open end, which ends by source_ends_early(). */
#define OPEN_END_NS (3600 * (uint64_t)NS_PER_S)
#define SHORTEST_PAUSE_NS ((uint64_t)NS_PER_S)
#define LONGEST_PAUSE_NS (10 * (uint64_t)NS_PER_S)

static _Thread_local const struct server_worker *of_this_thread;

static bool is_closing(void)
{
    return atomic_load(&of_this_thread->servers->is_closing);
}

/* Returns whether the interval is over that next() waits for. */
static bool shall_end(void)
{
    const struct servers *servers = of_this_thread->servers;

    return is_closing() || (atomic_load(&servers->request) > of_this_thread->delivered &&
                            now_ns(CLOCK_MONOTONIC) >= atomic_load(&servers->deadline_ns));
}

static void signal_answer(struct server_worker *worker)
{
    pthread_cond_signal(&worker->servers->answered);
}

static void close_source(struct server_worker *worker)
{
    source_close(worker->source);
    worker->source = NULL;
}

static void fail(struct server_worker *worker, const struct camp_error *error)
{
    struct servers *servers = worker->servers;

    pthread_mutex_lock(&servers->lock);
    worker->failure = *error;
    worker->state = SERVER_DOWN;
    worker->is_ready = false;
    signal_answer(worker);
    pthread_mutex_unlock(&servers->lock);
    close_source(worker);
    worker->failures++;
}

static int compare_pids(const void *left, const void *right)
{
    const int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;

    return a < b ? -1 : a > b;
}

/* Notes the processes of the sessions that a server on this machine has. */
static void note_pids(struct server_worker *worker, const struct frame *frame)
{
    free(worker->pids);
    worker->pid_count = 0;
    worker->pids = calloc(frame->entity_count + 1, sizeof *worker->pids);
    for (size_t i = 0; worker->pids != NULL && i < frame->entity_count; i++) {
        if (frame->entities[i].pid > 0)
            worker->pids[worker->pid_count++] = frame->entities[i].pid;
    }
    if (worker->pid_count > 0)
        qsort(worker->pids, worker->pid_count, sizeof *worker->pids, compare_pids);
}

/* Opens the source. Then waits for the columns of all servers, and reads an interval that is not
 * shown, so that the intervals of all servers start at the same time. */
static int open_source(struct server_worker *worker, struct camp_error *error)
{
    struct servers *servers = worker->servers;
    struct from from = servers->from;
    struct from_facts facts = { 0 };
    const struct frame *frame;
    int r;

    from.text = worker->text;
    r = servers->open(&from, &worker->source, &facts, error);
    if (r != CAMP_OK) {
        worker->source = NULL;
        return r;
    }
    worker->division = NULL; /* as every source begins */
    r = worker->source->next(worker->source, now_ns(CLOCK_MONOTONIC), &frame, error);
    if (r != CAMP_OK)
        return r;
    if (facts.server_cpus > 0)
        note_pids(worker, frame);
    pthread_mutex_lock(&servers->lock);
    worker->facts = facts;
    worker->kind = worker->source->describe(worker->source)->name;
    if (!servers->goes) {
        worker->state = SERVER_WAITS;
        signal_answer(worker);
    }
    while (!servers->goes && !is_closing())
        servers_wait(servers, &servers->asked, UINT64_MAX);
    pthread_mutex_unlock(&servers->lock);
    if (is_closing())
        return CAMP_OK;
    r = server_places_find(&worker->places, worker->source->describe(worker->source),
                           &servers->columns, error);
    return r == CAMP_OK
               ? worker->source->next(worker->source, now_ns(CLOCK_MONOTONIC), &frame, error)
               : r;
}

static void start(struct server_worker *worker)
{
    struct camp_error error = { 0 };
    const int r = open_source(worker, &error);

    if (r != CAMP_OK) {
        error.code = r;
        fail(worker, &error);
        return;
    }
    pthread_mutex_lock(&worker->servers->lock);
    worker->state = SERVER_RUNS;
    /* It may still answer the request that next() waits for. */
    worker->delivered = atomic_load(&worker->servers->request);
    worker->delivered -= worker->delivered > 0;
    worker->failures = 0;
    pthread_mutex_unlock(&worker->servers->lock);
}

static bool append_text(struct server_interval *interval, const char *text)
{
    const size_t size = strlen(text) + 1;

    if (!ARRAY_RESERVE(interval->texts, interval->capacity, interval->length + size))
        return false;
    memcpy(interval->texts + interval->length, text, size);
    interval->length += size;
    return true;
}

/* Writes the values of all labels but the first, which is the server's name. */
static bool add_labels(struct server_worker *worker, labels_id labels)
{
    const struct schema *of_server = worker->source->describe(worker->source);
    const size_t count = worker->servers->columns.schema.label_count;
    const char *values[LABELS_MOST] = { NULL };
    bool good = true;

    for (size_t i = 0; i < of_server->label_count; i++) {
        if (worker->places.labels[i] != SIZE_MAX)
            values[worker->places.labels[i]] = labels_value(labels, i);
    }
    for (size_t i = 1; i < count && good; i++)
        good = append_text(&worker->interval, values[i] != NULL ? values[i] : "");
    return good;
}

static bool add_row(struct server_worker *worker, const struct frame *from, size_t row)
{
    const size_t *places = worker->places.columns;
    struct frame *frame = &worker->interval.frame;
    struct entity *entity = frame_add(frame);
    const size_t at = frame->entity_count - 1;
    const uint32_t only = from->only_states[row];
    uint64_t *values;

    if (entity == NULL)
        return false;
    *entity = from->entities[row];
    entity->id = entity_of_server(worker->number, entity->id);
    entity->flags |= worker->places.lacks_throttled ? ENTITY_UNTHROTTLED : 0;
    frame->elapsed_ns[at] = from->elapsed_ns[row];
    frame->only_states[at] = only != 0 ? (uint32_t)places[only - 1] + 1 : 0;
    values = frame_values(frame, at);
    for (size_t i = 0; i < from->schema->column_count; i++) {
        if (places[i] != SIZE_MAX)
            values[places[i]] = frame_values(from, row)[i];
    }
    return add_labels(worker, entity->labels);
}

/* Called with the lock. */
static int hand_over(struct server_worker *worker, const struct frame *from)
{
    struct server_interval *interval = &worker->interval;
    const struct source *source = worker->source;
    const struct frame *events = source_beside(source);
    bool good = true;

    frame_start_at(&interval->frame, from);
    interval->frame.note = NULL;
    interval->length = 0;
    interval->facts = *source->session_facts(source);
    snprintf(interval->note, sizeof interval->note, "%s", from->note != NULL ? from->note : "");
    for (size_t i = 0; i < from->entity_count && good; i++)
        good = add_row(worker, from, i);
    interval->first_event = interval->frame.entity_count;
    for (size_t i = 0; events != NULL && i < events->entity_count && good; i++)
        good = add_row(worker, events, i);
    return good ? CAMP_OK : CAMP_E_NOMEM;
}

static uint64_t wait_for_request(struct server_worker *worker)
{
    struct servers *servers = worker->servers;
    const uint64_t until_ns = now_ns(CLOCK_MONOTONIC) + REQUEST_NS;
    uint64_t deadline_ns;
    bool has_request;

    pthread_mutex_lock(&servers->lock);
    while (!(has_request = atomic_load(&servers->request) > worker->delivered) && !is_closing() &&
           servers_wait(servers, &servers->asked, until_ns))
        ;
    deadline_ns =
        has_request ? atomic_load(&servers->deadline_ns) : now_ns(CLOCK_MONOTONIC) + OPEN_END_NS;
    pthread_mutex_unlock(&servers->lock);
    return deadline_ns;
}

static void choose_rows(struct server_worker *worker)
{
    const char *division = atomic_load(&worker->servers->division);

    if (division != worker->division)
        source_set_division(worker->source, division);
    worker->division = division;
}

/* Reads an interval. If next() had to go on without it, it is one of the next interval. */
static void read_interval(struct server_worker *worker)
{
    struct servers *servers = worker->servers;
    const uint64_t deadline_ns = wait_for_request(worker);
    struct camp_error error = { 0 };
    const struct frame *frame;
    int r;

    choose_rows(worker);
    r = worker->source->next(worker->source, deadline_ns, &frame, &error);
    pthread_mutex_lock(&servers->lock);
    while (worker->is_ready && !is_closing())
        servers_wait(servers, &servers->asked, UINT64_MAX);
    if (r == CAMP_OK && !is_closing())
        r = hand_over(worker, frame);
    if (r == CAMP_OK) {
        worker->is_ready = true;
        worker->delivered = atomic_load(&servers->request);
        signal_answer(worker);
    }
    pthread_mutex_unlock(&servers->lock);
    if (r == CAMP_OK)
        return;
    if (error.message[0] == '\0')
        camp_fail(&error, r, 0, "no memory for the sessions");
    fail(worker, &error);
}

static void pause_after_failure(struct server_worker *worker)
{
    struct servers *servers = worker->servers;
    const uint64_t pause_ns = SHORTEST_PAUSE_NS * worker->failures;
    const uint64_t until_ns =
        now_ns(CLOCK_MONOTONIC) + (pause_ns < LONGEST_PAUSE_NS ? pause_ns : LONGEST_PAUSE_NS);

    pthread_mutex_lock(&servers->lock);
    while (!is_closing() && servers_wait(servers, &servers->asked, until_ns))
        ;
    pthread_mutex_unlock(&servers->lock);
}

static void *run(void *context)
{
    struct server_worker *worker = context;

    of_this_thread = worker;
    source_ends_early = shall_end;
    source_interrupted = is_closing;
    labels_use_store(worker->labels);
    start(worker);
    while (!is_closing()) {
        if (worker->source != NULL) {
            read_interval(worker);
        } else {
            pause_after_failure(worker);
            if (!is_closing())
                start(worker);
        }
    }
    close_source(worker);
    return NULL;
}

/* All signals stay with the thread that handles them. */
int server_worker_start(struct server_worker *worker)
{
    sigset_t all, before;

    frame_init(&worker->interval.frame, &worker->servers->columns.schema);
    worker->labels = labels_store_open(SERVER_LABELS_BYTES);
    if (worker->labels == NULL)
        return CAMP_E_NOMEM;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    worker->has_thread = pthread_create(&worker->thread, NULL, run, worker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return worker->has_thread ? CAMP_OK : CAMP_E_NOMEM;
}

void server_worker_close(struct server_worker *worker)
{
    if (worker->has_thread)
        pthread_join(worker->thread, NULL);
    labels_store_close(worker->labels);
    server_places_release(&worker->places);
    frame_release(&worker->interval.frame);
    free(worker->interval.texts);
    free(worker->pids);
    free(worker->text);
}
