/*
 * The addresses of a backend are read once, through the backend's own pointers. They point to
 * shared memory, which lies at the same address in each process, so from then on three numbers
 * of each backend (event, pid, activity) are read through the postmaster. The pid proves that the
 * entry is still that backend's: after its end, or after a crash of the server, the entry is free
 * or another's, and the addresses are read again.
 */
#include "postgres_memory.h"

#include "counters/error.h"
#include "sources/sessions/process_memory.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/uio.h>

#define NUMBERS 3u
#define BATCH (IOV_MAX / NUMBERS)

/* The addresses of a backend; 0: unknown. */
struct address {
    int32_t pid;
    uint64_t event, entry;
};

struct postgres_memory {
    struct postgres_layout layout;
    struct address *addresses; /* [count]: of the last reading, ascending by pid */
    size_t count;
};

int postgres_memory_open(struct postgres_memory **ret, const struct postgres_layout *layout,
                         struct camp_error *error)
{
    struct postgres_memory *memory;

    if (!layout->activities_known)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "the place of the activities in the server's memory is unknown");
    memory = calloc(1, sizeof *memory);
    if (memory == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the addresses of backends");
    memory->layout = *layout;
    *ret = memory;
    return CAMP_OK;
}

void postgres_memory_close(struct postgres_memory *memory)
{
    if (memory == NULL)
        return;
    free(memory->addresses);
    free(memory);
}

/* Carries over the known addresses of these backends. */
static int carry_addresses(struct postgres_memory *memory, const struct postgres_backend *backends,
                           size_t count, struct camp_error *error)
{
    struct address *addresses = calloc(count + 1, sizeof *addresses);
    size_t at = 0;

    if (addresses == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the addresses of backends");
    for (size_t i = 0; i < count; i++) {
        while (at < memory->count && memory->addresses[at].pid < backends[i].pid)
            at++;
        if (at < memory->count && memory->addresses[at].pid == backends[i].pid)
            addresses[i] = memory->addresses[at];
        addresses[i].pid = backends[i].pid;
    }
    free(memory->addresses);
    memory->addresses = addresses;
    memory->count = count;
    return CAMP_OK;
}

/* ----------------------------------------------------------------- Many backends in one call -- */

struct numbers {
    uint32_t event, pid, code;
};

static void fill_vectors(struct iovec *here, struct iovec *there, struct numbers *numbers,
                         const struct address *address, const struct postgres_layout *layout)
{
    uint32_t *const into[] = { &numbers->event, &numbers->pid, &numbers->code };
    const uint64_t from[] = { address->event, address->entry + layout->pid_offset,
                              address->entry + layout->activity_offset };

    for (size_t i = 0; i < NUMBERS; i++) {
        here[i] = (struct iovec){ into[i], sizeof *into[i] };
        there[i] = (struct iovec){ (void *)(uintptr_t)from[i], sizeof *into[i] };
    }
}

/* False: the entry is another backend's. */
static bool store_numbers(struct postgres_backend *backend, const struct numbers *numbers)
{
    backend->known = numbers->pid == (uint32_t)backend->pid;
    backend->event = numbers->event;
    backend->code = numbers->code;
    return backend->known;
}

/* Reads consecutive backends through one process. Returns how many were read whole, or a failure;
 * the reading stops at an address that is no longer mapped. */
static int read_batch(const struct postgres_memory *memory, int32_t through,
                      const struct address *addresses, struct postgres_backend *backends,
                      size_t count, struct camp_error *error)
{
    struct iovec here[BATCH * NUMBERS], there[BATCH * NUMBERS];
    struct numbers numbers[BATCH];
    ssize_t length;
    size_t whole;

    for (size_t i = 0; i < count; i++)
        fill_vectors(&here[i * NUMBERS], &there[i * NUMBERS], &numbers[i], &addresses[i],
                     &memory->layout);
    length = process_vm_readv(through, here, count * NUMBERS, there, count * NUMBERS, 0);
    if (length < 0 && errno != EFAULT)
        return process_memory_fail(through, errno, error);
    whole = length < 0 ? 0 : (size_t)length / sizeof numbers[0];
    for (size_t i = 0; i < whole; i++)
        store_numbers(&backends[i], &numbers[i]);
    return (int)whole;
}

static int read_known(struct postgres_memory *memory, struct postgres_backend *backends,
                      size_t count, struct camp_error *error)
{
    size_t at = 0;

    while (at < count) {
        size_t length = 0;
        int r;

        while (length < BATCH && at + length < count && memory->addresses[at + length].entry != 0)
            length++;
        if (length == 0) {
            at++;
            continue;
        }
        r = read_batch(memory, memory->layout.pid, &memory->addresses[at], &backends[at], length,
                       error);
        if (r < 0)
            return r;
        at += (size_t)r < length ? (size_t)r + 1 : length;
    }
    return CAMP_OK;
}

/* ------------------------------------------------------------------------------- One backend -- */

/* Reads through the backend itself. Its event lies in its own memory until it has an entry in the
 * server's, and again at its end: then the addresses are not kept. */
static int read_through_backend(struct postgres_memory *memory, struct address *address,
                                struct postgres_backend *backend, struct camp_error *error)
{
    const struct postgres_layout *layout = &memory->layout;
    struct address found = { .pid = address->pid };
    int r = process_memory_read_pointer(backend->pid, layout->event_pointer, &found.event, error);

    *address = (struct address){ .pid = address->pid };
    if (r == CAMP_OK)
        r = process_memory_read_pointer(backend->pid, layout->entry_pointer, &found.entry, error);
    if (r == CAMP_OK && found.entry != 0)
        r = read_batch(memory, backend->pid, &found, backend, 1, error);
    if (r == CAMP_E_PERM || r == CAMP_E_NOMEM)
        return r;
    if (backend->known && (found.event < layout->low || found.event >= layout->high))
        *address = found;
    return CAMP_OK;
}

int postgres_memory_read(struct postgres_memory *memory, struct postgres_backend *backends,
                         size_t count, struct camp_error *error)
{
    int r = carry_addresses(memory, backends, count, error);

    for (size_t i = 0; i < count; i++)
        backends[i].known = false;
    if (r == CAMP_OK)
        r = read_known(memory, backends, count, error);
    for (size_t i = 0; i < count && r == CAMP_OK; i++) {
        if (!backends[i].known)
            r = read_through_backend(memory, &memory->addresses[i], &backends[i], error);
    }
    return r;
}
