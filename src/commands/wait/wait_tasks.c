/*
 * Which task waited for which disk, and how long. A thread's state has the exact time of its waits
 * for disks; the session's waits, read a moment later, divide it among the disks. So a thread's
 * rows add up to the state, in the proportions of the waits.
 */
#include "wait_tasks.h"

#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

bool wait_tasks_reserve(struct wait_tasks *tasks, size_t count)
{
    struct wait_reading *now = &tasks->now;

    return ARRAYS_RESERVE(now->capacity, count, ARRAY(now->waits), ARRAY(now->accounted));
}

int wait_tasks_read(struct wait_tasks *tasks, struct camp_states *session, struct camp_error *error)
{
    size_t count = 0;
    int r;

    do {
        if (!wait_tasks_reserve(tasks, count))
            return CAMP_E_NOMEM;
        r = camp_states_disk_waits(session, tasks->now.waits, sizeof *tasks->now.waits,
                                   tasks->now.capacity, &count, error);
    } while (r == CAMP_E_SPACE);
    if (r == CAMP_OK)
        tasks->now.count = count;
    return r;
}

/* Orders by thread, then by disk. */
static int compare_waits(const void *a, const void *b)
{
    const struct camp_disk_wait *left = a, *right = b;

    if (left->tid != right->tid)
        return left->tid < right->tid ? -1 : 1;
    if (left->start_ns != right->start_ns)
        return left->start_ns < right->start_ns ? -1 : 1;
    if (left->major != right->major)
        return left->major < right->major ? -1 : 1;
    return left->minor < right->minor ? -1 : left->minor > right->minor;
}

static uint64_t waited_before(const struct wait_tasks *tasks, const struct camp_disk_wait *wait)
{
    const struct wait_reading *before = &tasks->before;
    const struct camp_disk_wait *found =
        ARRAY_FIND(wait, before->waits, before->count, compare_waits);

    return found != NULL ? found->wait_ns : 0;
}

static int compare_tids(const void *key, const void *element)
{
    const int64_t tid = *(const int64_t *)key,
                  other = ((const struct camp_disk_wait *)element)->tid;

    return tid < other ? -1 : tid > other;
}

static void make_before(struct wait_tasks *tasks)
{
    struct wait_reading swap = tasks->before;

    tasks->before = tasks->now;
    tasks->now = swap;
}

static void sort_waits(struct wait_reading *reading)
{
    if (reading->count == 0)
        return;
    qsort(reading->waits, reading->count, sizeof *reading->waits, compare_waits);
    memset(reading->accounted, 0, reading->count * sizeof *reading->accounted);
}

void wait_tasks_start(struct wait_tasks *tasks)
{
    sort_waits(&tasks->now);
    make_before(tasks);
}

/* An exiting thread may be in no frame yet. Its wait is then kept, and accounted with the next
 * frame, which has the thread. */
static void keep_unaccounted(struct wait_tasks *tasks)
{
    for (size_t i = 0; i < tasks->now.count; i++) {
        if (!tasks->now.accounted[i])
            tasks->now.waits[i].wait_ns = waited_before(tasks, &tasks->now.waits[i]);
    }
}

static struct wait_task *add_task(struct wait_tasks *tasks, const struct entity *entity,
                                  uint32_t major, uint32_t minor, uint64_t wait_ns)
{
    struct wait_task *task;

    if (!ARRAY_RESERVE(tasks->tasks, tasks->capacity, tasks->count + 1))
        return NULL;
    task = &tasks->tasks[tasks->count++];
    *task = (struct wait_task){ .pid = entity->pid,
                                .tid = (int32_t)entity->id,
                                .major = major,
                                .minor = minor,
                                .wait_ns = wait_ns };
    memcpy(task->name, entity->name, sizeof task->name);
    return task;
}

/* A row for each disk that the thread ever waited for, with the growth since the last snapshot. */
static int add_disks(struct wait_tasks *tasks, const struct entity *entity)
{
    struct wait_reading *now = &tasks->now;

    for (size_t i = ARRAY_POSITION(&entity->id, now->waits, now->count, compare_tids);
         i < now->count && now->waits[i].tid == entity->id; i++) {
        const struct camp_disk_wait *wait = &now->waits[i];

        if (wait->pid != entity->pid || now->accounted[i])
            continue;
        now->accounted[i] = true;
        if (add_task(tasks, entity, wait->major, wait->minor,
                     counted_since(waited_before(tasks, wait), wait->wait_ns)) == NULL)
            return CAMP_E_NOMEM;
    }
    return CAMP_OK;
}

static void subtract(struct wait_task *rows, size_t count, uint64_t excess_ns)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t taken = rows[i].wait_ns < excess_ns ? rows[i].wait_ns : excess_ns;

        rows[i].wait_ns -= taken;
        excess_ns -= taken;
    }
}

static struct wait_task *longest_of(struct wait_task *rows, size_t count)
{
    struct wait_task *longest = rows;

    for (size_t i = 1; i < count; i++) {
        if (rows[i].wait_ns > longest->wait_ns)
            longest = &rows[i];
    }
    return longest;
}

/* Accounts rest_ns, by which the thread's state DISK exceeds the sum of its waits for disks. States
 * and disks are read one after the other: up to the tolerance that is the cause, and the rest goes
 * to the longest wait. Otherwise it goes to an unknown disk. */
static int add_rest(struct wait_tasks *tasks, const struct entity *entity, size_t first,
                    uint64_t rest_ns, uint64_t tolerance_ns)
{
    struct wait_task *rows = tasks->tasks + first;
    const size_t count = tasks->count - first;

    if (count > 0 && rest_ns <= tolerance_ns) {
        longest_of(rows, count)->wait_ns += rest_ns;
        return CAMP_OK;
    }
    for (size_t i = 0; i < count; i++) {
        if (rows[i].major == 0 && rows[i].minor == 0) {
            rows[i].wait_ns += rest_ns;
            return CAMP_OK;
        }
    }
    return add_task(tasks, entity, 0, 0, rest_ns) != NULL ? CAMP_OK : CAMP_E_NOMEM;
}

static int add_thread(struct wait_tasks *tasks, const struct entity *entity, uint64_t disk_ns,
                      uint64_t tolerance_ns)
{
    const size_t first = tasks->count;
    uint64_t sum_ns = 0;
    size_t kept = first;
    int r = add_disks(tasks, entity);

    for (size_t i = first; i < tasks->count; i++)
        sum_ns += tasks->tasks[i].wait_ns;
    if (sum_ns > disk_ns)
        subtract(tasks->tasks + first, tasks->count - first, sum_ns - disk_ns);
    else if (r == CAMP_OK && sum_ns < disk_ns)
        r = add_rest(tasks, entity, first, disk_ns - sum_ns, tolerance_ns);
    for (size_t i = first; i < tasks->count; i++) {
        if (tasks->tasks[i].wait_ns > 0)
            tasks->tasks[kept++] = tasks->tasks[i];
    }
    tasks->count = kept;
    return r;
}

static int compare_tasks(const void *a, const void *b)
{
    const struct wait_task *left = a, *right = b;

    if (left->wait_ns != right->wait_ns)
        return left->wait_ns > right->wait_ns ? -1 : 1;
    return left->tid < right->tid ? -1 : left->tid > right->tid;
}

int wait_tasks_fill(struct wait_tasks *tasks, const struct frame *threads, uint64_t tolerance_ns)
{
    int r = CAMP_OK;

    tasks->count = 0;
    sort_waits(&tasks->now);
    for (size_t i = 0; i < threads->entity_count && r == CAMP_OK; i++)
        r = add_thread(tasks, &threads->entities[i], frame_values(threads, i)[CAMP_STATE_DISK],
                       tolerance_ns);
    if (tasks->count > 0)
        qsort(tasks->tasks, tasks->count, sizeof *tasks->tasks, compare_tasks);
    keep_unaccounted(tasks);
    make_before(tasks);
    return r;
}

void wait_tasks_release(struct wait_tasks *tasks)
{
    free(tasks->tasks);
    free(tasks->before.waits);
    free(tasks->before.accounted);
    free(tasks->now.waits);
    free(tasks->now.accounted);
    *tasks = (struct wait_tasks){ 0 };
}
