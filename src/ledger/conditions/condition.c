#include "condition.h"

#include "ledger/array.h"
#include "ledger/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The longer ones first, because a shorter one is their start. */
static const struct operator_name {
    const char *text;
    enum condition_relation relation;
} operators[] = {
    { ">=", CONDITION_AT_LEAST },
    { "<=", CONDITION_AT_MOST },
    { ">", CONDITION_ABOVE },
    { "<", CONDITION_BELOW },
};

/* The units of a time. A share has the factor 0. */
static const struct unit {
    const char *text;
    double factor;
} units[] = {
    { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 }, { "%", 0 },
};

struct parser {
    const char *at;
    const struct schema *schema, *lengths;
    struct condition_fault *fault;
};

/* Returns false, with the fault at the place that the parser has reached. */
static bool refuse(struct parser *parser, const char *problem, const char *advice)
{
    *parser->fault = (struct condition_fault){ .problem = problem, .advice = advice };
    copy_text(parser->fault->rest, sizeof parser->fault->rest, parser->at, strlen(parser->at));
    return false;
}

static bool is_blank(char character)
{
    return character == ' ' || (character >= '\t' && character <= '\r');
}

static void skip_blanks(struct parser *parser)
{
    while (is_blank(*parser->at))
        parser->at++;
}

static bool is_in_name(char character)
{
    return character != '\0' && !is_blank(character) && strchr("<>=", character) == NULL;
}

/* Goes past `word` and returns true if it is the next word. */
static bool skip_word(struct parser *parser, const char *word)
{
    const size_t length = strlen(word);

    skip_blanks(parser);
    if (strncmp(parser->at, word, length) != 0 ||
        (parser->at[length] != '\0' && !is_blank(parser->at[length])))
        return false;
    parser->at += length;
    return true;
}

#define SUM ".sum"

bool condition_is_of_lengths(const char *name)
{
    return ends_with(name, ".max") || ends_with(name, ".p99") || ends_with(name, ".p50");
}

/* There are lengths of states that the rows do not have, because nothing measures them here: these
 * would never be above a limit. */
static bool find_length(struct comparison *ret, const struct schema *schema,
                        const struct schema *lengths, const char *name)
{
    char state[CONDITION_COLUMN_SIZE];

    if (lengths == NULL || ret->is_sum || !condition_is_of_lengths(name))
        return false;
    copy_text(state, sizeof state, name, strlen(name) - strlen(".max"));
    if (schema != NULL && order_find(schema, state) == order_count(schema))
        return false;
    ret->order = order_find(lengths, name);
    ret->of_lengths = ret->order < order_count(lengths);
    return ret->of_lengths;
}

/* Finds the column with this name, and then the one with this name without ".sum", because a column
 * of a table may have any name. Without a schema, each name is a column. */
static bool find_column(struct comparison *ret, const struct schema *schema, char *name)
{
    ret->is_sum = ret->of_lengths = false;
    ret->order = schema != NULL ? order_find(schema, name) : 0;
    if (schema != NULL && ret->order == order_count(schema) && ends_with(name, SUM)) {
        name[strlen(name) - strlen(SUM)] = '\0';
        ret->is_sum = true;
        ret->order = order_find(schema, name);
    }
    return schema == NULL ||
           (ret->order < order_count(schema) && order_unit(schema, ret->order) != ORDER_OF_TEXT);
}

static bool parse_column(struct parser *parser, struct comparison *ret)
{
    char name[CONDITION_COLUMN_SIZE];
    size_t length = 0;

    skip_blanks(parser);
    while (is_in_name(parser->at[length]))
        length++;
    if (length == 0)
        return refuse(parser, "a column is missing", "write a condition like run_queue > 20ms");
    copy_text(name, sizeof name, parser->at, length);
    if (length >= sizeof name || (!find_column(ret, parser->schema, name) &&
                                  !find_length(ret, parser->schema, parser->lengths, name))) {
        refuse(parser, "there is no such column", NULL);
        copy_text(parser->fault->rest, sizeof parser->fault->rest, parser->at, length);
        return false;
    }
    parser->at += length;
    return true;
}

static bool parse_operator(struct parser *parser, struct comparison *ret)
{
    skip_blanks(parser);
    for (size_t i = 0; i < ARRAY_COUNT(operators); i++) {
        const size_t length = strlen(operators[i].text);

        if (strncmp(parser->at, operators[i].text, length) == 0) {
            ret->relation = operators[i].relation;
            parser->at += length;
            return true;
        }
    }
    return refuse(parser, "an operator is missing", "give one of > >= < <=");
}

/* Parses digits with an optional fraction. strtod(3) also takes other forms, and depends on the
 * locale. */
static bool parse_digits(struct parser *parser, double *ret)
{
    const char *start = parser->at;
    double value = 0, digit = 1;

    for (; *parser->at >= '0' && *parser->at <= '9'; parser->at++)
        value = value * 10 + (*parser->at - '0');
    if (parser->at == start)
        return false;
    if (*parser->at == '.') {
        for (parser->at++; *parser->at >= '0' && *parser->at <= '9'; parser->at++)
            value += (*parser->at - '0') * (digit /= 10);
    }
    *ret = value;
    return isfinite(value);
}

static bool parse_unit(struct parser *parser, struct comparison *ret)
{
    size_t length = 0;

    skip_blanks(parser);
    while (is_in_name(parser->at[length]))
        length++;
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        if (strlen(units[i].text) != length || strncmp(parser->at, units[i].text, length) != 0)
            continue;
        parser->at += length;
        ret->is_share = units[i].factor <= 0;
        ret->limit = ret->is_share ? ret->limit / 100 : ret->limit * units[i].factor;
        return isfinite(ret->limit);
    }
    return false;
}

/* Goes past a unit if there is one. */
static void skip_unit(struct parser *parser, struct comparison *ret)
{
    const char *before = parser->at;

    if (!parse_unit(parser, ret))
        parser->at = before;
}

static bool parse_limit(struct parser *parser, struct comparison *ret)
{
    const bool is_known = parser->schema != NULL;
    const struct schema *schema = ret->of_lengths ? parser->lengths : parser->schema;
    const bool is_time = is_known && order_unit(schema, ret->order) == ORDER_OF_TIME;

    skip_blanks(parser);
    if (!parse_digits(parser, &ret->limit))
        return refuse(parser, "a number is missing",
                      is_time || !is_known ? "give a limit such as 20ms or 5%"
                                           : "give a limit such as 1000");
    if (!is_known)
        skip_unit(parser, ret);
    if (is_time ? !parse_unit(parser, ret) : !is_known && is_in_name(*parser->at))
        return refuse(parser, "a time has a unit",
                      "give one of ns us ms s m, or % of the interval");
    if (is_in_name(*parser->at))
        return refuse(parser, "this column is not a time, so its limit has no unit",
                      "leave the unit out");
    return true;
}

/* Returns whether the text is a number of up to 18 digits. */
static bool read_id(const char *text, int64_t *ret)
{
    const size_t digits = strspn(text, "0123456789");

    if (digits == 0 || text[digits] != '\0' || digits > 18)
        return false;
    *ret = strtoll(text, NULL, 10);
    return true;
}

static bool parse_row(struct parser *parser, struct comparison *ret)
{
    const char *end;
    char quote;

    if (!skip_word(parser, "of"))
        return true;
    skip_blanks(parser);
    quote = *parser->at;
    if (quote == '"' || quote == '\'') {
        end = strchr(++parser->at, quote);
    } else {
        quote = '\0';
        for (end = parser->at; *end != '\0' && !is_blank(*end);)
            end++;
    }
    if (end == NULL || end == parser->at)
        return refuse(parser, end == NULL ? "a quote is not closed" : "a name is missing",
                      "write \"of NAME\", in quotes if the name has blanks");
    if ((size_t)(end - parser->at) >= sizeof ret->row)
        return refuse(parser, "a name is too long", "no row has a name of 256 bytes");
    copy_text(ret->row, sizeof ret->row, parser->at, (size_t)(end - parser->at));
    ret->has_row_id = read_id(ret->row, &ret->row_id);
    parser->at = end + (quote != '\0');
    return true;
}

static bool parse_comparison(struct parser *parser, struct condition *ret)
{
    struct comparison *comparison = &ret->comparisons[ret->count];

    if (ret->count == CONDITION_MOST)
        return refuse(parser, "there are more than 8 comparisons", "give fewer");
    comparison->starts_or = false;
    if (!parse_column(parser, comparison) || !parse_operator(parser, comparison) ||
        !parse_limit(parser, comparison) || !parse_row(parser, comparison))
        return false;
    ret->count++;
    return true;
}

bool condition_parse(struct condition *ret, const struct schema *schema,
                     const struct schema *lengths, const char *text, struct condition_fault *fault)
{
    struct parser parser = { text, schema, lengths, fault };
    bool is_or = false;

    *ret = (struct condition){ 0 };
    do {
        if (!parse_comparison(&parser, ret))
            return false;
        ret->comparisons[ret->count - 1].starts_or = is_or;
        is_or = skip_word(&parser, "or");
    } while (is_or || skip_word(&parser, "and"));
    return *parser.at == '\0' || refuse(&parser, "\"and\" or \"or\" is missing",
                                        "write a condition like run_queue > 20ms and disk > 5%");
}

bool condition_counts_idle(const struct condition *condition, const struct schema *schema)
{
    for (size_t i = 0; i < condition->count; i++) {
        if (!condition->comparisons[i].of_lengths &&
            order_counts_idle(schema, condition->comparisons[i].order))
            return true;
    }
    return false;
}

/* A row that stands for others, or for time that no row has: counted only if it is named. */
static bool is_aggregate(const struct entity *entity)
{
    return entity->id == CAMP_CPU_TOTAL || (entity->flags & ENTITY_OUTSIDE) != 0;
}

/* Returns whether the rows of the frame have ids: a row with the id 0 is then CPU 0 or root. If all
 * have the id 0, they are identified by their names. */
static bool has_ids(const struct frame *frame)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        if (frame->entities[i].id != 0)
            return true;
    }
    return false;
}

static bool is_row(const struct comparison *comparison, const struct entity *entity, bool by_id)
{
    if (comparison->row[0] == '\0')
        return !is_aggregate(entity);
    return strcmp(comparison->row, entity->name) == 0 ||
           (by_id && comparison->row_id == entity->id && !is_aggregate(entity));
}

bool condition_has_row(const struct comparison *comparison, const struct frame *frame)
{
    const bool by_id = comparison->has_row_id && has_ids(frame);

    for (size_t i = 0; i < frame->entity_count; i++) {
        if (is_row(comparison, &frame->entities[i], by_id))
            return true;
    }
    return comparison->row[0] == '\0';
}

static bool compare(enum condition_relation relation, double value, double limit)
{
    switch (relation) {
    case CONDITION_ABOVE:
        return value > limit;
    case CONDITION_AT_LEAST:
        return value >= limit;
    case CONDITION_BELOW:
        return value < limit;
    case CONDITION_AT_MOST:
        return value <= limit;
    }
    return false;
}

static struct condition_value value_of(const struct comparison *comparison,
                                       const struct frame *frame)
{
    struct condition_value ret = { .row = frame->entity_count };
    const double length_ns = (double)(frame->end_ns - frame->start_ns);
    const bool by_id = comparison->has_row_id && has_ids(frame);

    for (size_t i = 0; i < frame->entity_count; i++) {
        uint64_t value;

        if (!is_row(comparison, &frame->entities[i], by_id))
            continue;
        value = order_value(frame, comparison->order, i);
        if (comparison->is_sum) {
            ret.value += value;
        } else if (ret.row == frame->entity_count || value > ret.value) {
            ret.value = value;
            ret.row = i;
        }
    }
    ret.holds = compare(comparison->relation, (double)ret.value,
                        comparison->limit * (comparison->is_share ? length_ns : 1));
    return ret;
}

/* Returns whether the comparison is the last one before "or" or the end. */
static bool is_end_of_term(const struct condition *condition, size_t i)
{
    return i + 1 == condition->count || condition->comparisons[i + 1].starts_or;
}

bool condition_holds(const struct condition *condition, const struct frame *frame,
                     const struct frame *lengths, struct condition_value values[CONDITION_MOST],
                     size_t *ret_reason)
{
    size_t term = 0;
    bool all = true, holds = false;

    for (size_t i = 0; i < condition->count; i++) {
        const bool starts = i == 0 || condition->comparisons[i].starts_or;

        values[i] = value_of(&condition->comparisons[i],
                             condition->comparisons[i].of_lengths ? lengths : frame);
        term = starts ? i : term;
        all = (all || starts) && values[i].holds;
        if (all && !holds && is_end_of_term(condition, i)) {
            holds = true;
            *ret_reason = term;
        }
    }
    return holds;
}

void condition_column(const struct comparison *comparison, const struct schema *schema,
                      char ret[CONDITION_COLUMN_SIZE])
{
    order_name(schema, comparison->order, ret);
    if (comparison->is_sum)
        memcpy(ret + strlen(ret), SUM, sizeof SUM);
}
