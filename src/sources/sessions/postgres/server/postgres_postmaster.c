#include "postgres_postmaster.h"

#include "counters/clock.h"
#include "ledger/array.h"

#include <camp/system.h>

#include <stdlib.h>
#include <string.h>

/* A server that shuts down ends its backends and its WAL writer at the same time. So a WAL writer
 * counts only if it still exists after this time. */
#define SETTLED_NS (2 * POSTMASTER_LOOK_NS)

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

/* Looks at all processes. Returns true if the postmaster is running, and sets *ret_writer to its
 * WAL writer, with pid 0 if there is none. */
static bool look(const struct postgres_postmaster *postmaster, struct camp_process *ret_writer)
{
    char command[POSTMASTER_COMMAND_SIZE];
    bool is_running = false;
    size_t count, length = 0;
    struct camp_process *processes = list_processes(&count);

    *ret_writer = (struct camp_process){ 0 };
    for (size_t i = 0; i < count; i++) {
        if (!read_command(&processes[i], command, &length))
            continue;
        if (is_postmaster(postmaster, &processes[i], command, length))
            is_running = true;
        else if (ret_writer->pid == 0 && is_writer(command, length) &&
                 is_child_of_postmaster(postmaster, &processes[i]))
            *ret_writer = processes[i];
    }
    free(processes);
    return is_running;
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
    ret->is_known = look(ret, &process) && process.pid != 0;
}

bool postgres_postmaster_may_accept(struct postgres_postmaster *postmaster)
{
    const uint64_t now = now_ns(CLOCK_MONOTONIC);
    struct camp_process writer;

    if (!postmaster->is_known || !look(postmaster, &writer)) {
        postmaster->writer = (struct camp_process){ 0 };
        return true;
    }
    if (!is_same(&writer, &postmaster->writer)) {
        postmaster->writer = writer;
        postmaster->writer_ns = now;
    }
    return writer.pid != 0 && now - postmaster->writer_ns >= SETTLED_NS;
}
