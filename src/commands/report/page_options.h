/*
 * What camp view and camp report share: the options for the contents of the page, and functions
 * that read the frames for the page. A command puts PAGE_OPTIONS(&options) into its table of
 * options.
 */
#pragma once

#include "page_blockers.h"
#include "page_causes.h"
#include "program/from_options.h"
#include "program/intervals.h"
#include "views/page/stream.h"

struct page_options {
    struct from_options from;
    uint64_t interval_ns;
    bool why; /* the causes of waits of this machine are also measured */
    const char *axes3_text, *axes4_text, *title; /* NULL if not given */

    /* page_open() sets these members: */
    struct source *source; /* owned; page_close() closes it */
    const struct schema *schema;
    struct from_facts facts;
    struct stream_facts stream;
    struct axes axes3, axes4;
    char host[256];
    char causes_words[PAGE_CAUSES_WORDS];
    struct bytes causes; /* in the interval of the last frame (page_causes.h, page_blockers.h) */
    struct blocker_tree blockers;
    struct intervals intervals;

    /* page_read() sets these members: */
    uint64_t frames;
    /* how reading ended: OPTIONS_GO_ON or an exit status */
    int status;
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

void page_options_init(struct page_options *options);

/* Opens the source and resolves the axes. Returns OPTIONS_GO_ON, or an exit status after an
 * error message. In both cases page_close() must be called. */
int page_open(struct page_options *options);
void page_close(struct page_options *options);

/* Parses the text of --axes (`count` is 3) or --axes4 (`count` is 4) into *ret, and sets
 * *ret_used to `ret`. If `text` is NULL, the default axes are taken; *ret_used is then NULL if
 * there are too few states. Returns OPTIONS_GO_ON, or an exit status after an error message. */
int page_resolve_axes(const char *text, const struct schema *schema, size_t count, struct axes *ret,
                      const struct axes **ret_used);

/* Returns the CPUs that the rows of a frame, the newest, share: the CPUs beside them, or those of
 * this machine if the source measures it now. */
struct shared_cpus page_cpus(const struct page_options *options, const struct frame *frame);

/* Returns options->causes, or NULL if the last frame has none. */
const struct bytes *page_causes(const struct page_options *options);

/* Reads the next frame and its causes. At the end of the source *ret_frame is NULL. Returns
 * OPTIONS_GO_ON, or an exit status after an error message. Returns early if a stop is requested. */
int page_next(struct page_options *options, const struct frame **ret_frame);

/*
 * Passes each frame to use(), until the source ends or a stop is requested. A live source ends
 * after `count` frames. use() returns OPTIONS_GO_ON, or an exit status after an error message.
 *
 * Returns OPTIONS_GO_ON if there was at least one frame, otherwise an exit status. The intact
 * frames of a damaged file are also passed to use(), and options->status then reports the damage.
 */
int page_read(struct page_options *options, uint64_t count,
              int (*use)(void *context, const struct frame *frame), void *context);
