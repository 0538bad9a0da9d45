#include "time_family.h"

#include "ledger/array.h"
#include "sources/machine/thread_states.h"

#include <stdlib.h>
#include <string.h>

#define TAKEN_AT_ONCE 256
#define TOTALS_COME_AFTER 3 /* calls of camp_states_exits() */
#define GENERATIONS_MAX 256 /* more than a chain of parents is long */

void family_release(struct family *family)
{
    free(family->threads);
    free(family->sums);
    *family = (struct family){ 0 };
}

int family_collect_exited(struct family *family, struct camp_states *session,
                          struct camp_error *error)
{
    size_t count;

    do {
        int r = ARRAY_RESERVE(family->threads, family->capacity, family->count + TAKEN_AT_ONCE)
                    ? CAMP_OK
                    : CAMP_E_NOMEM;

        if (r == CAMP_OK)
            r = camp_states_exits(session, family->threads + family->count, sizeof *family->threads,
                                  TAKEN_AT_ONCE, &count, error);
        if (r != CAMP_OK)
            return r;
        family->count += count;
    } while (count == TAKEN_AT_ONCE);
    return CAMP_OK;
}

int family_collect_living(struct family *family, struct camp_states *session,
                          struct camp_error *error)
{
    size_t count = TAKEN_AT_ONCE;
    int r;

    do {
        r = ARRAY_RESERVE(family->threads, family->capacity, family->count + count) ? CAMP_OK
                                                                                    : CAMP_E_NOMEM;
        if (r == CAMP_OK)
            r = camp_states_threads(session, family->threads + family->count,
                                    sizeof *family->threads, family->capacity - family->count,
                                    &count, error);
    } while (r == CAMP_E_SPACE);
    if (r == CAMP_OK)
        family->count += count;
    return r;
}

static bool has_ended(const struct family *family, const struct camp_thread_states *thread)
{
    for (size_t i = family->count; i-- > 0;) {
        if ((family->threads[i].flags & CAMP_THREAD_ENDED) != 0 &&
            thread_states_same(&family->threads[i], thread))
            return true;
    }
    return false;
}

void family_drop_duplicates(struct family *family)
{
    size_t kept = 0;

    for (size_t i = 0; i < family->count; i++) {
        const struct camp_thread_states *thread = &family->threads[i];

        if ((thread->flags & CAMP_THREAD_ENDED) != 0 || !has_ended(family, thread))
            family->threads[kept++] = *thread;
    }
    family->count = kept;
}

int family_collect_rest(struct family *family, struct camp_states *session,
                        struct camp_error *error)
{
    int r = family_collect_living(family, session, error);

    for (int i = 0; r == CAMP_OK && i < TOTALS_COME_AFTER; i++)
        r = family_collect_exited(family, session, error);
    family_drop_duplicates(family);
    return r;
}

void family_keep(struct family *family, int32_t pid)
{
    size_t kept = 0;

    for (size_t i = 0; i < family->count; i++) {
        if (family->threads[i].pid == pid)
            family->threads[kept++] = family->threads[i];
    }
    family->count = kept;
}

bool family_has_exit(const struct family *family, int32_t pid)
{
    for (size_t i = family->count; i-- > 0;) {
        if (family->threads[i].tid == pid && (family->threads[i].flags & CAMP_THREAD_ENDED) != 0)
            return true;
    }
    return false;
}

/* By process; of one pid that was used again, by time. */
static int compare_processes(const void *a, const void *b)
{
    const struct camp_thread_states *left = a, *right = b;

    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    return left->time_ns < right->time_ns ? -1 : left->time_ns > right->time_ns;
}

/* The first thread of this pid found at this time or later, or its place. */
static size_t place_of(const struct family *family, int32_t pid, uint64_t time_ns)
{
    const struct camp_thread_states wanted = { .pid = pid, .time_ns = time_ns };

    return ARRAY_POSITION(&wanted, family->threads, family->count, compare_processes);
}

/* A thread of the process that had this pid at this time; NULL: none. A total comes after its
 * threads have exited: their parent may have exited before, as the last one with its pid. */
static const struct camp_thread_states *find(const struct family *family, int32_t pid,
                                             uint64_t time_ns, bool of_total)
{
    const struct camp_thread_states *threads = family->threads;
    const size_t place = place_of(family, pid, time_ns);

    if (place < family->count && threads[place].pid == pid)
        return &threads[place];
    return of_total && place > 0 && threads[place - 1].pid == pid ? &threads[place - 1] : NULL;
}

/* A parent lives while it is a parent: orphans go to `root`, the reaper. */
static bool descends(const struct family *family, const struct camp_thread_states *thread,
                     int32_t root)
{
    uint64_t time_ns = thread->time_ns;

    for (int i = 0; thread != NULL && i < GENERATIONS_MAX; i++) {
        const bool total = (thread->flags & CAMP_THREAD_TOTAL) != 0;

        if (thread->parent == root)
            return thread->pid != root;
        thread = find(family, thread->parent, time_ns, total);
        if (total && thread != NULL)
            time_ns = thread->time_ns;
    }
    return false;
}

static void add(struct family_sum *sum, const struct camp_thread_states *thread)
{
    sum->threads += thread->count;
    sum->processes += thread->processes;
    sum->running += (thread->flags & CAMP_THREAD_ENDED) == 0;
    sum->elapsed_ns += thread->time_ns - thread->begin_ns;
    for (size_t i = 0; i < CAMP_STATE_COUNT; i++)
        sum->state_ns[i] += thread->state_ns[i];
    sum->cpu_ns += thread->cpu_ns;
    sum->system_calls += thread->system_calls;
    sum->minor_faults += thread->minor_faults;
    sum->major_faults += thread->major_faults;
    sum->voluntary_switches += thread->voluntary_switches;
    sum->involuntary_switches += thread->involuntary_switches;
    sum->read_bytes += thread->read_bytes;
    sum->written_bytes += thread->written_bytes;
}

/* The name of a thread's process is that of its first thread. */
static const char *process_name(const struct family *family, size_t at)
{
    const struct camp_thread_states *threads = family->threads;
    const int32_t pid = threads[at].pid;

    if ((threads[at].flags & CAMP_THREAD_TOTAL) != 0)
        return threads[at].name;
    for (size_t i = at; i < family->count && threads[i].pid == pid; i++) {
        if (threads[i].tid == pid)
            return threads[i].name;
    }
    for (size_t i = at; i-- > 0 && threads[i].pid == pid;) {
        if (threads[i].tid == pid)
            return threads[i].name;
    }
    return threads[at].name;
}

static struct family_sum *sum_of(struct family *family, const char name[CAMP_STATES_NAME_SIZE])
{
    struct family_sum *grown;

    for (size_t i = 0; i < family->sum_count; i++) {
        if (strcmp(family->sums[i].name, name) == 0)
            return &family->sums[i];
    }
    if (!ARRAY_RESERVE(family->sums, family->sum_capacity, family->sum_count + 1))
        return NULL;
    grown = &family->sums[family->sum_count++];
    *grown = (struct family_sum){ 0 };
    memcpy(grown->name, name, sizeof grown->name);
    return grown;
}

static int compare_sums(const void *a, const void *b)
{
    const struct family_sum *left = a, *right = b;

    if (left->elapsed_ns != right->elapsed_ns)
        return left->elapsed_ns > right->elapsed_ns ? -1 : 1;
    return strcmp(left->name, right->name);
}

typedef bool membership(const struct family *family, const struct camp_thread_states *thread,
                        int32_t of);

static int add_up(struct family *family, membership *is_member, int32_t of)
{
    family->sum_count = 0;
    family->total = (struct family_sum){ 0 };
    if (family->count > 0)
        qsort(family->threads, family->count, sizeof *family->threads, compare_processes);
    for (size_t i = 0; i < family->count; i++) {
        struct family_sum *sum;

        if (!is_member(family, &family->threads[i], of))
            continue;
        sum = sum_of(family, process_name(family, i));
        if (sum == NULL)
            return CAMP_E_NOMEM;
        add(sum, &family->threads[i]);
        add(&family->total, &family->threads[i]);
    }
    if (family->sum_count > 0)
        qsort(family->sums, family->sum_count, sizeof *family->sums, compare_sums);
    return CAMP_OK;
}

int family_add_up_descendants(struct family *family, int32_t root)
{
    return add_up(family, descends, root);
}

static bool is_of_process(const struct family *family, const struct camp_thread_states *thread,
                          int32_t pid)
{
    (void)family;
    return thread->pid == pid;
}

int family_add_up_process(struct family *family, int32_t pid)
{
    return add_up(family, is_of_process, pid);
}

void family_subtract(struct family *family, const struct family *before)
{
    for (size_t i = 0; i < family->count; i++) {
        struct camp_thread_states *now = &family->threads[i];
        const struct camp_thread_states *then = NULL;

        for (size_t k = 0; k < before->count && then == NULL; k++) {
            if (thread_states_same(&before->threads[k], now))
                then = &before->threads[k];
        }
        if (then != NULL)
            thread_states_subtract(now, then);
    }
}
