/* A second user of the session of a source of threads: the source reports to it what the threads
 * did, and it may read the session itself. So the same readings become rows of threads and, for
 * example, causes of waits (sources/causes). */
#pragma once

#include "sources/source.h"

/* Each function returns CAMP_OK or an error, which ends the interval. Pointers are valid only
 * during the call. */
struct thread_observer {
    void *context;
    /* Called when the session is open, before a thread is read. */
    int (*opened)(void *context, struct camp_states *session, struct camp_error *error);
    /* Called before exited threads are read, and before a snapshot, which ends an interval. */
    int (*before_exits)(void *context, struct camp_error *error);
    int (*before_snapshot)(void *context, struct camp_error *error);
    /* Called with what a thread, or a total, did in the interval: after thread_since(). */
    int (*did)(void *context, const struct camp_thread_states *since);
    /* Called with the waits of idle threads of one process in a state. Of `thread` only pid, tid,
     * flags and name are set. */
    int (*waited)(void *context, const struct camp_thread_states *thread, uint32_t state,
                  uint64_t threads, uint64_t wait_ns);
};

/* Like threads_source_open(), with an observer, which must outlive *ret. NULL: none. */
int threads_source_open_observed(uint32_t options, const volatile sig_atomic_t *stop,
                                 const struct thread_observer *observer, struct source **ret,
                                 struct camp_error *error);

/* Call the observer, if there is one. */
static inline int thread_observer_opened(const struct thread_observer *observer,
                                         struct camp_states *session, struct camp_error *error)
{
    return observer != NULL ? observer->opened(observer->context, session, error) : CAMP_OK;
}

static inline int thread_observer_before_exits(const struct thread_observer *observer,
                                               struct camp_error *error)
{
    return observer != NULL ? observer->before_exits(observer->context, error) : CAMP_OK;
}

static inline int thread_observer_before_snapshot(const struct thread_observer *observer,
                                                  struct camp_error *error)
{
    return observer != NULL ? observer->before_snapshot(observer->context, error) : CAMP_OK;
}

static inline int thread_observer_did(const struct thread_observer *observer,
                                      const struct camp_thread_states *since)
{
    return observer != NULL ? observer->did(observer->context, since) : CAMP_OK;
}

static inline int thread_observer_waited(const struct thread_observer *observer,
                                         const struct camp_thread_states *thread, uint32_t state,
                                         uint64_t threads, uint64_t wait_ns)
{
    return observer != NULL ? observer->waited(observer->context, thread, state, threads, wait_ns)
                            : CAMP_OK;
}
