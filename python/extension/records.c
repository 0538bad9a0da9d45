/*
 * Structs of the library as named tuples of python/camp/_records.py. The catalogue of libcamp has
 * the offset and the `known` bit of each field of camp.h; the tables below have the same for
 * identities and for the structs of states.h. An unknown field is None, never 0.
 */
#include "module.h"

#include <camp/catalogue.h>
#include <camp/states.h>
#include <camp/system.h>

#include <stdlib.h>
#include <string.h>

/* Types of fields besides those of enum camp_type. */
enum { TYPE_SHORT = 100 /* char[CAMP_STATES_NAME_SIZE] */, TYPE_CONSTANT /* const char * */ };

struct field {
    const char *name;
    int type;
    size_t offset;
    uint32_t known; /* bit of the field in the struct's `known`; 0: always known */
    const char *help;
};

#define NOT_THERE SIZE_MAX

struct record {
    const char *name;
    enum camp_record catalogue; /* CAMP_RECORD_NONE: `fields` has the fields */
    size_t known_offset;        /* offset of `known`; NOT_THERE: all fields are known */
    const struct field *fields;
    size_t field_count;
};

#define FIELD(of, member, type, known)                                                             \
    {                                                                                              \
#member, type, offsetof(struct of, member), known, NULL                                    \
    }

static const struct field process_fields[] = {
    FIELD(camp_process, pid, CAMP_TYPE_I32, 0),
    FIELD(camp_process, start, CAMP_TYPE_U64, 0),
};

static const struct field thread_fields[] = {
    FIELD(camp_thread, pid, CAMP_TYPE_I32, 0),
    FIELD(camp_thread, tid, CAMP_TYPE_I32, 0),
    FIELD(camp_thread, start, CAMP_TYPE_U64, 0),
};

static const struct field cpu_states_fields[] = {
    FIELD(camp_cpu_states, cpu, CAMP_TYPE_I32, 0),
    FIELD(camp_cpu_states, running, CAMP_TYPE_I32, CAMP_CPU_STATES_RUNNING),
    FIELD(camp_cpu_states, begin_ns, CAMP_TYPE_U64, 0),
    FIELD(camp_cpu_states, time_ns, CAMP_TYPE_U64, 0),
    FIELD(camp_cpu_states, busy_ns, CAMP_TYPE_U64, 0),
    FIELD(camp_cpu_states, idle_ns, CAMP_TYPE_U64, 0),
    FIELD(camp_cpu_states, system_ns, CAMP_TYPE_U64, CAMP_CPU_STATES_SYSTEM),
    FIELD(camp_cpu_states, irq_ns, CAMP_TYPE_U64, CAMP_CPU_STATES_IRQ),
    FIELD(camp_cpu_states, softirq_ns, CAMP_TYPE_U64, CAMP_CPU_STATES_SOFTIRQ),
    FIELD(camp_cpu_states, switches, CAMP_TYPE_U64, CAMP_CPU_STATES_SWITCHES),
    FIELD(camp_cpu_states, any_wait_ns, CAMP_TYPE_U64, CAMP_CPU_STATES_ANY_WAIT),
    FIELD(camp_cpu_states, own_wait_ns, CAMP_TYPE_U64, CAMP_CPU_STATES_OWN_WAIT),
};

static const struct field losses_fields[] = {
    FIELD(camp_states_losses, switches, CAMP_TYPE_U64, CAMP_STATES_LOSSES_SWITCHES),
    FIELD(camp_states_losses, unseen, CAMP_TYPE_U64, CAMP_STATES_LOSSES_UNSEEN),
    FIELD(camp_states_losses, lost, CAMP_TYPE_U64, CAMP_STATES_LOSSES_LOST),
    FIELD(camp_states_losses, exits_lost, CAMP_TYPE_U64, CAMP_STATES_LOSSES_EXITS_LOST),
    FIELD(camp_states_losses, exits_added_up, CAMP_TYPE_U64, CAMP_STATES_LOSSES_EXITS_ADDED_UP),
};

static const struct field disk_wait_fields[] = {
    FIELD(camp_disk_wait, tid, CAMP_TYPE_I32, 0),
    FIELD(camp_disk_wait, pid, CAMP_TYPE_I32, 0),
    FIELD(camp_disk_wait, start_ns, CAMP_TYPE_U64, 0),
    FIELD(camp_disk_wait, major, CAMP_TYPE_U32, CAMP_DISK_WAIT_DEVICE),
    FIELD(camp_disk_wait, minor, CAMP_TYPE_U32, CAMP_DISK_WAIT_DEVICE),
    FIELD(camp_disk_wait, wait_ns, CAMP_TYPE_U64, 0),
    FIELD(camp_disk_wait, name, TYPE_SHORT, 0),
};

static const struct field event_fields[] = {
    FIELD(camp_states_event, name, TYPE_CONSTANT, 0),
    FIELD(camp_states_event, since, TYPE_CONSTANT, 0),
    FIELD(camp_states_event, without, TYPE_CONSTANT, 0),
    FIELD(camp_states_event, needed, CAMP_TYPE_FLAG, 0),
    FIELD(camp_states_event, present, CAMP_TYPE_FLAG, CAMP_STATES_EVENT_PRESENT),
};

#define OF_CATALOGUE(record, known) CAMP_RECORD_##record, known, NULL, 0
#define OF_FIELDS(array, known) CAMP_RECORD_NONE, known, array, sizeof(array) / sizeof(array)[0]
#define OF_TABLE(array) OF_FIELDS(array, NOT_THERE)

static const struct record records[RECORD_KIND_COUNT] = {
    [RECORD_CPU] = { "Cpu", OF_CATALOGUE(CPU, offsetof(struct camp_cpu, known)) },
    [RECORD_MEMORY] = { "Memory", OF_CATALOGUE(MEMORY, offsetof(struct camp_memory, known)) },
    [RECORD_NETWORK] = { "Network", OF_CATALOGUE(NETWORK, offsetof(struct camp_network, known)) },
    [RECORD_DISK] = { "Disk", OF_CATALOGUE(DISK, offsetof(struct camp_disk, known)) },
    [RECORD_PROCESS] = { "Process", OF_TABLE(process_fields) },
    [RECORD_THREAD] = { "Thread", OF_TABLE(thread_fields) },
    [RECORD_TASK] = { "Task", OF_CATALOGUE(TASK, offsetof(struct camp_task, known)) },
    [RECORD_TASKSTAT] = { "Taskstat", OF_CATALOGUE(TASKSTAT, NOT_THERE) },
    [RECORD_TASK_EXIT] = { "TaskExit",
                           OF_CATALOGUE(TASK_EXIT, offsetof(struct camp_task_exit, known)) },
    [RECORD_KERNEL] = { "Kernel", OF_CATALOGUE(KERNEL, offsetof(struct camp_kernel, known)) },
    [RECORD_LINUX] = { "Linux", OF_CATALOGUE(LINUX, offsetof(struct camp_linux, known)) },
    [RECORD_UTILISATION] = { "Utilisation",
                             OF_CATALOGUE(UTILISATION, offsetof(struct camp_utilisation, known)) },
    [RECORD_TASK_UTILISATION] = { "TaskUtilisation", OF_CATALOGUE(TASK_UTILISATION, NOT_THERE) },
    [RECORD_CPU_STATES] = { "CpuStates",
                            OF_FIELDS(cpu_states_fields, offsetof(struct camp_cpu_states, known)) },
    [RECORD_LOSSES] = { "Losses",
                        OF_FIELDS(losses_fields, offsetof(struct camp_states_losses, known)) },
    [RECORD_DISK_WAIT] = { "DiskWait",
                           OF_FIELDS(disk_wait_fields, offsetof(struct camp_disk_wait, known)) },
    [RECORD_EVENT] = { "Event",
                       OF_FIELDS(event_fields, offsetof(struct camp_states_event, known)) },
    [RECORD_SYSTEM] = { "System", OF_CATALOGUE(SYSTEM, offsetof(struct camp_system, known)) },
};

/* ----------------------------------------------------------------------- The catalogue -- */

static struct field field_of(const struct camp_counter *row, size_t known_offset)
{
    return (struct field){ .name = row->field,
                           .type = row->type,
                           .offset = row->offset,
                           .known = known_offset == NOT_THERE ? 0 : row->known,
                           .help = row->help };
}

/* Copies the rows of the catalogue into state->fields: the rows of each record, one record after
 * the other. */
static void sort_rows(struct module_state *state, const struct camp_counter *rows, size_t count)
{
    struct field *next = state->fields;

    for (size_t kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        const struct record *record = &records[kind];

        state->records[kind] = (struct record_fields){ record->fields, record->field_count };
        if (record->catalogue == CAMP_RECORD_NONE)
            continue;
        state->records[kind].items = next;
        for (size_t i = 0; i < count; i++) {
            if (rows[i].record == (int32_t)record->catalogue)
                *next++ = field_of(&rows[i], record->known_offset);
        }
        state->records[kind].count = (size_t)(next - state->records[kind].items);
    }
}

bool records_load(struct module_state *state)
{
    struct camp_counter *rows;
    size_t count = 0;
    int r = camp_catalogue_read(NULL, sizeof *rows, 0, &count, NULL);

    rows = calloc(count + 1, sizeof *rows);
    state->fields = calloc(count + 1, sizeof *state->fields);
    if (r != CAMP_E_SPACE || rows == NULL || state->fields == NULL) {
        free(rows);
        PyErr_NoMemory();
        return false;
    }
    camp_catalogue_read(rows, sizeof *rows, count, &count, NULL);
    sort_rows(state, rows, count);
    free(rows);
    return true;
}

void records_unload(struct module_state *state)
{
    free(state->fields);
    state->fields = NULL;
}

/* The Python type of a field. */
static const char *annotation(const struct field *field)
{
    switch (field->type) {
    case CAMP_TYPE_FLAG:
        return "bool";
    case CAMP_TYPE_REAL:
        return "float";
    case CAMP_TYPE_CHARACTER:
    case CAMP_TYPE_TEXT:
    case CAMP_TYPE_DISK_KIND:
    case CAMP_TYPE_PROVENANCE:
    case CAMP_TYPE_ACCOUNTING:
        return "str";
    default:
        return "int";
    }
}

PyObject *records_fields(PyObject *module, PyObject *nothing)
{
    const struct module_state *state = module_state(module);
    PyObject *list = PyList_New(0);

    (void)nothing;
    for (size_t kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        const struct record_fields *fields = &state->records[kind];

        for (size_t i = 0;
             list != NULL && fields->items != records[kind].fields && i < fields->count; i++) {
            const struct field *field = &fields->items[i];
            const int optional = field->known != 0 || field->type == CAMP_TYPE_CPU ||
                                 field->type == CAMP_TYPE_PROVENANCE;
            PyObject *row = Py_BuildValue("sssis", records[kind].name, field->name,
                                          annotation(field), optional, field->help);

            if (row == NULL || PyList_Append(list, row) != 0)
                Py_CLEAR(list);
            Py_XDECREF(row);
        }
    }
    return list;
}

/* ------------------------------------------------------------------------ C to Python -- */

PyObject *text_of(const char *bytes, size_t length)
{
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)strnlen(bytes, length), "surrogateescape");
}

PyObject *none(void)
{
    Py_INCREF(Py_None);
    return Py_None;
}

PyObject *word_of(const char *text)
{
    return text != NULL ? text_of(text, strlen(text)) : none();
}

static PyObject *word(const char *text)
{
    return text != NULL ? PyUnicode_FromString(text) : none();
}

static PyObject *of_integer(int type, int32_t value)
{
    switch (type) {
    case CAMP_TYPE_FLAG:
        return PyBool_FromLong(value);
    case CAMP_TYPE_CPU:
        return value == CAMP_CPU_TOTAL ? none() : PyLong_FromLong(value);
    case CAMP_TYPE_DISK_KIND:
        return word(value == CAMP_DISK_PARTITION ? "partition" : "disk");
    case CAMP_TYPE_PROVENANCE:
        return word(value == CAMP_UNKNOWN ? NULL : camp_provenance_name(value));
    case CAMP_TYPE_ACCOUNTING:
        return word(camp_accounting_name(value));
    default:
        return PyLong_FromLong(value);
    }
}

static PyObject *value_of(int type, const void *at)
{
    switch (type) {
    case CAMP_TYPE_U64:
        return PyLong_FromUnsignedLongLong(*(const uint64_t *)at);
    case CAMP_TYPE_U32:
        return PyLong_FromUnsignedLong(*(const uint32_t *)at);
    case CAMP_TYPE_REAL:
        return PyFloat_FromDouble(*(const double *)at);
    case CAMP_TYPE_CHARACTER:
        return text_of(at, 1);
    case CAMP_TYPE_TEXT:
        return text_of(at, strlen(at) + 1);
    case TYPE_SHORT:
        return text_of(at, CAMP_STATES_NAME_SIZE);
    case TYPE_CONSTANT:
        return word(*(const char *const *)at);
    default:
        return of_integer(type, *(const int32_t *)at);
    }
}

static uint32_t known_of(const struct record *record, const void *from)
{
    uint32_t ret = 0;

    if (record->known_offset != NOT_THERE)
        memcpy(&ret, (const char *)from + record->known_offset, sizeof ret);
    return ret;
}

/* Uses tuple.__new__, which also initialises the hidden members of a tuple (its hash, from Python
 * 3.14). */
PyObject *record_make(PyObject *module, enum record_kind kind, const void *from)
{
    const struct module_state *state = module_state(module);
    const struct record_fields *fields = &state->records[kind];
    const uint32_t known = known_of(&records[kind], from);
    PyObject *tuple = PyTuple_New((Py_ssize_t)fields->count), *ret = NULL;

    for (size_t i = 0; tuple != NULL && i < fields->count; i++) {
        const struct field *field = &fields->items[i];
        PyObject *value = field->known != 0 && (known & field->known) == 0
                              ? none()
                              : value_of(field->type, (const char *)from + field->offset);

        if (value == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, value) != 0)
            Py_CLEAR(tuple);
    }
    if (tuple != NULL)
        ret = PyObject_CallFunctionObjArgs(state->new_tuple, state->classes[kind], tuple, NULL);
    Py_XDECREF(tuple);
    return ret;
}

PyObject *record_list(PyObject *module, enum record_kind kind, const void *items, size_t size,
                      size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);

    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *record = record_make(module, kind, (const char *)items + i * size);

        if (record == NULL || PyList_SetItem(list, (Py_ssize_t)i, record) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* ------------------------------------------------------------------------ Python to C -- */

/* Copies one number of a record into its struct; fields of other types, such as names, are skipped.
 */
static bool take_field(const struct field *field, PyObject *value, void *into)
{
    if (field->type == CAMP_TYPE_U64) {
        uint64_t number;

        if (!take_unsigned(value, field->name, &number))
            return false;
        memcpy((char *)into + field->offset, &number, sizeof number);
    } else if (field->type == CAMP_TYPE_CPU) {
        const int32_t number = value == Py_None ? CAMP_CPU_TOTAL : (int32_t)PyLong_AsLong(value);

        memcpy((char *)into + field->offset, &number, sizeof number);
    }
    return !PyErr_Occurred();
}

bool record_take(PyObject *module, enum record_kind kind, PyObject *tuple, void *into)
{
    const struct record *record = &records[kind];
    const struct record_fields *fields = &module_state(module)->records[kind];
    uint32_t known = 0;

    if (!PyObject_IsInstance(tuple, module_state(module)->classes[kind]) || !PyTuple_Check(tuple) ||
        PyTuple_Size(tuple) != (Py_ssize_t)fields->count) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "a camp.%s is wanted here", record->name);
        return false;
    }
    for (size_t i = 0; i < fields->count; i++) {
        const struct field *field = &fields->items[i];
        PyObject *value = PyTuple_GetItem(tuple, (Py_ssize_t)i);

        if (value == Py_None && field->known != 0)
            continue;
        if (!take_field(field, value, into)) {
            raise_invalid(module);
            return false;
        }
        known |= field->known;
    }
    if (record->known_offset != NOT_THERE)
        memcpy((char *)into + record->known_offset, &known, sizeof known);
    return true;
}

/* --------------------------------------------------------------- The classes of Python -- */

static bool add_bit(PyObject *bits, const struct field *field)
{
    PyObject *bit = PyLong_FromUnsignedLong(field->known);
    const bool added = bit != NULL && PyDict_SetItemString(bits, field->name, bit) == 0;

    Py_XDECREF(bit);
    return added;
}

PyObject *record_bits(PyObject *module, PyObject *argument)
{
    PyObject *bits = PyDict_New();

    for (size_t kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        const struct record_fields *fields = &module_state(module)->records[kind];

        if (PyUnicode_CompareWithASCIIString(argument, records[kind].name) != 0)
            continue;
        for (size_t i = 0; bits != NULL && i < fields->count; i++) {
            if (fields->items[i].known != 0 && !add_bit(bits, &fields->items[i]))
                Py_CLEAR(bits);
        }
    }
    return bits;
}

/* Returns whether a class is a named tuple with these fields, in this order. */
static bool has_fields(PyObject *class, const char *name, const struct record_fields *fields)
{
    PyObject *names = PyObject_GetAttrString(class, "_fields");
    bool same = names != NULL && PyType_IsSubtype((PyTypeObject *)class, &PyTuple_Type) &&
                PyTuple_Size(names) == (Py_ssize_t)fields->count;

    for (size_t i = 0; same && i < fields->count; i++)
        same = PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, (Py_ssize_t)i),
                                                fields->items[i].name) == 0;
    Py_XDECREF(names);
    if (!same && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s has other fields than libcamp: run tools/catalogue",
                     name);
    return same;
}

PyObject *records_use(PyObject *module, PyObject *arguments)
{
    struct module_state *state = module_state(module);
    PyObject *make_error, *classes;

    if (!PyArg_ParseTuple(arguments, "OO!", &make_error, &PyDict_Type, &classes))
        return NULL;
    for (size_t i = 0; i < RECORD_KIND_COUNT; i++) {
        PyObject *class = PyDict_GetItemString(classes, records[i].name);

        if (class == NULL)
            return PyErr_Format(PyExc_KeyError, "%s", records[i].name);
        if (!has_fields(class, records[i].name, &state->records[i]))
            return NULL;
        Py_INCREF(class);
        Py_XDECREF(state->classes[i]);
        state->classes[i] = class;
    }
    Py_INCREF(make_error);
    Py_XDECREF(state->make_error);
    state->make_error = make_error;
    return none();
}
