/* What each counter is, and how it is obtained: the table of `camp list counters`. */
#include "module.h"

#include <camp/catalogue.h>

#define KINDS 32

/* Returns the tuple (counter, kind, unit, obtained, resolution, source, help, capability).
 * `obtained` is the provenance on this kernel. */
static PyObject *row_of(const struct camp_counter *counter, uint32_t kind,
                        const struct camp_kernel *kernel)
{
    const int provenance = camp_counter_provenance(counter, kernel, CAMP_CPU_TOTAL, NULL);

    return Py_BuildValue("sssszzzz", counter->name, camp_kind_name(kind), counter->unit,
                         counter->rule == CAMP_RULE_NONE ? "fact"
                                                         : camp_provenance_name(provenance),
                         counter->resolution, counter->source, counter->help, counter->capability);
}

static bool append(PyObject *list, PyObject *row)
{
    const bool done = row != NULL && PyList_Append(list, row) == 0;

    Py_XDECREF(row);
    return done;
}

static int read_rows(const struct listing *listing, void *items, size_t capacity, size_t *ret_count,
                     struct camp_error *error)
{
    return camp_catalogue_read(items, listing->size, capacity, ret_count, error);
}

static PyObject *list_of(const struct camp_counter *rows, size_t count,
                         const struct camp_kernel *kernel)
{
    PyObject *list = PyList_New(0);

    for (uint32_t kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; list != NULL && i < count; i++) {
            if ((rows[i].kinds & 1u << kind) != 0 &&
                !append(list, row_of(&rows[i], 1u << kind, kernel)))
                Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *counter_table(PyObject *module, PyObject *nothing)
{
    const struct listing listing = { .read = read_rows, .size = sizeof(struct camp_counter) };
    struct camp_kernel kernel = { 0 };
    struct camp_error error = { 0 };
    PyObject *list;
    void *rows;
    size_t count;
    int r;

    (void)nothing;
    /* The result is ignored: facts of the kernel that cannot be read are unknown. */
    Py_BEGIN_ALLOW_THREADS
    camp_kernel_read(NULL, &kernel, sizeof kernel, NULL);
    r = list_all(&listing, &rows, &count, &error);
    Py_END_ALLOW_THREADS
    if (r < 0)
        return raise_error(module, r, &error);
    list = list_of(rows, count, &kernel);
    free(rows);
    return list;
}

PyMethodDef provenance_methods[] = {
    { "counter_table", counter_table, METH_NOARGS, NULL },
    { NULL },
};
