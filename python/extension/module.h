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

#include <camp/camp.h>

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
    RECORD_UTILISATION,
    RECORD_TASK_UTILISATION,
    RECORD_CPU_STATES,
    RECORD_LOSSES,
    RECORD_DISK_WAIT,
    RECORD_EVENT,
    RECORD_KIND_COUNT
};

struct field; /* of a record: records.c */

struct record_fields {
    const struct field *items;
    size_t count;
};

struct module_state {
    struct field *fields; /* those of the catalogue */
    struct record_fields records[RECORD_KIND_COUNT];
    PyObject *make_error; /* python/camp/_errors.py: (code, errno, message) -> an exception */
    PyObject *classes[RECORD_KIND_COUNT];
    PyObject *new_tuple; /* tuple.__new__ */
};

/* The state of the module, which each function gets as `self`. */
struct module_state *module_state(PyObject *module);

/* Raises the exception of this result. Always NULL. */
PyObject *raise_error(PyObject *module, int result, const struct camp_error *error);

/* The same with a message that is a Python str. */
PyObject *raise_text(PyObject *module, int result, int system_error, PyObject *message);

/* Turns a raised OverflowError or ValueError into camp.Invalid with the same text; other exceptions
 * stay. Always NULL. */
PyObject *raise_invalid(PyObject *module);

/* Calls PyArg_ParseTuple(), and raises camp.Invalid in place of OverflowError and ValueError.
 * False: an exception was raised. */
bool take_arguments(PyObject *module, PyObject *arguments, const char *format, ...);

/* Converters for "O&" of take_arguments(). The exception for a number out of range names the
 * argument. They write an int32_t: */
int take_pid(PyObject *given, void *ret);
int take_tid(PyObject *given, void *ret);
int take_cpu(PyObject *given, void *ret); /* None: CAMP_CPU_TOTAL */
int take_cpu_count(PyObject *given, void *ret);
int take_bits(PyObject *given, void *ret);

/* uint64_t: */
int take_start(PyObject *given, void *ret);
int take_before(PyObject *given, void *ret);
int take_after(PyObject *given, void *ret);

/* int64_t, ns since 1970: */
int take_begin(PyObject *given, void *ret);
int take_end(PyObject *given, void *ret);

/* const char *, owned by the argument: */
int take_name(PyObject *given, void *ret);

/* Convert an argument called `name` in the same way. False: an exception was raised. */
bool take_unsigned(PyObject *given, const char *name, uint64_t *ret);
bool take_text(PyObject *given, const char *name, const char **ret);

/* A record from its struct of camp.h or states.h; an unknown field is None. NULL: an exception was
 * raised. */
PyObject *record_make(PyObject *module, enum record_kind kind, const void *from);

/* A list of records from items[count], `size` bytes apart. */
PyObject *record_list(PyObject *module, enum record_kind kind, const void *items, size_t size,
                      size_t count);

/* Zeroes the struct of such a record, and copies the numbers of the record back into it. False: an
 * exception was raised. */
bool record_take(PyObject *module, enum record_kind kind, PyObject *tuple, void *into);

/* _camp.bits_of(name): the bit of each field of a record in `known`, by which a caller requests
 * some of the fields. */
PyObject *record_bits(PyObject *module, PyObject *argument);

/* Reads the catalogue, once. False: an exception was raised. */
bool records_load(struct module_state *state);
void records_unload(struct module_state *state);

/* _camp.fields(): (record, field, type, whether it may be None, help) of the catalogue, from which
 * tools/catalogue writes python/camp/_records.py. */
PyObject *records_fields(PyObject *module, PyObject *nothing);

/* _camp.use(make_error, classes): gives the module its Python half; called once. */
PyObject *records_use(PyObject *module, PyObject *arguments);

/* Bytes as text: os.fsencode() restores bytes that are not UTF-8. */
PyObject *text_of(const char *bytes, size_t length);

/* The same for a text that ends in a NUL; None for NULL. */
PyObject *word_of(const char *text);

/* The argument `source`: None, or (proc, sys) with None for the usual folder. For "O&"; the
 * argument owns the texts. */
struct given_source {
    struct camp_source folders;
    const struct camp_source *source; /* NULL: this machine */
};
int take_source(PyObject *given, void *ret);

/* Is this still the process that opened the session or source? A child of fork(2) shares sockets
 * and connections with its parent, and would read the parent's answers. False: an exception was
 * raised. */
bool is_owner(PyObject *module, pid_t owner);

/* A function of the library that fills items[capacity], and its arguments. */
struct listing {
    int (*read)(const struct listing *listing, void *items, size_t capacity, size_t *ret_count,
                struct camp_error *error);
    size_t size; /* of an item */
    const struct camp_source *source;
    const void *of; /* a name or a process, whose subjects are listed */
    int kind;       /* of disks */
    size_t least;   /* items to allocate space for at first; 0: a few */
};

/* Reads all items into memory that the caller frees with free(). Called without the GIL. */
int list_all(const struct listing *listing, void **ret_items, size_t *ret_count,
             struct camp_error *error);

/* The same as a list of records. */
PyObject *list_records(PyObject *module, enum record_kind kind, const struct listing *listing);

/* The functions of each file, ended by a row of NULL. */
extern PyMethodDef counter_methods[];
extern PyMethodDef process_methods[];
extern PyMethodDef taskstats_methods[];
extern PyMethodDef states_methods[];
extern PyMethodDef frames_methods[];
extern PyMethodDef provenance_methods[];
extern PyMethodDef table_methods[];
