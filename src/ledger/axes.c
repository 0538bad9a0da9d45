#include "axes.h"

#include "rule_text.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define UNIT "_ns"

/* Moves the text before the next separator from *rest to *ret, without blanks around it. Returns
 * false if nothing is left in *rest. */
static bool next_part(struct span *rest, char separator, struct span *ret)
{
    const char *end = rest->at < rest->end ? memchr(rest->at, separator, span_length(*rest)) : NULL;

    if (rest->at > rest->end)
        return false;
    end = end != NULL ? end : rest->end;
    *ret = span_trimmed((struct span){ rest->at, end });
    rest->at = end + 1;
    return true;
}

static void copy_word(char ret[AXES_NAME_SIZE], struct span word)
{
    const size_t length =
        span_length(word) < AXES_NAME_SIZE - 1 ? span_length(word) : AXES_NAME_SIZE - 1;

    memcpy(ret, word.at, length);
    ret[length] = '\0';
}

static bool fail(struct axes_fault *fault, const char *problem, struct span word)
{
    fault->problem = problem;
    copy_word(fault->word, word);
    return false;
}

static bool is_text(struct span word, const char *text, size_t length)
{
    return span_length(word) == length && strncasecmp(word.at, text, length) == 0;
}

static bool is_column(struct span word, const struct column *column)
{
    const size_t length = strlen(column->name);

    return is_text(word, column->name, length) ||
           is_text(word, column->title, strlen(column->title)) ||
           (ends_with(column->name, UNIT) && is_text(word, column->name, length - strlen(UNIT)));
}

static bool assign(struct vertices *vertices, struct span word, size_t vertex,
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

static bool parse_states(struct vertices *vertices, size_t vertex, struct span states, size_t *rest,
                         struct axes_fault *fault)
{
    struct span rest_of_states = states, word;

    if (span_length(states) == 0)
        return fail(fault, "a vertex has no state", states);
    while (next_part(&rest_of_states, '+', &word)) {
        if (is_text(word, "*", 1) && *rest != 0)
            return fail(fault, "* stands at one vertex only", word);
        if (is_text(word, "*", 1))
            *rest = vertex + 1;
        else if (!assign(vertices, word, vertex, fault))
            return false;
    }
    return true;
}

static size_t count_axes(const char *text)
{
    struct span rest = span_of(text), word;
    size_t count = 0;

    while (next_part(&rest, ';', &word))
        count += span_length(word) > 0;
    return count;
}

static bool parse_axis(struct axes *ret, size_t vertex, struct span axis, size_t *rest,
                       struct axes_fault *fault)
{
    const char *equals = memchr(axis.at, '=', span_length(axis));
    struct span name;

    if (equals == NULL)
        return fail(fault, "an axis is NAME=STATE+STATE", axis);
    name = span_trimmed((struct span){ axis.at, equals });
    if (span_length(name) == 0 || span_length(name) >= AXES_NAME_SIZE)
        return fail(fault, "a vertex takes a name of 1 to 63 bytes", axis);
    copy_word(ret->names[vertex], name);
    for (size_t i = 0; i < vertex; i++) {
        if (strcmp(ret->names[i], ret->names[vertex]) == 0)
            return fail(fault, "two vertices have the same name", name);
    }
    return parse_states(&ret->vertices, vertex, span_trimmed((struct span){ equals + 1, axis.end }),
                        rest, fault);
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
    struct span axes = span_of(text), word;
    size_t vertex = 0, rest = 0;

    if (!start_axes(ret, schema, count_axes(text)))
        return fail(fault, "it takes three or four axes, NAME=STATE+STATE; ...", axes);
    while (next_part(&axes, ';', &word)) {
        if (span_length(word) > 0 && !parse_axis(ret, vertex++, word, &rest, fault))
            return false;
    }
    for (size_t i = 0; rest != 0 && i < schema->state_count; i++) {
        if (ret->vertices.of_state[i] == 0)
            ret->vertices.of_state[i] = (uint8_t)rest;
    }
    return true;
}

/* Appends `title` to `name`: "disk" becomes "disk+lock". If the result would be too long, `name` is
 * unchanged. */
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
