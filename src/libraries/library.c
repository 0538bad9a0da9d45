#include "library.h"

#include "counters/error.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* RTLD_LOCAL: the symbols of a loaded library must not replace symbols of other libraries. */
static void *open_any(const char *const *sonames)
{
    void *handle = NULL;

    for (size_t i = 0; sonames[i] != NULL && handle == NULL; i++)
        handle = dlopen(sonames[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

static const char *missing_symbol(const struct library *library, void *handle)
{
    for (size_t i = 0; i < library->symbol_count; i++) {
        if (dlsym(handle, library->symbols[i]) == NULL)
            return library->symbols[i];
    }
    return NULL;
}

static int load(struct library *library, struct camp_error *error)
{
    void *const handle = open_any(library->sonames);
    const char *missing;

    if (handle == NULL)
        return camp_fail(error, CAMP_E_NOTSUP, 0, "%s is not installed: apt install %s (%s)",
                         library->title, library->package, dlerror());
    missing = missing_symbol(library, handle);
    if (missing != NULL) {
        dlclose(handle);
        return camp_fail(error, CAMP_E_NOTSUP, 0, "%s lacks %s: apt install a newer %s",
                         library->title, missing, library->package);
    }
    for (size_t i = 0; i < library->symbol_count; i++) {
        void *address = dlsym(handle, library->symbols[i]);

        memcpy((char *)library->table + i * sizeof address, &address, sizeof address);
    }
    library->is_loaded = true;
    return CAMP_OK;
}

int library_load(struct library *library, struct camp_error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int r = CAMP_OK;

    pthread_mutex_lock(&lock);
    if (!library->is_loaded)
        r = load(library, error);
    pthread_mutex_unlock(&lock);
    return r;
}
