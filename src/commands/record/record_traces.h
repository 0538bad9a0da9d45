/* The traces that camp record --when writes beside a recording: of run.camp, files such as
 * run-20261122T020000Z.perfetto-trace. The name has the start of the interval, in UTC. A trace
 * belongs to the last file whose name is not later than its own, or else to the first file. */
#pragma once

#include "recording/recording.h"
#include "views/perfetto/perfetto.h"

#define TRACE_SUFFIX ".perfetto-trace"

/* Writes a trace beside the recording `output`, with *time_s (s since 1970) in its name. A file of
 * the same second is kept, and *time_s and the name become later. Sets *ret_path, which the caller
 * frees. Returns 0 or an errno; no part of a file is then left. ENOSPC also means that the trace
 * would take more than half of the space that is left; *ret_path may be NULL. */
int record_trace_write(const char *output, int64_t *time_s, const struct perfetto_trace *trace,
                       char **ret_path);

/* All traces beside a recording, of this run and of earlier ones. */
struct record_traces {
    struct recording_set set; /* the oldest first */
    uint64_t *sizes;          /* [set.count] bytes */
    size_t first, end;        /* the traces that are not removed: set.paths[first] to [end - 1] */
};

/* Finds the traces, and the files of a rotated recording (recording_set_find_made()). The caller
 * releases both in any case. */
int record_traces_find(struct record_traces *ret, struct recording_set *ret_files,
                       const char *output);
void record_traces_release(struct record_traces *traces);

/* Returns the bytes of all traces. */
uint64_t record_traces_size(const struct record_traces *traces);

/* Delete traces and return their bytes: those with names earlier than time_s, and the oldest ones
 * until `bytes` or more are free. The newest trace is kept then, unless it is larger than
 * `limit` by itself. The deleted traces are set.paths[] outside of `first` to `end`. */
uint64_t record_traces_remove_before(struct record_traces *traces, int64_t time_s);
uint64_t record_traces_remove_oldest(struct record_traces *traces, uint64_t bytes, uint64_t limit);
