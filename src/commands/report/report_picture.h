/* camp report --picture: one picture of a source (views/picture.h), as SVG, PNG or PDF. */
#pragma once

#include "page_options.h"

#include <stdio.h>

struct report_picture {
    int kind;           /* enum picture_kind; -1: no picture */
    const char *output; /* the file */
    uint64_t count;     /* number of frames to read from an endless source */
    const char *at;     /* --at */
    int over;           /* --over: 1: entities */
    const char *only;   /* --only */
    const char *pin;    /* --pin */
    const char *colour; /* --color-by */
};

extern const char *const report_picture_kinds[];
extern const char *const report_picture_overs[];

/* The options for pictures only; a command puts them into its table. */
/* clang-format off */
#define REPORT_PICTURE_OPTIONS(options)                                                            \
    { "picture", 0, OPTION_CHOICE, &(options)->kind, "KIND",                                       \
      "One picture instead of a page: --output x.svg, x.png or x.pdf.", 0, 0,                      \
      report_picture_kinds },                                                                      \
    { "at", 0, OPTION_TEXT, &(options)->at, "TIME",                                                \
      "For a picture of one frame (barry3, barry4, stack --over entities): last (the default), "   \
      "mean of all frames, or a time in a form that --begin takes.", 0, 0, NULL },                 \
    { "over", 0, OPTION_CHOICE, &(options)->over, "WHAT",                                          \
      "For a stack: time (the default), with all entities together, or entities, in one frame.",   \
      0, 0, report_picture_overs },                                                                \
    { "only", 0, OPTION_TEXT, &(options)->only, "REGEX",                                           \
      "For a picture: show only the entities whose name matches.", 0, 0, NULL },                   \
    { "pin", 0, OPTION_TEXT, &(options)->pin, "REGEX",                                             \
      "For a picture: always print the names of the entities whose name matches.", 0, 0, NULL },   \
    { "color-by", 0, OPTION_TEXT, &(options)->colour, "LABEL",                                     \
      "For barry3 and barry4: one color for each value of this label (user, application, ...), "   \
      "or for each name. Default: name, or the first label with more than one value where all "    \
      "names are the same.", 0, 0, NULL }
/* clang-format on */

/* Complains about a file that is no page, and names the kinds of pictures. STATUS_USAGE. */
int report_picture_refuse(const char *output);

/* Checks the options before the source is opened. OPTIONS_GO_ON, or an exit status after a
 * complaint. */
int report_picture_check(const struct report_picture *options);

/* Reads the page's source to its end, or `count` frames, and writes the picture. An exit status. */
int report_picture(const struct report_picture *options, struct page_options *page);

/* ----------------------------------------------------------------------------- Their files -- */

/* Can a picture be written to this path? OPTIONS_GO_ON, or STATUS_USAGE after a complaint: call it
 * before a long measurement. */
int picture_file_check(const char *path);

/* Draws a picture as SVG by draw(), which returns CAMP_OK or CAMP_E_NOMEM, and writes it to a
 * checked path. STATUS_OK, or an exit status after a complaint, without leftovers. */
int picture_file_draw(const char *path, int (*draw)(void *context, FILE *stream), void *context);
