/*
 * Parses an answer of Prometheus' HTTP API (its documentation: "HTTP API", "Format overview") while
 * it arrives. The JSON itself is not kept. What is not needed, such as warnings and statistics, is
 * checked and dropped.
 *
 * The server is not trusted. The parser gives up as soon as an answer has
 *
 *  - more than PROMETHEUS_ANSWER_BYTES, or more than PROMETHEUS_KEPT_BYTES of labels and samples;
 *  - PROMETHEUS_EVENT_BYTES without a new value, such as a longer text, or as many blanks;
 *  - more than PROMETHEUS_DEPTH_MOST objects and arrays within each other;
 *  - a text with NUL or without correct UTF-8.
 *
 * A series with a label that is no text, with more than PROMETHEUS_LABELS_MOST labels, or without
 * samples of numbers (a native histogram) is left out. So is a sample whose time is no number, is
 * before 1970, or is not later than the time of the sample before it.
 */
#pragma once

#include "prometheus_answer.h"

#define PROMETHEUS_EVENT_BYTES ((size_t)64 << 10)
#define PROMETHEUS_DEPTH_MOST 16
#define PROMETHEUS_REASON_SIZE 1024

struct prometheus_parser;

/* Returns NULL if there is no memory. */
struct prometheus_parser *prometheus_parser_new(void);
void prometheus_parser_free(struct prometheus_parser *parser); /* NULL is allowed */

/* Parses the next part of an answer. Returns CAMP_OK, CAMP_E_FORMAT, CAMP_E_SPACE or CAMP_E_NOMEM.
 * After an error, further parts are ignored. */
int prometheus_parser_feed(struct prometheus_parser *parser, const char *part, size_t length);

/* Ends the answer. Returns the first error, described in *error, if there was one. After CAMP_OK,
 * release *ret with prometheus_answer_release(). */
int prometheus_parser_end(struct prometheus_parser *parser, struct prometheus_answer *ret,
                          struct camp_error *error);

/* Returns the server's description of a failure, its member "error", in one line without control
 * characters; "" if there is none so far. */
const char *prometheus_parser_reason(const struct prometheus_parser *parser);
