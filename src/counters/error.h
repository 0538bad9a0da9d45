/* Fills struct camp_error, and passes structs to callers that were built with another version of
 * camp.h. */
#pragma once

#include <camp/camp.h>

/* Writes *error (when not NULL) and returns `code`, so that a failure is one line: return
 * camp_fail(error, CAMP_E_GONE, 0, "process %d has ended", pid). A message that is too long is
 * truncated in the middle, as the advice is at its end. */
int camp_fail(struct camp_error *error, int code, int system_error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for a failed system call on `what`, with the code that fits the errno: ENOENT and ESRCH
 * (a task), ENODEV and ENXIO (a device) are GONE, EACCES and EPERM are PERM, EMFILE, ENFILE, ENOMEM
 * and ENOBUFS are NOMEM, the others IO. */
int camp_fail_errno(struct camp_error *error, int system_error, const char *what);

/* Copies a struct of the size known here to a caller's of `size`: a larger one is zeroed beyond it,
 * a smaller one gets the first part. */
void camp_hand_out(void *ret, size_t size, const void *value, size_t known_size);

/* The array of a caller that was built with another version, while it is filled. */
struct camp_output {
    void *first;
    size_t size; /* of an element, in the caller's version */
    size_t capacity;
    size_t count; /* number of all elements, including those without space */
};

void camp_output_add(struct camp_output *output, const void *value, size_t known_size);

/* Writes the number of elements. CAMP_E_SPACE: there are more `things` than space for them. */
int camp_output_end(const struct camp_output *output, const char *things, size_t *ret_count,
                    struct camp_error *error);
