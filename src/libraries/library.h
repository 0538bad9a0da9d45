/*
 * Shared libraries that are loaded when a command first needs them. So `camp get` starts without
 * the client libraries of databases and HTTP, and camp can be installed without them.
 *
 * Each other header of this folder lists the functions of one library with an X-macro. From this
 * list come the names for dlsym(), and a struct of pointers to functions, whose types are those of
 * the library's own header. An example:
 *
 *     if (library_load(&libpq_library, error) == CAMP_OK)
 *         libpq.PQfinish(connection);
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>

struct library {
    const char *title;
    const char *package;        /* name of the Debian package */
    const char *sonames[3];     /* the first that loads is used; NULL after the last */
    const char *const *symbols; /* [symbol_count] */
    size_t symbol_count;
    void *table; /* a struct of [symbol_count] pointers, in the order of `symbols` */
    bool is_loaded;
};

#define LIBRARY_POINTER(name) __typeof__(&name) name;
#define LIBRARY_NAME(name) #name,

/* Initialises a struct library. `pointers` is a struct of pointers, and `symbols_` the array of
 * their names. */
#define LIBRARY(its_title, its_package, symbols_, pointers, ...)                                   \
    {                                                                                              \
        .title = its_title, .package = its_package, .sonames = { __VA_ARGS__ },                    \
        .symbols = symbols_, .symbol_count = sizeof symbols_ / sizeof symbols_[0],                 \
        .table = &pointers,                                                                        \
    }

/* Loads the library once, until the process ends. Several threads may call it. Returns CAMP_OK, or
 * CAMP_E_NOTSUP if the library is not installed or lacks a symbol; the message names the package.
 * The table is filled only after CAMP_OK. */
int library_load(struct library *library, struct camp_error *error);
