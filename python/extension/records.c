/*
 * Structs of the library as named tuples of python/camp/_records.py. A table says of each record
 * which field lies where, and which bit says that it is known: one that is not is None, never 0.
 */
#include "commands/get/counters.h"
#include "module.h"

#include <camp/states.h>

#include <string.h>

enum field_type {
    FIELD_U64,
    FIELD_U32,
    FIELD_I32,
    FIELD_REAL,
    FIELD_FLAG,       /* int32_t: True or False */
    FIELD_CPU,        /* int32_t: None for all CPUs together */
    FIELD_KIND,       /* int32_t, enum camp_disk_kind: "disk", "partition" */
    FIELD_PROVENANCE, /* int32_t: "measured"; None: unknown */
    FIELD_ACCOUNTING, /* int32_t: "tick" */
    FIELD_CHARACTER,
    FIELD_TEXT,    /* char[CAMP_NAME_SIZE] */
    FIELD_SHORT,   /* char[CAMP_STATES_NAME_SIZE] */
    FIELD_CONSTANT /* const char * */
};

struct field {
    const char *name;
    enum field_type type;
    size_t offset;
    uint32_t known; /* bit of the struct's `known`; 0: always known */
};

#define NOT_THERE SIZE_MAX

struct record {
    const char *name;
    const struct field *fields;
    size_t field_count;
    size_t known_offset; /* of the word of known bits, or NOT_THERE: all fields are known */
};

#define FIELD(of, member, type, known)                                                             \
    {                                                                                              \
#member, type, offsetof(struct of, member), known                                          \
    }

static const struct field cpu_fields[] = {
    FIELD(camp_cpu, cpu, FIELD_CPU, 0),
    FIELD(camp_cpu, time_ns, FIELD_U64, 0),
    FIELD(camp_cpu, user_ns, FIELD_U64, CAMP_CPU_USER),
    FIELD(camp_cpu, nice_ns, FIELD_U64, CAMP_CPU_NICE),
    FIELD(camp_cpu, system_ns, FIELD_U64, CAMP_CPU_SYSTEM),
    FIELD(camp_cpu, idle_ns, FIELD_U64, CAMP_CPU_IDLE),
    FIELD(camp_cpu, iowait_ns, FIELD_U64, CAMP_CPU_IOWAIT),
    FIELD(camp_cpu, irq_ns, FIELD_U64, CAMP_CPU_IRQ),
    FIELD(camp_cpu, softirq_ns, FIELD_U64, CAMP_CPU_SOFTIRQ),
    FIELD(camp_cpu, steal_ns, FIELD_U64, CAMP_CPU_STEAL),
    FIELD(camp_cpu, guest_ns, FIELD_U64, CAMP_CPU_GUEST),
    FIELD(camp_cpu, guest_nice_ns, FIELD_U64, CAMP_CPU_GUEST_NICE),
};

static const struct field memory_fields[] = {
    FIELD(camp_memory, time_ns, FIELD_U64, 0),
    FIELD(camp_memory, total_bytes, FIELD_U64, CAMP_MEMORY_TOTAL),
    FIELD(camp_memory, free_bytes, FIELD_U64, CAMP_MEMORY_FREE),
    FIELD(camp_memory, available_bytes, FIELD_U64, CAMP_MEMORY_AVAILABLE),
    FIELD(camp_memory, buffers_bytes, FIELD_U64, CAMP_MEMORY_BUFFERS),
    FIELD(camp_memory, cached_bytes, FIELD_U64, CAMP_MEMORY_CACHED),
    FIELD(camp_memory, swap_total_bytes, FIELD_U64, CAMP_MEMORY_SWAP_TOTAL),
    FIELD(camp_memory, swap_free_bytes, FIELD_U64, CAMP_MEMORY_SWAP_FREE),
};

static const struct field network_fields[] = {
    FIELD(camp_network, name, FIELD_TEXT, 0),
    FIELD(camp_network, time_ns, FIELD_U64, 0),
    FIELD(camp_network, received_bytes, FIELD_U64, 0),
    FIELD(camp_network, received_packets, FIELD_U64, 0),
    FIELD(camp_network, received_errors, FIELD_U64, 0),
    FIELD(camp_network, received_drops, FIELD_U64, 0),
    FIELD(camp_network, sent_bytes, FIELD_U64, 0),
    FIELD(camp_network, sent_packets, FIELD_U64, 0),
    FIELD(camp_network, sent_errors, FIELD_U64, 0),
    FIELD(camp_network, sent_drops, FIELD_U64, 0),
};

static const struct field disk_fields[] = {
    FIELD(camp_disk, name, FIELD_TEXT, 0),      FIELD(camp_disk, kind, FIELD_KIND, 0),
    FIELD(camp_disk, time_ns, FIELD_U64, 0),    FIELD(camp_disk, reads, FIELD_U64, 0),
    FIELD(camp_disk, read_bytes, FIELD_U64, 0), FIELD(camp_disk, read_ns, FIELD_U64, 0),
    FIELD(camp_disk, writes, FIELD_U64, 0),     FIELD(camp_disk, written_bytes, FIELD_U64, 0),
    FIELD(camp_disk, write_ns, FIELD_U64, 0),   FIELD(camp_disk, in_flight, FIELD_U64, 0),
    FIELD(camp_disk, busy_ns, FIELD_U64, 0),    FIELD(camp_disk, queue_ns, FIELD_U64, 0),
};

static const struct field process_fields[] = {
    FIELD(camp_process, pid, FIELD_I32, 0),
    FIELD(camp_process, start, FIELD_U64, 0),
};

static const struct field thread_fields[] = {
    FIELD(camp_thread, pid, FIELD_I32, 0),
    FIELD(camp_thread, tid, FIELD_I32, 0),
    FIELD(camp_thread, start, FIELD_U64, 0),
};

static const struct field task_fields[] = {
    FIELD(camp_task, time_ns, FIELD_U64, 0),
    FIELD(camp_task, start, FIELD_U64, 0),
    FIELD(camp_task, started_ns, FIELD_U64, CAMP_TASK_START),
    FIELD(camp_task, parent, FIELD_I32, CAMP_TASK_PARENT),
    FIELD(camp_task, name, FIELD_TEXT, CAMP_TASK_NAME),
    FIELD(camp_task, state, FIELD_CHARACTER, CAMP_TASK_STATE),
    FIELD(camp_task, cpu_ns, FIELD_U64, CAMP_TASK_CPU),
    FIELD(camp_task, cpu_resolution_ns, FIELD_U64, CAMP_TASK_CPU),
    FIELD(camp_task, cpu_provenance, FIELD_PROVENANCE, CAMP_TASK_CPU),
    FIELD(camp_task, user_ns, FIELD_U64, CAMP_TASK_SPLIT),
    FIELD(camp_task, system_ns, FIELD_U64, CAMP_TASK_SPLIT),
    FIELD(camp_task, split_provenance, FIELD_PROVENANCE, CAMP_TASK_SPLIT),
    FIELD(camp_task, sampled_ns, FIELD_U64, CAMP_TASK_SAMPLED),
    FIELD(camp_task, run_delay_ns, FIELD_U64, CAMP_TASK_RUN_DELAY),
    FIELD(camp_task, minor_faults, FIELD_U64, CAMP_TASK_FAULTS),
    FIELD(camp_task, major_faults, FIELD_U64, CAMP_TASK_FAULTS),
    FIELD(camp_task, virtual_bytes, FIELD_U64, CAMP_TASK_SIZE),
    FIELD(camp_task, resident_bytes, FIELD_U64, CAMP_TASK_SIZE),
    FIELD(camp_task, threads, FIELD_U64, CAMP_TASK_THREADS),
    FIELD(camp_task, voluntary_switches, FIELD_U64, CAMP_TASK_SWITCHES),
    FIELD(camp_task, involuntary_switches, FIELD_U64, CAMP_TASK_SWITCHES),
    FIELD(camp_task, read_bytes, FIELD_U64, CAMP_TASK_IO),
    FIELD(camp_task, written_bytes, FIELD_U64, CAMP_TASK_IO),
};

static const struct field taskstat_fields[] = {
    FIELD(camp_taskstat, pid, FIELD_I32, 0),
    FIELD(camp_taskstat, measured_ns, FIELD_U64, 0),
    FIELD(camp_taskstat, sampled_ns, FIELD_U64, 0),
    FIELD(camp_taskstat, run_delay_ns, FIELD_U64, 0),
    FIELD(camp_taskstat, runs, FIELD_U64, 0),
    FIELD(camp_taskstat, voluntary_switches, FIELD_U64, 0),
    FIELD(camp_taskstat, involuntary_switches, FIELD_U64, 0),
};

static const struct field task_exit_fields[] = {
    FIELD(camp_task_exit, pid, FIELD_I32, 0),
    FIELD(camp_task_exit, tid, FIELD_I32, 0),
    FIELD(camp_task_exit, parent, FIELD_I32, 0),
    FIELD(camp_task_exit, is_process, FIELD_FLAG, 0),
    FIELD(camp_task_exit, user_id, FIELD_U32, 0),
    FIELD(camp_task_exit, exit_code, FIELD_U32, 0),
    FIELD(camp_task_exit, measured_ns, FIELD_U64, 0),
    FIELD(camp_task_exit, sampled_ns, FIELD_U64, 0),
    FIELD(camp_task_exit, run_delay_ns, FIELD_U64, 0),
    FIELD(camp_task_exit, elapsed_ns, FIELD_U64, 0),
    FIELD(camp_task_exit, began_s, FIELD_U64, 0),
    FIELD(camp_task_exit, name, FIELD_TEXT, 0),
    FIELD(camp_task_exit, at_most_ns, FIELD_U64, 0),
    FIELD(camp_task_exit, voluntary_switches, FIELD_U64, 0),
};

static const struct field kernel_fields[] = {
    FIELD(camp_kernel, release, FIELD_TEXT, 0),
    FIELD(camp_kernel, machine, FIELD_TEXT, 0),
    FIELD(camp_kernel, tick_hz, FIELD_U32, CAMP_KERNEL_TICK),
    FIELD(camp_kernel, user_hz, FIELD_U32, CAMP_KERNEL_TICK),
    FIELD(camp_kernel, accounting, FIELD_ACCOUNTING, CAMP_KERNEL_ACCOUNTING),
    FIELD(camp_kernel, measured_cpus, FIELD_TEXT, CAMP_KERNEL_ACCOUNTING),
    FIELD(camp_kernel, tickless_idle, FIELD_FLAG, CAMP_KERNEL_TICKLESS_IDLE),
    FIELD(camp_kernel, irq_time, FIELD_FLAG, CAMP_KERNEL_IRQ_TIME),
    FIELD(camp_kernel, sched_info, FIELD_FLAG, CAMP_KERNEL_SCHED_INFO),
    FIELD(camp_kernel, schedstats, FIELD_FLAG, CAMP_KERNEL_SCHEDSTATS),
    FIELD(camp_kernel, taskstats, FIELD_FLAG, CAMP_KERNEL_TASKSTATS),
    FIELD(camp_kernel, delay_accounting, FIELD_FLAG, CAMP_KERNEL_DELAY_ACCOUNTING),
    FIELD(camp_kernel, psi, FIELD_FLAG, CAMP_KERNEL_PSI),
    FIELD(camp_kernel, btf, FIELD_FLAG, CAMP_KERNEL_BTF),
    FIELD(camp_kernel, cgroup_version, FIELD_I32, CAMP_KERNEL_CGROUP),
    FIELD(camp_kernel, steal, FIELD_FLAG, CAMP_KERNEL_STEAL),
    FIELD(camp_kernel, capabilities, FIELD_U64, CAMP_KERNEL_CAPABILITIES),
};

static const struct field utilisation_fields[] = {
    FIELD(camp_utilisation, measured_busy_percent, FIELD_REAL, 0),
    FIELD(camp_utilisation, sampled_busy_percent, FIELD_REAL, 0),
    FIELD(camp_utilisation, idle_percent, FIELD_REAL, 0),
    FIELD(camp_utilisation, iowait_percent, FIELD_REAL, 0),
    FIELD(camp_utilisation, steal_percent, FIELD_REAL, 0),
    FIELD(camp_utilisation, sum_percent, FIELD_REAL, 0),
    FIELD(camp_utilisation, elapsed_ns, FIELD_U64, 0),
    FIELD(camp_utilisation, resolution_percent, FIELD_REAL, 0),
};

static const struct field task_utilisation_fields[] = {
    FIELD(camp_task_utilisation, cpu_percent, FIELD_REAL, 0),
    FIELD(camp_task_utilisation, user_percent, FIELD_REAL, 0),
    FIELD(camp_task_utilisation, system_percent, FIELD_REAL, 0),
    FIELD(camp_task_utilisation, elapsed_ns, FIELD_U64, 0),
};

static const struct field cpu_states_fields[] = {
    FIELD(camp_cpu_states, cpu, FIELD_I32, 0),
    FIELD(camp_cpu_states, running, FIELD_I32, 0),
    FIELD(camp_cpu_states, begin_ns, FIELD_U64, 0),
    FIELD(camp_cpu_states, time_ns, FIELD_U64, 0),
    FIELD(camp_cpu_states, busy_ns, FIELD_U64, 0),
    FIELD(camp_cpu_states, idle_ns, FIELD_U64, 0),
    FIELD(camp_cpu_states, system_ns, FIELD_U64, 0),
    FIELD(camp_cpu_states, irq_ns, FIELD_U64, 0),
    FIELD(camp_cpu_states, softirq_ns, FIELD_U64, 0),
    FIELD(camp_cpu_states, switches, FIELD_U64, 0),
    FIELD(camp_cpu_states, any_wait_ns, FIELD_U64, 0),
    FIELD(camp_cpu_states, own_wait_ns, FIELD_U64, 0),
};

static const struct field losses_fields[] = {
    FIELD(camp_states_losses, switches, FIELD_U64, 0),
    FIELD(camp_states_losses, unseen, FIELD_U64, 0),
    FIELD(camp_states_losses, lost, FIELD_U64, 0),
    FIELD(camp_states_losses, exits_lost, FIELD_U64, 0),
    FIELD(camp_states_losses, exits_added_up, FIELD_U64, 0),
};

static const struct field disk_wait_fields[] = {
    FIELD(camp_disk_wait, tid, FIELD_I32, 0),      FIELD(camp_disk_wait, pid, FIELD_I32, 0),
    FIELD(camp_disk_wait, start_ns, FIELD_U64, 0), FIELD(camp_disk_wait, major, FIELD_U32, 0),
    FIELD(camp_disk_wait, minor, FIELD_U32, 0),    FIELD(camp_disk_wait, wait_ns, FIELD_U64, 0),
    FIELD(camp_disk_wait, name, FIELD_SHORT, 0),
};

static const struct field event_fields[] = {
    FIELD(camp_states_event, name, FIELD_CONSTANT, 0),
    FIELD(camp_states_event, since, FIELD_CONSTANT, 0),
    FIELD(camp_states_event, without, FIELD_CONSTANT, 0),
    FIELD(camp_states_event, needed, FIELD_FLAG, 0),
    FIELD(camp_states_event, present, FIELD_FLAG, 0),
};

#define FIELDS(array) array, sizeof(array) / sizeof(array)[0]

static const struct record records[RECORD_KIND_COUNT] = {
    [RECORD_CPU] = { "Cpu", FIELDS(cpu_fields), offsetof(struct camp_cpu, known) },
    [RECORD_MEMORY] = { "Memory", FIELDS(memory_fields), offsetof(struct camp_memory, known) },
    [RECORD_NETWORK] = { "Network", FIELDS(network_fields), NOT_THERE },
    [RECORD_DISK] = { "Disk", FIELDS(disk_fields), NOT_THERE },
    [RECORD_PROCESS] = { "Process", FIELDS(process_fields), NOT_THERE },
    [RECORD_THREAD] = { "Thread", FIELDS(thread_fields), NOT_THERE },
    [RECORD_TASK] = { "Task", FIELDS(task_fields), offsetof(struct camp_task, known) },
    [RECORD_TASKSTAT] = { "Taskstat", FIELDS(taskstat_fields), NOT_THERE },
    [RECORD_TASK_EXIT] = { "TaskExit", FIELDS(task_exit_fields), NOT_THERE },
    [RECORD_KERNEL] = { "Kernel", FIELDS(kernel_fields), offsetof(struct camp_kernel, known) },
    [RECORD_UTILISATION] = { "Utilisation", FIELDS(utilisation_fields), NOT_THERE },
    [RECORD_TASK_UTILISATION] = { "TaskUtilisation", FIELDS(task_utilisation_fields), NOT_THERE },
    [RECORD_CPU_STATES] = { "CpuStates", FIELDS(cpu_states_fields), NOT_THERE },
    [RECORD_LOSSES] = { "Losses", FIELDS(losses_fields), NOT_THERE },
    [RECORD_DISK_WAIT] = { "DiskWait", FIELDS(disk_wait_fields), NOT_THERE },
    [RECORD_EVENT] = { "Event", FIELDS(event_fields), NOT_THERE },
};

/* ------------------------------------------------------------------------ C to Python -- */

PyObject *text_of(const char *bytes, size_t length)
{
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)strnlen(bytes, length), "surrogateescape");
}

static PyObject *none(void)
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
    return text != NULL ? PyUnicode_InternFromString(text) : none();
}

static PyObject *of_integer(enum field_type type, int32_t value)
{
    switch (type) {
    case FIELD_FLAG:
        return PyBool_FromLong(value);
    case FIELD_CPU:
        return value == CAMP_CPU_TOTAL ? none() : PyLong_FromLong(value);
    case FIELD_KIND:
        return word(value == CAMP_DISK_PARTITION ? "partition" : "disk");
    case FIELD_PROVENANCE:
        return word(value == CAMP_UNKNOWN ? NULL : camp_provenance_name(value));
    case FIELD_ACCOUNTING:
        return word(accounting_name(value));
    default:
        return PyLong_FromLong(value);
    }
}

static PyObject *value_of(enum field_type type, const void *at)
{
    switch (type) {
    case FIELD_U64:
        return PyLong_FromUnsignedLongLong(*(const uint64_t *)at);
    case FIELD_U32:
        return PyLong_FromUnsignedLong(*(const uint32_t *)at);
    case FIELD_REAL:
        return PyFloat_FromDouble(*(const double *)at);
    case FIELD_CHARACTER:
        return text_of(at, 1);
    case FIELD_TEXT:
        return text_of(at, CAMP_NAME_SIZE);
    case FIELD_SHORT:
        return text_of(at, CAMP_STATES_NAME_SIZE);
    case FIELD_CONSTANT:
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

/* By tuple.__new__: what else a tuple has than its items (from Python 3.14 on its hash) is its own
 * business. */
PyObject *record_make(PyObject *module, enum record_kind kind, const void *from)
{
    const struct module_state *state = module_state(module);
    const struct record *record = &records[kind];
    const uint32_t known = known_of(record, from);
    PyObject *tuple = PyTuple_New((Py_ssize_t)record->field_count), *ret = NULL;

    for (size_t i = 0; tuple != NULL && i < record->field_count; i++) {
        const struct field *field = &record->fields[i];
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

/* A number of a record into its struct; what is no number there (a name) is left out. */
static bool take_field(const struct field *field, PyObject *value, void *into)
{
    if (field->type == FIELD_U64) {
        uint64_t number;

        if (!take_unsigned(value, field->name, &number))
            return false;
        memcpy((char *)into + field->offset, &number, sizeof number);
    } else if (field->type == FIELD_CPU) {
        const int32_t number = value == Py_None ? CAMP_CPU_TOTAL : (int32_t)PyLong_AsLong(value);

        memcpy((char *)into + field->offset, &number, sizeof number);
    }
    return !PyErr_Occurred();
}

bool record_take(PyObject *module, enum record_kind kind, PyObject *tuple, void *into)
{
    const struct record *record = &records[kind];
    uint32_t known = 0;

    if (!PyObject_IsInstance(tuple, module_state(module)->classes[kind]) || !PyTuple_Check(tuple) ||
        PyTuple_Size(tuple) != (Py_ssize_t)record->field_count) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "a camp.%s is wanted here", record->name);
        return false;
    }
    for (size_t i = 0; i < record->field_count; i++) {
        const struct field *field = &record->fields[i];
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

    (void)module;
    for (size_t kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        const struct record *record = &records[kind];

        if (PyUnicode_CompareWithASCIIString(argument, record->name) != 0)
            continue;
        for (size_t i = 0; bits != NULL && i < record->field_count; i++) {
            if (record->fields[i].known != 0 && !add_bit(bits, &record->fields[i]))
                Py_CLEAR(bits);
        }
    }
    return bits;
}

/* Whether a class is a tuple with the fields of this table, in their order. */
static bool is_of_table(PyObject *class, const struct record *record)
{
    PyObject *fields = PyObject_GetAttrString(class, "_fields");
    bool same = fields != NULL && PyType_IsSubtype((PyTypeObject *)class, &PyTuple_Type) &&
                PyTuple_Size(fields) == (Py_ssize_t)record->field_count;

    for (size_t i = 0; same && i < record->field_count; i++)
        same = PyUnicode_CompareWithASCIIString(PyTuple_GetItem(fields, (Py_ssize_t)i),
                                                record->fields[i].name) == 0;
    Py_XDECREF(fields);
    if (!same && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s is not as the extension has it", record->name);
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
        if (!is_of_table(class, &records[i]))
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
