#include "record_traces.h"

#include "ledger/words.h"
#include "program/new_file.h"
#include "record_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* How many seconds later the time in a name may be than that of the trace. */
#define LATER_MOST 60

static int write_file(const char *path, const struct perfetto_trace *trace)
{
    struct new_file file;
    int system_error = new_file_open(&file, path);

    if (system_error != 0)
        return system_error;
    system_error = perfetto_write(file.stream, trace);
    if (system_error == 0)
        return new_file_finish(&file);
    new_file_discard(&file);
    return system_error;
}

#define EVENT_BYTES 80 /* in a trace, about */

/* A trace must not take the last space, which the recording needs. */
static bool leaves_space(const char *output, const struct switches_copy *switches)
{
    char *folder = strndup(output, (size_t)(name_in_path(output) - output));
    const char *path = folder != NULL && folder[0] != '\0' ? folder : ".";
    uint64_t bytes = 0, available = UINT64_MAX;
    struct statvfs status;

    for (size_t i = 0; i < switches->cpu_count; i++)
        bytes += switches->cpus[i].count * EVENT_BYTES;
    if (statvfs(path, &status) == 0)
        available = (uint64_t)status.f_bavail * status.f_frsize;
    free(folder);
    return available / 2 >= bytes;
}

int record_trace_write(const char *output, int64_t *time_s, const struct perfetto_trace *trace,
                       char **ret_path)
{
    int system_error = EEXIST;

    *ret_path = NULL;
    if (!leaves_space(output, trace->switches))
        return ENOSPC;
    for (int later = 0; system_error == EEXIST && later <= LATER_MOST; later++) {
        free(*ret_path);
        *time_s += later > 0;
        *ret_path = record_files_path(output, *time_s, TRACE_SUFFIX);
        system_error = *ret_path != NULL ? write_file(*ret_path, trace) : ENOMEM;
    }
    return system_error;
}

int record_traces_find(struct record_traces *ret, struct recording_set *ret_files,
                       const char *output)
{
    int r;

    *ret = (struct record_traces){ 0 };
    r = recording_set_find_both(ret_files, &ret->set, output, TRACE_SUFFIX);
    if (r != CAMP_OK || ret->set.count == 0)
        return r;
    ret->sizes = calloc(ret->set.count, sizeof *ret->sizes);
    if (ret->sizes == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < ret->set.count; i++) {
        struct stat status;

        if (lstat(ret->set.paths[i], &status) == 0)
            ret->sizes[i] = (uint64_t)status.st_size;
    }
    ret->end = ret->set.count;
    return CAMP_OK;
}

void record_traces_release(struct record_traces *traces)
{
    recording_set_release(&traces->set);
    free(traces->sizes);
    *traces = (struct record_traces){ 0 };
}

uint64_t record_traces_size(const struct record_traces *traces)
{
    uint64_t sum = 0;

    for (size_t i = traces->first; i < traces->end; i++)
        sum += traces->sizes[i];
    return sum;
}

static uint64_t remove_at(const struct record_traces *traces, size_t i)
{
    unlink(traces->set.paths[i]);
    return traces->sizes[i];
}

uint64_t record_traces_remove_before(struct record_traces *traces, int64_t time_s)
{
    uint64_t sum = 0;

    while (traces->first < traces->end && traces->set.times_s[traces->first] < time_s)
        sum += remove_at(traces, traces->first++);
    return sum;
}

uint64_t record_traces_remove_oldest(struct record_traces *traces, uint64_t bytes, uint64_t limit)
{
    uint64_t sum = 0;

    if (bytes > 0 && traces->first < traces->end && traces->sizes[traces->end - 1] > limit)
        sum += remove_at(traces, --traces->end);
    while (sum < bytes && traces->first + 1 < traces->set.count && traces->first < traces->end)
        sum += remove_at(traces, traces->first++);
    return sum;
}
