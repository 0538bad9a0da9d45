#include "prometheus_parser.h"

#include "counters/error.h"
#include "fleet_text.h"
#include "ledger/array.h"
#include "libraries/json_memory.h"
#include "sources/field.h"

#include <yajl/yajl_parse.h>

#include <math.h>
#include <string.h>

#define LARGEST_S 9e9 /* a longer time does not fit into 64 bits as ns */
/* The library gets so many bytes at once, and then the limits are checked. */
#define PART_BYTES 4096
/* The library has two buffers for texts. Each doubles from 2 KB to at least PROMETHEUS_EVENT_BYTES
 * + PART_BYTES, and no smaller buffer is used again. */
#define MEMORY_BYTES (16 * PROMETHEUS_EVENT_BYTES)

/* What a value of the JSON is. */
enum place {
    OTHER, /* not needed */
    ROOT,
    DATA,
    TYPE,
    RESULT,
    SERIES,
    LABELS,
    LABEL,
    SAMPLES,
    SAMPLE,
    REASON
};

enum type { NO_TYPE, MATRIX, VECTOR, SCALAR, OTHER_TYPE };

struct prometheus_parser {
    yajl_handle json;
    struct json_memory *memory;
    char part[PART_BYTES]; /* [part_length] not parsed yet */
    size_t part_length;
    struct prometheus_answer answer;
    enum place places[PROMETHEUS_DEPTH_MOST]; /* [depth] of the values that are not yet complete */
    size_t depth;
    enum place next; /* of the next value of an object */
    enum type type;
    bool has_result;
    bool is_bad;                     /* the series is left out */
    bool has_samples;                /* the series has samples of numbers */
    size_t parts;                    /* values of the sample so far */
    bool has_value;                  /* the sample has a value */
    struct prometheus_sample sample; /* its time is -1 if it has none */
    char *label; /* [label_length] the name of a label, NUL, and its value, NUL */
    size_t label_length, label_capacity;
    uint64_t bytes;    /* of the answer so far */
    size_t quiet;      /* bytes since the last value */
    int failure;       /* a code of libcamp; CAMP_OK if nothing was wrong so far */
    const char *fault; /* of CAMP_E_FORMAT and CAMP_E_SPACE */
    char reason[PROMETHEUS_REASON_SIZE];
};

/* Returns false, so that the library gives up. */
static int fail(struct prometheus_parser *parser, int code, const char *fault)
{
    parser->failure = code;
    parser->fault = fault;
    return false;
}

/* `r` is the result of a function that adds to the answer. */
static int added(struct prometheus_parser *parser, int r)
{
    return r == CAMP_OK ? true : fail(parser, r, "has more than 24 MB of labels and samples");
}

/* Returns the place of the value that starts or is complete now. */
static enum place place_of_value(struct prometheus_parser *parser)
{
    const enum place within = parser->depth > 0 ? parser->places[parser->depth - 1] : OTHER;

    parser->quiet = 0;
    if (parser->depth == 0)
        return ROOT;
    switch (within) {
    case ROOT:
    case DATA:
    case SERIES:
    case LABELS:
        return parser->next;
    case RESULT:
        return SERIES;
    case SAMPLES:
        return SAMPLE;
    default:
        return OTHER;
    }
}

/* Returns the index of a value in its sample, or SIZE_MAX if it is in none. The array of a result
 * is the sample of a scalar. Called once for each value. */
static size_t part_of_value(struct prometheus_parser *parser)
{
    const enum place within = parser->depth > 0 ? parser->places[parser->depth - 1] : OTHER;

    return within == SAMPLE || within == RESULT ? parser->parts++ : SIZE_MAX;
}

static void start_sample(struct prometheus_parser *parser)
{
    parser->parts = 0;
    parser->has_value = false;
    parser->sample.time_ns = -1;
}

static int enter(struct prometheus_parser *parser, enum place place)
{
    if (parser->depth == PROMETHEUS_DEPTH_MOST)
        return fail(parser, CAMP_E_FORMAT, "its JSON has too many levels");
    parser->places[parser->depth++] = place;
    return true;
}

static int start_object(void *context)
{
    struct prometheus_parser *parser = context;
    enum place place = place_of_value(parser);

    part_of_value(parser);
    if (place == SERIES)
        parser->is_bad = parser->has_samples = false;
    else if (place == LABEL)
        parser->is_bad = true;
    if (place != ROOT && place != DATA && place != SERIES && place != LABELS)
        place = OTHER;
    return enter(parser, place);
}

static int start_array(void *context)
{
    struct prometheus_parser *parser = context;
    enum place place = place_of_value(parser);

    part_of_value(parser);
    if (place == LABEL)
        parser->is_bad = true;
    parser->has_result |= place == RESULT;
    parser->has_samples |= place == SAMPLES || place == SAMPLE;
    if (place == RESULT || place == SAMPLE)
        start_sample(parser);
    if (place != RESULT && place != SAMPLES && place != SAMPLE)
        place = OTHER;
    return enter(parser, place);
}

static int end_series(struct prometheus_parser *parser)
{
    if (!parser->is_bad && parser->has_samples)
        return added(parser, prometheus_answer_end_series(&parser->answer));
    prometheus_answer_drop(&parser->answer);
    return true;
}

static int end_object(void *context)
{
    struct prometheus_parser *parser = context;

    parser->quiet = 0;
    return parser->places[--parser->depth] == SERIES ? end_series(parser) : true;
}

static int add_sample(struct prometheus_parser *parser)
{
    struct prometheus_answer *answer = &parser->answer;
    const struct prometheus_sample *sample = &parser->sample;

    if (!parser->has_value || sample->time_ns < 0 ||
        (prometheus_answer_new_samples(answer) > 0 &&
         answer->samples[answer->sample_count - 1].time_ns >= sample->time_ns))
        return true;
    return added(parser, prometheus_answer_add_sample(answer, sample));
}

static int end_array(void *context)
{
    struct prometheus_parser *parser = context;

    parser->quiet = 0;
    return parser->places[--parser->depth] == SAMPLE ? add_sample(parser) : true;
}

static bool is_key(const unsigned char *text, size_t length, const char *key)
{
    return length == strlen(key) && memcmp(text, key, length) == 0;
}

static enum place place_of_key(enum place within, const unsigned char *key, size_t length)
{
    static const struct {
        enum place within;
        const char *key;
        enum place place;
    } keys[] = {
        { ROOT, "data", DATA },        { ROOT, "error", REASON },    { DATA, "resultType", TYPE },
        { DATA, "result", RESULT },    { SERIES, "metric", LABELS }, { SERIES, "value", SAMPLE },
        { SERIES, "values", SAMPLES },
    };

    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        if (keys[i].within == within && is_key(key, length, keys[i].key))
            return keys[i].place;
    }
    return OTHER;
}

/* The library has checked that the text is UTF-8, but not the surrogates that it was written with:
 * "\ud800" alone is no character. */
static bool is_text(const unsigned char *text, size_t length)
{
    if (memchr(text, '\0', length) != NULL)
        return false;
    for (size_t i = 0; i + 1 < length; i++) {
        if (text[i] == 0xed && text[i + 1] >= 0xa0)
            return false;
    }
    return true;
}

static int append_label(struct prometheus_parser *parser, const unsigned char *text, size_t length)
{
    const size_t before = parser->label_length;

    if (!ARRAY_RESERVE(parser->label, parser->label_capacity, before + length + 1))
        return fail(parser, CAMP_E_NOMEM, NULL);
    memcpy(parser->label + before, text, length);
    parser->label[before + length] = '\0';
    parser->label_length = before + length + 1;
    return true;
}

static int key(void *context, const unsigned char *text, size_t length)
{
    struct prometheus_parser *parser = context;
    const enum place within = parser->places[parser->depth - 1];

    parser->quiet = 0;
    if (!is_text(text, length))
        return fail(parser, CAMP_E_FORMAT, "it has a text that is no UTF-8");
    parser->label_length = 0;
    parser->next = within == LABELS ? LABEL : place_of_key(within, text, length);
    return within == LABELS ? append_label(parser, text, length) : true;
}

static double number_of(const void *text, size_t length)
{
    double number = NAN;
    const enum field_fault fault = field_number((struct field){ text, length }, &number);

    return (fault == FIELD_OK || fault == FIELD_NEGATIVE) && isfinite(number) ? number : NAN;
}

static enum type type_of(const unsigned char *text, size_t length)
{
    return is_key(text, length, "matrix")   ? MATRIX
           : is_key(text, length, "vector") ? VECTOR
           : is_key(text, length, "scalar") ? SCALAR
                                            : OTHER_TYPE;
}

static int add_label(struct prometheus_parser *parser, const unsigned char *text, size_t length)
{
    if (prometheus_answer_new_labels(&parser->answer) == PROMETHEUS_LABELS_MOST)
        parser->is_bad = true;
    if (parser->is_bad)
        return true;
    if (!append_label(parser, text, length))
        return false;
    return added(parser,
                 prometheus_answer_add_label(&parser->answer, parser->label, parser->label_length));
}

static int string(void *context, const unsigned char *text, size_t length)
{
    struct prometheus_parser *parser = context;
    const enum place place = place_of_value(parser);

    if (!is_text(text, length))
        return fail(parser, CAMP_E_FORMAT, "it has a text that is no UTF-8");
    if (part_of_value(parser) == 1) {
        parser->sample.value = number_of(text, length);
        parser->has_value = true;
    }
    if (place == LABEL)
        return add_label(parser, text, length);
    if (place == TYPE)
        parser->type = type_of(text, length);
    else if (place == REASON)
        fleet_line((const char *)text, length, parser->reason, sizeof parser->reason);
    return true;
}

static int number(void *context, const char *text, size_t length)
{
    struct prometheus_parser *parser = context;
    const enum place place = place_of_value(parser);
    double seconds;

    if (place == LABEL)
        parser->is_bad = true;
    seconds = part_of_value(parser) == 0 ? number_of(text, length) : NAN;
    if (seconds >= 0 && seconds < LARGEST_S)
        parser->sample.time_ns = llround(seconds * 1e3) * 1000000;
    return true;
}

static int other(struct prometheus_parser *parser)
{
    if (place_of_value(parser) == LABEL)
        parser->is_bad = true;
    part_of_value(parser);
    return true;
}

static int null(void *context)
{
    return other(context);
}

static int boolean(void *context, int value)
{
    (void)value;
    return other(context);
}

static const yajl_callbacks callbacks = {
    .yajl_null = null,
    .yajl_boolean = boolean,
    .yajl_number = number,
    .yajl_string = string,
    .yajl_start_map = start_object,
    .yajl_map_key = key,
    .yajl_end_map = end_object,
    .yajl_start_array = start_array,
    .yajl_end_array = end_array,
};

struct prometheus_parser *prometheus_parser_new(void)
{
    struct prometheus_parser *parser = calloc(1, sizeof *parser);
    struct json_memory *memory = json_memory_new(MEMORY_BYTES);
    yajl_alloc_funcs functions;

    if (parser == NULL || memory == NULL) {
        free(parser);
        free(memory);
        return NULL;
    }
    parser->memory = memory;
    json_memory_functions(memory, &functions);
    parser->json = yajl_alloc(&callbacks, &functions, parser);
    return parser;
}

void prometheus_parser_free(struct prometheus_parser *parser)
{
    if (parser == NULL)
        return;
    prometheus_answer_release(&parser->answer);
    free(parser->memory);
    free(parser->label);
    free(parser);
}

static void parse_part(struct prometheus_parser *parser)
{
    const unsigned char *part = (const unsigned char *)parser->part;

    parser->bytes += parser->part_length;
    parser->quiet += parser->part_length;
    if (parser->bytes > PROMETHEUS_ANSWER_BYTES)
        fail(parser, CAMP_E_SPACE, "is longer than 64 MB");
    else if (yajl_parse(parser->json, part, parser->part_length) == yajl_status_error)
        fail(parser, CAMP_E_FORMAT, "it is no JSON");
    else if (parser->failure == CAMP_OK && parser->quiet > PROMETHEUS_EVENT_BYTES)
        fail(parser, CAMP_E_FORMAT, "it has more than 64 KB without a value");
    parser->part_length = 0;
}

int prometheus_parser_feed(struct prometheus_parser *parser, const char *part, size_t length)
{
    while (length > 0 && parser->failure == CAMP_OK) {
        const size_t space = PART_BYTES - parser->part_length;
        const size_t more = length < space ? length : space;

        memcpy(parser->part + parser->part_length, part, more);
        parser->part_length += more;
        part += more;
        length -= more;
        if (parser->part_length == PART_BYTES)
            parse_part(parser);
    }
    return parser->failure;
}

/* Checks the whole answer, and adds the series of a scalar. */
static void complete(struct prometheus_parser *parser)
{
    struct prometheus_answer *answer = &parser->answer;

    if (yajl_complete_parse(parser->json) != yajl_status_ok)
        fail(parser, CAMP_E_FORMAT, "it is no JSON");
    else if (parser->type == NO_TYPE || !parser->has_result)
        fail(parser, CAMP_E_FORMAT, "it has no result");
    else if (parser->type == OTHER_TYPE || (parser->type == SCALAR && answer->series_count > 0))
        fail(parser, CAMP_E_FORMAT, "a result of another type");
    else if (parser->type == SCALAR && add_sample(parser))
        added(parser, prometheus_answer_end_series(answer));
    answer->is_matrix = parser->type == MATRIX;
}

int prometheus_parser_end(struct prometheus_parser *parser, struct prometheus_answer *ret,
                          struct camp_error *error)
{
    if (parser->failure == CAMP_OK)
        parse_part(parser);
    if (parser->failure == CAMP_OK)
        complete(parser);
    switch (parser->failure) {
    case CAMP_OK:
        *ret = parser->answer;
        parser->answer = (struct prometheus_answer){ 0 };
        return CAMP_OK;
    case CAMP_E_FORMAT:
        return camp_fail(error, CAMP_E_FORMAT, 0, "no answer of Prometheus: %s; is it one?",
                         parser->fault);
    case CAMP_E_SPACE:
        return camp_fail(error, CAMP_E_SPACE, 0,
                         "the answer %s; select fewer hosts: --query '{job=\"...\"}'",
                         parser->fault);
    default:
        return camp_fail(error, CAMP_E_NOMEM, 0,
                         "no memory for the answer; free some, or select fewer hosts: "
                         "--query '{job=\"...\"}'");
    }
}

const char *prometheus_parser_reason(const struct prometheus_parser *parser)
{
    return parser->reason;
}
