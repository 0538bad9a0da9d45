/* The extension _from: the opener of all sources. What is below it is linked into it alone. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "opener.h"

static void ask_when_interrupted(bool (*interrupted)(void))
{
    source_interrupted = interrupted;
}

static struct opener opener = { from_open, ask_when_interrupted };

static int fill_module(PyObject *module)
{
    PyObject *capsule = PyCapsule_New(&opener, OPENER_CAPSULE, NULL);
    const int r = capsule != NULL ? PyObject_SetAttrString(module, "opener", capsule) : -1;

    Py_XDECREF(capsule);
    return r;
}

static PyModuleDef_Slot slots[] = {
    { Py_mod_exec, (void *)fill_module },
    { 0, NULL },
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_from",
    .m_doc = "Sources beyond this machine; import camp instead.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__from(void); /* which Python.h does not declare */

PyMODINIT_FUNC PyInit__from(void)
{
    return PyModuleDef_Init(&definition);
}
