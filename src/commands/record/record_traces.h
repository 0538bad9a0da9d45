/* The traces that camp record --when writes beside a recording: of run.camp, files such as
 * run-20261122T020000Z.perfetto-trace. The name has the end of the interval, in UTC. */
#pragma once

#include "recording/recording.h"
#include "views/perfetto/perfetto.h"

#define TRACE_SUFFIX ".perfetto-trace"

/* Writes a trace beside the recording `output`. A file of the same second is kept, and the new one
 * gets a later second. Sets *ret_path, which the caller frees. Returns 0 or an errno; no part of a
 * file is then left. ENOSPC also means that the trace would take more than half of the space that
 * is left; *ret_path may be NULL. */
int record_trace_write(const char *output, int64_t time_ns, const struct perfetto_trace *trace,
                       char **ret_path);

/* Finds all traces beside the recording, of this run and of earlier ones. */
int record_traces_find(struct recording_set *ret, const char *output);

/* Traces belong to the file that was being written at their time. Return the bytes of the traces of
 * the file set->paths[i], and delete these traces. Traces before all files belong to the first. */
uint64_t record_traces_size(const struct recording_set *traces, const struct recording_set *set,
                            size_t i);
void record_traces_remove(const struct recording_set *traces, const struct recording_set *set,
                          size_t i);
