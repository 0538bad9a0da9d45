#include "mariadb_threads.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "microstates/calls.h"
#include "sources/machine/thread_registry.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLS 512
#define EVENTS_MOST 128
#define EVENT_OF_THROTTLED "throttled clock" /* as camp_states_events() names it */

/* A thread of the server. Its group in the registry is 1 + its index. */
struct server_thread {
    int32_t tid;
    uint32_t next_spare; /* 1 + index of the next free element, or 0 */
    uint64_t serial;     /* another one for each thread, never 0 */
    struct mariadb_thread_times sum;
};

struct mariadb_threads {
    int32_t pid;
    struct camp_states *session; /* NULL if threads are read from /proc */
    bool measures_throttled;
    struct thread_registry registry;
    struct server_thread *servers; /* [server_count] */
    size_t server_count, server_capacity;
    uint32_t spare; /* 1 + index of the first free element of servers, or 0 */
    uint64_t serial;
    struct index by_tid;
    /* [known_count] The server's threads as last listed from /proc, in the order of tids. They are
     * listed again when a tid is missing. */
    struct camp_thread *known;
    size_t known_count, known_capacity;
    uint8_t kind_of_call[CALLS];
};

const char *mariadb_class_name(int state)
{
    if (state == CAMP_STATE_LOCK)
        return "futex";
    if (state == CAMP_STATE_TEXT_FAULT || state == CAMP_STATE_DATA_FAULT ||
        state == CAMP_STATE_KERNEL_FAULT)
        return "page_fault";
    return camp_state_name(state);
}

static uint32_t hash_of(int32_t tid)
{
    return index_hash_number((uint32_t)tid);
}

static bool has_tid(const void *servers, uint32_t position, const void *tid)
{
    return ((const struct server_thread *)servers)[position].tid == *(const int32_t *)tid;
}

static struct index_slot *slot_of(const struct mariadb_threads *threads, int32_t tid)
{
    return index_find(&threads->by_tid, hash_of(tid), has_tid, threads->servers, &tid);
}

/* A thread stays in its group until it exits. The group of all other processes is 0. */
static int find_group(void *context, const struct camp_thread_states *before,
                      const struct camp_thread_states *thread, uint32_t *group)
{
    struct mariadb_threads *threads = context;
    uint32_t place = threads->spare;

    if (thread->pid != threads->pid)
        *group = 0;
    if (thread->pid != threads->pid || (before != NULL && *group != 0) ||
        (thread->flags & CAMP_THREAD_ENDED) != 0)
        return CAMP_OK;
    if (slot_of(threads, thread->tid) != NULL) {
        place = slot_of(threads, thread->tid)->position + 1;
    } else if (!ARRAY_RESERVE(threads->servers, threads->server_capacity,
                              threads->server_count + 1) ||
               !index_reserve(&threads->by_tid, threads->server_count + 1)) {
        return CAMP_E_NOMEM;
    } else {
        if (place != 0)
            threads->spare = threads->servers[place - 1].next_spare;
        else
            place = (uint32_t)++threads->server_count;
        index_add(&threads->by_tid, hash_of(thread->tid), place - 1);
    }
    threads->servers[place - 1] =
        (struct server_thread){ .tid = thread->tid, .serial = ++threads->serial };
    *group = place;
    return CAMP_OK;
}

static void leave(void *context, const struct camp_thread_states *last)
{
    struct mariadb_threads *threads = context;
    struct index_slot *slot = last->pid == threads->pid ? slot_of(threads, last->tid) : NULL;
    uint32_t place;

    if (slot == NULL)
        return;
    place = slot->position;
    index_remove(&threads->by_tid, slot);
    threads->servers[place].next_spare = threads->spare;
    threads->spare = place + 1;
}

static int add_state(void *context, uint32_t group, uint32_t state, uint64_t count,
                     uint64_t state_ns)
{
    struct mariadb_threads *threads = context;
    struct mariadb_thread_times *sum;

    (void)count;
    if (group == 0)
        return CAMP_OK;
    sum = &threads->servers[group - 1].sum;
    sum->elapsed_ns += state_ns;
    if (state == CAMP_STATE_USER || state == CAMP_STATE_SYSTEM || state == CAMP_STATE_IRQ ||
        state == CAMP_STATE_TRAP)
        sum->cpu_ns += state_ns;
    else if (state == CAMP_STATE_THROTTLED && threads->measures_throttled)
        sum->throttled_ns += state_ns;
    else if (state == CAMP_STATE_RUN_QUEUE || state == CAMP_STATE_THROTTLED)
        sum->run_queue_ns += state_ns;
    else
        sum->asleep_ns[state] += state_ns;
    return CAMP_OK;
}

static int add_thread(void *context, const struct camp_thread_states *since, uint32_t group)
{
    for (uint32_t i = 0; i < CAMP_STATE_COUNT && (since->flags & CAMP_THREAD_ENDED) == 0; i++)
        add_state(context, group, i, 1, since->state_ns[i]);
    return CAMP_OK;
}

/* Returns whether the kernel has the clock without which the throttled time of a group is in the
 * run queue. */
static bool kernel_has_clock(void)
{
    struct camp_states_event events[EVENTS_MOST];
    size_t count = 0;

    if (camp_states_events(events, sizeof events[0], EVENTS_MOST, &count, NULL) != CAMP_OK)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(events[i].name, EVENT_OF_THROTTLED) == 0)
            return events[i].present;
    }
    return false;
}

bool mariadb_threads_measure_throttled(const struct mariadb_threads *threads)
{
    return threads->measures_throttled;
}

int mariadb_threads_open(int32_t pid, struct camp_states *session, struct mariadb_threads **ret,
                         struct camp_error *error)
{
    struct mariadb_threads *threads = calloc(1, sizeof *threads);

    if (threads == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for threads");
    threads->pid = pid;
    threads->session = session;
    threads->measures_throttled = session != NULL && kernel_has_clock();
    thread_registry_init(&threads->registry, &(struct thread_user){ .context = threads,
                                                                    .did = add_thread,
                                                                    .idle = add_state,
                                                                    .group = find_group,
                                                                    .left = leave });
    camp_calls_fill(threads->kind_of_call, CALLS);
    *ret = threads;
    return CAMP_OK;
}

void mariadb_threads_close(struct mariadb_threads *threads)
{
    if (threads == NULL)
        return;
    thread_registry_release(&threads->registry);
    index_release(&threads->by_tid);
    free(threads->servers);
    free(threads->known);
    free(threads);
}

void mariadb_threads_set_server(struct mariadb_threads *threads, int32_t pid)
{
    threads->pid = pid;
    threads->known_count = 0;
    threads->server_count = threads->spare = 0;
    index_clear(&threads->by_tid);
    threads->registry.regroups = true;
}

static bool is_server(const char *name)
{
    return strcmp(name, "mariadbd") == 0 || strcmp(name, "mysqld") == 0;
}

/* MySQL names its threads, but not its process. */
static bool is_process_of_server(int32_t pid)
{
    char path[64], name[64] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    if (fgets(name, sizeof name, file) != NULL)
        name[strcspn(name, "\n")] = '\0';
    fclose(file);
    return is_server(name);
}

/* In /proc/TID/status, the line NSpid has the id of a thread in each of its pid namespaces. A
 * single id means that the thread is in the namespace of camp. */
int32_t mariadb_server_of_thread(int32_t tid, int32_t pid)
{
    char path[64], line[256], name[64] = "";
    int group = 0, outer = 0, inner = 0, numbers = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", tid);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL) {
        sscanf(line, "Name: %63s", name);
        sscanf(line, "Tgid: %d", &group);
        if (strncmp(line, "NSpid:", 6) == 0)
            numbers = sscanf(line, "NSpid: %d %d", &outer, &inner);
    }
    fclose(file);
    if (numbers > 1 || group == 0 || (pid != 0 && group != pid))
        return 0;
    return pid != 0 || is_server(name) || is_process_of_server(group) ? group : 0;
}

static int list_known(struct mariadb_threads *threads)
{
    struct camp_process server;
    size_t count = threads->known_capacity;
    int r = camp_process_identify(NULL, threads->pid, &server, sizeof server, NULL);

    if (r != CAMP_OK)
        return r;

    do {
        if (!ARRAY_RESERVE(threads->known, threads->known_capacity, count))
            return CAMP_E_NOMEM;
        r = camp_thread_list(NULL, &server, threads->known, sizeof *threads->known,
                             threads->known_capacity, &count, NULL);
    } while (r == CAMP_E_SPACE);
    threads->known_count = r == CAMP_OK ? count : 0;
    return r;
}

static int compare_known(const void *key, const void *element)
{
    const int32_t tid = *(const int32_t *)key, other = ((const struct camp_thread *)element)->tid;

    return (tid > other) - (tid < other);
}

int mariadb_threads_find(struct mariadb_threads *threads, int32_t tid, struct camp_thread *ret)
{
    const struct camp_thread *found = NULL;

    for (int try = 0; try < 2 && found == NULL && threads->pid != 0; try++) {
        if (try == 1 && list_known(threads) != CAMP_OK)
            break;
        found = ARRAY_FIND(&tid, threads->known, threads->known_count, compare_known);
    }
    if (found == NULL)
        return CAMP_E_GONE;
    *ret = *found;
    return CAMP_OK;
}

int mariadb_threads_snapshot(struct mariadb_threads *threads, struct camp_error *error)
{
    return threads->session != NULL
               ? thread_registry_read(&threads->registry, threads->session, error)
               : CAMP_OK;
}

static void subtract(struct mariadb_thread_times *times, const struct mariadb_thread_times *before)
{
    times->elapsed_ns -= before->elapsed_ns;
    times->cpu_ns -= before->cpu_ns;
    times->run_queue_ns -= before->run_queue_ns;
    times->throttled_ns -= before->throttled_ns;
    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        times->asleep_ns[i] -= before->asleep_ns[i];
}

static int read_measured(struct mariadb_threads *threads, int32_t tid,
                         struct mariadb_thread *thread, struct mariadb_thread_times *ret)
{
    const struct index_slot *slot = slot_of(threads, tid);
    const struct mariadb_thread before = *thread;
    const struct server_thread *now;

    if (slot == NULL)
        return CAMP_E_GONE;
    now = &threads->servers[slot->position];
    thread->serial = now->serial;
    thread->sum = now->sum;
    if (before.serial == 0)
        return 0;
    if (before.serial != now->serial)
        return CAMP_E_GONE;
    *ret = now->sum;
    subtract(ret, &before.sum);
    return 1;
}

static int read_clock(struct mariadb_threads *threads, int32_t tid, struct mariadb_thread *thread,
                      struct mariadb_thread_times *ret)
{
    const struct proc_clock before = thread->clock;
    int r = CAMP_OK;

    if (thread->task.tid == 0)
        r = mariadb_threads_find(threads, tid, &thread->task);
    if (r == CAMP_OK)
        r = proc_clock_read(&thread->task, &thread->clock, NULL);
    if (r != CAMP_OK)
        /* Forces a new list of threads, because the tid may belong to another thread by now. */
        threads->known_count = 0;
    if (r != CAMP_OK || before.time_ns == 0)
        return r == CAMP_OK ? 0 : CAMP_E_GONE;
    *ret = (struct mariadb_thread_times){ 0 };
    ret->elapsed_ns = thread->clock.time_ns - before.time_ns;
    proc_clock_since(&before, &thread->clock, ret->elapsed_ns, &ret->cpu_ns, &ret->run_queue_ns);
    ret->asleep_ns[CAMP_STATE_OTHER_SLEEP] = ret->elapsed_ns - ret->cpu_ns - ret->run_queue_ns;
    return 1;
}

int mariadb_threads_read(struct mariadb_threads *threads, int32_t tid,
                         struct mariadb_thread *thread, struct mariadb_thread_times *ret)
{
    return threads->session != NULL ? read_measured(threads, tid, thread, ret)
                                    : read_clock(threads, tid, thread, ret);
}

static const char *call_of(const struct mariadb_threads *threads, const char *text)
{
    char *end;
    const long number = strtol(text, &end, 10);

    if (strncmp(text, "running", 7) == 0)
        return "running";
    if (end == text || number < 0 || number >= CALLS)
        return "asleep";
    if (threads->kind_of_call[number] == KIND_BY_RESTART)
        return mariadb_class_name(CAMP_STATE_OTHER_SLEEP);
    /* The server calls read(2) and write(2) for files only, not for sockets. */
    return mariadb_class_name(threads->kind_of_call[number] == KIND_BY_DESCRIPTOR
                                  ? CAMP_STATE_DISK
                                  : threads->kind_of_call[number]);
}

static const char *by_state(struct mariadb_threads *threads, int32_t tid,
                            struct mariadb_thread *thread)
{
    char state;

    if (thread->task.tid == 0 && mariadb_threads_find(threads, tid, &thread->task) != CAMP_OK)
        return "none";
    if (proc_clock_state(&thread->task, &state, NULL) != CAMP_OK)
        return "none";
    return state == 'R' ? "running" : state == 'D' ? "disk" : "asleep";
}

const char *mariadb_threads_call(struct mariadb_threads *threads, int32_t tid,
                                 struct mariadb_thread *thread)
{
    char text[128] = "";
    ssize_t length;

    if (thread->call_fd == 0) {
        snprintf(text, sizeof text, "/proc/%d/task/%d/syscall", threads->pid, tid);
        thread->call_fd = open(text, O_RDONLY | O_CLOEXEC) + 1;
        if (thread->call_fd == 0)
            thread->call_fd = -1;
    }
    if (thread->call_fd == -1)
        return by_state(threads, tid, thread);
    length = pread(thread->call_fd - 1, text, sizeof text - 1, 0);
    if (length <= 0)
        return by_state(threads, tid, thread);
    text[length] = '\0';
    return call_of(threads, text);
}

void mariadb_thread_release(struct mariadb_thread *thread)
{
    if (thread->call_fd > 0)
        close(thread->call_fd - 1);
    *thread = (struct mariadb_thread){ 0 };
}
