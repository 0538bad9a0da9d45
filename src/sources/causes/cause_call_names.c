/* Names of system calls and of their objects, which are looked up in /proc. */
#include "cause_names.h"
#include "ledger/words.h"
#include "microstates/calls.h"
#include "sources/machine/file_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void cause_call_name(char ret[CAUSE_NAME_SIZE], int32_t call)
{
    const char *name = camp_call_name(call);

    if (call < 0)
        snprintf(ret, CAUSE_NAME_SIZE, call == CALL_UNKNOWN ? "unknown" : "no system call");
    else if (name != NULL)
        snprintf(ret, CAUSE_NAME_SIZE, "%s", name);
    else
        snprintf(ret, CAUSE_NAME_SIZE, "call %" PRId32, call);
}

static bool exists(const char *folder, int32_t pid)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%" PRId32, folder, pid);
    return access(path, F_OK) == 0;
}

/* Of a process that has ended, or whose descriptors camp may not read, only the number is known. */
static void descriptor_name(char ret[CAUSE_NAME_SIZE], int32_t pid, uint64_t descriptor,
                            const char *folder)
{
    char path[256], target[4096];
    ssize_t length;

    if (descriptor > INT32_MAX)
        return;
    snprintf(path, sizeof path, "%s/%" PRId32 "/fd/%" PRIu64, folder, pid, descriptor);
    length = readlink(path, target, sizeof target - 1);
    if (length > 0)
        copy_text(ret, CAUSE_NAME_SIZE, target, (size_t)length);
    else
        snprintf(ret, CAUSE_NAME_SIZE, "fd %" PRIu64 "%s", descriptor,
                 errno == ENOENT && exists(folder, pid) ? " (closed)" : "");
}

/* The process that a thread waits for has ended when its name is looked up, unless it still runs.
 */
static void child_name(char ret[CAUSE_NAME_SIZE], int32_t child, const char *folder)
{
    char path[256], name[CAMP_STATES_NAME_SIZE + 1];
    ssize_t length;

    snprintf(path, sizeof path, "%s/%" PRId32 "/comm", folder, child);
    length = file_text(path, name, sizeof name - 1);
    name[length > 0 ? length : 0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    if (child < 1)
        snprintf(ret, CAUSE_NAME_SIZE, "any child");
    else if (name[0] != '\0')
        snprintf(ret, CAUSE_NAME_SIZE, "process %" PRId32 " (%s)", child, name);
    else
        snprintf(ret, CAUSE_NAME_SIZE, "process %" PRId32, child);
}

void cause_object_name(char ret[CAUSE_NAME_SIZE], const struct camp_call_sleeps *sleeps,
                       const char *folder)
{
    ret[0] = '\0';
    switch (camp_call_argument(sleeps->call)) {
    case CALL_DESCRIPTOR:
        descriptor_name(ret, sleeps->pid, sleeps->argument, folder);
        break;
    case CALL_FUTEX:
        snprintf(ret, CAUSE_NAME_SIZE, "futex 0x%" PRIx64, sleeps->argument);
        break;
    case CALL_CHILD:
        if (sleeps->argument == CHILD_ENDED)
            snprintf(ret, CAUSE_NAME_SIZE, "children that have ended");
        else
            child_name(ret, (int32_t)sleeps->argument, folder);
        break;
    case CALL_SEMAPHORES:
        snprintf(ret, CAUSE_NAME_SIZE, "semaphores %" PRIu64, sleeps->argument);
        break;
    case CALL_OTHER:
        break;
    }
}

void cause_call_names(struct call_name *ret, const struct causes *causes, size_t at,
                      const char *folder)
{
    if (causes->is_recorded) {
        *ret = causes->call_names[at];
        return;
    }
    cause_call_name(ret->call, causes->calls.items[at].call);
    cause_object_name(ret->object, &causes->calls.items[at], folder);
}
