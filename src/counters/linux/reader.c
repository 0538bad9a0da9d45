/*
 * Readers: the descriptor of a file of /proc, kept open by the caller and read by pread(2) from its
 * start. The kernel writes the text at each such read (fs/seq_file.c: an offset of 0 starts over),
 * so opening is saved, and the data are never stale.
 */
#include "reader.h"

#include "../error.h"
#include "file.h"
#include "lines.h"
#include "parse.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int camp_reader_check(const struct camp_reader *reader, enum camp_reader_kind kind,
                      struct camp_error *error)
{
    static const char *const names[] = { "nothing",  "CPUs",  "memory",
                                         "networks", "disks", "a process" };

    if (reader != NULL && reader->kind == (int32_t)kind && reader->descriptor >= 0)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_INVALID, 0, "this reader is not of %s; open one", names[kind]);
}

int camp_reader_open(struct camp_reader *reader, enum camp_reader_kind kind, const char *path,
                     struct camp_error *error)
{
    int descriptor;

    if (reader == NULL)
        return camp_fail(error, CAMP_E_INVALID, 0, "no reader; pass one");
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return camp_fail_errno(error, errno, path);
    *reader = (struct camp_reader){ .descriptor = descriptor, .kind = (int32_t)kind };
    return CAMP_OK;
}

static int open_below_proc(struct camp_reader *reader, const struct camp_source *source,
                           enum camp_reader_kind kind, const char *name, struct camp_error *error)
{
    char path[PATH_SIZE];
    int r = camp_path(path, camp_proc(source), error, "%s", name);

    return r < 0 ? r : camp_reader_open(reader, kind, path, error);
}

int camp_reader_open_cpus(struct camp_reader *reader, const struct camp_source *source,
                          struct camp_error *error)
{
    return open_below_proc(reader, source, CAMP_READER_CPUS, "stat", error);
}

int camp_reader_open_memory(struct camp_reader *reader, const struct camp_source *source,
                            struct camp_error *error)
{
    return open_below_proc(reader, source, CAMP_READER_MEMORY, "meminfo", error);
}

int camp_reader_open_networks(struct camp_reader *reader, const struct camp_source *source,
                              struct camp_error *error)
{
    return open_below_proc(reader, source, CAMP_READER_NETWORKS, "net/dev", error);
}

int camp_reader_open_disks(struct camp_reader *reader, const struct camp_source *source,
                           struct camp_error *error)
{
    return open_below_proc(reader, source, CAMP_READER_DISKS, "diskstats", error);
}

int camp_reader_cpus(struct camp_reader *reader, struct camp_cpu *cpus, size_t size,
                     size_t capacity, size_t *ret_count, struct camp_error *error)
{
    int r = camp_reader_check(reader, CAMP_READER_CPUS, error);

    if (r < 0)
        return r;
    if (ret_count == NULL || (cpus == NULL && capacity != 0))
        return camp_fail(error, CAMP_E_INVALID, 0, "camp_reader_cpus: an argument is NULL");
    return camp_cpu_scan(reader->descriptor, "stat", cpus, size, capacity, ret_count, error);
}

int camp_reader_memory(struct camp_reader *reader, struct camp_memory *ret, size_t size,
                       struct camp_error *error)
{
    struct camp_memory memory;
    int r = camp_reader_check(reader, CAMP_READER_MEMORY, error);

    if (r < 0)
        return r;
    if (ret == NULL)
        return camp_fail(error, CAMP_E_INVALID, 0, "camp_reader_memory: no result");
    r = camp_memory_scan(reader->descriptor, "meminfo", &memory, error);
    if (r == CAMP_OK)
        camp_hand_out(ret, size, &memory, sizeof memory);
    return r;
}

int camp_reader_networks(struct camp_reader *reader, struct camp_network *networks, size_t size,
                         size_t capacity, size_t *ret_count, struct camp_error *error)
{
    int r = camp_reader_check(reader, CAMP_READER_NETWORKS, error);

    if (r < 0)
        return r;
    if (ret_count == NULL || (networks == NULL && capacity != 0))
        return camp_fail(error, CAMP_E_INVALID, 0, "camp_reader_networks: an argument is NULL");
    return camp_network_scan(reader->descriptor, "net/dev", networks, size, capacity, ret_count,
                             error);
}

int camp_reader_disks(struct camp_reader *reader, int kind, struct camp_disk *disks, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    int r = camp_reader_check(reader, CAMP_READER_DISKS, error);

    if (r < 0)
        return r;
    if (ret_count == NULL || (disks == NULL && capacity != 0) || kind < CAMP_DISK_ANY ||
        kind > CAMP_DISK_PARTITION)
        return camp_fail(error, CAMP_E_INVALID, 0, "camp_reader_disks: NULL, or no such kind");
    return camp_disk_scan(reader->descriptor, "diskstats", kind, disks, size, capacity, ret_count,
                          error);
}

void camp_reader_close(struct camp_reader *reader)
{
    if (reader == NULL || reader->kind == 0 || reader->descriptor < 0)
        return;
    close(reader->descriptor);
    *reader = (struct camp_reader)CAMP_READER_NONE;
}
