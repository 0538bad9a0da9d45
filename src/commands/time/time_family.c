#include "time_family.h"

#include "counters/units.h"
#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

/* Totals (CAMP_THREAD_TOTAL) come only after this number of further calls of
 * camp_states_exits(). */
#define TOTALS_COME_AFTER 2
#define EXITS_TAKE_NS NS_PER_S /* the longest wait for the last records of exited threads */
#define GENERATIONS_MAX 256    /* the maximum length of a chain of parents */

static int add_thread(void *context, const struct camp_thread_states *since, uint32_t group)
{
    struct family *family = context;

    (void)group;
    return family->only_pid == 0 || since->pid == family->only_pid
               ? thread_list_add(&family->threads, since)
               : CAMP_OK;
}

static int add_idle(void *context, const struct camp_states_wait *wait, uint32_t group)
{
    const struct camp_thread_states since = thread_waited(wait);

    return add_thread(context, &since, group);
}

void family_init(struct family *ret, uint64_t unmeasured)
{
    struct threads_columns of_threads;

    *ret = (struct family){ 0 };
    thread_registry_init(
        &ret->registry,
        &(struct thread_user){ .context = ret, .did = add_thread, .waited = add_idle });
    threads_columns_fill(&of_threads, unmeasured);
    ret->schema = of_threads.schema;
    ret->unmeasured = unmeasured;
    memcpy(ret->columns, of_threads.columns, sizeof of_threads.columns);
    ret->columns[ret->schema.column_count++] =
        (struct column){ .name = "processes", .kind = COLUMN_COUNTER };
    ret->columns[ret->schema.column_count++] =
        (struct column){ .name = "running", .kind = COLUMN_COUNTER };
    ret->schema.columns = ret->columns;
    frame_init(&ret->sums, &ret->schema);
}

void family_release(struct family *family)
{
    thread_registry_release(&family->registry);
    thread_list_release(&family->threads);
    frame_release(&family->sums);
    free(family->order);
    family->order = NULL;
}

int family_start(struct family *family, struct camp_states *session, int32_t pid,
                 struct camp_error *error)
{
    struct thread_list *threads = &family->threads;
    int r;
    size_t kept = 0;

    family->only_pid = pid;
    r = thread_registry_read(&family->registry, session, error);
    for (size_t i = 0; i < threads->count; i++) {
        if ((threads->threads[i].flags & CAMP_THREAD_ENDED) != 0)
            threads->threads[kept++] = threads->threads[i];
    }
    threads->count = kept;
    return r;
}

int family_collect_exited(struct family *family, struct camp_states *session,
                          struct camp_error *error)
{
    return thread_registry_read_exited(&family->registry, session, error);
}

bool family_has_exit(const struct family *family, int32_t pid)
{
    const struct thread_list *threads = &family->threads;

    for (size_t i = threads->count; i-- > 0;) {
        if (threads->threads[i].tid == pid)
            return true;
    }
    return false;
}

int family_collect_rest(struct family *family, struct camp_states *session,
                        struct camp_error *error)
{
    int r = camp_states_await_exits(session, EXITS_TAKE_NS, &family->exiting, error);

    if (r == CAMP_OK)
        r = thread_registry_read(&family->registry, session, error);

    for (int i = 0; r == CAMP_OK && i < TOTALS_COME_AFTER; i++)
        r = thread_registry_read_late(&family->registry, session, error);
    return r;
}

/* Orders threads by pid. Threads of different processes that had the same pid are ordered by
 * time. */
static int compare_processes(const void *a, const void *b)
{
    const struct camp_thread_states *left = a, *right = b;

    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    return left->time_ns < right->time_ns ? -1 : left->time_ns > right->time_ns;
}

/* Returns the index of the first thread of this pid at time_ns or later. If there is none,
 * returns the index where the thread would be. */
static size_t place_of(const struct family *family, int32_t pid, uint64_t time_ns)
{
    const struct camp_thread_states wanted = { .pid = pid, .time_ns = time_ns };

    return ARRAY_POSITION(&wanted, family->threads.threads, family->threads.count,
                          compare_processes);
}

/* Finds a thread of the process that was the parent of `child` at time_ns. If no process had the
 * parent's pid then, finds the last thread that had it before: a total (CAMP_THREAD_TOTAL) is read
 * after its threads have exited, and a thread may leave its CPU for the last time after its parent
 * has waited for it and exited. Returns NULL if there is no such thread. */
static const struct camp_thread_states *
find_parent(const struct family *family, const struct camp_thread_states *child, uint64_t time_ns)
{
    const struct camp_thread_states *threads = family->threads.threads, *before;
    const size_t place = place_of(family, child->parent, time_ns);

    if (child->parent == 0) /* It is outside of the PID namespace. Totals have this pid, too. */
        return NULL;
    if (place < family->threads.count && threads[place].pid == child->parent)
        return &threads[place];
    before = place > 0 ? &threads[place - 1] : NULL;
    if (before == NULL || before->pid != child->parent)
        return NULL;
    if ((child->flags & CAMP_THREAD_TOTAL) == 0 && child->start_ns > before->time_ns)
        return NULL;
    return before;
}

/* Follows the chain of parents from a thread to `root`. A recorded parent was alive when it waited
 * for the thread, because an orphan becomes a child of `root`, the subreaper. */
static bool descends(const struct family *family, const struct camp_thread_states *thread,
                     int32_t root)
{
    uint64_t time_ns = thread->time_ns;

    for (int i = 0; thread != NULL && i < GENERATIONS_MAX; i++) {
        const bool total = (thread->flags & CAMP_THREAD_TOTAL) != 0;

        if (thread->parent == root)
            return thread->pid != root;
        thread = find_parent(family, thread, time_ns);
        if (thread != NULL && (total || thread->time_ns < time_ns))
            time_ns = thread->time_ns;
    }
    return false;
}

static bool is_of_process(const struct family *family, const struct camp_thread_states *thread,
                          int32_t pid)
{
    (void)family;
    return thread->pid == pid;
}

/* Returns the name of the first thread of the process. */
static const char *process_name(const struct family *family, size_t at)
{
    const struct camp_thread_states *threads = family->threads.threads;
    const int32_t pid = threads[at].pid;

    if ((threads[at].flags & CAMP_THREAD_TOTAL) != 0)
        return threads[at].name;
    for (size_t i = at; i < family->threads.count && threads[i].pid == pid; i++) {
        if (threads[i].tid == pid)
            return threads[i].name;
    }
    for (size_t i = at; i-- > 0 && threads[i].pid == pid;) {
        if (threads[i].tid == pid)
            return threads[i].name;
    }
    return threads[at].name;
}

static bool add_row(struct frame *sums, const char name[CAMP_STATES_NAME_SIZE])
{
    struct entity *entity = frame_add(sums);

    if (entity == NULL)
        return false;
    entity->count = 0;
    memcpy(entity->name, name, CAMP_STATES_NAME_SIZE);
    return true;
}

/* Returns the row with this name, and adds the row if it does not exist. Returns 0 if there is
 * no memory. */
static size_t row_of(struct frame *sums, const char *name)
{
    size_t row = 1;

    while (row < sums->entity_count && strcmp(sums->entities[row].name, name) != 0)
        row++;
    return row < sums->entity_count || add_row(sums, name) ? row : 0;
}

static void add(struct family *family, size_t row, const struct camp_thread_states *thread)
{
    struct frame *sums = &family->sums;
    uint64_t did[FAMILY_COLUMN_COUNT];

    thread_fill_values(did, thread);
    did[FAMILY_PROCESSES] = thread->processes;
    did[FAMILY_RUNNING] = (thread->flags & CAMP_THREAD_ENDED) == 0;
    threads_values_add(frame_values(sums, row), family->unmeasured, did, FAMILY_COLUMN_COUNT);
    sums->entities[row].count += thread->count;
    sums->elapsed_ns[row] += thread->time_ns - thread->begin_ns;
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const size_t left = *(const size_t *)a, right = *(const size_t *)b;
    const struct frame *sums = context;

    if (sums->elapsed_ns[left] != sums->elapsed_ns[right])
        return sums->elapsed_ns[left] > sums->elapsed_ns[right] ? -1 : 1;
    return strcmp(sums->entities[left].name, sums->entities[right].name);
}

static int sort_rows(struct family *family)
{
    const size_t count = family->sums.entity_count - 1;

    free(family->order);
    family->order = calloc(count + 1, sizeof *family->order);
    if (family->order == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        family->order[i] = i + 1;
    qsort_r(family->order, count, sizeof *family->order, compare_rows, &family->sums);
    return CAMP_OK;
}

typedef bool membership(const struct family *family, const struct camp_thread_states *thread,
                        int32_t of);

static int add_up(struct family *family, membership *is_member, int32_t of)
{
    const struct thread_list *threads = &family->threads;
    struct frame *sums = &family->sums;

    frame_clear(sums);
    if (!add_row(sums, (const char[CAMP_STATES_NAME_SIZE]){ "" }))
        return CAMP_E_NOMEM;
    if (threads->count > 0)
        qsort(threads->threads, threads->count, sizeof *threads->threads, compare_processes);
    for (size_t i = 0; i < threads->count; i++) {
        size_t row;

        if (!is_member(family, &threads->threads[i], of))
            continue;
        row = row_of(sums, process_name(family, i));
        if (row == 0)
            return CAMP_E_NOMEM;
        add(family, row, &threads->threads[i]);
        add(family, 0, &threads->threads[i]);
    }
    return sort_rows(family);
}

int family_add_up_descendants(struct family *family, int32_t root)
{
    return add_up(family, descends, root);
}

int family_add_up_process(struct family *family, int32_t pid)
{
    return add_up(family, is_of_process, pid);
}
