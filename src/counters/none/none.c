/*
 * Every function of camp.h that reads a counter, for a system without support: each returns
 * CAMP_E_NOTSUP.
 *
 * To port camp to another system, copy this folder, split this file like the folder linux (cpu.c,
 * memory.c, network.c, disk.c, process.c), and add the folder to ../meson.build. Then implement one
 * function after the other until the tests on live counters pass. If the system does not count a
 * value, return CAMP_E_NOTSUP or clear its bit in `known`; never return a made-up 0.
 *
 * A test checks that this file defines every function of the library that the parent folder does
 * not define.
 */
#include "../error.h"
#include "../platform.h"

/* Unused arguments have names, because the author of a port will use them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static int not_counted(struct camp_error *error, const char *what)
{
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "%s cannot be read on this system: libcamp was built without support for it",
                     what);
}

int camp_cpu_count(const struct camp_source *source, size_t *ret_count, struct camp_error *error)
{
    return not_counted(error, "CPUs");
}

int camp_cpu_list(const struct camp_source *source, int32_t *ids, size_t capacity,
                  size_t *ret_count, struct camp_error *error)
{
    return not_counted(error, "CPUs");
}

int camp_cpu_read(const struct camp_source *source, int32_t cpu, struct camp_cpu *ret, size_t size,
                  struct camp_error *error)
{
    return not_counted(error, "CPUs");
}

int camp_cpu_read_all(const struct camp_source *source, struct camp_cpu *cpus, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return not_counted(error, "CPUs");
}

int camp_memory_read(const struct camp_source *source, uint32_t wanted, struct camp_memory *ret,
                     size_t size, struct camp_error *error)
{
    return not_counted(error, "memory");
}

int camp_network_read(const struct camp_source *source, const char *name, struct camp_network *ret,
                      size_t size, struct camp_error *error)
{
    return not_counted(error, "networks");
}

int camp_network_read_all(const struct camp_source *source, struct camp_network *networks,
                          size_t size, size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return not_counted(error, "networks");
}

int camp_disk_read(const struct camp_source *source, const char *name, struct camp_disk *ret,
                   size_t size, struct camp_error *error)
{
    return not_counted(error, "disks");
}

int camp_disk_read_all(const struct camp_source *source, int kind, struct camp_disk *disks,
                       size_t size, size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return not_counted(error, "disks");
}

int camp_pid_list(const struct camp_source *source, struct camp_pid *pids, size_t size,
                  size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return not_counted(error, "processes");
}

int camp_fork_count(const struct camp_source *source, uint64_t *ret_count, struct camp_error *error)
{
    return not_counted(error, "processes");
}

int camp_process_identify(const struct camp_source *source, int32_t pid, struct camp_process *ret,
                          size_t size, struct camp_error *error)
{
    return not_counted(error, "processes");
}

int camp_process_list(const struct camp_source *source, struct camp_process *processes, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return not_counted(error, "processes");
}

int camp_process_find(const struct camp_source *source, const char *name,
                      struct camp_process *processes, size_t size, size_t capacity,
                      size_t *ret_count, struct camp_error *error)
{
    return not_counted(error, "processes");
}

int camp_process_read(const struct camp_source *source, const struct camp_process *process,
                      uint32_t wanted, struct camp_task *ret, size_t size, struct camp_error *error)
{
    return not_counted(error, "processes");
}

int camp_process_read_all(const struct camp_source *source, uint32_t wanted,
                          struct camp_process_usage *usages, size_t size, size_t capacity,
                          size_t *ret_count, struct camp_error *error)
{
    return not_counted(error, "processes");
}

int camp_thread_list(const struct camp_source *source, const struct camp_process *process,
                     struct camp_thread *threads, size_t size, size_t capacity, size_t *ret_count,
                     struct camp_error *error)
{
    return not_counted(error, "threads");
}

int camp_thread_read(const struct camp_source *source, const struct camp_thread *thread,
                     uint32_t wanted, struct camp_task *ret, size_t size, struct camp_error *error)
{
    return not_counted(error, "threads");
}

int camp_pid_cpu_ns(int32_t pid, uint64_t *ret_ns)
{
    return CAMP_E_NOTSUP;
}

int camp_process_cpu_ns(const struct camp_source *source, const struct camp_process *process,
                        uint64_t *ret_ns, struct camp_error *error)
{
    return not_counted(error, "processes");
}

int camp_reader_open_cpus(struct camp_reader *reader, const struct camp_source *source,
                          struct camp_error *error)
{
    return not_counted(error, "readers");
}

int camp_reader_open_memory(struct camp_reader *reader, const struct camp_source *source,
                            struct camp_error *error)
{
    return not_counted(error, "readers");
}

int camp_reader_open_networks(struct camp_reader *reader, const struct camp_source *source,
                              struct camp_error *error)
{
    return not_counted(error, "readers");
}

int camp_reader_open_disks(struct camp_reader *reader, const struct camp_source *source,
                           struct camp_error *error)
{
    return not_counted(error, "readers");
}

int camp_reader_open_process(struct camp_reader *reader, const struct camp_source *source,
                             const struct camp_process *process, struct camp_error *error)
{
    return not_counted(error, "readers");
}

int camp_reader_cpus(struct camp_reader *reader, struct camp_cpu *cpus, size_t size,
                     size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return not_counted(error, "readers");
}

int camp_reader_memory(struct camp_reader *reader, uint32_t wanted, struct camp_memory *ret,
                       size_t size, struct camp_error *error)
{
    return not_counted(error, "readers");
}

int camp_reader_networks(struct camp_reader *reader, struct camp_network *networks, size_t size,
                         size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return not_counted(error, "readers");
}

int camp_reader_disks(struct camp_reader *reader, int kind, struct camp_disk *disks, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return not_counted(error, "readers");
}

int camp_reader_process(struct camp_reader *reader, struct camp_task *ret, size_t size,
                        struct camp_error *error)
{
    return not_counted(error, "readers");
}

int camp_reader_process_cpu_ns(struct camp_reader *reader, uint64_t *ret_ns,
                               struct camp_error *error)
{
    return not_counted(error, "readers");
}

void camp_reader_close(struct camp_reader *reader)
{
}

int camp_kernel_read(const struct camp_source *source, struct camp_kernel *ret, size_t size,
                     struct camp_error *error)
{
    return not_counted(error, "the kernel");
}
