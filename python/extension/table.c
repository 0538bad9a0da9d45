/*
 * The whole process table, read repeatedly without a privilege: pid, name, parent and CPU time of
 * every process. A capsule has the table of the last reading.
 *
 * A reading costs a list of /proc and one system call for each process (its CPU clock). Files are
 * opened only of processes that are new or have run since the last reading: any other process
 * cannot have changed its name or program. (The clock of a process that is running on another CPU
 * may not show its time since the last tick. A new name then comes with the next reading.) A
 * process that got a reused pid is new: its token differs.
 */
#include "columns.h"

#include <stdlib.h>
#include <string.h>

#define CAPSULE "camp.table"

struct row {
    struct camp_process process;
    uint64_t token;
    uint64_t cpu_ns;
    int32_t parent;
    char name[CAMP_NAME_SIZE];
};

struct table {
    struct row *rows; /* ascending by pid */
    size_t count;
    bool busy;
};

static void close_table(PyObject *capsule)
{
    struct table *table = PyCapsule_GetPointer(capsule, CAPSULE);

    if (table == NULL)
        return;
    free(table->rows);
    free(table);
}

static PyObject *table_open(PyObject *module, PyObject *nothing)
{
    struct table *table = calloc(1, sizeof *table);
    PyObject *capsule =
        table != NULL ? PyCapsule_New(table, CAPSULE, close_table) : PyErr_NoMemory();

    (void)module, (void)nothing;
    if (capsule == NULL)
        free(table);
    return capsule;
}

static int read_pids(const struct listing *listing, void *items, size_t capacity, size_t *ret_count,
                     struct camp_error *error)
{
    return camp_pid_list(listing->source, items, listing->size, capacity, ret_count, error);
}

/* Reads the files of a process that is new or has run. CAMP_E_GONE: it has exited. CAMP_E_PERM: its
 * files are not readable. */
static int read_anew(struct row *row, struct camp_error *error)
{
    struct camp_task task;
    int r = CAMP_OK;

    if (row->process.start == 0)
        r = camp_process_identify(NULL, row->process.pid, &row->process, sizeof row->process,
                                  error);
    if (r == CAMP_OK)
        r = camp_process_read(NULL, &row->process,
                              CAMP_TASK_NAME | CAMP_TASK_PARENT | CAMP_TASK_CPU, &task, sizeof task,
                              error);
    if (r != CAMP_OK)
        return r;
    row->cpu_ns = task.cpu_ns;
    row->parent = task.parent;
    memcpy(row->name, task.name, sizeof row->name);
    return CAMP_OK;
}

/* Reads one process. `before` is the row of the last table with the same pid, or NULL. */
static int read_row(struct row *ret, const struct camp_pid *now, const struct row *before,
                    struct camp_error *error)
{
    uint64_t cpu_ns;

    *ret = (struct row){ .process.pid = now->pid, .token = now->token };
    if (before != NULL && before->token == now->token) {
        *ret = *before;
        if (camp_pid_cpu_ns(now->pid, &cpu_ns) == CAMP_OK && cpu_ns == before->cpu_ns)
            return CAMP_OK;
    }
    return read_anew(ret, error);
}

/* Fills rows[count] from pids[count], and sets *ret_kept to the number of rows filled: exited
 * processes and those with unreadable files (/proc with hidepid=1) are left out. `table` is the
 * last table. */
static int read_rows(const struct table *table, const struct camp_pid *pids, size_t count,
                     struct row *rows, size_t *ret_kept, struct camp_error *error)
{
    size_t kept = 0, old = 0;

    for (size_t i = 0; i < count; i++) {
        const struct row *before = NULL;
        int r;

        while (old < table->count && table->rows[old].process.pid < pids[i].pid)
            old++;
        if (old < table->count && table->rows[old].process.pid == pids[i].pid)
            before = &table->rows[old];
        r = read_row(&rows[kept], &pids[i], before, error);
        if (r < 0 && r != CAMP_E_GONE && r != CAMP_E_PERM)
            return r;
        kept += r == CAMP_OK;
    }
    *ret_kept = kept;
    return CAMP_OK;
}

static int read_table(struct table *table, struct camp_error *error)
{
    const struct listing listing = { .read = read_pids,
                                     .size = sizeof(struct camp_pid),
                                     .least = table->count + table->count / 8 + 64 };
    size_t count = 0, kept = 0;
    struct row *rows;
    void *pids;
    int r = list_all(&listing, &pids, &count, error);

    if (r < 0)
        return r;
    rows = malloc((count + 1) * sizeof *rows);
    r = rows != NULL ? read_rows(table, pids, count, rows, &kept, error) : CAMP_E_NOMEM;
    free(pids);
    if (r < 0) {
        free(rows);
        return r;
    }
    free(table->rows);
    table->rows = rows;
    table->count = kept;
    return CAMP_OK;
}

/* Returns the tuple (rows, block, names) for python/camp/_table.py. */
static PyObject *tuple_of(const struct row *rows, size_t count)
{
    const struct section sections[] = {
        { &rows->cpu_ns, sizeof *rows, 8 },
        { &rows->process.start, sizeof *rows, 8 },
        { &rows->process.pid, sizeof *rows, 4 },
        { &rows->parent, sizeof *rows, 4 },
    };

    return Py_BuildValue("nNN", (Py_ssize_t)count,
                         columns_of(sections, sizeof sections / sizeof sections[0], count),
                         names_of(rows->name, sizeof *rows, sizeof rows->name, count));
}

static PyObject *table_read(PyObject *module, PyObject *capsule)
{
    struct table *table = PyCapsule_GetPointer(capsule, CAPSULE);
    struct camp_error error = { 0 };
    int r;

    if (table == NULL)
        return NULL;
    if (table->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread reads this table");
        return NULL;
    }
    table->busy = true;
    Py_BEGIN_ALLOW_THREADS
    r = read_table(table, &error);
    Py_END_ALLOW_THREADS
    table->busy = false;
    return r < 0 ? raise_error(module, r, &error) : tuple_of(table->rows, table->count);
}

PyMethodDef table_methods[] = {
    { "table_open", table_open, METH_NOARGS, NULL },
    { "table_read", table_read, METH_O, NULL },
    { NULL },
};
