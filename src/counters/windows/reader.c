/*
 * Readers. Windows has no files of counters, so a reader keeps only what it reads; that of a
 * process keeps the process open, so that its number is not reused and its cycles can be read at
 * once.
 */
#include "shared.h"

#include <string.h>

enum kind { KIND_NONE = 0, KIND_CPUS, KIND_MEMORY, KIND_NETWORKS, KIND_DISKS, KIND_PROCESS };

struct opened {
    uint64_t kind; /* enum kind */
    struct camp_process process;
    HANDLE handle; /* NULL if the process may not be opened: its cycles are then unknown */
};

_Static_assert(sizeof(struct opened) <= sizeof(struct camp_reader), "a reader fits");

static struct opened opened_of(const struct camp_reader *reader)
{
    struct opened opened;

    memcpy(&opened, reader, sizeof opened);
    return opened;
}

static void store(struct camp_reader *reader, const struct opened *opened)
{
    *reader = (struct camp_reader){ { 0 } };
    memcpy(reader, opened, sizeof *opened);
}

static int open_reader(struct camp_reader *reader, const struct camp_source *source, enum kind kind,
                       struct camp_error *error)
{
    const struct opened opened = { .kind = kind };
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, reader))
        return CAMP_E_INVALID;
    store(reader, &opened);
    return CAMP_OK;
}

static int check_reader(const struct camp_reader *reader, enum kind kind, struct camp_error *error)
{
    static const char *const names[] = { "nothing",  "CPUs",  "memory",
                                         "networks", "disks", "a process" };

    if (camp_is_null(error, reader))
        return CAMP_E_INVALID;
    if (opened_of(reader).kind == kind)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_INVALID, 0, "this reader is not of %s; open one", names[kind]);
}

int camp_reader_open_cpus(struct camp_reader *reader, const struct camp_source *source,
                          struct camp_error *error)
{
    return open_reader(reader, source, KIND_CPUS, error);
}

int camp_reader_open_memory(struct camp_reader *reader, const struct camp_source *source,
                            struct camp_error *error)
{
    return open_reader(reader, source, KIND_MEMORY, error);
}

int camp_reader_open_networks(struct camp_reader *reader, const struct camp_source *source,
                              struct camp_error *error)
{
    return open_reader(reader, source, KIND_NETWORKS, error);
}

int camp_reader_open_disks(struct camp_reader *reader, const struct camp_source *source,
                           struct camp_error *error)
{
    return open_reader(reader, source, KIND_DISKS, error);
}

int camp_reader_cpus(struct camp_reader *reader, struct camp_cpu *cpus, size_t size,
                     size_t capacity, size_t *ret_count, struct camp_error *error)
{
    int r = check_reader(reader, KIND_CPUS, error);

    return r < 0 ? r : camp_cpu_read_all(NULL, cpus, size, capacity, ret_count, error);
}

int camp_reader_memory(struct camp_reader *reader, uint32_t wanted, struct camp_memory *ret,
                       size_t size, struct camp_error *error)
{
    int r = check_reader(reader, KIND_MEMORY, error);

    return r < 0 ? r : camp_memory_read(NULL, wanted, ret, size, error);
}

int camp_reader_networks(struct camp_reader *reader, struct camp_network *networks, size_t size,
                         size_t capacity, size_t *ret_count, struct camp_error *error)
{
    int r = check_reader(reader, KIND_NETWORKS, error);

    return r < 0 ? r : camp_network_read_all(NULL, networks, size, capacity, ret_count, error);
}

int camp_reader_disks(struct camp_reader *reader, int kind, struct camp_disk *disks, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    int r = check_reader(reader, KIND_DISKS, error);

    return r < 0 ? r : camp_disk_read_all(NULL, kind, disks, size, capacity, ret_count, error);
}

int camp_reader_open_process(struct camp_reader *reader, const struct camp_source *source,
                             const struct camp_process *process, struct camp_error *error)
{
    struct opened opened = { .kind = KIND_PROCESS };
    struct camp_task unwanted;
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, reader, process) || camp_is_outside(error, process->pid, 1, INT32_MAX))
        return CAMP_E_INVALID;
    opened.process = *process;
    opened.handle = camp_process_open(process->pid);
    r = camp_process_read_opened(process, opened.handle, &unwanted, error);
    if (r == CAMP_OK)
        store(reader, &opened);
    else if (opened.handle != NULL)
        CloseHandle(opened.handle);
    return r;
}

int camp_reader_process(struct camp_reader *reader, struct camp_task *ret, size_t size,
                        struct camp_error *error)
{
    struct opened opened;
    struct camp_task task;
    int r = check_reader(reader, KIND_PROCESS, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    opened = opened_of(reader);
    r = camp_process_read_opened(&opened.process, opened.handle, &task, error);
    if (r == CAMP_OK)
        camp_hand_out(ret, size, &task, sizeof task);
    return r;
}

int camp_reader_process_cpu_ns(struct camp_reader *reader, uint64_t *ret_ns,
                               struct camp_error *error)
{
    struct opened opened;
    int r = check_reader(reader, KIND_PROCESS, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, ret_ns))
        return CAMP_E_INVALID;
    opened = opened_of(reader);
    return camp_process_cpu_opened(opened.process.pid, opened.handle, ret_ns, error);
}

void camp_reader_close(struct camp_reader *reader)
{
    struct opened opened;

    if (reader == NULL)
        return;
    opened = opened_of(reader);
    if (opened.kind == KIND_PROCESS && opened.handle != NULL)
        CloseHandle(opened.handle);
    *reader = (struct camp_reader){ { 0 } };
}
