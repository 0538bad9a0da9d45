#include "trace_names.h"

#include "ledger/array.h"

static bool has_tid(const void *context, uint32_t position, const void *key)
{
    const struct trace_names *names = context;

    return names->threads[position].tid == *(const int32_t *)key;
}

static uint32_t hash_of(int32_t tid)
{
    return index_hash_number((uint32_t)tid);
}

struct traced_thread *trace_names_find(const struct trace_names *names, int32_t tid)
{
    const struct index_slot *slot = index_find(&names->by_tid, hash_of(tid), has_tid, names, &tid);

    return slot != NULL ? &names->threads[slot->position] : NULL;
}

/* Returns the thread, which is new if there was none, or NULL if there is no memory. */
static struct traced_thread *thread_of(struct trace_names *names, int32_t tid, int32_t tgid)
{
    struct traced_thread *thread = trace_names_find(names, tid);

    if (thread != NULL)
        return thread;
    if (!ARRAY_RESERVE(names->threads, names->capacity, names->count + 1) ||
        !index_reserve(&names->by_tid, names->count + 1))
        return NULL;
    thread = &names->threads[names->count];
    *thread = (struct traced_thread){ .tid = tid, .tgid = tgid };
    index_add(&names->by_tid, hash_of(tid), (uint32_t)names->count++);
    return thread;
}

static bool add(struct trace_names *names, int32_t tid, int32_t tgid)
{
    return tid == 0 ||
           (thread_of(names, tid, tgid) != NULL && thread_of(names, tgid, tgid) != NULL);
}

static bool add_event(struct trace_names *names, const struct switch_event *event)
{
    struct traced_thread *thread;

    if (!add(names, event->other_tid, event->other_tgid) || !add(names, event->tid, event->tgid))
        return false;
    thread = event->tid != 0 ? trace_names_find(names, event->tid) : NULL;
    if (thread != NULL && event->time_ns >= thread->time_ns) {
        thread->time_ns = event->time_ns;
        thread->tgid = event->tgid;
        memcpy(thread->name, event->name, sizeof thread->name);
    }
    return true;
}

bool trace_names_collect(struct trace_names *ret, const struct switches_copy *switches)
{
    *ret = (struct trace_names){ 0 };
    for (size_t cpu = 0; cpu < switches->cpu_count; cpu++) {
        for (size_t i = 0; i < switches->cpus[cpu].count; i++) {
            if (!add_event(ret, &switches->cpus[cpu].events[i]))
                return false;
        }
    }
    return true;
}

void trace_names_release(struct trace_names *names)
{
    free(names->threads);
    index_release(&names->by_tid);
    *names = (struct trace_names){ 0 };
}
