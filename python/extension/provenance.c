/* What each counter is, and how it was obtained: the table that `camp list counters` prints. */
#include "commands/get/counters.h"
#include "module.h"

#include <string.h>

/* (counter, kind, unit, obtained, resolution, source, help, capability), of this kernel. */
static PyObject *row_of(const struct counter *counter, const struct kind_name *kind,
                        const struct camp_kernel *kernel)
{
    const int provenance = counter_provenance(counter, kernel, CAMP_CPU_TOTAL, NULL);

    return Py_BuildValue("sssszzzz", counter->name, kind->name, counter_unit(counter),
                         counter->rule == RULE_NONE ? "fact" : camp_provenance_name(provenance),
                         counter->resolution, counter->source, counter->help, counter->capability);
}

static bool append(PyObject *list, PyObject *row)
{
    const bool done = row != NULL && PyList_Append(list, row) == 0;

    Py_XDECREF(row);
    return done;
}

static PyObject *counter_table(PyObject *module, PyObject *nothing)
{
    struct camp_kernel kernel = { 0 };
    PyObject *list = PyList_New(0);

    (void)module, (void)nothing;
    /* What cannot be read is unknown then, and said to be. */
    Py_BEGIN_ALLOW_THREADS
    camp_kernel_read(NULL, &kernel, sizeof kernel, NULL);
    Py_END_ALLOW_THREADS
    for (size_t k = 0; k < KIND_COUNT; k++) {
        for (size_t i = 0; list != NULL && i < counter_count; i++) {
            if ((counters[i].kinds & kinds[k].kind) != 0 &&
                !append(list, row_of(&counters[i], &kinds[k], &kernel)))
                Py_CLEAR(list);
        }
    }
    return list;
}

PyMethodDef provenance_methods[] = {
    { "counter_table", counter_table, METH_NOARGS, NULL },
    { NULL },
};
