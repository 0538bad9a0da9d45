/* Fills a struct camp_error, and copies results into structs of the caller, whose size differs if
 * the caller was compiled with another version of camp.h. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>

/* Fills *error unless `error` is NULL, and returns `code`. A message that is too long is truncated
 * in the middle, because its end is the advice to the user. */
int camp_fail(struct camp_error *error, int code, int system_error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The advice at the end of a message about missing capabilities. camp doctor removes it. */
#define CAMP_ADVICE_PRIVILEGE ": run as root, or see camp doctor"

/* Like camp_fail(), but for a failed system call on `what`. ENOENT, ESRCH, ENODEV and ENXIO give
 * CAMP_E_GONE. EACCES and EPERM give CAMP_E_PERM. EMFILE, ENFILE, ENOMEM and ENOBUFS give
 * CAMP_E_NOMEM. All other errors give CAMP_E_IO, and so does ENOENT below a /proc or /sys that is
 * not mounted. */
int camp_fail_errno(struct camp_error *error, int system_error, const char *what);

/* True if a session was refused for lack of a permission, of a feature of the kernel, or of memory
 * or descriptors. Another way to read, which needs less, may still work. */
static inline bool camp_is_refusal(int result)
{
    return result == CAMP_E_PERM || result == CAMP_E_NOTSUP || result == CAMP_E_NOMEM;
}

/* Returns an error message if `path` is below /proc or /sys and this file system is not mounted,
 * otherwise NULL. */
const char *camp_unmounted(const char *path);

/* Copies a struct of known_size bytes to a caller whose struct has `size` bytes. If the caller's
 * struct is larger, its end is set to zero. If it is smaller, it gets the first `size` bytes. */
void camp_hand_out(void *ret, size_t size, const void *value, size_t known_size);

/* An array of the caller, to which camp_output_add() adds elements. */
struct camp_output {
    void *first;
    size_t size;
    size_t capacity;
    size_t count; /* number of added elements, including those that did not fit */
};

void camp_output_add(struct camp_output *output, const void *value, size_t known_size);

/* Sets *ret_count to output->count. Returns CAMP_E_SPACE if some elements did not fit. `things`
 * names the elements in the error message. */
int camp_output_end(const struct camp_output *output, const char *things, size_t *ret_count,
                    struct camp_error *error);

/* A struct camp_pid, camp_process or camp_thread that camp_output_insert() puts into the caller's
 * array. The array is ordered by the int32_t at key_at bytes in each element. If it is too short,
 * it keeps the elements with the smallest keys. */
struct camp_element {
    const void *value;
    size_t size;
    size_t key_at;
};

void camp_output_insert(struct camp_output *array, const struct camp_element *element);

/* Returns CAMP_E_INVALID if the array `name` of the caller cannot hold elements of `least` bytes.
 */
int camp_output_check(const char *name, const void *first, size_t size, size_t least,
                      size_t capacity, const size_t *ret_count, struct camp_error *error);

/* Checks of the arguments of a public function. Each is true if an argument is invalid; *error then
 * has CAMP_E_INVALID, and a message that names the argument as it is written in the call. */

/* One of the pointers is NULL. */
#define camp_is_null(error, ...)                                                                   \
    camp_find_null(error, #__VA_ARGS__, (const void *const[]){ __VA_ARGS__ })

/* The place for the number of elements is NULL, or an array with space for elements is. */
#define camp_array_is_null(error, array, capacity, ret_count)                                      \
    camp_find_null_array(error, #array, array, capacity, #ret_count, ret_count)

/* A number is not one of `least` to `most`. */
#define camp_is_outside(error, value, least, most)                                                 \
    camp_find_outside(error, #value, value, least, most)

/* The name of the program to find is NULL or empty. */
bool camp_is_empty_name(struct camp_error *error, const char *name);

bool camp_find_null(struct camp_error *error, const char *names, const void *const *pointers);
bool camp_find_null_array(struct camp_error *error, const char *name, const void *array,
                          size_t capacity, const char *count_name, const size_t *ret_count);
bool camp_find_outside(struct camp_error *error, const char *name, int value, int least, int most);
