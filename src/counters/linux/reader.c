/*
 * Readers keep a file of /proc open and read it from its start by pread(2). At an offset of 0 the
 * kernel generates the text anew (fs/seq_file.c), so the data are never out of date, and each
 * reading saves an open(2) and a close(2).
 *
 * The CPU time of a process is read from its CPU clock, by its pid. The clock may be of a later
 * process with the same pid. A pidfd decides that without a file of /proc: poll(2) reports that its
 * process has exited (since Linux 5.3). A pid is not reused before its process has exited and was
 * reaped, so if the process has not exited after the clock was read, the clock was its own.
 * poll(2) needs no permission, and costs less than pidfd_send_signal(2) with signal 0.
 */
#include "parse.h"
#include "process.h"

#include "../clock.h"
#include "../error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Headers older than Linux 5.3 lack the number, which is this one on every architecture but Alpha.
 */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* What the opaque members of a struct camp_reader are on Linux. */
struct file_reader {
    int32_t kind; /* enum camp_reader_kind; 0 if the reader is not open */
    int32_t descriptor;
    /* of a process: */
    int32_t pid;
    int32_t files_alone; /* opened with a struct camp_source: files may be read, but no CPU clock */
    uint64_t start;
    int32_t pidfd; /* -1 before the first camp_reader_process_cpu_ns(), and if there is none */
};

_Static_assert(sizeof(struct file_reader) <= sizeof(struct camp_reader), "a reader is too large");

static void store(struct camp_reader *ret, const struct file_reader *reader)
{
    *ret = (struct camp_reader){ { 0 } };
    memcpy(ret, reader, sizeof *reader);
}

/* Returns CAMP_E_INVALID if the reader is not an open one of this kind. */
static int load(struct file_reader *ret, const struct camp_reader *reader,
                enum camp_reader_kind kind, struct camp_error *error)
{
    static const char *const names[] = { "nothing",  "CPUs",  "memory",
                                         "networks", "disks", "a process" };

    if (camp_is_null(error, reader))
        return CAMP_E_INVALID;
    memcpy(ret, reader, sizeof *ret);
    if (ret->kind == (int32_t)kind)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_INVALID, 0, "this reader is not of %s; open one", names[kind]);
}

static int open_file(struct file_reader *ret, enum camp_reader_kind kind, const char *path,
                     struct camp_error *error)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);

    if (descriptor < 0)
        return camp_fail_errno(error, errno, path);
    *ret = (struct file_reader){ .kind = (int32_t)kind, .descriptor = descriptor };
    return CAMP_OK;
}

static int open_below_proc(struct camp_reader *reader, const struct camp_source *source,
                           enum camp_reader_kind kind, const char *name, struct camp_error *error)
{
    struct file_reader opened;
    char path[PATH_SIZE];
    int r;

    if (camp_is_null(error, reader))
        return CAMP_E_INVALID;
    r = camp_path(path, camp_proc(source), error, "%s", name);
    if (r == CAMP_OK)
        r = open_file(&opened, kind, path, error);
    if (r == CAMP_OK)
        store(reader, &opened);
    return r;
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
    struct file_reader file;
    int r = load(&file, reader, CAMP_READER_CPUS, error);

    if (r < 0)
        return r;
    if (camp_array_is_null(error, cpus, capacity, ret_count))
        return CAMP_E_INVALID;
    return camp_cpu_scan(file.descriptor, "stat", cpus, size, capacity, ret_count, error);
}

int camp_reader_memory(struct camp_reader *reader, uint32_t wanted, struct camp_memory *ret,
                       size_t size, struct camp_error *error)
{
    struct camp_memory memory;
    struct file_reader file;
    int r = load(&file, reader, CAMP_READER_MEMORY, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    r = camp_memory_scan(file.descriptor, "meminfo", wanted | CAMP_MEMORY_TOTAL, &memory, error);
    if (r == CAMP_OK)
        camp_hand_out(ret, size, &memory, sizeof memory);
    return r;
}

int camp_reader_networks(struct camp_reader *reader, struct camp_network *networks, size_t size,
                         size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct file_reader file;
    int r = load(&file, reader, CAMP_READER_NETWORKS, error);

    if (r < 0)
        return r;
    if (camp_array_is_null(error, networks, capacity, ret_count))
        return CAMP_E_INVALID;
    return camp_network_scan(file.descriptor, "net/dev", networks, size, capacity, ret_count,
                             error);
}

int camp_reader_disks(struct camp_reader *reader, int kind, struct camp_disk *disks, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct file_reader file;
    int r = load(&file, reader, CAMP_READER_DISKS, error);

    if (r < 0)
        return r;
    if (camp_array_is_null(error, disks, capacity, ret_count) ||
        camp_is_outside(error, kind, CAMP_DISK_ANY, CAMP_DISK_PARTITION))
        return CAMP_E_INVALID;
    return camp_disk_scan(file.descriptor, "diskstats", NULL, kind, disks, size, capacity,
                          ret_count, error);
}

/* The kernel ties an open /proc/PID/stat to its process: after the process has exited, each read
 * fails with ESRCH, even if the pid is reused. Reading without open and close takes half the time.
 */

static int read_line(const struct file_reader *reader, struct stat_line *ret,
                     struct camp_error *error)
{
    char text[STAT_SIZE];
    ssize_t length;

    do
        length = pread(reader->descriptor, text, sizeof text, 0);
    while (length < 0 && errno == EINTR);
    if (length < 0)
        return camp_fail_errno(error, errno, "the process of this reader");
    if (!camp_stat_parse(cursor_of(text, (size_t)length), ret))
        return camp_fail(error, CAMP_E_FORMAT, 0, "process %d: not a stat line", reader->pid);
    return camp_stat_check(ret, reader->start, error);
}

int camp_reader_open_process(struct camp_reader *reader, const struct camp_source *source,
                             const struct camp_process *process, struct camp_error *error)
{
    struct file_reader opened = { 0 };
    struct stat_line line;
    char path[PATH_SIZE];
    int r;

    if (camp_is_null(error, reader, process) || camp_is_outside(error, process->pid, 1, INT32_MAX))
        return CAMP_E_INVALID;
    r = camp_task_path(path, source, process->pid, 0, "stat", error);
    if (r == CAMP_OK)
        r = open_file(&opened, CAMP_READER_PROCESS, path, error);
    if (r < 0)
        return r;
    opened.pid = process->pid;
    opened.start = process->start;
    opened.files_alone = source != NULL;
    opened.pidfd = -1;
    r = read_line(&opened, &line, error);
    if (r < 0)
        close(opened.descriptor);
    else
        store(reader, &opened);
    return r;
}

int camp_reader_process(struct camp_reader *reader, struct camp_task *ret, size_t size,
                        struct camp_error *error)
{
    struct camp_task task = { 0 };
    struct stat_line line;
    uint64_t cpu_ns;
    bool clock;
    struct file_reader file;
    int r = load(&file, reader, CAMP_READER_PROCESS, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    task.time_ns = now_ns(CLOCK_MONOTONIC);
    clock = file.files_alone == 0 && camp_process_clock(file.pid, &cpu_ns);
    r = read_line(&file, &line, error);
    if (r == CAMP_OK)
        r = camp_task_of_stat(&line, !clock, &task, error);
    if (r < 0)
        return r;
    if (clock)
        camp_task_set_cpu(&task, cpu_ns, 1);
    camp_hand_out(ret, size, &task, sizeof task);
    return CAMP_OK;
}

/* Opens a pidfd of the process. As stat can be read afterwards, the process had its pid, and the
 * pidfd is its own. Without a pidfd (old kernel, no descriptor left) the reader continues with
 * stat. */
static void open_pidfd(struct camp_reader *reader, struct file_reader *file)
{
    const int pidfd = (int)syscall(SYS_pidfd_open, file->pid, 0);
    struct stat_line line;

    if (pidfd < 0)
        return;
    if (read_line(file, &line, NULL) < 0) {
        close(pidfd);
        return;
    }
    file->pidfd = pidfd;
    store(reader, file);
}

static bool has_not_exited(int pidfd)
{
    struct pollfd exit = { .fd = pidfd, .events = POLLIN };

    return poll(&exit, 1, 0) == 0;
}

int camp_reader_process_cpu_ns(struct camp_reader *reader, uint64_t *ret_ns,
                               struct camp_error *error)
{
    struct file_reader file;
    struct camp_task task;
    uint64_t cpu_ns;
    int r = load(&file, reader, CAMP_READER_PROCESS, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, ret_ns))
        return CAMP_E_INVALID;
    if (file.files_alone == 0 && file.pidfd < 0)
        open_pidfd(reader, &file);
    if (file.pidfd >= 0 && camp_process_clock(file.pid, &cpu_ns) && has_not_exited(file.pidfd)) {
        *ret_ns = cpu_ns;
        return CAMP_OK;
    }
    r = camp_reader_process(reader, &task, sizeof task, error);
    if (r == CAMP_OK)
        *ret_ns = task.cpu_ns;
    return r;
}

void camp_reader_close(struct camp_reader *reader)
{
    struct file_reader file;

    if (reader == NULL)
        return;
    memcpy(&file, reader, sizeof file);
    if (file.kind != 0)
        close(file.descriptor);
    if (file.kind == CAMP_READER_PROCESS && file.pidfd >= 0)
        close(file.pidfd);
    *reader = (struct camp_reader){ { 0 } };
}
