/*
 * The thread that holds the lock for which a thread sleeps in futex(2), and the process that last
 * changed the semaphore for which it sleeps in semop(2) or semtimedop(2).
 *
 * The kernel knows the owner of a futex only where its word has it: of a PI futex (FUTEX_LOCK_PI),
 * and of a robust mutex, the word is the tid of the owner, with FUTEX_WAITERS. Of another mutex the
 * C library knows it: in glibc, a mutex for which threads wait has the word 2, and its owner is the
 * third word (pthread_mutex_t). So the words are read from the memory of the process
 * (process_vm_readv(2)), and count only if the owner is a thread. Of all other futexes, such as
 * those of condition variables, semaphores and other languages, the owner is unknown.
 *
 * A semaphore of System V has no owner: the process that changed it last (semctl(2), GETPID) is the
 * one that took it, if it is used as a lock. One that waits for the semaphores itself has taken
 * none: it waits for work, as the others do.
 *
 * The tids in the memory, and the ids of semaphores, are those of the process' namespaces. If they
 * are not those of this process, the owner is unknown.
 */
#pragma once

#include "open_call.h"

#define LOCK_NAME_SIZE 16

/* A thread that sleeps in futex(2), semop(2) or semtimedop(2). */
struct lock_wait {
    int32_t pid;
    int32_t call;                            /* number of the system call */
    uint64_t arguments[OPEN_CALL_ARGUMENTS]; /* of the call */
};

struct lock_owner {
    int32_t pid, tid;          /* of a semaphore, both are the process */
    char name[LOCK_NAME_SIZE]; /* of the thread, or of the process if it is another one */
};

/* Returns whether the call is one of those above. */
bool lock_owner_may_be_known(int32_t call);

/* Returns whether the owner may be or become known while the thread sleeps. Of a wait in futex(2)
 * its arguments say so. */
bool lock_owner_may_appear(const struct lock_wait *wait);

/* Finds the owner. Threads are in `folder` (/proc). Returns false if it is unknown, or if memory or
 * semaphores may not be read. */
bool lock_owner_find(struct lock_owner *ret, const struct lock_wait *wait, const char *folder);

/* Returns whether a wait in futex(2) with these arguments may be one for a lock whose owner the
 * memory has: so the memory of other waits, such as those of idle threads, is not read. */
bool futex_is_lock(const uint64_t arguments[OPEN_CALL_ARGUMENTS]);

#define FUTEX_WORDS 3

/* Returns the tid of the owner of a futex, whose memory is words[FUTEX_WORDS], or 0. */
int32_t futex_owner(const uint64_t arguments[OPEN_CALL_ARGUMENTS],
                    const uint32_t words[FUTEX_WORDS]);
