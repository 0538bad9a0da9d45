#include "fleet_text.h"

#include "sources/tables/table_field.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    return fclose(stream) == 0 ? ret : NULL;
}

char *fleet_quoted(const char *text)
{
    char *ret = NULL;
    size_t size;
    FILE *stream = open_memstream(&ret, &size);

    if (stream == NULL)
        return NULL;
    fputc('"', stream);
    for (; *text != '\0'; text++)
        put_quoted(stream, *text);
    fputc('"', stream);
    return fclose(stream) == 0 ? ret : NULL;
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

/* Values end in a character that no label's name has: nothing is the same that is not. */
void fleet_key(const struct prometheus_series *series, const char *const *without, char *ret)
{
    size_t length = 0;

    for (size_t i = 0; i < series->label_count; i++) {
        const struct prometheus_label *label = &series->labels[i];
        const size_t name = strlen(label->name), value = strlen(label->value);

        if (is_among(label->name, without) || label->value[0] == '\0')
            continue;
        if (length + name + value + 3 > FLEET_KEY_SIZE)
            break;
        memcpy(ret + length, label->name, name);
        ret[length + name] = '=';
        memcpy(ret + length + name + 1, label->value, value);
        length += name + value + 2;
        ret[length - 1] = '\1';
    }
    ret[length] = '\0';
}

void fleet_name(const char *text, char *ret, size_t size)
{
    field_copy((struct field){ text, strlen(text) }, ret, size);
    for (; *ret != '\0'; ret++) {
        if (iscntrl((unsigned char)*ret))
            *ret = '?';
    }
}
