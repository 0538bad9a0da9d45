/* process_vm_readv(2) needs the right to ptrace(2): the same user, or CAP_SYS_PTRACE. */
#include "process_memory.h"

#include "counters/error.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

int process_memory_fail(int32_t pid, int system_error, struct camp_error *error)
{
    switch (system_error) {
    case EPERM:
    case EACCES:
        return camp_fail(error, CAMP_E_PERM, system_error,
                         "the memory of process %d may not be read: run camp as root, as the "
                         "server's user, or with CAP_SYS_PTRACE",
                         pid);
    case ESRCH:
    case ENOENT:
        return camp_fail(error, CAMP_E_GONE, system_error, "process %d has ended", pid);
    default:
        return camp_fail(error, CAMP_E_IO, system_error, "the memory of process %d: %s", pid,
                         strerror(system_error));
    }
}

int process_memory_read(int32_t pid, uint64_t address, void *ret, size_t size,
                        struct camp_error *error)
{
    struct iovec here = { ret, size };
    struct iovec there = { (void *)(uintptr_t)address, size };
    ssize_t length = process_vm_readv(pid, &here, 1, &there, 1, 0);

    if (length == (ssize_t)size)
        return CAMP_OK;
    return process_memory_fail(pid, length < 0 ? errno : EFAULT, error);
}

int process_memory_read_pointer(int32_t pid, uint64_t address, uint64_t *ret,
                                struct camp_error *error)
{
    uintptr_t pointer;
    int r = process_memory_read(pid, address, &pointer, sizeof pointer, error);

    if (r == CAMP_OK)
        *ret = pointer;
    return r;
}
