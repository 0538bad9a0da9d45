#include "module.h"

#include <stdlib.h>
#include <sys/resource.h>

/* A reader has two descriptors on Linux. All readers together use at most an eighth of the
 * descriptors that this process may open. */
#define SHARE_OF_DESCRIPTORS 16
#define KEPT_MAX 512

/* While the table is full, one of so many processes that are not in it replaces another. If it were
 * each, then a program that reads more processes than the limit in turn would open and close a
 * reader in each call. */
#define MISSES_PER_REPLACEMENT 8

struct kept_process {
    struct camp_process process;
    struct camp_reader reader;
    uint64_t used; /* kept_processes.reads at the last use */
    struct kept_process *next;
};

static struct kept_process **list_of(struct kept_processes *kept, int32_t pid)
{
    return &kept->lists[(uint32_t)pid % KEPT_LISTS];
}

/* Returns the place of the pointer to the process, or that of the NULL at the end of its list. */
static struct kept_process **find(struct kept_processes *kept, const struct camp_process *process)
{
    struct kept_process **at = list_of(kept, process->pid);

    while (*at != NULL &&
           ((*at)->process.pid != process->pid || (*at)->process.start != process->start))
        at = &(*at)->next;
    return at;
}

static void close_kept(struct kept_process *one)
{
    camp_reader_close(&one->reader);
    free(one);
}

static void remove_at(struct kept_processes *kept, struct kept_process **at)
{
    struct kept_process *one = *at;

    *at = one->next;
    kept->count--;
    close_kept(one);
}

static void remove_least_recently_used(struct kept_processes *kept)
{
    struct kept_process **oldest = NULL;

    for (size_t i = 0; i < KEPT_LISTS; i++) {
        for (struct kept_process **at = &kept->lists[i]; *at != NULL; at = &(*at)->next) {
            if (oldest == NULL || (*at)->used < (*oldest)->used)
                oldest = at;
        }
    }
    if (oldest != NULL)
        remove_at(kept, oldest);
}

void kept_processes_close(struct kept_processes *kept)
{
    for (size_t i = 0; i < KEPT_LISTS; i++) {
        while (kept->lists[i] != NULL)
            remove_at(kept, &kept->lists[i]);
    }
}

static size_t find_limit(void)
{
    struct rlimit descriptors;
    rlim_t limit = KEPT_MAX;

    if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0 && descriptors.rlim_cur != RLIM_INFINITY)
        limit = descriptors.rlim_cur / SHARE_OF_DESCRIPTORS;
    return limit < KEPT_MAX ? (size_t)limit : KEPT_MAX;
}

static bool may_keep_another(struct kept_processes *kept, size_t limit)
{
    if (limit == 0)
        return false;
    return kept->count < limit || ++kept->misses % MISSES_PER_REPLACEMENT == 0;
}

static void keep(struct kept_processes *kept, size_t limit, struct kept_process *one)
{
    struct kept_process **at;

    while (kept->count >= limit)
        remove_least_recently_used(kept);
    at = find(kept, &one->process);
    if (*at != NULL) { /* Another thread has opened it meanwhile. */
        close_kept(one);
        return;
    }
    one->used = ++kept->reads;
    *at = one;
    kept->count++;
}

/* Opens a reader of the process, and reads the time. Returns NULL if there is none to be kept. */
static struct kept_process *open_one(const struct camp_process *process, uint64_t *ret_ns)
{
    struct kept_process *one = calloc(1, sizeof *one);

    if (one == NULL)
        return NULL;
    one->process = *process;
    if (camp_reader_open_process(&one->reader, NULL, process, NULL) == CAMP_OK &&
        camp_reader_process_cpu_ns(&one->reader, ret_ns, NULL) == CAMP_OK)
        return one;
    close_kept(one);
    return NULL;
}

/* Reads a process that is not kept. If its reader cannot be opened, it is read without one, which
 * says why the process cannot be read. */
static PyObject *read_new(PyObject *module, const struct camp_process *process)
{
    struct kept_processes *kept = &module_state(module)->kept_processes;
    struct camp_error error = { 0 };
    struct kept_process *one = NULL;
    const size_t limit = find_limit();
    bool is_kept = may_keep_another(kept, limit);
    uint64_t ns = 0;
    int r = CAMP_OK;

    Py_BEGIN_ALLOW_THREADS
    if (is_kept)
        one = open_one(process, &ns);
    if (one == NULL)
        r = camp_process_cpu_ns(NULL, process, &ns, &error);
    Py_END_ALLOW_THREADS
    if (one != NULL)
        keep(kept, limit, one);
    return r < 0 ? raise_error(module, r, &error) : PyLong_FromUnsignedLongLong(ns);
}

/* Takes a Process without a look-up of its attributes. */
static bool take_process(PyObject *module, PyObject *given, struct camp_process *ret)
{
    *ret = (struct camp_process){ 0 };
    if (!PyTuple_Check(given) || PyTuple_Size(given) != 2) {
        PyErr_SetString(PyExc_TypeError, "a camp.Process is wanted");
        return false;
    }
    if (take_pid(PyTuple_GetItem(given, 0), &ret->pid) &&
        take_start(PyTuple_GetItem(given, 1), &ret->start))
        return true;
    raise_invalid(module);
    return false;
}

/* A kept process is read by two system calls, which never wait, with the GIL: see pid_cpu_ns(). */
static PyObject *process_kept_cpu_ns(PyObject *module, PyObject *argument)
{
    struct kept_processes *kept = &module_state(module)->kept_processes;
    struct camp_process process;
    struct kept_process **at;
    uint64_t ns;

    if (!take_process(module, argument, &process))
        return NULL;
    at = find(kept, &process);
    if (*at != NULL && camp_reader_process_cpu_ns(&(*at)->reader, &ns, NULL) == CAMP_OK) {
        (*at)->used = ++kept->reads;
        return PyLong_FromUnsignedLongLong(ns);
    }
    if (*at != NULL)
        remove_at(kept, at);
    return read_new(module, &process);
}

static PyObject *process_forget(PyObject *module, PyObject *nothing)
{
    (void)nothing;
    kept_processes_close(&module_state(module)->kept_processes);
    return none();
}

PyMethodDef kept_process_methods[] = {
    { "process_kept_cpu_ns", process_kept_cpu_ns, METH_O, NULL },
    { "process_forget", process_forget, METH_NOARGS, NULL },
    { NULL },
};
