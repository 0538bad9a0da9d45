/*
 * Replaces library.c in a camp of one static file, which loads no library: a static program would
 * need the shared libraries of the very C library that it was linked with. libmicrohttpd and
 * ncurses are linked (linked_tables.c); the other libraries are not in such a program.
 */
#include "library.h"

#include "counters/error.h"

#include <dlfcn.h>

int library_load(struct library *library, struct camp_error *error)
{
    if (library->is_loaded)
        return CAMP_OK;
    return camp_fail(
        error, CAMP_E_NOTSUP, 0,
        "this camp is one static file, which cannot load %s; use camp's Debian package",
        library->title);
}

/* SQLite refers to these functions, for extensions. It never calls them, because SQL may load no
 * extension unless the program allows it. */

void *dlopen(const char *path, int flags)
{
    (void)path, (void)flags;
    return NULL;
}

void *dlsym(void *handle, const char *name)
{
    (void)handle, (void)name;
    return NULL;
}

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}

char *dlerror(void)
{
    static char text[] = "this program is one static file, which loads no library";

    return text;
}
