/*
 * Shared libraries loaded when a command first needs them, so that `camp get` starts without the
 * client libraries of databases and of HTTP, and camp is installed without them.
 *
 * A header of this folder lists the functions of one library with an X-macro, which becomes a
 * struct of pointers with the types of the library's own header, and the names for dlsym():
 *
 *     library_load(&libpq_library, error) == CAMP_OK, then libpq.PQfinish(connection)
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>

struct library {
    const char *title;          /* "libpq" */
    const char *package;        /* what to install on Debian: "libpq5" */
    const char *sonames[3];     /* the first that loads is used; NULL at the end */
    const char *const *symbols; /* [symbol_count] functions and variables */
    size_t symbol_count;
    void *table; /* [symbol_count] addresses, in this order: a struct of pointers */
    bool is_loaded;
};

#define LIBRARY_POINTER(name) __typeof__(&name) name;
#define LIBRARY_NAME(name) #name,

/* The library of a struct `pointers`, whose names are in an array `symbols`. */
#define LIBRARY(its_title, its_package, symbols_, pointers, ...)                                   \
    {                                                                                              \
        .title = its_title, .package = its_package, .sonames = { __VA_ARGS__ },                    \
        .symbols = symbols_, .symbol_count = sizeof symbols_ / sizeof symbols_[0],                 \
        .table = &pointers,                                                                        \
    }

/* Loads it once, for as long as the process runs; several threads may call it. CAMP_E_NOTSUP: it is
 * not installed, or lacks a symbol; the message names the package. The table is filled only on
 * CAMP_OK. */
int library_load(struct library *library, struct camp_error *error);
