/*
 * Microstates (include/camp/states.h): a session is a capsule. Threads are returned as one
 * array for each column, as frames are. CPUs, losses and waits for disks are few, and are returned
 * as records.
 */
#include "columns.h"

#include "sources/machine/thread_values.h"
#include "sources/source.h"

#include <camp/states.h>

#include <stdlib.h>
#include <string.h>

#define CAPSULE "camp.states"

static struct camp_states_known known_of(const struct camp_states *session)
{
    struct camp_states_known known = { 0 };

    camp_states_known(session, &known, sizeof known, NULL);
    return known;
}

/* Returns whether a session knows a column of threads_schema. */
static bool is_known(const struct camp_states_known *known, size_t column)
{
    return (thread_unknown_columns(known) >> column & 1) == 0;
}

static void close_session(PyObject *capsule)
{
    struct camp_states *session = PyCapsule_GetPointer(capsule, CAPSULE);

    Py_BEGIN_ALLOW_THREADS
    camp_states_close(session);
    Py_END_ALLOW_THREADS
}

static PyObject *states_open(PyObject *module, PyObject *arguments)
{
    struct camp_states *session = NULL;
    struct camp_error error = { 0 };
    int system_calls, disks, r;
    PyObject *capsule;

    if (!take_arguments(module, arguments, "pp", &system_calls, &disks))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_states_open(
        &session, (system_calls ? 0 : CAMP_STATES_NO_SYSCALLS) | (disks ? CAMP_STATES_DISKS : 0),
        &error);
    Py_END_ALLOW_THREADS
    if (r < 0)
        return raise_error(module, r, &error);
    capsule = PyCapsule_New(session, CAPSULE, close_session);
    if (capsule == NULL)
        camp_states_close(session);
    return capsule;
}

/* Returns a list of a tuple for each column of a session's threads: (name, title, help, kind,
 * provenance), as in frames. The kind of a state or counter that the session does not know is
 * None, and it is in no block. */
static PyObject *states_columns(PyObject *module, PyObject *capsule)
{
    const struct camp_states *session = PyCapsule_GetPointer(capsule, CAPSULE);
    const struct camp_states_known known = known_of(session);
    PyObject *list = session != NULL ? PyList_New(0) : NULL;

    (void)module;
    for (size_t i = 0; list != NULL && i < THREADS_COLUMN_COUNT; i++) {
        const struct column *column = &threads_schema.columns[i];
        const bool is_state = i < CAMP_STATE_COUNT;
        PyObject *row = Py_BuildValue("(ssszs)", column->name,
                                      is_state ? camp_state_name((int)i) : column->name, "",
                                      !is_known(&known, i) ? NULL
                                      : is_state           ? "state"
                                                           : "counter",
                                      camp_provenance_name((int)column->provenance));

        if (row == NULL || PyList_Append(list, row) != 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* Returns the columns of threads[rows]: first the values, then those with the facts of each thread.
 * python/camp/_states.py reads them in this order. */
static PyObject *block_of(const struct camp_states *session,
                          const struct camp_thread_states *threads, size_t rows)
{
    const struct camp_states_known known = known_of(session);
    struct section sections[THREADS_COLUMN_COUNT + 12], *at = sections;

#define OF_ROWS(member)                                                                            \
    (struct section)                                                                               \
    {                                                                                              \
        &threads->member, sizeof *threads, sizeof threads->member                                  \
    }
    for (size_t i = 0; i < THREADS_COLUMN_COUNT; i++)
        if (is_known(&known, i))
            *at++ = (struct section){ (const char *)threads + thread_value_offset(i),
                                      sizeof *threads, sizeof(uint64_t) };
    *at++ = OF_ROWS(cgroup);
    *at++ = OF_ROWS(start_ns);
    *at++ = OF_ROWS(begin_ns);
    *at++ = OF_ROWS(time_ns);
    *at++ = OF_ROWS(tid);
    *at++ = OF_ROWS(pid);
    *at++ = OF_ROWS(parent);
    *at++ = OF_ROWS(uid);
    *at++ = OF_ROWS(flags);
    *at++ = OF_ROWS(count);
    *at++ = OF_ROWS(state);
    *at++ = OF_ROWS(processes);
#undef OF_ROWS
    return columns_of(sections, (size_t)(at - sections), rows);
}

struct session_listing {
    /* the first member, because session_of() casts its address to a session_listing */
    struct listing listing;
    struct camp_states *session;
};

static struct camp_states *session_of(const struct listing *listing)
{
    return ((const struct session_listing *)listing)->session;
}

/* Returns the threads that the function `read` lists, as (rows, block, names). */
static PyObject *threads_tuple(PyObject *module, PyObject *capsule, size_t least,
                               int (*read)(const struct listing *, void *, size_t, size_t *,
                                           struct camp_error *))
{
    struct session_listing all = { { .read = read, .size = sizeof(struct camp_thread_states) },
                                   PyCapsule_GetPointer(capsule, CAPSULE) };
    struct camp_thread_states *threads;
    struct camp_error error = { 0 };
    PyObject *ret;
    void *items;
    size_t count;
    int r;

    if (all.session == NULL)
        return NULL;
    all.listing.least = least;
    Py_BEGIN_ALLOW_THREADS
    r = list_all(&all.listing, &items, &count, &error);
    Py_END_ALLOW_THREADS
    if (r < 0)
        return raise_error(module, r, &error);
    threads = items;
    ret = Py_BuildValue("nNN", (Py_ssize_t)count, block_of(all.session, threads, count),
                        names_of(threads->name, sizeof *threads, sizeof threads->name, count));
    free(items);
    return ret;
}

static int read_threads(const struct listing *listing, void *items, size_t capacity,
                        size_t *ret_count, struct camp_error *error)
{
    return camp_states_threads(session_of(listing), items, listing->size, capacity, ret_count,
                               error);
}

/* The argument `least` is the number of threads for which space is allocated at first. If it is not
 * too small, one snapshot is enough. */
static PyObject *states_threads(PyObject *module, PyObject *arguments)
{
    PyObject *capsule;
    Py_ssize_t least;

    if (!take_arguments(module, arguments, "On", &capsule, &least))
        return NULL;
    return threads_tuple(module, capsule, (size_t)least, read_threads);
}

static int read_exits(const struct listing *listing, void *items, size_t capacity,
                      size_t *ret_count, struct camp_error *error)
{
    return camp_states_exits(session_of(listing), items, listing->size, capacity, ret_count, error);
}

/* Lists at most `most` exited threads. */
static PyObject *states_exits(PyObject *module, PyObject *arguments)
{
    PyObject *capsule;
    Py_ssize_t most;

    if (!take_arguments(module, arguments, "On", &capsule, &most))
        return NULL;
    return threads_tuple(module, capsule, (size_t)most, read_exits);
}

static PyObject *records_of(PyObject *module, PyObject *capsule, enum record_kind kind, size_t size,
                            int (*read)(const struct listing *, void *, size_t, size_t *,
                                        struct camp_error *))
{
    struct session_listing all = { { .read = read, .size = size },
                                   PyCapsule_GetPointer(capsule, CAPSULE) };

    return all.session == NULL ? NULL : list_records(module, kind, &all.listing);
}

static int read_cpus(const struct listing *listing, void *items, size_t capacity, size_t *ret_count,
                     struct camp_error *error)
{
    return camp_states_cpus(session_of(listing), items, listing->size, capacity, ret_count, error);
}

static PyObject *states_cpus(PyObject *module, PyObject *capsule)
{
    return records_of(module, capsule, RECORD_CPU_STATES, sizeof(struct camp_cpu_states),
                      read_cpus);
}

static int read_waits(const struct listing *listing, void *items, size_t capacity,
                      size_t *ret_count, struct camp_error *error)
{
    return camp_states_disk_waits(session_of(listing), items, listing->size, capacity, ret_count,
                                  error);
}

static PyObject *states_disk_waits(PyObject *module, PyObject *capsule)
{
    return records_of(module, capsule, RECORD_DISK_WAIT, sizeof(struct camp_disk_wait), read_waits);
}

static PyObject *states_losses(PyObject *module, PyObject *capsule)
{
    struct camp_states *session = PyCapsule_GetPointer(capsule, CAPSULE);
    struct camp_states_losses ret;
    struct camp_error error = { 0 };
    int r;

    if (session == NULL)
        return NULL;
    r = camp_states_losses(session, &ret, sizeof ret, &error);
    return r < 0 ? raise_error(module, r, &error) : record_make(module, RECORD_LOSSES, &ret);
}

static int read_events(const struct listing *listing, void *items, size_t capacity,
                       size_t *ret_count, struct camp_error *error)
{
    return camp_states_events(items, listing->size, capacity, ret_count, error);
}

static PyObject *states_events(PyObject *module, PyObject *nothing)
{
    const struct listing listing = { .read = read_events,
                                     .size = sizeof(struct camp_states_event) };

    (void)nothing;
    return list_records(module, RECORD_EVENT, &listing);
}

PyMethodDef states_methods[] = {
    { "states_open", states_open, METH_VARARGS, NULL },
    { "states_columns", states_columns, METH_O, NULL },
    { "states_threads", states_threads, METH_VARARGS, NULL },
    { "states_exits", states_exits, METH_VARARGS, NULL },
    { "states_cpus", states_cpus, METH_O, NULL },
    { "states_disk_waits", states_disk_waits, METH_O, NULL },
    { "states_losses", states_losses, METH_O, NULL },
    { "states_events", states_events, METH_NOARGS, NULL },
    { NULL },
};
