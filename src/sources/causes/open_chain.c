#include "open_chain.h"

#include "ends/lock_owner.h"
#include "microstates/calls.h"
#include "open_sleeps.h"
#include "sources/machine/file_text.h"

#include <camp/camp.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the only child of a process with one thread, or 0. */
static int32_t only_child(int32_t pid, const char *folder)
{
    char path[256], text[64] = "";
    FILE *file;
    char *end = text;
    long child;

    snprintf(path, sizeof path, "%s/%" PRId32 "/task/%" PRId32 "/children", folder, pid, pid);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    fclose(file);
    child = strtol(text, &end, 10);
    return end != text && strspn(end, " \n") == strlen(end) && child > 0 && child <= INT32_MAX
               ? (int32_t)child
               : 0;
}

/* Sets the names of a step's call and object, and returns the process that it waits for, or 0. */
static int32_t find_other_end(struct open_step *step, struct cause_objects *objects,
                              const char *folder)
{
    const struct camp_call_sleeps *call = &step->call;
    const int32_t child = (int32_t)call->argument;

    if (call->call == CALL_UNKNOWN)
        return 0;
    cause_call_name(step->names.call, call->call);
    cause_object_name(step->names.object, call, folder);
    if (camp_call_argument(call->call) == CALL_CHILD)
        return child > 0 ? child : only_child(step->pid, folder);
    if (camp_call_argument(call->call) != CALL_DESCRIPTOR && !lock_owner_may_be_known(call->call))
        return 0;
    cause_objects_find(objects, call, 1, folder);
    snprintf(step->other_end, sizeof step->other_end, "%s",
             cause_objects_peer(objects, step->names.object, call->pid));
    return cause_objects_holder(objects, step->names.object, call->pid);
}

uint32_t open_call_state(const struct camp_call_sleeps *call, const char *folder)
{
    uint8_t kinds[CALLS_MAX];
    char object[CAUSE_NAME_SIZE];
    uint8_t kind;

    camp_calls_fill(kinds, CALLS_MAX);
    kind = call->call >= 0 && call->call < CALLS_MAX ? kinds[call->call]
                                                     : (uint8_t)CAMP_STATE_OTHER_SLEEP;
    if (kind < CAMP_STATE_COUNT)
        return kind;
    if (kind != KIND_BY_DESCRIPTOR)
        return CAMP_STATE_OTHER_SLEEP;
    cause_object_name(object, call, folder);
    return strncmp(object, "socket:", 7) == 0 ? CAMP_STATE_SOCKET
           : strncmp(object, "pipe:", 5) == 0 ? CAMP_STATE_PIPE
                                              : CAMP_STATE_OTHER_SLEEP;
}

void open_process_name(char ret[CAUSE_NAME_SIZE], int32_t pid, const char *folder)
{
    char path[256], name[CAMP_STATES_NAME_SIZE];
    ssize_t length;

    snprintf(path, sizeof path, "%s/%" PRId32 "/comm", folder, pid);
    length = file_text(path, name, sizeof name - 1);
    name[length > 0 ? length : 0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    if (name[0] != '\0')
        snprintf(ret, CAUSE_NAME_SIZE, "%s (%" PRId32 ")", name, pid);
    else
        snprintf(ret, CAUSE_NAME_SIZE, "process %" PRId32, pid);
}

/* Fills a step with what a process does now. */
static void read_step(struct open_step *ret, int32_t pid, const char *folder)
{
    const struct camp_source source = { .proc = folder };
    struct camp_process process;
    struct camp_task task = { 0 };

    *ret = (struct open_step){ .pid = pid, .does = OPEN_GONE };
    snprintf(ret->who, sizeof ret->who, "process %" PRId32, pid);
    if (camp_process_identify(&source, pid, &process, sizeof process, NULL) != CAMP_OK ||
        camp_process_read(&source, &process, CAMP_TASK_STATE | CAMP_TASK_THREADS | CAMP_TASK_NAME,
                          &task, sizeof task, NULL) != CAMP_OK)
        return;
    snprintf(ret->who, sizeof ret->who, "%.*s (%" PRId32 ")", CAMP_NAME_SIZE, task.name, pid);
    ret->threads = task.threads;
    if (task.threads > 1) {
        ret->does = OPEN_MANY;
        return;
    }
    ret->does = task.state == 'R'                        ? OPEN_RUNS
                : task.state == 'T' || task.state == 't' ? OPEN_STOPS
                : task.state == 'Z' || task.state == 'X' ? OPEN_GONE
                                                         : OPEN_WAITS;
    if (ret->does != OPEN_WAITS)
        return;
    ret->call = (struct camp_call_sleeps){ .pid = pid, .count = 1 };
    open_call_read(pid, pid, folder, &ret->call.call, &ret->call.argument);
    ret->call.state = open_call_state(&ret->call, folder);
}

static bool has(const struct open_step *steps, size_t count, int32_t pid)
{
    for (size_t i = 0; i < count; i++) {
        if (steps[i].pid == pid)
            return true;
    }
    return false;
}

size_t open_chain(struct open_step *steps, const struct camp_call_sleeps *first,
                  struct cause_objects *objects, const char *folder)
{
    size_t count = 1;

    steps[0] = (struct open_step){ .pid = first->pid, .does = OPEN_WAITS, .call = *first };
    if (first->state == CAMP_STATE_STOPPED) {
        steps[0].does = OPEN_STOPS;
        return count;
    }
    while (count < OPEN_CHAIN_MAX && steps[count - 1].does == OPEN_WAITS) {
        const int32_t next = find_other_end(&steps[count - 1], objects, folder);
        const bool again = has(steps, count, next);

        if (next == 0)
            break;
        read_step(&steps[count], next, folder);
        if (again)
            steps[count].does = OPEN_CIRCLE;
        count++;
    }
    return count;
}
