/*
 * The extension _camp: libcamp and the microstates for the Python modules of python/camp/. Other
 * modules should not import it. _camp.pyi has the arguments and results of each function.
 */
#include "module.h"
#include "ledger/characters.h"
#include "ledger/frame.h"

#include <camp/states.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct module_state *module_state(PyObject *module)
{
    return PyModule_GetState(module);
}

PyObject *raise_error(PyObject *module, int result, const struct camp_error *error)
{
    char message[CAMP_ERROR_SIZE];
    PyObject *text;

    snprintf(message, sizeof message, "%s",
             error->message[0] != '\0' ? error->message : camp_result_name(result));
    make_printable(message); /* Python prints it on the terminal as it is. */
    text = text_of(message, strlen(message));
    if (text != NULL)
        raise_text(module, result, error->system_error, text);
    Py_XDECREF(text);
    return NULL;
}

PyObject *raise_text(PyObject *module, int result, int system_error, PyObject *message)
{
    PyObject *exception = PyObject_CallFunction(module_state(module)->make_error, "iiO", result,
                                                system_error, message);

    if (exception != NULL)
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_XDECREF(exception);
    return NULL;
}

int take_source(PyObject *given, void *ret)
{
    struct given_source *source = ret;
    PyObject *folders[2] = { NULL, NULL };
    const char **texts[2] = { &source->folders.proc, &source->folders.sys };

    *source = (struct given_source){ 0 };
    if (given == Py_None)
        return 1;
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "a source is a camp.Source(proc, sys)");
        return 0;
    }
    if (!PyArg_ParseTuple(given, "OO;a source is a camp.Source(proc, sys)", &folders[0],
                          &folders[1]))
        return 0;
    for (size_t i = 0; i < 2; i++) {
        if (folders[i] == Py_None)
            continue;
        if (!PyArg_Parse(folders[i], "s", texts[i]))
            return 0;
    }
    source->source = &source->folders;
    return 1;
}

bool is_owner(PyObject *module, pid_t owner)
{
    const struct camp_error error = {
        .message = "it was opened before a fork, by another process: open one here"
    };

    if (getpid() == owner)
        return true;
    raise_error(module, CAMP_E_INVALID, &error);
    return false;
}

/* ------------------------------------------------------------------------------- Lists -- */

int list_all(const struct listing *listing, void **ret_items, size_t *ret_count,
             struct camp_error *error)
{
    size_t capacity = listing->least > 0 ? listing->least : 64;
    void *items = NULL;
    size_t count = 0;
    int r;

    do {
        void *grown = realloc(items, capacity * listing->size);

        if (grown == NULL) {
            free(items);
            return CAMP_E_NOMEM;
        }
        items = grown;
        r = listing->read(listing, items, capacity, &count, error);
        capacity = count + count / 8 + 64;
    } while (r == CAMP_E_SPACE);
    if (r < 0) {
        free(items);
        return r;
    }
    *ret_items = items;
    *ret_count = count;
    return CAMP_OK;
}

PyObject *list_records(PyObject *module, enum record_kind kind, const struct listing *listing)
{
    struct camp_error error = { 0 };
    PyObject *list;
    void *items;
    size_t count;
    int r;

    Py_BEGIN_ALLOW_THREADS
    r = list_all(listing, &items, &count, &error);
    Py_END_ALLOW_THREADS
    if (r < 0)
        return raise_error(module, r, &error);
    list = record_list(module, kind, items, listing->size, count);
    free(items);
    return list;
}

/* ------------------------------------------------------------------------- The module -- */

static PyMethodDef own_methods[] = {
    { "use", records_use, METH_VARARGS, "use(make_error, classes): the Python half." },
    { "bits_of", record_bits, METH_O, NULL },
    { "fields", records_fields, METH_NOARGS, NULL },
    { NULL },
};

/* Constants of the headers that Python needs. */
static const struct constant {
    const char *name;
    long value;
} constants[] = {
    { "DISK_WHOLE", CAMP_DISK_WHOLE },       { "DISK_PARTITION", CAMP_DISK_PARTITION },
    { "DISK_PHYSICAL", CAMP_DISK_PHYSICAL }, { "ENTITY_NEW", ENTITY_NEW },
    { "ENTITY_ENDED", ENTITY_ENDED },        { "ENTITY_KERNEL", ENTITY_KERNEL },
    { "THREAD_KERNEL", CAMP_THREAD_KERNEL }, { "THREAD_ENDED", CAMP_THREAD_ENDED },
    { "THREAD_OLDER", CAMP_THREAD_OLDER },   { "THREAD_UNSURE", CAMP_THREAD_UNSURE },
    { "THREAD_TOTAL", CAMP_THREAD_TOTAL },
};

/* Before Python 3.9 the garbage collector may run before the module has a state. */
static int visit_module(PyObject *module, visitproc visit, void *arg)
{
    struct module_state *state = module_state(module);

    if (state == NULL)
        return 0;
    Py_VISIT(state->make_error);
    Py_VISIT(state->new_tuple);
    for (size_t i = 0; i < RECORD_KIND_COUNT; i++)
        Py_VISIT(state->classes[i]);
    return 0;
}

static int clear_module(PyObject *module)
{
    struct module_state *state = module_state(module);

    if (state == NULL)
        return 0;
    Py_CLEAR(state->make_error);
    Py_CLEAR(state->new_tuple);
    for (size_t i = 0; i < RECORD_KIND_COUNT; i++)
        Py_CLEAR(state->classes[i]);
    return 0;
}

static void free_module(void *module)
{
    clear_module(module);
    if (module_state(module) == NULL)
        return;
    records_unload(module_state(module));
    kept_processes_close(&module_state(module)->kept_processes);
}

static int fill_module(PyObject *module)
{
    PyMethodDef *const files[] = { own_methods,          counter_methods,    process_methods,
                                   kept_process_methods, taskstats_methods,  states_methods,
                                   frames_methods,       provenance_methods, table_methods };

    if (!records_load(module_state(module)))
        return -1;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (PyModule_AddFunctions(module, files[i]) != 0)
            return -1;
    }
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        if (PyModule_AddIntConstant(module, constants[i].name, constants[i].value) != 0)
            return -1;
    }
    module_state(module)->new_tuple = PyObject_GetAttrString((PyObject *)&PyTuple_Type, "__new__");
    if (module_state(module)->new_tuple == NULL)
        return -1;
    return PyModule_AddStringConstant(module, "version", camp_version());
}

static PyModuleDef_Slot slots[] = {
    { Py_mod_exec, (void *)fill_module },
    { 0, NULL },
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_camp",
    .m_doc = "What camp is made of; import camp instead.",
    .m_size = sizeof(struct module_state),
    .m_slots = slots,
    .m_traverse = visit_module,
    .m_clear = clear_module,
    .m_free = free_module,
};

PyMODINIT_FUNC PyInit__camp(void); /* which Python.h does not declare */

PyMODINIT_FUNC PyInit__camp(void)
{
    return PyModuleDef_Init(&definition);
}
