/* Processes and threads. A process is passed as its pid and start, which identify it. */
#include "module.h"

#include <camp/system.h>

#include <signal.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------ Lists -- */

static PyObject *fork_count(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct given_source given;
    uint64_t count;
    int r;

    if (!take_arguments(module, arguments, "O&", take_source, &given))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_fork_count(given.source, &count, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error) : PyLong_FromUnsignedLongLong(count);
}

static PyObject *process_identify(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct given_source given;
    struct camp_process ret;
    int32_t pid;
    int r;

    if (!take_arguments(module, arguments, "O&O&", take_source, &given, take_pid, &pid))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_process_identify(given.source, pid, &ret, sizeof ret, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error) : record_make(module, RECORD_PROCESS, &ret);
}

static int read_processes(const struct listing *listing, void *items, size_t capacity,
                          size_t *ret_count, struct camp_error *error)
{
    if (listing->of == NULL)
        return camp_process_list(listing->source, items, listing->size, capacity, ret_count, error);
    return camp_process_find(listing->source, listing->of, items, listing->size, capacity,
                             ret_count, error);
}

static PyObject *process_list(PyObject *module, PyObject *arguments)
{
    struct listing listing = { .read = read_processes, .size = sizeof(struct camp_process) };
    struct given_source given;
    const char *name = NULL;
    PyObject *of;

    if (!take_arguments(module, arguments, "O&O", take_source, &given, &of))
        return NULL;
    if (of != Py_None && !take_name(of, &name))
        return raise_invalid(module);
    listing.source = given.source;
    listing.of = name;
    return list_records(module, RECORD_PROCESS, &listing);
}

static int read_threads(const struct listing *listing, void *items, size_t capacity,
                        size_t *ret_count, struct camp_error *error)
{
    return camp_thread_list(listing->source, listing->of, items, listing->size, capacity, ret_count,
                            error);
}

static PyObject *thread_list(PyObject *module, PyObject *arguments)
{
    struct listing listing = { .read = read_threads, .size = sizeof(struct camp_thread) };
    struct camp_process process = { 0 };
    struct given_source given;

    if (!take_arguments(module, arguments, "O&O&O&", take_source, &given, take_pid, &process.pid,
                        take_start, &process.start))
        return NULL;
    listing.source = given.source;
    listing.of = &process;
    return list_records(module, RECORD_THREAD, &listing);
}

/* --------------------------------------------------------------------------- Readings -- */

static PyObject *process_read(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct camp_process process = { 0 };
    struct given_source given;
    struct camp_task ret;
    unsigned wanted;
    int r;

    if (!take_arguments(module, arguments, "O&O&O&I", take_source, &given, take_pid, &process.pid,
                        take_start, &process.start, &wanted))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_process_read(given.source, &process, wanted, &ret, sizeof ret, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error) : record_make(module, RECORD_TASK, &ret);
}

static int read_usages(const struct listing *listing, void *items, size_t capacity,
                       size_t *ret_count, struct camp_error *error)
{
    return camp_process_read_all(listing->source, *(const unsigned *)listing->of, items,
                                 listing->size, capacity, ret_count, error);
}

/* Returns a list of processes and a list of their tasks, in the same order. */
static PyObject *process_read_all(PyObject *module, PyObject *arguments)
{
    struct listing listing = { .read = read_usages, .size = sizeof(struct camp_process_usage) };
    PyObject *processes, *tasks = NULL, *both = NULL;
    struct camp_error error = { 0 };
    struct camp_process_usage *usages;
    struct given_source given;
    unsigned wanted;
    size_t count;
    void *items;
    int r;

    if (!take_arguments(module, arguments, "O&I", take_source, &given, &wanted))
        return NULL;
    listing.source = given.source;
    listing.of = &wanted;
    Py_BEGIN_ALLOW_THREADS
    r = list_all(&listing, &items, &count, &error);
    Py_END_ALLOW_THREADS
    if (r < 0)
        return raise_error(module, r, &error);
    usages = items;
    processes = record_list(module, RECORD_PROCESS, &usages->process, listing.size, count);
    if (processes != NULL)
        tasks = record_list(module, RECORD_TASK, &usages->task, listing.size, count);
    if (tasks != NULL)
        both = PyTuple_Pack(2, processes, tasks);
    Py_XDECREF(tasks);
    Py_XDECREF(processes);
    free(items);
    return both;
}

/* Reads a text into memory that the caller must free(). The text may grow between two calls. */
static int read_text(const struct camp_source *source, const struct camp_process *process, int text,
                     char **ret, size_t *ret_length, struct camp_error *error)
{
    size_t capacity = 4096;
    int r;

    *ret = NULL;
    do {
        char *grown = realloc(*ret, capacity);

        if (grown == NULL)
            return CAMP_E_NOMEM;
        *ret = grown;
        r = camp_process_text(source, process, text, *ret, capacity, ret_length, error);
        capacity = *ret_length + 4096;
    } while (r == CAMP_E_SPACE);
    return r;
}

static PyObject *process_text(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct camp_process process = { 0 };
    struct given_source given;
    PyObject *made = NULL;
    size_t length = 0;
    char *bytes;
    int text, r;

    if (!take_arguments(module, arguments, "O&O&O&i", take_source, &given, take_pid, &process.pid,
                        take_start, &process.start, &text))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = read_text(given.source, &process, text, &bytes, &length, &error);
    Py_END_ALLOW_THREADS
    made = r < 0 ? raise_error(module, r, &error)
                 : PyBytes_FromStringAndSize(bytes, (Py_ssize_t)length);
    free(bytes);
    return made;
}

static PyObject *process_user_id(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct camp_process process = { 0 };
    struct given_source given;
    uint32_t user_id;
    int r;

    if (!take_arguments(module, arguments, "O&O&O&", take_source, &given, take_pid, &process.pid,
                        take_start, &process.start))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_process_user_id(given.source, &process, &user_id, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error) : PyLong_FromUnsignedLong(user_id);
}

static PyObject *process_proportional_bytes(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct camp_process process = { 0 };
    struct given_source given;
    uint64_t bytes;
    int r;

    if (!take_arguments(module, arguments, "O&O&O&", take_source, &given, take_pid, &process.pid,
                        take_start, &process.start))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_process_proportional_bytes(given.source, &process, &bytes, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error) : PyLong_FromUnsignedLongLong(bytes);
}

static PyObject *thread_read(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct camp_thread thread = { 0 };
    struct given_source given;
    struct camp_task ret;
    unsigned wanted;
    int r;

    if (!take_arguments(module, arguments, "O&O&O&O&I", take_source, &given, take_pid, &thread.pid,
                        take_tid, &thread.tid, take_start, &thread.start, &wanted))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_thread_read(given.source, &thread, wanted, &ret, sizeof ret, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error) : record_make(module, RECORD_TASK, &ret);
}

/* One system call of 0.2 us, which never waits. The GIL is kept, because releasing it may take
 * longer than the call: 5 ms if other threads compute. */
static PyObject *pid_cpu_ns(PyObject *module, PyObject *argument)
{
    int32_t pid;
    uint64_t ns;
    int r;

    if (!take_pid(argument, &pid))
        return raise_invalid(module);
    r = camp_pid_cpu_ns(pid, &ns);
    if (r < 0) {
        struct camp_error error = { .code = r };

        PyOS_snprintf(error.message, sizeof error.message, "process %d: there is none (any more)",
                      pid);
        return raise_error(module, r, &error);
    }
    return PyLong_FromUnsignedLongLong(ns);
}

static PyObject *process_cpu_ns(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct camp_process process = { 0 };
    struct given_source given;
    uint64_t ns;
    int r;

    if (!take_arguments(module, arguments, "O&O&O&", take_source, &given, take_pid, &process.pid,
                        take_start, &process.start))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_process_cpu_ns(given.source, &process, &ns, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error) : PyLong_FromUnsignedLongLong(ns);
}

/* Returns the utilisation since an earlier reading. The caller has waited since that reading. */
static PyObject *process_utilisation(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct camp_process process = { 0 };
    struct camp_task previous = { 0 };
    struct camp_task_utilisation ret;
    struct given_source given;
    PyObject *before;
    int r;

    if (!take_arguments(module, arguments, "O&O&O&O", take_source, &given, take_pid, &process.pid,
                        take_start, &process.start, &before) ||
        !record_take(module, RECORD_TASK, before, &previous))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_process_utilisation(given.source, &process, 0, &previous, &ret, sizeof ret, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error)
                 : record_make(module, RECORD_TASK_UTILISATION, &ret);
}

PyMethodDef process_methods[] = {
    { "fork_count", fork_count, METH_VARARGS, NULL },
    { "process_text", process_text, METH_VARARGS, NULL },
    { "process_user_id", process_user_id, METH_VARARGS, NULL },
    { "process_proportional_bytes", process_proportional_bytes, METH_VARARGS, NULL },
    { "process_identify", process_identify, METH_VARARGS, NULL },
    { "process_list", process_list, METH_VARARGS, NULL },
    { "process_read", process_read, METH_VARARGS, NULL },
    { "process_read_all", process_read_all, METH_VARARGS, NULL },
    { "process_cpu_ns", process_cpu_ns, METH_VARARGS, NULL },
    { "process_utilisation", process_utilisation, METH_VARARGS, NULL },
    { "pid_cpu_ns", pid_cpu_ns, METH_O,
      "pid_cpu_ns(pid, /)\n--\n\n"
      "CPU time of the process that has this pid now, in ns since its start: measured, resolution\n"
      "1 ns, of any user's process. One system call (0.3 us).\n\n"
      "It cannot know whether the pid was given to another process since you learned it:\n"
      "Process.cpu_ns() does. Gone: no process has this pid.\n\n"
      "Linux: the process's CPU clock. Of one that runs on another CPU at this moment it is as of\n"
      "the last tick or switch." },
    { "thread_list", thread_list, METH_VARARGS, NULL },
    { "thread_read", thread_read, METH_VARARGS, NULL },
    { NULL },
};
