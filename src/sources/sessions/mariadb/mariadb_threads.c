#include "mariadb_threads.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "microstates/calls.h"
#include "sources/machine/thread_interval.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLS 512

struct mariadb_threads {
    int32_t pid;
    struct camp_states *session; /* NULL if threads are read from /proc */
    struct thread_list living;   /* threads of the last snapshot, in the order of their tids */
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

int mariadb_threads_open(int32_t pid, struct camp_states *session, struct mariadb_threads **ret,
                         struct camp_error *error)
{
    struct mariadb_threads *threads = calloc(1, sizeof *threads);

    if (threads == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for threads");
    threads->pid = pid;
    threads->session = session;
    camp_calls_fill(threads->kind_of_call, CALLS);
    *ret = threads;
    return CAMP_OK;
}

void mariadb_threads_close(struct mariadb_threads *threads)
{
    if (threads == NULL)
        return;
    thread_list_release(&threads->living);
    free(threads->known);
    free(threads);
}

void mariadb_threads_set_server(struct mariadb_threads *threads, int32_t pid)
{
    threads->pid = pid;
    threads->known_count = 0;
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
    return pid != 0 || strcmp(name, "mariadbd") == 0 || strcmp(name, "mysqld") == 0 ? group : 0;
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
               ? thread_list_read_living(&threads->living, threads->session, error)
               : CAMP_OK;
}

static int compare_tids(const void *key, const void *element)
{
    const int32_t tid = *(const int32_t *)key,
                  other = ((const struct camp_thread_states *)element)->tid;

    return (tid > other) - (tid < other);
}

static int read_measured(struct mariadb_threads *threads, int32_t tid,
                         struct mariadb_thread *thread, struct mariadb_thread_times *ret)
{
    const struct camp_thread_states *found =
        ARRAY_FIND(&tid, threads->living.threads, threads->living.count, compare_tids);
    const struct camp_thread_states before = thread->now;
    struct camp_thread_states since;

    if (found == NULL || found->pid != threads->pid)
        return CAMP_E_GONE;
    thread->now = *found;
    if (before.time_ns == 0)
        return 0;
    if (!thread_is_same(&before, found))
        return CAMP_E_GONE;
    since = thread_since(found, &before);
    *ret = (struct mariadb_thread_times){ .elapsed_ns = since.time_ns - since.begin_ns };
    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        if (i == CAMP_STATE_USER || i == CAMP_STATE_SYSTEM || i == CAMP_STATE_IRQ ||
            i == CAMP_STATE_TRAP)
            ret->cpu_ns += since.state_ns[i];
        else if (i == CAMP_STATE_RUN_QUEUE || i == CAMP_STATE_THROTTLED)
            ret->run_queue_ns += since.state_ns[i];
        else
            ret->asleep_ns[i] = since.state_ns[i];
    }
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
