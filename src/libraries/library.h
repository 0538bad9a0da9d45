/*
 * Shared libraries that are loaded when a command first needs them. camp can be installed without
 * them, and `camp get` starts without loading them.
 *
 * Each other header of this folder lists the functions of one library in a macro. The macro makes
 * the names for dlsym() and a struct of pointers to the functions. A caller loads the library and
 * then calls through the pointers:
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
    const char *sonames[3];     /* names to try, in this order; NULL after the last */
    const char *const *symbols; /* [symbol_count] */
    size_t symbol_count;
    void *table; /* the struct of [symbol_count] pointers, in the order of `symbols` */
    bool is_loaded;
};

#define LIBRARY_POINTER(name) __typeof__(&name) name;
#define LIBRARY_NAME(name) #name,

/* Initialises a struct library. `symbols_` is the array of the names of functions, and `pointers`
 * is the struct of pointers to them. The remaining arguments are the sonames. */
#define LIBRARY(its_title, its_package, symbols_, pointers, ...)                                   \
    {                                                                                              \
        .title = its_title, .package = its_package, .sonames = { __VA_ARGS__ },                    \
        .symbols = symbols_, .symbol_count = sizeof symbols_ / sizeof symbols_[0],                 \
        .table = &pointers,                                                                        \
    }

/* Loads the library unless it is loaded already, and fills the struct of pointers. The library
 * stays loaded until the process ends. Several threads may call this function. Returns CAMP_OK, or
 * CAMP_E_NOTSUP if the library is not installed or lacks a symbol; the message names the package.
 */
int library_load(struct library *library, struct camp_error *error);
