#include "axes.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t\r\n"
#define UNIT "_ns"

/* A piece of a text, without blanks at its ends. */
struct word {
    const char *begin;
    size_t length;
};

static struct word trimmed(const char *begin, size_t length)
{
    while (length > 0 && strchr(BLANKS, *begin) != NULL) {
        begin++;
        length--;
    }
    while (length > 0 && strchr(BLANKS, begin[length - 1]) != NULL)
        length--;
    return (struct word){ begin, length };
}

/* The next piece up to one of `ends`, after which *at points. False: none is left. */
static bool next_word(const char **at, const char *end, const char *ends, struct word *ret)
{
    const char *begin = *at;
    size_t length = 0;

    if (begin == NULL || begin > end)
        return false;
    while (begin + length < end && strchr(ends, begin[length]) == NULL)
        length++;
    *at = begin + length + 1;
    *ret = trimmed(begin, length);
    return true;
}

static void copy_word(char ret[AXES_NAME_SIZE], struct word word)
{
    const size_t length = word.length < AXES_NAME_SIZE - 1 ? word.length : AXES_NAME_SIZE - 1;

    memcpy(ret, word.begin, length);
    ret[length] = '\0';
}

static bool fail(struct axes_fault *fault, const char *problem, struct word word)
{
    fault->problem = problem;
    copy_word(fault->word, word);
    return false;
}

static bool is_text(struct word word, const char *text)
{
    return strlen(text) == word.length && strncasecmp(word.begin, text, word.length) == 0;
}

static bool is_column(struct word word, const struct column *column)
{
    const size_t length = strlen(column->name), unit = strlen(UNIT);

    if (is_text(word, column->name) || is_text(word, column->title))
        return true;
    return length > unit && strcmp(column->name + length - unit, UNIT) == 0 &&
           word.length == length - unit && strncasecmp(word.begin, column->name, word.length) == 0;
}

static bool assign(struct vertices *vertices, struct word word, size_t vertex,
                   struct axes_fault *fault)
{
    const struct schema *schema = vertices->schema;

    for (size_t i = 0; i < schema->state_count; i++) {
        if (!is_column(word, &schema->columns[i]))
            continue;
        if (vertices->of_state[i] != 0)
            return fail(fault, "a state is at one vertex only", word);
        vertices->of_state[i] = (uint8_t)(vertex + 1);
        return true;
    }
    return fail(fault, "there is no such state", word);
}

/* "user+system" of one vertex. */
static bool parse_states(struct vertices *vertices, size_t vertex, struct word states, size_t *rest,
                         struct axes_fault *fault)
{
    const char *at = states.begin, *end = states.begin + states.length;
    struct word word;

    if (states.length == 0)
        return fail(fault, "a vertex has no state", states);
    while (next_word(&at, end, "+", &word)) {
        if (is_text(word, "*") && *rest != 0)
            return fail(fault, "* stands at one vertex only", word);
        if (is_text(word, "*"))
            *rest = vertex + 1;
        else if (!assign(vertices, word, vertex, fault))
            return false;
    }
    return true;
}

static size_t count_axes(const char *text)
{
    const char *at = text;
    struct word word;
    size_t count = 0;

    while (next_word(&at, text + strlen(text), ";", &word))
        count += word.length > 0;
    return count;
}

static bool parse_axis(struct axes *ret, size_t vertex, struct word axis, size_t *rest,
                       struct axes_fault *fault)
{
    const char *equals = memchr(axis.begin, '=', axis.length);
    struct word name;

    if (equals == NULL)
        return fail(fault, "an axis is NAME=STATE+STATE", axis);
    name = trimmed(axis.begin, (size_t)(equals - axis.begin));
    if (name.length == 0 || name.length >= AXES_NAME_SIZE)
        return fail(fault, "a vertex takes a name of 1 to 63 bytes", axis);
    copy_word(ret->names[vertex], name);
    for (size_t i = 0; i < vertex; i++) {
        if (strcmp(ret->names[i], ret->names[vertex]) == 0)
            return fail(fault, "two vertices have the same name", name);
    }
    axis = trimmed(equals + 1, axis.length - (size_t)(equals + 1 - axis.begin));
    return parse_states(&ret->vertices, vertex, axis, rest, fault);
}

static bool start_axes(struct axes *ret, const struct schema *schema, size_t count)
{
    const char *names[VERTICES_MAXIMUM];

    for (size_t i = 0; i < VERTICES_MAXIMUM; i++)
        names[i] = ret->names[i];
    return vertices_init(&ret->vertices, schema, names, count);
}

bool axes_parse(struct axes *ret, const struct schema *schema, const char *text,
                struct axes_fault *fault)
{
    const char *at = text, *end = text + strlen(text);
    struct word word;
    size_t vertex = 0, rest = 0;

    if (!start_axes(ret, schema, count_axes(text)))
        return fail(fault, "it takes three or four axes, NAME=STATE+STATE; ...",
                    (struct word){ text, strlen(text) });
    while (next_word(&at, end, ";", &word)) {
        if (word.length > 0 && !parse_axis(ret, vertex++, word, &rest, fault))
            return false;
    }
    for (size_t i = 0; rest != 0 && i < schema->state_count; i++) {
        if (ret->vertices.of_state[i] == 0)
            ret->vertices.of_state[i] = (uint8_t)rest;
    }
    return true;
}

/* "disk", then "disk+lock". Without space the name stays as it is. */
static void append_name(char name[AXES_NAME_SIZE], const char *title)
{
    const size_t length = strlen(name), more = strlen(title) + (length > 0);

    if (length + more >= AXES_NAME_SIZE)
        return;
    if (length > 0)
        strcat(name, "+");
    strcat(name, title);
}

bool axes_default(struct axes *ret, const struct schema *schema, size_t count)
{
    if (schema->state_count < count)
        return false;
    if (vertices_usual(&ret->vertices, schema, count))
        return true;
    if (!start_axes(ret, schema, count))
        return false;
    memset(ret->names, 0, sizeof ret->names);
    for (size_t i = 0; i < schema->state_count; i++) {
        const size_t vertex = i < count ? i : count - 1;

        ret->vertices.of_state[i] = (uint8_t)(vertex + 1);
        append_name(ret->names[vertex], schema->columns[i].title);
    }
    return true;
}
