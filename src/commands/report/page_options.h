/*
 * Shared by camp view and camp report: the options of the page's contents, and reading its frames.
 * A command puts PAGE_OPTIONS(&options) into its table.
 */
#pragma once

#include "program/from_options.h"
#include "program/intervals.h"
#include "views/page/stream.h"

struct page_options {
    struct from_options from;
    uint64_t interval_ns;
    const char *axes3_text, *axes4_text, *title; /* NULL: not given */

    /* Set by page_open(): */
    struct source *source; /* owned: page_close() */
    const struct schema *schema;
    struct from_facts facts;
    struct stream_facts stream; /* facts of the source for the page */
    struct axes axes3, axes4;
    char host[256];
    struct intervals intervals;

    /* Set by page_read(): */
    uint64_t frames;
    int status; /* how the source ended: OPTIONS_GO_ON, or an exit status after a complaint */
};

/* clang-format off */
#define PAGE_OPTIONS(options)                                                                      \
    FROM_OPTIONS(&(options)->from),                                                                \
    COMMON_OPTION(COMMON_INTERVAL, &(options)->interval_ns,                                        \
                  .help = "Length of an interval, for this machine (1s)."),                        \
    { "axes", 0, OPTION_TEXT, &(options)->axes3_text, "AXES",                                      \
      "Corners of the triangle: \"CPU=user+system; WAIT=disk+lock; IDLE=*\". The page can "        \
      "change them.", 0, 0, NULL },                                                                \
    { "axes4", 0, OPTION_TEXT, &(options)->axes4_text, "AXES",                                     \
      "The four corners of the tetrahedron, likewise.", 0, 0, NULL },                              \
    { "title", 0, OPTION_TEXT, &(options)->title, "TEXT", "The title of the page.", 0, 0, NULL }
/* clang-format on */

/* Sets the defaults. */
void page_options_init(struct page_options *options);

/* Opens the source and resolves the axes. OPTIONS_GO_ON, or an exit status after a complaint. Call
 * page_close() in any case. */
int page_open(struct page_options *options);
void page_close(struct page_options *options);

/* The axes of --axes (3 vertices) or --axes4 (4), or the default ones where `text` is NULL: then
 * *ret_used is NULL if there are too few states, otherwise `ret`. OPTIONS_GO_ON, or an exit status
 * after a complaint. */
int page_resolve_axes(const char *text, const struct schema *schema, size_t count, struct axes *ret,
                      const struct axes **ret_used);

/* The next frame: *ret_frame, NULL at the end of the source. OPTIONS_GO_ON, or an exit status after
 * a complaint. Returns early when a stop is requested. */
int page_next(struct page_options *options, const struct frame **ret_frame);

/* Passes each frame to use(), which returns OPTIONS_GO_ON or an exit status after a complaint, to
 * the end of the source (of this machine: `count` frames) or until a stop is requested.
 * OPTIONS_GO_ON: there was at least one. The intact frames of a damaged file are included, and
 * options->status reports the damage. */
int page_read(struct page_options *options, uint64_t count,
              int (*use)(void *context, const struct frame *frame), void *context);
