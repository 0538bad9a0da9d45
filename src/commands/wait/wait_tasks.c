/*
 * Divides the time that each thread waited for disks among the disks. The exact time is the time of
 * the thread in the state CAMP_STATE_DISK. The waits for each disk are read a moment later than the
 * states. The waits are corrected, so that the rows of a thread add up to the exact time.
 */
#include "wait_tasks.h"

#include "ledger/array.h"
#include "ledger/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct column columns[WAITS_COLUMN_COUNT] = {
    [WAITS_DISK] = { .name = "disk_ns", .kind = COLUMN_STATE, .class = CLASS_IO },
    [WAITS_MAJOR] = { .name = "major", .kind = COLUMN_GAUGE },
    [WAITS_MINOR] = { .name = "minor", .kind = COLUMN_GAUGE },
};
const struct schema waits_schema = { "waits", columns, WAITS_COLUMN_COUNT, 1, NULL, 0 };

void waits_disk_name(char ret[CAMP_NAME_SIZE], const uint64_t *values)
{
    const uint64_t major = values[WAITS_MAJOR], minor = values[WAITS_MINOR];
    char path[64], target[256];
    const char *name;
    ssize_t length;

    ret[0] = '\0';
    if (major == 0 && minor == 0)
        return;
    /* The file is a link to a folder that has the name of the device. */
    snprintf(path, sizeof path, "/sys/dev/block/%" PRIu64 ":%" PRIu64, major, minor);
    length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    name = strrchr(target, '/');
    snprintf(ret, CAMP_NAME_SIZE, "%s", name != NULL ? name + 1 : name_in_path(path));
}

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

/* An exiting thread may be missing in this frame and be in the next frame. In `now`, the waits of a
 * missing thread are set back to their values in `before`, so that the next frame accounts the
 * growth. */
static void keep_unaccounted(struct wait_tasks *tasks)
{
    for (size_t i = 0; i < tasks->now.count; i++) {
        if (!tasks->now.accounted[i])
            tasks->now.waits[i].wait_ns = waited_before(tasks, &tasks->now.waits[i]);
    }
}

static int add_part(struct wait_tasks *tasks, uint32_t major, uint32_t minor, uint64_t wait_ns)
{
    if (!ARRAY_RESERVE(tasks->parts, tasks->part_capacity, tasks->part_count + 1))
        return CAMP_E_NOMEM;
    tasks->parts[tasks->part_count++] = (struct wait_part){ major, minor, wait_ns };
    return CAMP_OK;
}

/* Adds a part for each disk that the thread waited for, with the wait since `before`. */
static int add_disks(struct wait_tasks *tasks, const struct entity *entity)
{
    struct wait_reading *now = &tasks->now;
    int r = CAMP_OK;

    for (size_t i = ARRAY_POSITION(&entity->id, now->waits, now->count, compare_tids);
         i < now->count && now->waits[i].tid == entity->id && r == CAMP_OK; i++) {
        const struct camp_disk_wait *wait = &now->waits[i];

        if (wait->pid != entity->pid || now->accounted[i])
            continue;
        now->accounted[i] = true;
        r = add_part(tasks, wait->major, wait->minor,
                     counted_since(waited_before(tasks, wait), wait->wait_ns));
    }
    return r;
}

static void subtract(struct wait_tasks *tasks, uint64_t excess_ns)
{
    for (size_t i = 0; i < tasks->part_count; i++) {
        struct wait_part *part = &tasks->parts[i];
        const uint64_t taken_ns = part->wait_ns < excess_ns ? part->wait_ns : excess_ns;

        part->wait_ns -= taken_ns;
        excess_ns -= taken_ns;
    }
}

/* `rest_ns` is the thread's time in CAMP_STATE_DISK minus the sum of its waits for disks. States
 * and waits are read one after the other, so a rest up to `tolerance_ns` is added to the longest
 * wait. A larger rest is accounted to an unknown disk. */
static int add_rest(struct wait_tasks *tasks, uint64_t rest_ns, uint64_t tolerance_ns)
{
    struct wait_part *longest = NULL, *unknown = NULL;

    for (size_t i = 0; i < tasks->part_count; i++) {
        struct wait_part *part = &tasks->parts[i];

        if (longest == NULL || part->wait_ns > longest->wait_ns)
            longest = part;
        if (part->major == 0 && part->minor == 0)
            unknown = part;
    }
    if (longest != NULL && rest_ns <= tolerance_ns)
        longest->wait_ns += rest_ns;
    else if (unknown != NULL)
        unknown->wait_ns += rest_ns;
    else
        return add_part(tasks, 0, 0, rest_ns);
    return CAMP_OK;
}

static int add_row(struct frame *rows, const struct entity *thread, const struct wait_part *part)
{
    struct entity *entity = frame_add(rows);
    uint64_t *values;

    if (entity == NULL)
        return CAMP_E_NOMEM;
    *entity = *thread;
    entity->labels = LABELS_NONE;
    rows->elapsed_ns[rows->entity_count - 1] = rows->end_ns - rows->start_ns;
    values = frame_values(rows, rows->entity_count - 1);
    values[WAITS_DISK] = part->wait_ns;
    values[WAITS_MAJOR] = part->major;
    values[WAITS_MINOR] = part->minor;
    return CAMP_OK;
}

static int add_thread(struct wait_tasks *tasks, const struct entity *entity, uint64_t disk_ns,
                      uint64_t tolerance_ns)
{
    uint64_t sum_ns = 0;
    int r;

    tasks->part_count = 0;
    r = add_disks(tasks, entity);
    for (size_t i = 0; i < tasks->part_count; i++)
        sum_ns += tasks->parts[i].wait_ns;
    if (sum_ns > disk_ns)
        subtract(tasks, sum_ns - disk_ns);
    else if (r == CAMP_OK && sum_ns < disk_ns)
        r = add_rest(tasks, disk_ns - sum_ns, tolerance_ns);
    for (size_t i = 0; i < tasks->part_count && r == CAMP_OK; i++) {
        if (tasks->parts[i].wait_ns > 0)
            r = add_row(&tasks->rows, entity, &tasks->parts[i]);
    }
    return r;
}

int wait_tasks_fill(struct wait_tasks *tasks, const struct frame *threads, uint64_t tolerance_ns)
{
    const size_t disk = threads_column(threads->schema, CAMP_STATE_DISK);
    int r = CAMP_OK;

    if (tasks->rows.schema == NULL)
        frame_init(&tasks->rows, &waits_schema);
    frame_clear(&tasks->rows);
    tasks->rows.start_ns = threads->start_ns;
    tasks->rows.end_ns = threads->end_ns;
    sort_waits(&tasks->now);
    for (size_t i = 0; i < threads->entity_count && r == CAMP_OK; i++)
        r = add_thread(tasks, &threads->entities[i], frame_values(threads, i)[disk], tolerance_ns);
    keep_unaccounted(tasks);
    make_before(tasks);
    return r;
}

void wait_tasks_release(struct wait_tasks *tasks)
{
    frame_release(&tasks->rows);
    free(tasks->parts);
    free(tasks->before.waits);
    free(tasks->before.accounted);
    free(tasks->now.waits);
    free(tasks->now.accounted);
    *tasks = (struct wait_tasks){ 0 };
}
