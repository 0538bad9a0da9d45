#include "record_traces.h"

#include "counters/units.h"
#include "ledger/words.h"
#include "program/new_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* How many seconds later the time in a name may be than that of the trace. */
#define LATER_MOST 60

/* The caller owns the result. Returns NULL if there is no memory. */
static char *path_of(const char *output, int64_t time_s)
{
    const time_t seconds = (time_t)time_s;
    const int stem = (int)recording_stem_length(output);
    struct tm day;
    char text[32], *path;

    gmtime_r(&seconds, &day);
    strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &day);
    return asprintf(&path, "%.*s-%s" TRACE_SUFFIX, stem, output, text) >= 0 ? path : NULL;
}

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

int record_trace_write(const char *output, int64_t time_ns, const struct perfetto_trace *trace,
                       char **ret_path)
{
    int system_error = EEXIST;

    *ret_path = NULL;
    if (!leaves_space(output, trace->switches))
        return ENOSPC;
    for (int later = 0; system_error == EEXIST && later <= LATER_MOST; later++) {
        free(*ret_path);
        *ret_path = path_of(output, time_ns / (int64_t)NS_PER_S + later);
        system_error = *ret_path != NULL ? write_file(*ret_path, trace) : ENOMEM;
    }
    return system_error;
}

int record_traces_find(struct recording_set *ret, const char *output)
{
    return recording_set_find_beside(ret, output, TRACE_SUFFIX);
}

static bool belongs(int64_t time_s, const struct recording_set *set, size_t i)
{
    return (i == 0 || time_s >= set->times_s[i]) &&
           (i + 1 == set->count || time_s < set->times_s[i + 1]);
}

uint64_t record_traces_size(const struct recording_set *traces, const struct recording_set *set,
                            size_t i)
{
    uint64_t sum = 0;

    for (size_t n = 0; n < traces->count; n++) {
        struct stat status;

        if (belongs(traces->times_s[n], set, i) && lstat(traces->paths[n], &status) == 0)
            sum += (uint64_t)status.st_size;
    }
    return sum;
}

void record_traces_remove(const struct recording_set *traces, const struct recording_set *set,
                          size_t i)
{
    for (size_t n = 0; n < traces->count; n++) {
        if (belongs(traces->times_s[n], set, i))
            unlink(traces->paths[n]);
    }
}
