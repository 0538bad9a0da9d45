/*
 * The addresses of a backend's event and entry are read once, through the backend's own pointers.
 * The event and the entry are in shared memory, at the same addresses in each process. So camp
 * later reads event, pid and activity in the memory of the postmaster, for many backends at once.
 *
 * If the pid in the entry is not the pid of the backend, the backend has ended and the entry is
 * free or belongs to another backend. The addresses are then read again.
 */
#include "postgres_memory.h"

#include "counters/error.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/uio.h>

#define NUMBERS 4u
#define BATCH (IOV_MAX / NUMBERS)

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

struct numbers {
    uint32_t event, pid, code;
    int64_t statement;
};

/* Without a known place of the statement, a backend has one number less. */
static size_t numbers_of(const struct postgres_layout *layout)
{
    return layout->statement_offset != 0 ? NUMBERS : NUMBERS - 1;
}

static size_t bytes_of(const struct postgres_layout *layout)
{
    return 3 * sizeof(uint32_t) + (layout->statement_offset != 0 ? sizeof(int64_t) : 0);
}

static void fill_vectors(struct iovec *here, struct iovec *there, struct numbers *numbers,
                         const struct postgres_backend *backend,
                         const struct postgres_layout *layout)
{
    void *const into[NUMBERS] = { &numbers->event, &numbers->pid, &numbers->code,
                                  &numbers->statement };
    const uint64_t entry = backend->entry_address;
    const uint64_t from[NUMBERS] = { backend->event_address, entry + layout->pid_offset,
                                     entry + layout->activity_offset,
                                     entry + layout->statement_offset };

    numbers->statement = 0;
    for (size_t i = 0; i < numbers_of(layout); i++) {
        const size_t size = i < 3 ? sizeof(uint32_t) : sizeof(int64_t);

        here[i] = (struct iovec){ into[i], size };
        there[i] = (struct iovec){ (void *)(uintptr_t)from[i], size };
    }
}

/* Reads consecutive backends through the memory of the process `through`. Returns the number of
 * backends that were read completely, or a failure. The reading stops at an address that is no
 * longer mapped. */
static int read_batch(const struct postgres_layout *layout, int32_t through,
                      struct postgres_backend *backends, size_t count, struct camp_error *error)
{
    struct iovec here[BATCH * NUMBERS], there[BATCH * NUMBERS];
    struct numbers numbers[BATCH];
    const size_t each = numbers_of(layout);
    ssize_t length;
    size_t whole;

    for (size_t i = 0; i < count; i++)
        fill_vectors(&here[i * each], &there[i * each], &numbers[i], &backends[i], layout);
    length = process_vm_readv(through, here, count * each, there, count * each, 0);
    if (length < 0 && errno != EFAULT)
        return process_memory_fail(through, errno, error);
    whole = length < 0 ? 0 : (size_t)length / bytes_of(layout);
    for (size_t i = 0; i < whole; i++) {
        /* false if the entry belongs to another backend now */
        backends[i].known = numbers[i].pid == (uint32_t)backends[i].pid;
        backends[i].event = numbers[i].event;
        backends[i].code = numbers[i].code;
        backends[i].statement = numbers[i].statement;
    }
    return (int)whole;
}

static int read_known(const struct postgres_layout *layout, struct postgres_backend *backends,
                      size_t count, struct camp_error *error)
{
    size_t at = 0;

    while (at < count) {
        size_t length = 0;
        int r;

        while (length < BATCH && at + length < count && backends[at + length].entry_address != 0)
            length++;
        if (length == 0) {
            at++;
            continue;
        }
        r = read_batch(layout, layout->pid, &backends[at], length, error);
        if (r < 0)
            return r;
        at += (size_t)r < length ? (size_t)r + 1 : length;
    }
    return CAMP_OK;
}

/* Reads the addresses of a backend through its own pointers, and then its event and entry. At its
 * start and at its end, a backend has no entry in the server's table, and its event is in its
 * private memory. In both cases the addresses are not kept. */
static int read_through_backend(const struct postgres_layout *layout,
                                struct postgres_backend *backend, struct camp_error *error)
{
    struct postgres_backend found = { .pid = backend->pid };
    int r =
        process_memory_read_pointer(found.pid, layout->event_pointer, &found.event_address, error);

    if (r == CAMP_OK)
        r = process_memory_read_pointer(found.pid, layout->entry_pointer, &found.entry_address,
                                        error);
    if (r == CAMP_OK && found.entry_address != 0)
        r = read_batch(layout, found.pid, &found, 1, error);
    if (!found.known || (found.event_address >= layout->low && found.event_address < layout->high))
        found.event_address = found.entry_address = 0;
    *backend = found;
    return r == CAMP_E_PERM || r == CAMP_E_NOMEM ? r : CAMP_OK;
}

int postgres_memory_read(const struct postgres_layout *layout, struct postgres_backend *backends,
                         size_t count, struct camp_error *error)
{
    int r;

    for (size_t i = 0; i < count; i++)
        backends[i].known = false;
    r = read_known(layout, backends, count, error);
    for (size_t i = 0; i < count && r == CAMP_OK; i++) {
        if (!backends[i].known)
            r = read_through_backend(layout, &backends[i], error);
    }
    return r;
}
