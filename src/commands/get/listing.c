#include "listing.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int library_fail(struct camp_error *error, int code, const char *format, ...)
{
    va_list arguments;

    *error = (struct camp_error){ .code = code };
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return code;
}

int library_fail_memory(struct camp_error *error)
{
    return library_fail(error, CAMP_E_NOMEM, "no memory left; ask for less at a time");
}

int fill_cpu_ids(const struct listing *listing, void *array, size_t capacity, size_t *ret_count,
                 struct camp_error *error)
{
    return camp_cpu_list(listing->source, array, capacity, ret_count, error);
}

int fill_cpus(const struct listing *listing, void *array, size_t capacity, size_t *ret_count,
              struct camp_error *error)
{
    return camp_cpu_read_all(listing->source, array, sizeof(struct camp_cpu), capacity, ret_count,
                             error);
}

int fill_networks(const struct listing *listing, void *array, size_t capacity, size_t *ret_count,
                  struct camp_error *error)
{
    return camp_network_read_all(listing->source, array, sizeof(struct camp_network), capacity,
                                 ret_count, error);
}

int fill_disks(const struct listing *listing, void *array, size_t capacity, size_t *ret_count,
               struct camp_error *error)
{
    return camp_disk_read_all(listing->source, listing->disk_kind, array, sizeof(struct camp_disk),
                              capacity, ret_count, error);
}

int fill_processes(const struct listing *listing, void *array, size_t capacity, size_t *ret_count,
                   struct camp_error *error)
{
    if (listing->executable != NULL)
        return camp_process_find(listing->source, listing->executable, array,
                                 sizeof(struct camp_process), capacity, ret_count, error);
    return camp_process_list(listing->source, array, sizeof(struct camp_process), capacity,
                             ret_count, error);
}

int fill_threads(const struct listing *listing, void *array, size_t capacity, size_t *ret_count,
                 struct camp_error *error)
{
    return camp_thread_list(listing->source, listing->process, array, sizeof(struct camp_thread),
                            capacity, ret_count, error);
}

int list_grow(fill_function *fill, const struct listing *listing, size_t size, void **ret,
              size_t *ret_count, struct camp_error *error)
{
    size_t capacity = 64;

    *ret = NULL;
    for (int attempt = 0; attempt < 20; attempt++) {
        void *array = calloc(capacity, size);
        int result;

        if (array == NULL)
            return library_fail_memory(error);
        *ret_count = 0;
        result = fill(listing, array, capacity, ret_count, error);
        if (result >= 0) {
            *ret = array;
            return CAMP_OK;
        }
        free(array);
        if (result != CAMP_E_SPACE)
            return result;
        capacity = *ret_count + *ret_count / 4 + 64; /* it may be more by the next call */
    }
    return library_fail(error, CAMP_E_SPACE, "it grows faster than it can be listed; try again");
}
