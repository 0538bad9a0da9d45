/*
 * What the files of the extension _camp share: the module's state, and the functions that raise
 * exceptions.
 *
 * Only the limited API of Python 3.8 is used, so that one binary serves every later version. There
 * are no globals: data of an interpreter are in the module's state. An object that lives longer
 * than a call (a session, a source) is a capsule, which frees its content.
 */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "kept_processes.h"

#include <camp/linux.h>

#include <stdbool.h>
#include <sys/types.h>

/* The classes of python/camp/_records.py, in the order of records[] of records.c. */
enum record_kind {
    RECORD_CPU,
    RECORD_MEMORY,
    RECORD_NETWORK,
    RECORD_DISK,
    RECORD_PROCESS,
    RECORD_THREAD,
    RECORD_TASK,
    RECORD_TASKSTAT,
    RECORD_TASK_EXIT,
    RECORD_KERNEL,
    RECORD_LINUX,
    RECORD_UTILISATION,
    RECORD_TASK_UTILISATION,
    RECORD_CPU_STATES,
    RECORD_LOSSES,
    RECORD_DISK_WAIT,
    RECORD_EVENT,
    RECORD_SYSTEM,
    RECORD_KIND_COUNT
};

struct field; /* a field of a record, defined in records.c */

struct record_fields {
    const struct field *items;
    size_t count;
};

struct module_state {
    struct field *fields; /* all fields of the catalogue, which records[] refers to */
    struct record_fields records[RECORD_KIND_COUNT];
    /* function of python/camp/_errors.py: (code, errno, message) -> an exception */
    PyObject *make_error;
    PyObject *classes[RECORD_KIND_COUNT];
    PyObject *new_tuple; /* tuple.__new__ */
    struct kept_processes kept_processes;
};

/* Returns the state of the module. Each function of the module gets the module as `self`. */
struct module_state *module_state(PyObject *module);

/* Raises the exception for `result` (enum camp_result). Always returns NULL. */
PyObject *raise_error(PyObject *module, int result, const struct camp_error *error);

/* Like raise_error(), but the message is a Python str. */
PyObject *raise_text(PyObject *module, int result, int system_error, PyObject *message);

/* If the raised exception is an OverflowError or a ValueError, raises camp.Invalid with the same
 * text in its place. Always returns NULL. */
PyObject *raise_invalid(PyObject *module);

/* Calls PyArg_ParseTuple(), and raises camp.Invalid in place of OverflowError and ValueError.
 * False: an exception was raised. */
bool take_arguments(PyObject *module, PyObject *arguments, const char *format, ...);

/* Converters for "O&" of take_arguments(). If a number is out of range, the exception names the
 * argument. The next five converters write an int32_t. */
int take_pid(PyObject *given, void *ret);
int take_tid(PyObject *given, void *ret);
int take_cpu(PyObject *given, void *ret); /* the argument None becomes CAMP_CPU_TOTAL */
int take_cpu_count(PyObject *given, void *ret);
int take_bits(PyObject *given, void *ret);

/* These converters write a uint64_t. */
int take_start(PyObject *given, void *ret);
int take_before(PyObject *given, void *ret);
int take_after(PyObject *given, void *ret);
int take_elapsed(PyObject *given, void *ret); /* in ns */

/* These converters write an int64_t, in ns since 1970. */
int take_begin(PyObject *given, void *ret);
int take_end(PyObject *given, void *ret);

/* Writes a const char *, whose text the argument owns. */
int take_name(PyObject *given, void *ret);

/* Convert one argument. `name` is its name in the text of an exception. False: an exception was
 * raised. */
bool take_unsigned(PyObject *given, const char *name, uint64_t *ret);
bool take_text(PyObject *given, const char *name, const char **ret);

/* Returns a record with the values of *from, its struct of camp.h or states.h. An unknown field is
 * None. NULL: an exception was raised. */
PyObject *record_make(PyObject *module, enum record_kind kind, const void *from);

/* Returns a list of records from items[count], which are `size` bytes apart. */
PyObject *record_list(PyObject *module, enum record_kind kind, const void *items, size_t size,
                      size_t count);

/* Copies the numbers of the record `tuple` to its struct *into, which the caller must have set to
 * zero. False: an exception was raised. */
bool record_take(PyObject *module, enum record_kind kind, PyObject *tuple, void *into);

/* _camp.bits_of(name): the bit in `known` of each field of a record. A caller requests fields by
 * these bits. */
PyObject *record_bits(PyObject *module, PyObject *argument);

/* Reads the catalogue, once. False: an exception was raised. */
bool records_load(struct module_state *state);
void records_unload(struct module_state *state);

/* _camp.fields(): a list of (record, field, type, whether it may be None, help), from which
 * tools/catalogue writes python/camp/_records.py. */
PyObject *records_fields(PyObject *module, PyObject *nothing);

/* _camp.use(make_error, classes): gives this module the function and the classes that are written
 * in Python. Called once. */
PyObject *records_use(PyObject *module, PyObject *arguments);

/* Returns a new reference to None. */
PyObject *none(void);

/* Returns bytes as a Python str. os.fsencode() turns the str into the same bytes again, even if
 * they are not UTF-8. */
PyObject *text_of(const char *bytes, size_t length);

/* Like text_of(), for a text that ends in a NUL. Returns None for NULL. */
PyObject *word_of(const char *text);

/* The argument `source` of Python functions: None, or (proc, sys), in which None stands for the
 * usual folder. take_source() is a converter for "O&". The argument owns the texts. */
struct given_source {
    struct camp_source folders;
    const struct camp_source *source; /* NULL: this machine */
};
int take_source(PyObject *given, void *ret);

/* Returns whether this process, and not its parent before a fork(2), opened the session or source.
 * A child shares sockets with its parent, and would read the parent's answers. False: an exception
 * was raised. */
bool is_owner(PyObject *module, pid_t owner);

/* A function of the library that fills items[capacity], and its arguments. */
struct listing {
    int (*read)(const struct listing *listing, void *items, size_t capacity, size_t *ret_count,
                struct camp_error *error);
    size_t size; /* of an item, in bytes */
    const struct camp_source *source;
    const void *of; /* the name or the fields of processes, or the process of threads */
    int kind;       /* enum camp_disk_kind, for a list of disks */
    size_t least;   /* number of items for which space is allocated at first; 0: a few */
};

/* Reads all items into memory that the caller must free(). The caller has released the GIL. */
int list_all(const struct listing *listing, void **ret_items, size_t *ret_count,
             struct camp_error *error);

/* Like list_all(), but returns a Python list of records. */
PyObject *list_records(PyObject *module, enum record_kind kind, const struct listing *listing);

/* The Python functions of each file. The last row of each table is NULL. */
extern PyMethodDef counter_methods[];
extern PyMethodDef process_methods[];
extern PyMethodDef kept_process_methods[];
extern PyMethodDef taskstats_methods[];
extern PyMethodDef states_methods[];
extern PyMethodDef frames_methods[];
extern PyMethodDef provenance_methods[];
extern PyMethodDef table_methods[];
