/*
 * Arguments of callers. A wrong type is a TypeError, as everywhere in Python; a value out of range
 * is camp.Invalid, which names the argument.
 */
#include "module.h"

#include <stdarg.h>

PyObject *raise_invalid(PyObject *module)
{
    PyObject *type, *value, *trace, *text;

    if (!PyErr_ExceptionMatches(PyExc_OverflowError) && !PyErr_ExceptionMatches(PyExc_ValueError))
        return NULL;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    text = PyObject_Str(value);
    if (text != NULL)
        raise_text(module, CAMP_E_INVALID, 0, text);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return NULL;
}

bool take_arguments(PyObject *module, PyObject *arguments, const char *format, ...)
{
    va_list into;
    int taken;

    va_start(into, format);
    taken = PyArg_VaParse(arguments, format, into);
    va_end(into);
    if (taken == 0)
        raise_invalid(module);
    return taken != 0;
}

/* -------------------------------------------------------------------- Named arguments -- */

static bool of_wrong_type(PyObject *given, const char *name, const char *wanted)
{
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "%s=%.80R: %s is wanted", name, given, wanted);
    return false;
}

static bool take_number(PyObject *given, const char *name, int64_t least, int64_t most,
                        int64_t *ret)
{
    PyObject *number = PyNumber_Index(given);
    int beyond;

    if (number == NULL)
        return of_wrong_type(given, name, "an integer");
    *ret = PyLong_AsLongLongAndOverflow(number, &beyond);
    Py_DECREF(number);
    if (beyond == 0 && *ret >= least && *ret <= most)
        return true;
    PyErr_Format(PyExc_ValueError, "%s=%.80S: it is a number from %lld to %lld", name, given,
                 (long long)least, (long long)most);
    return false;
}

static bool take_small_number(PyObject *given, const char *name, int32_t least, int32_t *ret)
{
    int64_t number;

    if (!take_number(given, name, least, INT32_MAX, &number))
        return false;
    *ret = (int32_t)number;
    return true;
}

bool take_unsigned(PyObject *given, const char *name, uint64_t *ret)
{
    *ret = PyLong_AsUnsignedLongLong(given);
    if (!PyErr_Occurred())
        return true;
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_ValueError, "%s=%.80S: it is a number from 0 to 2**64 - 1", name, given);
    return of_wrong_type(given, name, "an integer");
}

bool take_text(PyObject *given, const char *name, const char **ret)
{
    if (PyArg_Parse(given, "s", ret))
        return true;
    if (PyErr_ExceptionMatches(PyExc_ValueError))
        PyErr_Format(PyExc_ValueError, "%s=%.80R: no NUL and no lone surrogate can be in it", name,
                     given);
    return of_wrong_type(given, name, "a str");
}

/* ------------------------------------------------------------------------- For "O&" -- */

int take_pid(PyObject *given, void *ret)
{
    return take_small_number(given, "pid", 1, ret);
}

int take_tid(PyObject *given, void *ret)
{
    return take_small_number(given, "tid", 1, ret);
}

int take_cpu(PyObject *given, void *ret)
{
    if (given != Py_None)
        return take_small_number(given, "CPU", 0, ret);
    *(int32_t *)ret = CAMP_CPU_TOTAL;
    return 1;
}

int take_cpu_count(PyObject *given, void *ret)
{
    return take_small_number(given, "cpus", 1, ret);
}

int take_bits(PyObject *given, void *ret)
{
    return take_small_number(given, "bits", 1, ret);
}

int take_start(PyObject *given, void *ret)
{
    return take_unsigned(given, "start", ret);
}

int take_before(PyObject *given, void *ret)
{
    return take_unsigned(given, "before", ret);
}

int take_after(PyObject *given, void *ret)
{
    return take_unsigned(given, "after", ret);
}

int take_elapsed(PyObject *given, void *ret)
{
    return take_unsigned(given, "elapsed_ns", ret);
}

int take_begin(PyObject *given, void *ret)
{
    return take_number(given, "begin", 0, INT64_MAX, ret);
}

int take_end(PyObject *given, void *ret)
{
    return take_number(given, "end", 0, INT64_MAX, ret);
}

int take_name(PyObject *given, void *ret)
{
    return take_text(given, "name", ret);
}
