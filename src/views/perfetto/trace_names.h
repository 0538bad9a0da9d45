/* The threads of a trace: their processes and their last names. */
#pragma once

#include "ledger/index.h"
#include "microstates/switches.h"

#include <stdbool.h>

struct traced_thread {
    int32_t tid, tgid;
    uint64_t time_ns;            /* of the event that has the name; 0 if none has it */
    char name[SWITCH_NAME_SIZE]; /* "" if unknown; may lack the NUL at its end */
};

struct trace_names {
    struct traced_thread *threads; /* [count] */
    size_t count, capacity;
    struct index by_tid;
};

/* Collects all threads of the copy, except the idle threads of CPUs (tid 0), and the first threads
 * of their processes. Returns false if there is no memory. The caller releases *ret in any case. */
bool trace_names_collect(struct trace_names *ret, const struct switches_copy *switches);

/* Returns the thread, or NULL. */
struct traced_thread *trace_names_find(const struct trace_names *names, int32_t tid);

void trace_names_release(struct trace_names *names);
