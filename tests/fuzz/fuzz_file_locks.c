/* Parser: src/sources/causes/ends/file_locks.c */
/* Parses any bytes as /proc/locks. */
#include "sources/causes/ends/file_locks.h"

#include <stdlib.h>
#include <string.h>

#define WAITERS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each process that waits may have a holder, which is another line. */
static void find_holders(FILE *locks, const struct file_lock *waiters, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rewind(locks);
        if (file_lock_holder(locks, waiters[i].pid, waiters[i].inode) < 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *locks = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    struct file_lock waiters[WAITERS], lock;
    int32_t pids[WAITERS];
    size_t lines = 0, count = 0;

    if (locks == NULL)
        return 0;
    while (file_lock_read(locks, &lock)) {
        lines++;
        if (lock.pid < 0)
            abort();
        if (lock.waits && lock.pid > 0 && count < WAITERS)
            waiters[count++] = lock;
    }
    if (lines > size)
        abort();
    rewind(locks);
    if (file_lock_waiters(locks, pids, WAITERS) != count)
        abort();
    for (size_t i = 0; i < count; i++) {
        if (pids[i] != waiters[i].pid)
            abort();
    }
    find_holders(locks, waiters, count);
    fclose(locks);
    return 0;
}
