/*
 * A process read again and again through its kept stat file.
 *
 * The kernel ties an open /proc/PID/stat to the process it was opened of: after its end every read
 * fails with ESRCH, whoever has the pid then. So a reader needs no comparison of start times but at
 * its opening. A kept descriptor reads in half the time of open + read + close.
 */
#include "process.h"

#include "../error.h"
#include "../units.h"
#include "reader.h"

#include <errno.h>
#include <unistd.h>

#define FILES_ALONE 1u /* in reader->reserved: with a source, no clock is read */

static int read_line(const struct camp_reader *reader, struct stat_line *ret,
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
    struct camp_reader opened = CAMP_READER_NONE;
    struct stat_line line;
    char path[PATH_SIZE];
    int r;

    if (reader == NULL || process == NULL || process->pid <= 0)
        return camp_fail(error, CAMP_E_INVALID, 0, "pass a reader and a process");
    r = camp_task_path(path, source, process->pid, 0, "stat", error);
    if (r == CAMP_OK)
        r = camp_reader_open(&opened, CAMP_READER_PROCESS, path, error);
    if (r < 0)
        return r;
    opened.pid = process->pid;
    opened.start = process->start;
    opened.reserved = source != NULL ? FILES_ALONE : 0;
    r = read_line(&opened, &line, error);
    if (r < 0)
        camp_reader_close(&opened);
    else
        *reader = opened;
    return r;
}

int camp_reader_process(struct camp_reader *reader, struct camp_task *ret, size_t size,
                        struct camp_error *error)
{
    struct camp_task task = { 0 };
    struct stat_line line;
    uint64_t cpu_ns;
    bool clock;
    int r = camp_reader_check(reader, CAMP_READER_PROCESS, error);

    if (r < 0)
        return r;
    if (ret == NULL)
        return camp_fail(error, CAMP_E_INVALID, 0, "pass a place for the numbers");
    task.time_ns = now_ns(CLOCK_MONOTONIC);
    clock = (reader->reserved & FILES_ALONE) == 0 && camp_process_clock(reader->pid, &cpu_ns);
    r = read_line(reader, &line, error);
    if (r == CAMP_OK)
        r = camp_task_of_stat(&line, !clock, &task, error);
    if (r < 0)
        return r;
    if (clock)
        camp_task_set_cpu(&task, cpu_ns, 1);
    camp_hand_out(ret, size, &task, sizeof task);
    return CAMP_OK;
}
