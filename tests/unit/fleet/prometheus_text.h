/* Parses texts as answers of Prometheus. */
#pragma once

#include "sources/fleet/prometheus_parser.h"

/* Parses text[length] in parts of `part` bytes. */
static inline int parse_parts(const char *text, size_t length, size_t part,
                              struct prometheus_answer *ret, struct camp_error *error)
{
    struct prometheus_parser *parser = prometheus_parser_new();
    int r;

    assert_non_null(parser);
    for (size_t at = 0; at < length; at += part)
        prometheus_parser_feed(parser, text + at, length - at < part ? length - at : part);
    r = prometheus_parser_end(parser, ret, error);
    prometheus_parser_free(parser);
    return r;
}

static inline int parse(const char *text, struct prometheus_answer *ret)
{
    struct camp_error error = { 0 };
    const int r = parse_parts(text, strlen(text), strlen(text) + 1, ret, &error);

    if (r == CAMP_E_FORMAT)
        assert_non_null(strstr(error.message, "is it one?"));
    return r;
}
