/*
 * Frames of any source (src/sources/source.h). A source is a capsule, used by one thread at a time.
 * A frame is valid until the next one, so it is copied into columns at once.
 */
#include "columns.h"
#include "sources/from.h"
#include "sources/from_machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAPSULE "camp.frames"

struct frames {
    struct source *source;
    char kind[sizeof((struct from_facts *)0)->kind]; /* of its rows */
    volatile sig_atomic_t stop; /* 1 after frames_stop(); the source keeps a pointer to it */
    pid_t owner;
    bool busy;
};

/* ------------------------------------------------------------------------------ Signals -- */

/* The Python thread state that this thread released in order to wait, and whether a Python signal
 * handler raised an exception meanwhile. */
static _Thread_local struct waiting {
    PyThreadState *python; /* NULL: the thread does not wait */
    bool raised;
} waiting;

/* Runs the Python handlers of pending signals. So KeyboardInterrupt ends a wait, as it ends
 * time.sleep(). */
static bool interrupted(void)
{
    if (!waiting.raised) {
        PyEval_RestoreThread(waiting.python);
        waiting.raised = PyErr_CheckSignals() != 0;
        waiting.python = PyEval_SaveThread();
    }
    return waiting.raised;
}

/* Releases the GIL. A signal handler that runs during a wait may itself wait for a frame, so the
 * state of the outer wait is returned, and wait_end() restores it. */
static struct waiting wait_begin(void)
{
    const struct waiting outer = waiting;

    waiting = (struct waiting){ PyEval_SaveThread(), false };
    source_interrupted = interrupted;
    return outer;
}

/* Takes the GIL back. False: a signal handler raised an exception. */
static bool wait_end(struct waiting outer)
{
    const bool raised = waiting.raised;

    if (outer.python == NULL)
        source_interrupted = NULL;
    PyEval_RestoreThread(waiting.python);
    waiting = outer;
    return !raised;
}

/* ---------------------------------------------------------------------------- Opening -- */

/* In a child of fork(2) nothing is closed: the connections are the parent's, and closing them would
 * end its sessions. */
static void close_frames(PyObject *capsule)
{
    struct frames *frames = PyCapsule_GetPointer(capsule, CAPSULE);

    if (frames == NULL || frames->owner != getpid())
        return;
    Py_BEGIN_ALLOW_THREADS
    source_close(frames->source);
    Py_END_ALLOW_THREADS
    free(frames);
}

/* Fills *ret from the arguments, which own its texts. False: an exception was raised. */
static bool take_from(PyObject *arguments, PyObject *keywords, struct from *ret)
{
    static const char *const names[] = { "name",  "tier",   "system_calls", "query",
                                         "unit",  "speed",  "begin",        "end",
                                         "rules", "detail", "background",   "queries",
                                         "host",  "column", "containers",   NULL };
    int system_calls = 1, detail = 0, background = 0, queries = 0, containers = 0;

    *ret = (struct from){ 0 };
    if (!PyArg_ParseTupleAndKeywords(
            arguments, keywords, "y|zpzzdO&O&zpppzzp", (char **)(uintptr_t)names, &ret->text,
            &ret->tier, &system_calls, &ret->query, &ret->unit, &ret->speed, take_begin,
            &ret->begin_ns, take_end, &ret->end_ns, &ret->rules, &detail, &background, &queries,
            &ret->host, &ret->column, &containers))
        return false;
    if (!(ret->speed >= 0) || isinf(ret->speed)) {
        PyErr_SetString(PyExc_ValueError,
                        "speed: 1 is as it was, 2 twice as fast, 0 without waiting; no less");
        return false;
    }
    ret->states_options = system_calls ? 0 : CAMP_STATES_NO_SYSCALLS;
    ret->detail = detail;
    ret->background = background;
    ret->queries = queries;
    ret->names_containers = containers;
    return true;
}

/* Returns a list of a tuple for each column: (name, title, help, kind, provenance). States come
 * first. */
static PyObject *columns_list(const struct schema *schema)
{
    static const char *const kinds[] = {
        [COLUMN_STATE] = "state", [COLUMN_COUNTER] = "counter", [COLUMN_GAUGE] = "gauge"
    };
    PyObject *list = PyList_New((Py_ssize_t)schema->column_count);

    for (size_t i = 0; list != NULL && i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        PyObject *row = Py_BuildValue("(NNNss)", word_of(column->name), word_of(column->title),
                                      word_of(column->help), kinds[column->kind],
                                      camp_provenance_name((int)column->provenance));

        if (row == NULL || PyList_SetItem(list, (Py_ssize_t)i, row) != 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *labels_list(const struct schema *schema)
{
    PyObject *list = PyList_New((Py_ssize_t)schema->label_count);

    for (size_t i = 0; list != NULL && i < schema->label_count; i++) {
        PyObject *name = word_of(schema->label_names[i]);

        if (name == NULL || PyList_SetItem(list, (Py_ssize_t)i, name) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* Returns an open source as a tuple: (capsule, name, kind, tier, live, interval_ns, note). */
static PyObject *opened(struct frames *frames, const struct from_facts *facts)
{
    PyObject *capsule = PyCapsule_New(frames, CAPSULE, close_frames);

    memcpy(frames->kind, facts->kind, sizeof frames->kind);
    if (capsule == NULL) {
        source_close(frames->source);
        free(frames);
        return NULL;
    }
    return Py_BuildValue("NNNzOKN", capsule, word_of(facts->name), word_of(facts->kind),
                         facts->tier, facts->live ? Py_True : Py_False,
                         (unsigned long long)facts->interval_ns, word_of(facts->note));
}

static PyObject *frames_open(PyObject *module, PyObject *arguments, PyObject *keywords)
{
    struct frames *frames = calloc(1, sizeof *frames);
    struct camp_error error = { 0 };
    struct from_facts facts = { 0 };
    struct waiting outer;
    struct from from;
    int r;

    if (frames == NULL)
        return PyErr_NoMemory();
    if (!take_from(arguments, keywords, &from)) {
        free(frames);
        return raise_invalid(module);
    }
    frames->owner = getpid();
    from.stop = &frames->stop;
    outer = wait_begin();
    r = from_open(&from, &frames->source, &facts, &error);
    if (!wait_end(outer)) {
        if (r == CAMP_OK)
            source_close(frames->source);
        free(frames);
        return NULL;
    }
    if (r < 0) {
        free(frames);
        return raise_error(module, r, &error);
    }
    return opened(frames, &facts);
}

/* ---------------------------------------------------------------------------- Reading -- */

/* The process to which a row belongs. In a struct entity, an unknown number is 0, but uid 0 is
 * root. So in this struct an unknown number is NOBODY, and an unknown cgroup is 0. */
struct owner {
    uint64_t cgroup;
    int32_t pid, parent;
    uint32_t uid;
};

#define NOBODY (-1)

enum known {
    KNOWN_PID = 1u << 0,
    KNOWN_PARENT = 1u << 1,
    KNOWN_UID = 1u << 2,
    KNOWN_CGROUP = 1u << 3
};

#define KNOWN_ALL (KNOWN_PID | KNOWN_PARENT | KNOWN_UID | KNOWN_CGROUP)

/* Returns which members of struct owner can be known for rows of this kind (enum known). For kinds
 * without a row in all[] (sessions, hosts, tables), these are pid and parent. */
static unsigned known_of(const char *kind)
{
    static const struct {
        const char *kind;
        unsigned known;
    } all[] = { { "threads", KNOWN_ALL }, { "processes", KNOWN_ALL },  { "users", KNOWN_UID },
                { "commands", 0 },        { "cgroups", KNOWN_CGROUP }, { "cpus", 0 } };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(kind, all[i].kind) == 0)
            return all[i].known;
    }
    return KNOWN_PID | KNOWN_PARENT;
}

/* Returns the bits of `known` whose facts this row has. If the row adds up several exited threads
 * or processes, it has no facts of a single one. */
static unsigned known_of_row(const struct entity *entity, unsigned known)
{
    if (known != KNOWN_ALL)
        return known &
               ~((entity->pid > 0 ? 0u : KNOWN_PID) | (entity->parent > 0 ? 0u : KNOWN_PARENT));
    if (entity->pid <= 0) /* the row adds up threads of one parent */
        return KNOWN_PARENT;
    return entity->id == 0 && entity->count > 1 ? 0 : known;
}

static struct owner owner_of(const struct entity *entity, unsigned of_kind)
{
    const unsigned known = known_of_row(entity, of_kind);

    return (struct owner){ (known & KNOWN_CGROUP) != 0 ? entity->cgroup : 0,
                           (known & KNOWN_PID) != 0 ? entity->pid : NOBODY,
                           (known & KNOWN_PARENT) != 0 ? entity->parent : NOBODY,
                           (known & KNOWN_UID) != 0 ? entity->uid : (uint32_t)NOBODY };
}

/* Returns owners[entity_count], allocated with malloc(3). NULL: an exception was raised. */
static struct owner *owners_of(const struct frame *frame, const char *kind)
{
    const bool is_check = strcmp(kind, "check") == 0; /* the ids of its rows are pids */
    const unsigned known = known_of(kind);
    struct owner *owners = malloc((frame->entity_count + 1) * sizeof *owners);

    if (owners == NULL)
        PyErr_NoMemory();
    for (size_t i = 0; owners != NULL && i < frame->entity_count; i++) {
        owners[i] = owner_of(&frame->entities[i], known);
        if (is_check && frame->entities[i].id > 0)
            owners[i].pid = (int32_t)frame->entities[i].id;
    }
    return owners;
}

/* Returns the columns of a frame: first its values, then those with the facts of each row.
 * python/camp/_frames.py reads them in this order. */
static PyObject *block_of(const struct frame *frame, const char *kind)
{
    const struct entity *entities = frame->entities;
    const size_t columns = frame->schema->column_count, rows = frame->entity_count;
    struct section *sections = calloc(columns + 8, sizeof *sections);
    struct owner *owners = owners_of(frame, kind);
    PyObject *ret = NULL;

    if (sections == NULL || owners == NULL) {
        PyErr_NoMemory();
        goto out;
    }
    for (size_t i = 0; i < columns; i++)
        sections[i] = (struct section){ frame->values + i, columns * sizeof(uint64_t), 8 };
    if (rows > 0) {
        const struct section of_rows[] = {
            { frame->elapsed_ns, sizeof(uint64_t), 8 }, { &entities->id, sizeof *entities, 8 },
            { &owners->cgroup, sizeof *owners, 8 },     { &owners->pid, sizeof *owners, 4 },
            { &owners->parent, sizeof *owners, 4 },     { &owners->uid, sizeof *owners, 4 },
            { &entities->flags, sizeof *entities, 4 },  { &entities->count, sizeof *entities, 4 },
        };

        memcpy(sections + columns, of_rows, sizeof of_rows);
    }
    ret = columns_of(sections, rows > 0 ? columns + 8 : 0, rows);

out:
    free(sections);
    free(owners);
    return ret;
}

/* Returns a list with an item for each label: the values of the label in all rows, in the form of
 * names_of(). */
static PyObject *labels_of(const struct frame *frame)
{
    const size_t count = frame->schema->label_count, rows = frame->entity_count;
    char *values = malloc(rows * LABELS_VALUE_SIZE + 1);
    PyObject *list = values != NULL ? PyList_New((Py_ssize_t)count) : PyErr_NoMemory();

    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *bytes;

        for (size_t row = 0; row < rows; row++)
            PyOS_snprintf(values + row * LABELS_VALUE_SIZE, LABELS_VALUE_SIZE, "%s",
                          labels_value(frame->entities[row].labels, i));
        bytes = names_of(values, LABELS_VALUE_SIZE, LABELS_VALUE_SIZE, rows);
        if (bytes == NULL || PyList_SetItem(list, (Py_ssize_t)i, bytes) != 0)
            Py_CLEAR(list);
    }
    free(values);
    return list;
}

/* Returns a frame as a tuple: (columns, label names, start, end, wall clock, rows, block, names,
 * labels, losses, note). */
static PyObject *frame_tuple(const struct frame *frame, const char *kind)
{
    const struct losses *losses = &frame->losses;

    return Py_BuildValue("NNKKLnNNN(KKKK)N", columns_list(frame->schema),
                         labels_list(frame->schema), (unsigned long long)frame->start_ns,
                         (unsigned long long)frame->end_ns, (long long)frame->wall_clock_ns,
                         (Py_ssize_t)frame->entity_count, block_of(frame, kind),
                         names_of(frame->entity_count > 0 ? frame->entities->name : NULL,
                                  sizeof(struct entity), CAMP_NAME_SIZE, frame->entity_count),
                         labels_of(frame), (unsigned long long)losses->unseen,
                         (unsigned long long)losses->lost, (unsigned long long)losses->unread_ns,
                         (unsigned long long)losses->partial, word_of(frame->note));
}

/* Waits for the next frame and reads it, without the GIL. *ret becomes SOURCE_END, CAMP_OK or an
 * error below 0. False: a signal handler raised an exception meanwhile. */
static bool next_frame(struct frames *frames, uint64_t deadline_ns, const struct frame **ret_frame,
                       int *ret, struct camp_error *error)
{
    struct waiting outer;
    bool whole;

    frames->busy = true;
    outer = wait_begin();
    *ret = frames->source->next(frames->source, deadline_ns, ret_frame, error);
    whole = wait_end(outer);
    frames->busy = false;
    return whole;
}

/* Ends the wait of another thread, and all later ones. The thread raises camp.Invalid. */
static PyObject *frames_stop(PyObject *module, PyObject *capsule)
{
    struct frames *frames = PyCapsule_GetPointer(capsule, CAPSULE);

    (void)module;
    if (frames == NULL)
        return NULL;
    frames->stop = 1;
    return none();
}

/* Returns a pair: the next frame, and the frame of the same interval from source_beside(), or None.
 * Each frame is a frame_tuple(). At the end of the source, returns None. */
static PyObject *frames_next(PyObject *module, PyObject *arguments)
{
    const struct frame *frame = NULL, *beside;
    struct camp_error error = { 0 };
    unsigned long long deadline_ns;
    struct frames *frames;
    PyObject *capsule;
    int r;

    if (!take_arguments(module, arguments, "OK", &capsule, &deadline_ns))
        return NULL;
    frames = PyCapsule_GetPointer(capsule, CAPSULE);
    if (frames == NULL || !is_owner(module, frames->owner))
        return NULL;
    if (frames->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread waits for the next of these frames");
        return NULL;
    }
    if (!next_frame(frames, deadline_ns, &frame, &r, &error))
        return NULL;
    if (frames->stop)
        return raise_error(module, CAMP_E_INVALID,
                           &(struct camp_error){ .message = "these frames are closed" });
    if (r < 0)
        return raise_error(module, r, &error);
    if (r == SOURCE_END)
        return none();
    beside = source_beside(frames->source);
    return beside == NULL ? Py_BuildValue("NO", frame_tuple(frame, frames->kind), Py_None)
                          : Py_BuildValue("NN", frame_tuple(frame, frames->kind),
                                          frame_tuple(beside, beside->schema->name));
}

static PyObject *frames_are_here(PyObject *module, PyObject *argument)
{
    const char *name;

    return PyArg_Parse(argument, "y", &name) ? PyBool_FromLong(from_machine_has(name))
                                             : raise_invalid(module);
}

PyMethodDef frames_methods[] = {
    { "frames_are_here", frames_are_here, METH_O, NULL },
    { "frames_open", (PyCFunction)(void (*)(void))frames_open, METH_VARARGS | METH_KEYWORDS, NULL },
    { "frames_next", frames_next, METH_VARARGS, NULL },
    { "frames_stop", frames_stop, METH_O, NULL },
    { NULL },
};
