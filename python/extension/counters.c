/* The machine's counters: CPUs, memory, networks, disks, the kernel, the system as a whole,
 * and what is derived. */
#include "module.h"

#include <camp/system.h>

#include <stdlib.h>

/* ------------------------------------------------------------------------------- CPUs -- */

static PyObject *cpu_count(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct given_source given;
    size_t count;
    int r;

    if (!take_arguments(module, arguments, "O&", take_source, &given))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_cpu_count(given.source, &count, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error) : PyLong_FromSize_t(count);
}

static int read_ids(const struct listing *listing, void *items, size_t capacity, size_t *ret_count,
                    struct camp_error *error)
{
    return camp_cpu_list(listing->source, items, capacity, ret_count, error);
}

static PyObject *cpu_ids(PyObject *module, PyObject *arguments)
{
    struct listing listing = { .read = read_ids, .size = sizeof(int32_t) };
    struct camp_error error = { 0 };
    struct given_source given;
    PyObject *list;
    void *items;
    size_t count;
    int r;

    if (!take_arguments(module, arguments, "O&", take_source, &given))
        return NULL;
    listing.source = given.source;
    Py_BEGIN_ALLOW_THREADS
    r = list_all(&listing, &items, &count, &error);
    Py_END_ALLOW_THREADS
    if (r < 0)
        return raise_error(module, r, &error);
    list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *id = PyLong_FromLong(((const int32_t *)items)[i]);

        if (id == NULL || PyList_SetItem(list, (Py_ssize_t)i, id) != 0)
            Py_CLEAR(list);
    }
    free(items);
    return list;
}

static PyObject *cpu(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct given_source given;
    struct camp_cpu ret;
    int32_t id;
    int r;

    if (!take_arguments(module, arguments, "O&O&", take_source, &given, take_cpu, &id))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_cpu_read(given.source, id, &ret, sizeof ret, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error) : record_make(module, RECORD_CPU, &ret);
}

static int read_cpus(const struct listing *listing, void *items, size_t capacity, size_t *ret_count,
                     struct camp_error *error)
{
    return camp_cpu_read_all(listing->source, items, listing->size, capacity, ret_count, error);
}

static PyObject *cpus(PyObject *module, PyObject *arguments)
{
    struct listing listing = { .read = read_cpus, .size = sizeof(struct camp_cpu) };
    struct given_source given;

    if (!take_arguments(module, arguments, "O&", take_source, &given))
        return NULL;
    listing.source = given.source;
    return list_records(module, RECORD_CPU, &listing);
}

static const struct camp_error no_time = {
    .message = "no time lies between these two readings: read the second later"
};

static PyObject *cpu_difference(PyObject *module, PyObject *arguments)
{
    struct camp_cpu before = { 0 }, after = { 0 };
    const struct camp_kernel *known = NULL;
    struct camp_utilisation ret;
    struct given_source source;
    struct camp_kernel kernel;
    PyObject *given[2];
    int32_t count;
    int is_of_source; /* the kernel of the source has made the readings */
    int r;

    if (!take_arguments(module, arguments, "OOO&pO&", &given[0], &given[1], take_cpu_count, &count,
                        &is_of_source, take_source, &source) ||
        !record_take(module, RECORD_CPU, given[0], &before) ||
        !record_take(module, RECORD_CPU, given[1], &after))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    if (is_of_source && camp_kernel_read(source.source, &kernel, sizeof kernel, NULL) == CAMP_OK)
        known = &kernel;
    r = camp_cpu_difference(&before, &after, (size_t)count, known, &ret, sizeof ret);
    Py_END_ALLOW_THREADS
    if (r < 0)
        return raise_error(module, r, &no_time);
    return record_make(module, RECORD_UTILISATION, &ret);
}

/* ----------------------------------------------------------- Memory, networks and disks -- */

static PyObject *memory(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct given_source given;
    struct camp_memory ret;
    unsigned wanted;
    int r;

    if (!take_arguments(module, arguments, "O&I", take_source, &given, &wanted))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_memory_read(given.source, wanted, &ret, sizeof ret, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error) : record_make(module, RECORD_MEMORY, &ret);
}

static PyObject *network(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct given_source given;
    struct camp_network ret;
    const char *name;
    int r;

    if (!take_arguments(module, arguments, "O&O&", take_source, &given, take_name, &name))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_network_read(given.source, name, &ret, sizeof ret, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error) : record_make(module, RECORD_NETWORK, &ret);
}

static int read_networks(const struct listing *listing, void *items, size_t capacity,
                         size_t *ret_count, struct camp_error *error)
{
    return camp_network_read_all(listing->source, items, listing->size, capacity, ret_count, error);
}

static PyObject *networks(PyObject *module, PyObject *arguments)
{
    struct listing listing = { .read = read_networks, .size = sizeof(struct camp_network) };
    struct given_source given;

    if (!take_arguments(module, arguments, "O&", take_source, &given))
        return NULL;
    listing.source = given.source;
    return list_records(module, RECORD_NETWORK, &listing);
}

static PyObject *disk(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct given_source given;
    struct camp_disk ret;
    const char *name;
    int r;

    if (!take_arguments(module, arguments, "O&O&", take_source, &given, take_name, &name))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_disk_read(given.source, name, &ret, sizeof ret, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error) : record_make(module, RECORD_DISK, &ret);
}

static int read_disks(const struct listing *listing, void *items, size_t capacity,
                      size_t *ret_count, struct camp_error *error)
{
    return camp_disk_read_all(listing->source, listing->kind, items, listing->size, capacity,
                              ret_count, error);
}

static PyObject *disks(PyObject *module, PyObject *arguments)
{
    struct listing listing = { .read = read_disks, .size = sizeof(struct camp_disk) };
    struct given_source given;

    if (!take_arguments(module, arguments, "O&i", take_source, &given, &listing.kind))
        return NULL;
    listing.source = given.source;
    return list_records(module, RECORD_DISK, &listing);
}

/* ------------------------------------------------------------------ The kernel, and sums -- */

static PyObject *kernel(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct given_source given;
    struct camp_kernel ret;
    int r;

    if (!take_arguments(module, arguments, "O&", take_source, &given))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_kernel_read(given.source, &ret, sizeof ret, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error) : record_make(module, RECORD_KERNEL, &ret);
}

static PyObject *of_linux(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct given_source given;
    struct camp_linux ret;
    int r;

    if (!take_arguments(module, arguments, "O&", take_source, &given))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_linux_read(given.source, &ret, sizeof ret, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error) : record_make(module, RECORD_LINUX, &ret);
}

static PyObject *system_now(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct given_source given;
    struct camp_system ret;
    int r;

    if (!take_arguments(module, arguments, "O&", take_source, &given))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_system_read(given.source, CAMP_SYSTEM_ALL, &ret, sizeof ret, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error) : record_make(module, RECORD_SYSTEM, &ret);
}

static PyObject *cpu_frequency_hz(PyObject *module, PyObject *arguments)
{
    struct camp_error error = { 0 };
    struct given_source given;
    uint64_t hz = 0;
    int32_t number;
    int r;

    if (!take_arguments(module, arguments, "O&O&", take_source, &given, take_cpu, &number))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    r = camp_cpu_frequency_hz(given.source, number, &hz, &error);
    Py_END_ALLOW_THREADS
    return r < 0 ? raise_error(module, r, &error) : PyLong_FromUnsignedLongLong(hz);
}

static const struct camp_error wrong_counter = {
    .message = "a counter is 32 or 64 bits wide, and no reading of it is wider"
};

static PyObject *difference(PyObject *module, PyObject *arguments)
{
    uint64_t before, after, ret = 0;
    int32_t bits;
    int r;

    if (!take_arguments(module, arguments, "O&O&O&", take_before, &before, take_after, &after,
                        take_bits, &bits))
        return NULL;
    r = camp_difference(before, after, (unsigned)bits, &ret);
    if (r < 0)
        return raise_error(module, r, &wrong_counter);
    return r == CAMP_RESET ? none() : PyLong_FromUnsignedLongLong(ret);
}

static PyObject *rate(PyObject *module, PyObject *arguments)
{
    uint64_t before, after, elapsed_ns;
    double per_second = 0;
    int32_t bits;
    int r;

    if (!take_arguments(module, arguments, "O&O&O&O&", take_before, &before, take_after, &after,
                        take_elapsed, &elapsed_ns, take_bits, &bits))
        return NULL;
    r = camp_rate(before, after, (unsigned)bits, elapsed_ns, &per_second);
    if (r < 0)
        return raise_error(module, r, elapsed_ns == 0 ? &no_time : &wrong_counter);
    return r == CAMP_RESET ? none() : PyFloat_FromDouble(per_second);
}

PyMethodDef counter_methods[] = {
    { "cpu_count", cpu_count, METH_VARARGS, NULL },
    { "cpu_ids", cpu_ids, METH_VARARGS, NULL },
    { "cpu", cpu, METH_VARARGS, NULL },
    { "cpus", cpus, METH_VARARGS, NULL },
    { "cpu_difference", cpu_difference, METH_VARARGS, NULL },
    { "memory", memory, METH_VARARGS, NULL },
    { "network", network, METH_VARARGS, NULL },
    { "networks", networks, METH_VARARGS, NULL },
    { "disk", disk, METH_VARARGS, NULL },
    { "disks", disks, METH_VARARGS, NULL },
    { "kernel", kernel, METH_VARARGS, NULL },
    { "linux", of_linux, METH_VARARGS, NULL },
    { "system", system_now, METH_VARARGS, NULL },
    { "cpu_frequency_hz", cpu_frequency_hz, METH_VARARGS, NULL },
    { "difference", difference, METH_VARARGS, NULL },
    { "rate", rate, METH_VARARGS, NULL },
    { NULL },
};
