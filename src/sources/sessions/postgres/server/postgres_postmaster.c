#include "postgres_postmaster.h"

#include "counters/clock.h"
#include "ledger/array.h"

#include <camp/system.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A server that shuts down ends its backends and its WAL writer at the same time. So a WAL writer
 * counts only if it still exists after this time. */
#define STABLE_NS (2 * POSTMASTER_PERIOD_NS)

#define FIRST_CAPACITY 256

/* Copies the arguments of a process. Returns false if there are none, or if they are too long. */
static bool read_command(const struct camp_process *process, char *ret, size_t *ret_length)
{
    return camp_process_text(NULL, process, CAMP_TEXT_COMMAND_LINE, ret, POSTMASTER_COMMAND_SIZE,
                             ret_length, NULL) == CAMP_OK &&
           *ret_length > 0 && *ret_length <= POSTMASTER_COMMAND_SIZE;
}

static bool contains(const char *text, size_t length, const char *word)
{
    return memmem(text, length, word, strlen(word)) != NULL;
}

/* A backend overwrites its arguments with "postgres: " and what it does. Version 10 writes "wal
 * writer process". */
static bool is_writer(const char *command, size_t length)
{
    static const char start[] = "postgres: ";

    return length >= strlen(start) && memcmp(command, start, strlen(start)) == 0 &&
           (contains(command, length, "walwriter") || contains(command, length, "wal writer"));
}

static bool is_same(const struct camp_process *left, const struct camp_process *right)
{
    return left->pid == right->pid && left->start == right->start;
}

static bool find_parent(const struct camp_process *process, struct camp_process *ret)
{
    struct camp_task task;

    return camp_process_read(NULL, process, CAMP_TASK_START, &task, sizeof task, NULL) == CAMP_OK &&
           camp_process_identify(NULL, task.parent, ret, sizeof *ret, NULL) == CAMP_OK;
}

/* Returns true if this is the known process, or one with the same arguments: the postmaster of the
 * same server after a restart. */
static bool is_postmaster(const struct postgres_postmaster *postmaster,
                          const struct camp_process *process, const char *command, size_t length)
{
    return is_same(process, &postmaster->process) ||
           (length == postmaster->command_length &&
            memcmp(command, postmaster->command, length) == 0);
}

static bool is_child_of_postmaster(const struct postgres_postmaster *postmaster,
                                   const struct camp_process *process)
{
    char command[POSTMASTER_COMMAND_SIZE];
    struct camp_process parent;
    size_t length = 0;

    return find_parent(process, &parent) && (is_same(&parent, &postmaster->process) ||
                                             (read_command(&parent, command, &length) &&
                                              is_postmaster(postmaster, &parent, command, length)));
}

static struct camp_process *list_processes(size_t *ret_count)
{
    struct camp_process *processes = NULL;
    size_t capacity = 0, count = FIRST_CAPACITY;
    int r = CAMP_E_SPACE;

    while (r == CAMP_E_SPACE && ARRAY_RESERVE(processes, capacity, count + count / 4))
        r = camp_process_list(NULL, processes, sizeof *processes, capacity, &count, NULL);
    *ret_count = r == CAMP_OK ? count : 0;
    return processes;
}

/* Searches all processes. Returns the postmaster, with pid 0 if it is not running, and sets
 * *ret_writer to its WAL writer, likewise. */
static struct camp_process find_processes(const struct postgres_postmaster *postmaster,
                                          struct camp_process *ret_writer)
{
    char command[POSTMASTER_COMMAND_SIZE];
    struct camp_process ret = { 0 };
    size_t count, length = 0;
    struct camp_process *processes = list_processes(&count);

    *ret_writer = (struct camp_process){ 0 };
    for (size_t i = 0; i < count; i++) {
        if (!read_command(&processes[i], command, &length))
            continue;
        if (is_postmaster(postmaster, &processes[i], command, length))
            ret = processes[i];
        else if (ret_writer->pid == 0 && is_writer(command, length) &&
                 is_child_of_postmaster(postmaster, &processes[i]))
            *ret_writer = processes[i];
    }
    free(processes);
    return ret;
}

static bool is_running(const struct camp_process *process)
{
    struct camp_process now;

    return camp_process_identify(NULL, process->pid, &now, sizeof now, NULL) == CAMP_OK &&
           is_same(&now, process);
}

static bool is_writer_process(int32_t pid, struct camp_process *ret)
{
    char command[POSTMASTER_COMMAND_SIZE];
    size_t length = 0;

    return camp_process_identify(NULL, pid, ret, sizeof *ret, NULL) == CAMP_OK &&
           read_command(ret, command, &length) && is_writer(command, length);
}

/* Searches the children of the postmaster, whose main thread starts them all, for the WAL writer;
 * pid 0 if there is none. Returns false if the kernel does not list children. */
static bool find_writer(int32_t postmaster, struct camp_process *ret)
{
    struct camp_process child;
    char path[64];
    FILE *file;
    int pid;

    *ret = (struct camp_process){ 0 };
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", postmaster, postmaster);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    while (ret->pid == 0 && fscanf(file, "%d", &pid) == 1) {
        if (is_writer_process(pid, &child))
            *ret = child;
    }
    fclose(file);
    return true;
}

void postgres_postmaster_remember(struct postgres_postmaster *ret, int32_t backend)
{
    struct camp_process process;

    *ret = (struct postgres_postmaster){ 0 };
    if (backend <= 0 ||
        camp_process_identify(NULL, backend, &process, sizeof process, NULL) != CAMP_OK ||
        !find_parent(&process, &ret->process) ||
        !read_command(&ret->process, ret->command, &ret->command_length))
        return;
    ret->is_known = find_processes(ret, &process).pid != 0 && process.pid != 0;
}

bool postgres_postmaster_may_accept(struct postgres_postmaster *postmaster)
{
    const uint64_t now = now_ns(CLOCK_MONOTONIC);
    struct camp_process writer = { 0 }, found = postmaster->process;

    if (!postmaster->is_known)
        return true;
    if (!is_running(&found) || !find_writer(found.pid, &writer))
        found = find_processes(postmaster, &writer);
    if (found.pid == 0) {
        postmaster->writer = (struct camp_process){ 0 };
        return true;
    }
    postmaster->process = found;
    if (!is_same(&writer, &postmaster->writer)) {
        postmaster->writer = writer;
        postmaster->writer_ns = now;
    }
    return writer.pid != 0 && now - postmaster->writer_ns >= STABLE_NS;
}
