#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

static int32_t key_of(const struct camp_output *array, size_t index, size_t key_at)
{
    int32_t key;

    memcpy(&key, (const char *)array->first + index * array->size + key_at, sizeof key);
    return key;
}

void camp_output_insert(struct camp_output *array, const struct camp_element *element)
{
    size_t kept = array->count < array->capacity ? array->count : array->capacity;
    char *first = array->first;
    size_t place = kept;
    int32_t key;

    array->count++;
    memcpy(&key, (const char *)element->value + element->key_at, sizeof key);
    while (place > 0 && key_of(array, place - 1, element->key_at) > key)
        place--;
    if (place == array->capacity)
        return;
    if (kept == array->capacity)
        kept--;
    if (place < kept)
        memmove(first + (place + 1) * array->size, first + place * array->size,
                (kept - place) * array->size);
    camp_hand_out(first + place * array->size, array->size, element->value, element->size);
}

int camp_output_check(const char *name, const void *first, size_t size, size_t least,
                      size_t capacity, const size_t *ret_count, struct camp_error *error)
{
    if (camp_find_null_array(error, name, first, capacity, "ret_count", ret_count))
        return CAMP_E_INVALID;
    if (size < least)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "the argument size is %zu: pass the size of an element of %s", size, name);
    return CAMP_OK;
}

bool camp_find_null(struct camp_error *error, const char *names, const void *const *pointers)
{
    for (;; pointers++) {
        const size_t length = strcspn(names, ", ");

        if (*pointers == NULL) {
            camp_fail(error, CAMP_E_INVALID, 0, "the argument %.*s must not be NULL", (int)length,
                      names);
            return true;
        }
        if (names[length] == '\0')
            return false;
        names += length + strspn(names + length, ", ");
    }
}

bool camp_find_null_array(struct camp_error *error, const char *name, const void *array,
                          size_t capacity, const char *count_name, const size_t *ret_count)
{
    if (camp_find_null(error, count_name, (const void *const[]){ ret_count }))
        return true;
    if (array != NULL || capacity == 0)
        return false;
    camp_fail(error, CAMP_E_INVALID, 0, "the argument %s must not be NULL, because capacity is %zu",
              name, capacity);
    return true;
}

bool camp_is_empty_name(struct camp_error *error, const char *name)
{
    if (camp_is_null(error, name))
        return true;
    if (name[0] == '\0')
        camp_fail(error, CAMP_E_INVALID, 0, "'': no program can have this name");
    return name[0] == '\0';
}

bool camp_find_outside(struct camp_error *error, const char *name, int value, int least, int most)
{
    if (value >= least && value <= most)
        return false;
    camp_fail(error, CAMP_E_INVALID, 0, "%s is %d: pass a number from %d to %d", name, value, least,
              most);
    return true;
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
