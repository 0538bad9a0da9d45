#undef _GNU_SOURCE /* for strerror_r() of POSIX instead of glibc */
#define _POSIX_C_SOURCE 200809L

#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LONGEST (2 * CAMP_ERROR_SIZE)
#define BEGIN 80 /* bytes kept before the gap in a truncated message */

static size_t begin_of_character(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

/* Truncates a text in the middle, because the advice to the user is at its end. */
static void fit(const char *text, char ret[CAMP_ERROR_SIZE])
{
    const size_t length = strlen(text);
    size_t begin, end;

    if (length < CAMP_ERROR_SIZE) {
        memcpy(ret, text, length + 1);
        return;
    }
    begin = begin_of_character(text, BEGIN);
    end = length - (CAMP_ERROR_SIZE - 1 - BEGIN - 3);
    while (((unsigned char)text[end] & 0xc0) == 0x80)
        end++;
    snprintf(ret, CAMP_ERROR_SIZE, "%.*s...%s", (int)begin, text, text + end);
}

int camp_fail(struct camp_error *error, int code, int system_error, const char *format, ...)
{
    char text[LONGEST];
    va_list arguments;

    if (error == NULL)
        return code;
    error->code = code;
    error->system_error = system_error;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fit(text, error->message);
    return code;
}

static int code_of_errno(int system_error)
{
    switch (system_error) {
    case ENOENT:
    case ESRCH:
    case ENODEV:
    case ENXIO:
        return CAMP_E_GONE;
    case EACCES:
    case EPERM:
        return CAMP_E_PERM;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
        return CAMP_E_NOMEM;
    default:
        return CAMP_E_IO;
    }
}

const char *camp_unmounted(const char *path)
{
    /* Each file is there whenever its file system is mounted. */
    static const struct {
        const char *folder, *file, *message;
    } systems[] = {
        { "/proc", "/proc/stat", "/proc is not mounted: run mount -t proc proc /proc" },
        { "/sys", "/sys/devices", "/sys is not mounted: run mount -t sysfs sysfs /sys" },
    };

    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        const size_t length = strlen(systems[i].folder);

        if (strncmp(path, systems[i].folder, length) == 0 &&
            (path[length] == '/' || path[length] == '\0') && access(systems[i].file, F_OK) != 0)
            return systems[i].message;
    }
    return NULL;
}

static const char *advice(int code, int system_error)
{
    switch (code) {
    case CAMP_E_GONE:
        return "it does not exist, or no longer exists";
    case CAMP_E_PERM:
        return "run as its owner, or as root";
    case CAMP_E_NOMEM:
        return system_error == EMFILE   ? "raise the limit of open files (ulimit -n)"
               : system_error == ENFILE ? "raise the machine's limit of open files (fs.file-max)"
                                        : "free some memory, or try again later";
    default:
        return "check that it can be read";
    }
}

int camp_fail_errno(struct camp_error *error, int system_error, const char *what)
{
    const char *unmounted = system_error == ENOENT ? camp_unmounted(what) : NULL;
    int code = code_of_errno(system_error);
    char text[64];

    if (unmounted != NULL)
        return camp_fail(error, CAMP_E_IO, system_error, "%s", unmounted);
    if (error == NULL)
        return code;
    if (strerror_r(system_error, text, sizeof text) != 0)
        snprintf(text, sizeof text, "error %d", system_error);
    return camp_fail(error, code, system_error, "%s: %s; %s", what, text,
                     advice(code, system_error));
}

void camp_hand_out(void *ret, size_t size, const void *value, size_t known_size)
{
    memcpy(ret, value, size < known_size ? size : known_size);
    if (size > known_size)
        memset((char *)ret + known_size, 0, size - known_size);
}

void camp_output_add(struct camp_output *output, const void *value, size_t known_size)
{
    if (output->count < output->capacity)
        camp_hand_out((char *)output->first + output->count * output->size, output->size, value,
                      known_size);
    output->count++;
}

int camp_output_end(const struct camp_output *output, const char *things, size_t *ret_count,
                    struct camp_error *error)
{
    *ret_count = output->count;
    if (output->count <= output->capacity)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_SPACE, 0, "there are %zu %s, with space for %zu: pass more",
                     output->count, things, output->capacity);
}

const char *camp_result_name(int result)
{
    switch (result) {
    case CAMP_OK:
        return "ok";
    case CAMP_RESET:
        return "reset";
    case CAMP_E_INVALID:
        return "invalid argument";
    case CAMP_E_NOTSUP:
        return "not supported";
    case CAMP_E_PERM:
        return "permission missing";
    case CAMP_E_GONE:
        return "gone";
    case CAMP_E_SPACE:
        return "array too small";
    case CAMP_E_NOMEM:
        return "out of memory";
    case CAMP_E_IO:
        return "cannot be read";
    case CAMP_E_FORMAT:
        return "unexpected format";
    default:
        return "unknown result";
    }
}

const char *camp_provenance_name(int provenance)
{
    static const char *const names[] = { "unknown", "measured", "sampled", "scaled", "derived" };

    if (provenance < 0 || (size_t)provenance >= sizeof names / sizeof names[0])
        return names[0];
    return names[provenance];
}

/* for builds without Meson; meson.build defines CAMP_VERSION */
#ifndef CAMP_VERSION
#define CAMP_VERSION "0.1.0"
#endif

const char *camp_version(void)
{
    return CAMP_VERSION;
}
