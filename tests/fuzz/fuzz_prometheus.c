/* Parser: src/sources/fleet/prometheus_parser.c */
/* Parser: src/sources/fleet/prometheus_answer.c */
/* Parser: src/sources/fleet/fleet_answers.c */
/* Parser: src/sources/fleet/fleet_samples.c */
/* Parser: src/sources/fleet/fleet_rows.c */
/* Parser: src/sources/fleet/fleet_columns.c */
/* Parser: src/sources/fleet/fleet_text.c */
/* Parser: src/sources/fleet/fleet_snapshot.c */
/*
 * Reads any bytes as the answers of a Prometheus server, one in each line, through the whole
 * source: from JSON to the rows of frames. A first byte from '0' to '7' selects what is asked for.
 * The functions of prometheus_client.h are replaced by those below, which ask no server.
 */
#include "counters/error.h"
#include "libraries/libcurl.h"
#include "sources/fleet/fleet.h"
#include "sources/fleet/prometheus_client.h"
#include "sources/fleet/prometheus_parser.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FRAMES_MOST 6
#define PARTS_MOST 7

struct prometheus_client {
    const char *text; /* [length] the answers that were not yet given */
    size_t length, part;
};

static struct prometheus_client client;

int prometheus_client_open(const char *place, const volatile sig_atomic_t *stop,
                           struct prometheus_client *beside, struct prometheus_client **ret,
                           struct camp_error *error)
{
    (void)place, (void)stop, (void)beside, (void)error;
    *ret = &client;
    return CAMP_OK;
}

void prometheus_client_close(struct prometheus_client *closed)
{
    (void)closed;
}

const char *prometheus_client_shown(const struct prometheus_client *shown)
{
    (void)shown;
    return "http://fuzz";
}

bool prometheus_client_is_asked(const struct prometheus_client *asked)
{
    (void)asked;
    return false;
}

void prometheus_client_drop(struct prometheus_client *asked)
{
    (void)asked;
}

/* No label, sample or reason of an answer may be other than its header promises. */
static void check_answer(const struct prometheus_answer *answer)
{
    struct prometheus_series series;

    for (size_t i = 0; i < answer->series_count; i++) {
        prometheus_answer_series(answer, i, &series);
        for (size_t j = 1; j < series.label_count; j++) {
            if (strcmp(series.labels[j - 1].name, series.labels[j].name) > 0)
                abort();
        }
        for (size_t j = 0; j < series.sample_count; j++) {
            if (isinf(series.samples[j].value) || series.samples[j].time_ns < 0 ||
                (j > 0 && series.samples[j - 1].time_ns >= series.samples[j].time_ns))
                abort();
        }
    }
}

static void check_line(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            abort();
    }
}

int prometheus_client_ask(struct prometheus_client *asked, const char *path, const char *query,
                          const char *times, uint64_t until_ns, struct prometheus_answer *ret,
                          struct camp_error *error)
{
    const char *end = asked->length > 0 ? memchr(asked->text, '\n', asked->length) : NULL;
    const size_t length = end != NULL ? (size_t)(end - asked->text) : asked->length;
    struct prometheus_parser *parser;
    int r;

    (void)path, (void)query, (void)times, (void)until_ns;
    if (asked->length == 0)
        return camp_fail(error, CAMP_E_GONE, 0, "no further answer");
    if ((parser = prometheus_parser_new()) == NULL)
        abort();
    for (size_t at = 0; at < length; at += asked->part)
        prometheus_parser_feed(parser, asked->text + at,
                               length - at < asked->part ? length - at : asked->part);
    r = prometheus_parser_end(parser, ret, error);
    check_line(prometheus_parser_reason(parser));
    prometheus_parser_free(parser);
    asked->text += length + (end != NULL);
    asked->length -= length + (end != NULL);
    asked->part = asked->part % PARTS_MOST + 1;
    if (r == CAMP_OK)
        check_answer(ret);
    return r;
}

static void read_frames(struct source *source)
{
    const struct schema *schema = source->describe(source);
    const struct frame *frame;
    struct camp_error error;

    for (size_t i = 0; i < schema->column_count; i++)
        check_line(schema->columns[i].title);
    for (int i = 0; i < FRAMES_MOST && source->next(source, 0, &frame, &error) == CAMP_OK; i++) {
        if (frame->end_ns <= frame->start_ns)
            abort();
        for (size_t j = 0; j < frame->entity_count; j++) {
            check_line(frame->entities[j].name);
            if (frame->elapsed_ns[j] == 0)
                abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const queries[] = { NULL, NULL, "m", "m[1m]" };
    const bool selects = size > 0 && data[0] >= '0' && data[0] <= '7';
    const unsigned kind = selects ? data[0] - (unsigned)'0' : 0;
    const struct from from = { .query = queries[kind % 4],
                               .host = kind % 4 == 1 ? "a" : NULL,
                               .begin_ns = kind > 3 ? INT64_C(1000000000000) : 0,
                               .end_ns = kind > 3 ? INT64_C(1100000000000) : 0 };
    struct from_facts facts = { 0 };
    struct source *source;
    struct camp_error error;
    char *text;

    if (library_load(&libcurl_library, &error) != CAMP_OK)
        abort();
    if ((text = malloc(size > 0 ? size : 1)) == NULL)
        return 0;
    /* The buffer has no spare bytes, so that a sanitizer detects reads past its end. */
    memcpy(text, data + selects, size - selects);
    client = (struct prometheus_client){ text, size - selects, 1 };
    if (fleet_source_open(&from, "http://fuzz", &source, &facts, &error) == CAMP_OK) {
        read_frames(source);
        source->close(source);
    }
    free(text);
    return 0;
}
