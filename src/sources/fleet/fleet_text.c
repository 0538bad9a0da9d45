#include "fleet_text.h"

#include "sources/field.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PART_END = 1, PART_ESCAPE, PART_ESCAPED_END };

char *fleet_text_of(const char *format, ...)
{
    va_list arguments;
    char *text;
    int length;

    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return length >= 0 ? text : NULL;
}

static void put_quoted(FILE *stream, char character)
{
    if (character == '"' || character == '\\')
        fprintf(stream, "\\%c", character);
    else if (character == '\n')
        fputs("\\n", stream);
    else
        fputc(character, stream);
}

char *fleet_quoted_pattern(const char *text, const char *suffix)
{
    char *ret = NULL;
    size_t size;
    FILE *stream = open_memstream(&ret, &size);

    if (stream == NULL)
        return NULL;
    fputc('"', stream);
    for (; *text != '\0'; text++) {
        if (strchr("\\.+*?()|[]{}^$", *text) != NULL)
            fputs("\\\\", stream);
        put_quoted(stream, *text);
    }
    for (; *suffix != '\0'; suffix++)
        put_quoted(stream, *suffix);
    fputc('"', stream);
    if (fclose(stream) == 0)
        return ret;
    free(ret);
    return NULL;
}

static bool is_among(const char *name, const char *const *names)
{
    if (strcmp(name, "__name__") == 0 || strcmp(name, FLEET_PART) == 0)
        return true;
    for (; *names != NULL; names++) {
        if (strcmp(name, *names) == 0)
            return true;
    }
    return false;
}

/* Appends `text` and PART_END. A PART_END within the text is escaped, so that different labels
 * never give the same key. Returns false if there is no space. */
static bool put_part(char *ret, size_t *length, const char *text)
{
    size_t at = *length;

    for (; *text != '\0' && at + 4 <= FLEET_KEY_SIZE; text++) {
        if (*text == PART_END || *text == PART_ESCAPE)
            ret[at++] = PART_ESCAPE;
        ret[at++] = *text == PART_END ? PART_ESCAPED_END : *text;
    }
    if (*text != '\0')
        return false;
    ret[at++] = PART_END;
    *length = at;
    return true;
}

void fleet_key(const struct prometheus_series *series, const char *const *without, char *ret)
{
    size_t length = 0;

    for (size_t i = 0; i < series->label_count; i++) {
        const struct prometheus_label *label = &series->labels[i];
        size_t longer = length;

        if (is_among(label->name, without) || label->value[0] == '\0')
            continue;
        if (!put_part(ret, &longer, label->name) || !put_part(ret, &longer, label->value))
            break;
        length = longer;
    }
    ret[length] = '\0';
}

/* The control characters are those of ASCII and U+0080 to U+009F, because some terminals read
 * U+009B as the start of a command. */
void fleet_clean(char *text)
{
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)text[0], next = (unsigned char)text[1];

        if (byte == 0xc2 && next >= 0x80 && next < 0xa0)
            memcpy(text, "??", 2);
        else if (byte < ' ' || byte == 0x7f)
            *text = '?';
    }
}

void fleet_line(const char *text, size_t length, char *ret, size_t size)
{
    const char *end = length > 0 ? memchr(text, '\n', length) : NULL;

    field_copy((struct field){ text, end != NULL ? (size_t)(end - text) : length }, ret, size);
    fleet_clean(ret);
}

void fleet_name(const char *text, char *ret, size_t size)
{
    field_copy((struct field){ text, strlen(text) }, ret, size);
    fleet_clean(ret);
}

void fleet_append(char *ret, size_t size, const char *format, ...)
{
    const size_t length = strlen(ret);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(ret + length, size - length, format, arguments);
    va_end(arguments);
}

void fleet_add_name(const char **names, size_t *count, size_t most, const char *name)
{
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(names[i], name) == 0)
            return;
    }
    if (*count < most)
        names[(*count)++] = name;
}
