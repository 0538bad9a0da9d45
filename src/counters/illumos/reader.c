/*
 * Readers keep the chain of kstats open, or the files of one process.
 *
 * kstat_open() copies the names of some thousand statistics, so an open chain saves most of the
 * time. kstat_chain_update() copies them again only if a statistic was added or removed. An open
 * file of /proc belongs to its process: after the process has exited, reading it fails with ENOENT,
 * even if the pid is reused.
 */
#include "process.h"
#include "readers.h"

#include "../error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum reader_kind { CLOSED, OF_CPUS, OF_MEMORY, OF_NETWORKS, OF_DISKS, OF_PROCESS };

/* What the opaque members of a struct camp_reader are on this system. */
struct open_reader {
    int32_t kind; /* enum reader_kind */
    int32_t pid;
    kstat_ctl_t *control; /* NULL if the reader is of a process */
    uint64_t start;
    int32_t psinfo, usage; /* descriptors */
};

_Static_assert(sizeof(struct open_reader) <= sizeof(struct camp_reader), "a reader is too large");

static void store(struct camp_reader *ret, const struct open_reader *reader)
{
    *ret = (struct camp_reader){ { 0 } };
    memcpy(ret, reader, sizeof *reader);
}

/* Returns CAMP_E_INVALID if the reader is not an open one of this kind. Brings the chain up to date
 * otherwise. */
static int load(struct open_reader *ret, const struct camp_reader *reader, enum reader_kind kind,
                struct camp_error *error)
{
    static const char *const names[] = { "nothing",  "CPUs",  "memory",
                                         "networks", "disks", "a process" };

    if (camp_is_null(error, reader))
        return CAMP_E_INVALID;
    memcpy(ret, reader, sizeof *ret);
    if (ret->kind != (int32_t)kind)
        return camp_fail(error, CAMP_E_INVALID, 0, "this reader is not of %s; open one",
                         names[kind]);
    if (ret->control != NULL && kstat_chain_update(ret->control) == -1)
        return camp_fail_errno(error, errno, "/dev/kstat");
    return CAMP_OK;
}

static int open_kstats(struct camp_reader *reader, const struct camp_source *source,
                       enum reader_kind kind, struct camp_error *error)
{
    struct open_reader opened = { .kind = (int32_t)kind };
    int r;

    if (camp_is_null(error, reader))
        return CAMP_E_INVALID;
    r = camp_kstats_open(source, &opened.control, error);
    if (r == CAMP_OK)
        store(reader, &opened);
    return r;
}

int camp_reader_open_cpus(struct camp_reader *reader, const struct camp_source *source,
                          struct camp_error *error)
{
    return open_kstats(reader, source, OF_CPUS, error);
}

int camp_reader_open_memory(struct camp_reader *reader, const struct camp_source *source,
                            struct camp_error *error)
{
    return open_kstats(reader, source, OF_MEMORY, error);
}

int camp_reader_open_networks(struct camp_reader *reader, const struct camp_source *source,
                              struct camp_error *error)
{
    return open_kstats(reader, source, OF_NETWORKS, error);
}

int camp_reader_open_disks(struct camp_reader *reader, const struct camp_source *source,
                           struct camp_error *error)
{
    return open_kstats(reader, source, OF_DISKS, error);
}

int camp_reader_cpus(struct camp_reader *reader, struct camp_cpu *cpus, size_t size,
                     size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct open_reader opened;
    int r = load(&opened, reader, OF_CPUS, error);

    if (r != CAMP_OK)
        return r;
    if (camp_array_is_null(error, cpus, capacity, ret_count))
        return CAMP_E_INVALID;
    return camp_cpu_scan(opened.control, cpus, size, capacity, ret_count, error);
}

int camp_reader_memory(struct camp_reader *reader, uint32_t wanted, struct camp_memory *ret,
                       size_t size, struct camp_error *error)
{
    struct open_reader opened;
    struct camp_memory memory;
    int r = load(&opened, reader, OF_MEMORY, error);

    if (r != CAMP_OK)
        return r;
    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    r = camp_memory_scan(opened.control, wanted, &memory, error);
    if (r == CAMP_OK)
        camp_hand_out(ret, size, &memory, sizeof memory);
    return r;
}

int camp_reader_networks(struct camp_reader *reader, struct camp_network *networks, size_t size,
                         size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct open_reader opened;
    int r = load(&opened, reader, OF_NETWORKS, error);

    if (r != CAMP_OK)
        return r;
    if (camp_array_is_null(error, networks, capacity, ret_count))
        return CAMP_E_INVALID;
    return camp_network_scan(opened.control, networks, size, capacity, ret_count, error);
}

int camp_reader_disks(struct camp_reader *reader, int kind, struct camp_disk *disks, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct open_reader opened;
    int r = load(&opened, reader, OF_DISKS, error);

    if (r != CAMP_OK)
        return r;
    if (camp_array_is_null(error, disks, capacity, ret_count) ||
        camp_is_outside(error, kind, CAMP_DISK_ANY, CAMP_DISK_PHYSICAL))
        return CAMP_E_INVALID;
    return camp_disk_scan(opened.control, kind, disks, size, capacity, ret_count, error);
}

static int open_file(const struct camp_source *source, int32_t pid, const char *name, int32_t *ret,
                     struct camp_error *error)
{
    char path[PATH_SIZE];
    int r = camp_proc_path(path, source, pid, 0, name, error);

    if (r != CAMP_OK)
        return r;
    *ret = open(path, O_RDONLY | O_CLOEXEC);
    return *ret >= 0 ? CAMP_OK : camp_fail_errno(error, errno, path);
}

static int read_process(const struct open_reader *reader, struct camp_task *ret,
                        struct camp_error *error)
{
    prusage_t usage;
    psinfo_t psinfo;
    int r = camp_usage_pread(reader->usage, "usage of the process of this reader", &usage, error);

    if (r == CAMP_OK)
        r = camp_psinfo_pread(reader->psinfo, "psinfo of the process of this reader", &psinfo,
                              error);
    if (r == CAMP_OK)
        r = camp_start_check(psinfo.pr_start, reader->start, error);
    if (r != CAMP_OK)
        return r;
    *ret = (struct camp_task){ .start = reader->start };
    camp_task_of_usage(&usage, ret);
    camp_task_of_psinfo(&psinfo, ret);
    return CAMP_OK;
}

static void close_files(const struct open_reader *reader)
{
    if (reader->usage >= 0)
        close(reader->usage);
    if (reader->psinfo >= 0)
        close(reader->psinfo);
}

int camp_reader_open_process(struct camp_reader *reader, const struct camp_source *source,
                             const struct camp_process *process, struct camp_error *error)
{
    struct open_reader opened = { .kind = OF_PROCESS, .psinfo = -1, .usage = -1 };
    struct camp_task task;
    int r;

    if (camp_is_null(error, reader, process) || camp_is_outside(error, process->pid, 0, INT32_MAX))
        return CAMP_E_INVALID;
    opened.pid = process->pid;
    opened.start = process->start;
    r = open_file(source, process->pid, "usage", &opened.usage, error);
    if (r == CAMP_OK)
        r = open_file(source, process->pid, "psinfo", &opened.psinfo, error);
    if (r == CAMP_OK)
        r = read_process(&opened, &task, error);
    if (r != CAMP_OK)
        close_files(&opened);
    else
        store(reader, &opened);
    return r;
}

int camp_reader_process(struct camp_reader *reader, struct camp_task *ret, size_t size,
                        struct camp_error *error)
{
    struct open_reader opened;
    struct camp_task task;
    int r = load(&opened, reader, OF_PROCESS, error);

    if (r != CAMP_OK)
        return r;
    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    r = read_process(&opened, &task, error);
    if (r == CAMP_OK)
        camp_hand_out(ret, size, &task, sizeof task);
    return r;
}

/* usage alone is enough: its descriptor is tied to the process, whose start was checked when it was
 * opened. */
int camp_reader_process_cpu_ns(struct camp_reader *reader, uint64_t *ret_ns,
                               struct camp_error *error)
{
    struct camp_task task = { 0 };
    struct open_reader opened;
    prusage_t usage;
    int r = load(&opened, reader, OF_PROCESS, error);

    if (r != CAMP_OK)
        return r;
    if (camp_is_null(error, ret_ns))
        return CAMP_E_INVALID;
    r = camp_usage_pread(opened.usage, "usage of the process of this reader", &usage, error);
    if (r != CAMP_OK)
        return r;
    camp_task_of_usage(&usage, &task);
    *ret_ns = task.cpu_ns;
    return CAMP_OK;
}

void camp_reader_close(struct camp_reader *reader)
{
    struct open_reader opened;

    if (reader == NULL)
        return;
    memcpy(&opened, reader, sizeof opened);
    if (opened.kind == CLOSED)
        return;
    if (opened.control != NULL)
        camp_kstats_close(opened.control);
    else
        close_files(&opened);
    *reader = (struct camp_reader){ { 0 } };
}
