#include "lock_owner.h"

#include "sources/machine/file_text.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef FUTEX_LOCK_PI2 /* Linux 5.14 */
#define FUTEX_LOCK_PI2 13
#endif

#define GLIBC_CONTENDED 2u
#define GLIBC_OWNER 2         /* the word of the owner in pthread_mutex_t */
#define SEMAPHORES_MOST 32000 /* of a set: SEMMSL */

union semaphore_argument {
    struct semid_ds *buffer;
};

/* No architecture has all of these calls. */
static bool is_semaphore(int32_t call)
{
    static const long calls[] = {
#ifdef SYS_semop
        SYS_semop,
#endif
#ifdef SYS_semtimedop
        SYS_semtimedop,
#endif
#ifdef SYS_semtimedop_time64
        SYS_semtimedop_time64,
#endif
        -1
    };
    size_t i = 0;

    while (calls[i] >= 0 && calls[i] != call)
        i++;
    return calls[i] >= 0;
}

bool lock_owner_may_be_known(int32_t call)
{
    return call == SYS_futex || is_semaphore(call);
}

bool lock_owner_may_appear(const struct lock_wait *wait)
{
    return wait->call == SYS_futex ? futex_is_lock(wait->arguments) : is_semaphore(wait->call);
}

static bool is_pi(const uint64_t arguments[OPEN_CALL_ARGUMENTS])
{
    const uint32_t operation = (uint32_t)arguments[1] & (uint32_t)FUTEX_CMD_MASK;

    return operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2;
}

static bool is_wait(const uint64_t arguments[OPEN_CALL_ARGUMENTS])
{
    const uint32_t operation = (uint32_t)arguments[1] & (uint32_t)FUTEX_CMD_MASK;

    return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
}

/* A waiter passes the word that it saw. In a plain mutex, musl writes EBUSY in place of a tid. */
bool futex_is_lock(const uint64_t arguments[OPEN_CALL_ARGUMENTS])
{
    const uint32_t seen = (uint32_t)arguments[2];

    return is_pi(arguments) ||
           (is_wait(arguments) && (seen == GLIBC_CONTENDED || (seen & FUTEX_WAITERS) != 0));
}

int32_t futex_owner(const uint64_t arguments[OPEN_CALL_ARGUMENTS],
                    const uint32_t words[FUTEX_WORDS])
{
    if (!futex_is_lock(arguments))
        return 0;
    if (is_pi(arguments))
        return (int32_t)(words[0] & FUTEX_TID_MASK);
    if (words[0] != (uint32_t)arguments[2])
        return 0; /* it was released meanwhile */
    if (words[0] == GLIBC_CONTENDED)
        return words[GLIBC_OWNER] <= FUTEX_TID_MASK ? (int32_t)words[GLIBC_OWNER] : 0;
    return (words[0] & FUTEX_TID_MASK) != EBUSY ? (int32_t)(words[0] & FUTEX_TID_MASK) : 0;
}

/* Returns whether a process is in the namespace of this one. */
static bool is_in_namespace(int32_t pid, const char *folder, const char *namespace)
{
    char path[256];
    struct stat its, own;

    snprintf(path, sizeof path, "%s/%" PRId32 "/ns/%s", folder, pid, namespace);
    if (stat(path, &its) != 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/ns/%s", namespace);
    return stat(path, &own) == 0 && its.st_ino == own.st_ino && its.st_dev == own.st_dev;
}

/* Reads the name of a thread or a process. Returns false if there is none. */
static bool read_name(char ret[LOCK_NAME_SIZE], const char *path)
{
    const ssize_t length = file_text(path, ret, LOCK_NAME_SIZE - 1);

    if (length <= 0)
        return false;
    ret[length] = '\0';
    ret[strcspn(ret, "\n")] = '\0';
    return true;
}

/* Returns the process of a thread, or 0. */
static int32_t process_of(int32_t tid, const char *folder)
{
    char path[256], text[4096];
    const char *line;
    ssize_t length;

    snprintf(path, sizeof path, "%s/%" PRId32 "/status", folder, tid);
    length = file_text(path, text, sizeof text - 1);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    line = strstr(text, "\nTgid:");
    return line != NULL ? (int32_t)strtol(line + strlen("\nTgid:"), NULL, 10) : 0;
}

static bool name_owner(struct lock_owner *ret, int32_t pid, const char *folder)
{
    char path[256];

    ret->pid = process_of(ret->tid, folder);
    if (ret->pid <= 0)
        return false;
    if (ret->pid == pid)
        snprintf(path, sizeof path, "%s/%" PRId32 "/task/%" PRId32 "/comm", folder, pid, ret->tid);
    else
        snprintf(path, sizeof path, "%s/%" PRId32 "/comm", folder, ret->pid);
    return read_name(ret->name, path);
}

static bool find_futex_owner(struct lock_owner *ret, const struct lock_wait *wait,
                             const char *folder)
{
    uint32_t words[FUTEX_WORDS] = { 0 };
    const uintptr_t address = (uintptr_t)wait->arguments[0]; /* one of the other process */
    struct iovec here = { words, sizeof words };
    struct iovec there = { NULL, sizeof words };

    if (!futex_is_lock(wait->arguments) || !is_in_namespace(wait->pid, folder, "pid"))
        return false;
    memcpy(&there.iov_base, &address, sizeof there.iov_base);
    if (process_vm_readv(wait->pid, &here, 1, &there, 1, 0) < (ssize_t)sizeof words[0])
        return false;
    ret->tid = futex_owner(wait->arguments, words);
    if (ret->tid <= 0 || !name_owner(ret, wait->pid, folder))
        return false;
    /* A private futex is not shared with another process. */
    return (wait->arguments[1] & FUTEX_PRIVATE_FLAG) == 0 || ret->pid == wait->pid;
}

/* Returns the process that last changed the semaphores of a set for which processes wait, or 0 if
 * there are several. */
static int32_t last_process(int set)
{
    struct semid_ds status = { 0 };
    const union semaphore_argument argument = { .buffer = &status };
    int32_t found = 0;

    if (semctl(set, 0, IPC_STAT, argument) < 0)
        return 0;
    for (int i = 0; i < SEMAPHORES_MOST && (unsigned long)i < status.sem_nsems; i++) {
        int32_t last;

        if (semctl(set, i, GETNCNT) <= 0 && semctl(set, i, GETZCNT) <= 0)
            continue;
        last = semctl(set, i, GETPID);
        if (last <= 0 || (found != 0 && last != found))
            return 0;
        found = last;
    }
    return found;
}

/* Returns whether the first thread of a process sleeps for the semaphores of a set. */
static bool waits_for(int32_t pid, uint64_t set, const char *folder)
{
    uint64_t arguments[OPEN_CALL_ARGUMENTS];
    int32_t call;

    return open_call_read_all(pid, pid, folder, &call, arguments) && is_semaphore(call) &&
           arguments[0] == set;
}

static bool find_semaphore_owner(struct lock_owner *ret, const struct lock_wait *wait,
                                 const char *folder)
{
    if (wait->arguments[0] > INT32_MAX || !is_in_namespace(wait->pid, folder, "ipc"))
        return false;
    ret->tid = last_process((int)wait->arguments[0]);
    return ret->tid > 0 && ret->tid != wait->pid && name_owner(ret, wait->pid, folder) &&
           !waits_for(ret->pid, wait->arguments[0], folder);
}

bool lock_owner_find(struct lock_owner *ret, const struct lock_wait *wait, const char *folder)
{
    struct lock_owner owner = { 0 };
    const bool found = wait->call == SYS_futex    ? find_futex_owner(&owner, wait, folder)
                       : is_semaphore(wait->call) ? find_semaphore_owner(&owner, wait, folder)
                                                  : false;

    if (found)
        *ret = owner;
    return found;
}
