/* Parser: src/counters/linux/kernel.c */
/* Parser: src/counters/linux/linux.c */
/* Parser: src/counters/linux/process.c */
/* Parser: src/counters/linux/process_files.c */
/* Parser: src/counters/linux/process_beside.c */
/* Parser: src/sources/machine/process_line.c */
/*
 * Reads any bytes as several files of /proc and /sys at the same time, by the functions of the
 * library: what the kernel counts (mountinfo, cpuinfo, timer_list and others), a process and one of
 * its threads, a disk, memory, networks and CPUs.
 *
 * In the input, a letter selects a file, and the byte 0xff ends its text. A file without text does
 * not exist. The library opens files by open(2) and openat(2), which this file replaces.
 */
#include "counters/linux/file.h"
#include "sources/machine/process_line.h"

#include <camp/linux.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROOT "/foreign"
#define PID 7

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct file {
    const char *name;
    int descriptor;
    bool exists;
} files[] = {
    { .name = "self/mountinfo" },
    { .name = "self/status" },
    { .name = "self/schedstat" },
    { .name = "timer_list" },
    { .name = "cpuinfo" },
    { .name = "cmdline" },
    { .name = "stat" },
    { .name = "sys/kernel/osrelease" },
    { .name = "sys/kernel/arch" },
    { .name = "sys/kernel/task_delayacct" },
    { .name = "pressure/cpu" },
    { .name = "pressure/irq" },
    { .name = "schedstat" },
    { .name = "devices/system/cpu/nohz_full" },
    { .name = "devices/system/cpu/possible" },
    { .name = "block/vda/stat" },
    { .name = "meminfo" },
    { .name = "net/dev" },
    { .name = "diskstats" },
    { .name = "7/stat" },
    { .name = "7/status" },
    { .name = "7/schedstat" },
    { .name = "7/io" },
    { .name = "7/cmdline" },
    { .name = "7/task/8/stat" },
    { .name = "7/task/8/status" },
};

#define FILES (sizeof files / sizeof *files)

static const struct camp_source source = { .proc = ROOT, .sys = ROOT };

static int open_foreign(const char *name)
{
    char path[32];

    for (size_t i = 0; i < FILES; i++) {
        if (!files[i].exists || strcmp(files[i].name, name) != 0)
            continue;
        snprintf(path, sizeof path, "/proc/self/fd/%d", files[i].descriptor);
        return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    }
    errno = ENOENT;
    return -1;
}

static mode_t mode_of(int flags, va_list arguments)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

/* The directory of a process is opened as any directory: only its files are read. */
int open(const char *path, int flags, ...)
{
    va_list arguments;
    mode_t mode;

    if (strncmp(path, ROOT "/", sizeof ROOT) == 0)
        return (flags & O_PATH) == 0 ? open_foreign(path + sizeof ROOT)
                                     : (int)syscall(SYS_openat, AT_FDCWD, "/", flags);
    if (strcmp(path, "/proc/7/cmdline") == 0)
        return open_foreign("7/cmdline");
    va_start(arguments, flags);
    mode = mode_of(flags, arguments);
    va_end(arguments);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
    char name[PATH_SIZE];
    va_list arguments;
    mode_t mode;

    if (path[0] != '/' && directory != AT_FDCWD) {
        snprintf(name, sizeof name, "7/%s", path);
        return open_foreign(name);
    }
    if (strncmp(path, ROOT "/", sizeof ROOT) == 0)
        return open_foreign(path + sizeof ROOT);
    va_start(arguments, flags);
    mode = mode_of(flags, arguments);
    va_end(arguments);
    return (int)syscall(SYS_openat, directory, path, flags, mode);
}

static void write_file(struct file *file, const uint8_t *text, size_t length)
{
    if (file->descriptor == 0)
        file->descriptor = memfd_create(file->name, MFD_CLOEXEC);
    if (file->descriptor < 0 || ftruncate(file->descriptor, (off_t)length) < 0 ||
        pwrite(file->descriptor, text, length, 0) != (ssize_t)length)
        abort();
    file->exists = true;
}

static void write_files(const uint8_t *at, const uint8_t *end)
{
    for (size_t i = 0; i < FILES; i++)
        files[i].exists = false;
    while (at < end) {
        struct file *file = &files[*at++ % FILES];
        const uint8_t *last = at < end ? memchr(at, 0xff, (size_t)(end - at)) : NULL;

        if (last == NULL)
            last = end;
        write_file(file, at, (size_t)(last - at));
        at = last + 1;
    }
}

static void check_text(const char *text, size_t size)
{
    if (memchr(text, '\0', size) == NULL)
        abort();
}

static void check_kernel(void)
{
    struct camp_kernel kernel;
    struct camp_linux facts;

    if (camp_kernel_read(&source, &kernel, sizeof kernel, NULL) != CAMP_OK ||
        camp_linux_read(&source, &facts, sizeof facts, NULL) != CAMP_OK)
        abort();
    check_text(kernel.release, sizeof kernel.release);
    check_text(kernel.machine, sizeof kernel.machine);
    check_text(kernel.measured_cpus, sizeof kernel.measured_cpus);
    if (facts.cgroup_version < 0 || facts.cgroup_version > 3)
        abort();
}

static void check_tasks(void)
{
    const struct camp_thread thread = { .pid = PID, .tid = 8, .start = 1 };
    char line[PROCESS_LINE_SIZE];
    struct camp_process process = { .pid = PID };
    struct camp_task task;
    uint64_t cpu_ns;

    if (camp_process_identify(&source, PID, &process, sizeof process, NULL) == CAMP_OK &&
        camp_process_read(&source, &process, UINT32_MAX, &task, sizeof task, NULL) == CAMP_OK)
        check_text(task.name, sizeof task.name);
    if (camp_thread_read(&source, &thread, UINT32_MAX, &task, sizeof task, NULL) == CAMP_OK)
        check_text(task.name, sizeof task.name);
    (void)camp_process_cpu_ns(&source, &process, &cpu_ns, NULL);
    process_line(PID, true, "made-up", line);
    check_text(line, sizeof line);
}

static void check_devices(void)
{
    struct camp_disk disk;
    struct camp_network network;
    struct camp_memory memory;

    if (camp_disk_read(&source, "vda", &disk, sizeof disk, NULL) == CAMP_OK &&
        strcmp(disk.name, "vda") != 0)
        abort();
    if (camp_network_read(&source, "eth0", &network, sizeof network, NULL) == CAMP_OK &&
        strcmp(network.name, "eth0") != 0)
        abort();
    (void)camp_memory_read(&source, UINT32_MAX, &memory, sizeof memory, NULL);
}

static void check_cpus(void)
{
    struct camp_cpu cpu;
    int32_t ids[16];
    size_t count;
    uint64_t forks;

    if (camp_cpu_list(&source, ids, 16, &count, NULL) == CAMP_OK) {
        for (size_t i = 1; i < count; i++) {
            if (ids[i] <= ids[i - 1])
                abort();
        }
    }
    (void)camp_cpu_count(&source, &count, NULL);
    (void)camp_cpu_read(&source, 1, &cpu, sizeof cpu, NULL);
    (void)camp_fork_count(&source, &forks, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    write_files(data, data + size);
    check_kernel();
    check_tasks();
    check_devices();
    check_cpus();
    return 0;
}
