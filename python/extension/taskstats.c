/* A session with taskstats: a capsule around struct camp_taskstats. */
#include "module.h"

#include <camp/linux.h>

#include <stdlib.h>
#include <unistd.h>

#define CAPSULE "camp.taskstats"
#define EXITS_AT_ONCE 256

struct session {
    struct camp_taskstats taskstats;
    pid_t owner;
};

static void close_session(PyObject *capsule)
{
    struct session *session = PyCapsule_GetPointer(capsule, CAPSULE);

    if (session == NULL)
        return;
    camp_taskstats_close(&session->taskstats);
    free(session);
}

/* Returns the session that the capsule holds. NULL: an exception was raised. */
static struct camp_taskstats *taskstats_of(PyObject *module, PyObject *capsule)
{
    struct session *session = PyCapsule_GetPointer(capsule, CAPSULE);

    return session != NULL && is_owner(module, session->owner) ? &session->taskstats : NULL;
}

static PyObject *taskstats_open(PyObject *module, PyObject *arguments)
{
    struct session *session = malloc(sizeof *session);
    struct camp_error error = { 0 };
    PyObject *capsule;
    int listens, r;

    if (session == NULL || !take_arguments(module, arguments, "p", &listens)) {
        free(session);
        return session == NULL ? PyErr_NoMemory() : NULL;
    }
    *session = (struct session){ CAMP_TASKSTATS_NONE, getpid() };
    r = camp_taskstats_open(&session->taskstats, &error);
    if (r == CAMP_OK && listens) {
        r = camp_taskstats_listen(&session->taskstats, &error);
        if (r < 0)
            camp_taskstats_close(&session->taskstats);
    }
    capsule =
        r < 0 ? raise_error(module, r, &error) : PyCapsule_New(session, CAPSULE, close_session);
    if (capsule == NULL)
        free(session);
    return capsule;
}

/* Returns pids[count] from a Python sequence. NULL: an exception was raised. */
static int32_t *take_pids(PyObject *module, PyObject *given, size_t *ret_count)
{
    PyObject *list = PySequence_List(given);
    const Py_ssize_t count = list != NULL ? PyList_Size(list) : 0;
    int32_t *pids = malloc(((size_t)count + 1) * sizeof *pids);

    for (Py_ssize_t i = 0; list != NULL && pids != NULL && i < count; i++)
        if (!take_pid(PyList_GetItem(list, i), &pids[i]))
            break;
    if (PyErr_Occurred() || list == NULL || pids == NULL) {
        free(pids);
        pids = NULL;
        if (PyErr_Occurred())
            raise_invalid(module);
        else
            PyErr_NoMemory();
    }
    Py_XDECREF(list);
    *ret_count = (size_t)count;
    return pids;
}

/* Returns a list of records in the order of the pids, with None for an exited process. */
static PyObject *answers(PyObject *module, const struct camp_taskstat *tasks, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);

    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *answer;

        if (tasks[i].result < 0) {
            Py_INCREF(Py_None);
            answer = Py_None;
        } else {
            answer = record_make(module, RECORD_TASKSTAT, &tasks[i]);
        }
        if (answer == NULL || PyList_SetItem(list, (Py_ssize_t)i, answer) != 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *taskstats_read(PyObject *module, PyObject *arguments)
{
    struct camp_taskstats *session;
    struct camp_taskstat *tasks;
    struct camp_error error = { 0 };
    PyObject *capsule, *given, *ret = NULL;
    int32_t *pids;
    size_t count;
    int r;

    if (!take_arguments(module, arguments, "OO", &capsule, &given))
        return NULL;
    session = taskstats_of(module, capsule);
    pids = session != NULL ? take_pids(module, given, &count) : NULL;
    if (pids == NULL)
        return NULL;
    tasks = calloc(count + 1, sizeof *tasks);
    if (tasks == NULL) {
        PyErr_NoMemory();
        goto out;
    }
    Py_BEGIN_ALLOW_THREADS
    r = camp_taskstats_read(session, pids, count, tasks, sizeof *tasks, &error);
    Py_END_ALLOW_THREADS
    ret = r < 0 ? raise_error(module, r, &error) : answers(module, tasks, count);

out:
    free(pids);
    free(tasks);
    return ret;
}

/* Returns the waiting exit records, at most EXITS_AT_ONCE, and the number of messages that the
 * kernel dropped in this session. */
static PyObject *taskstats_exits(PyObject *module, PyObject *capsule)
{
    struct camp_taskstats *session = taskstats_of(module, capsule);
    struct camp_task_exit exits[EXITS_AT_ONCE];
    struct camp_error error = { 0 };
    PyObject *list;
    size_t count;
    int r;

    if (session == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_taskstats_exits(session, exits, sizeof exits[0], EXITS_AT_ONCE, &count, &error);
    Py_END_ALLOW_THREADS
    if (r < 0)
        return raise_error(module, r, &error);
    list = record_list(module, RECORD_TASK_EXIT, exits, sizeof exits[0], count);
    return list == NULL ? NULL : Py_BuildValue("NK", list, (unsigned long long)session->overruns);
}

PyMethodDef taskstats_methods[] = {
    { "taskstats_open", taskstats_open, METH_VARARGS, NULL },
    { "taskstats_read", taskstats_read, METH_VARARGS, NULL },
    { "taskstats_exits", taskstats_exits, METH_O, NULL },
    { NULL },
};
