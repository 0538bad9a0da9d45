/* camp report --picture: draws one picture of a source (views/pictures/picture.h) as SVG, PNG or
 * PDF. */
#pragma once

#include "page_options.h"

#include <stdio.h>

struct report_picture {
    int kind; /* index into report_picture_kinds; -1 means no picture */
    const char *output;
    uint64_t count; /* the number of frames to read from a live source */
    const char *at;
    int over; /* index into report_picture_overs */
    const char *only;
    const char *pin;
    const char *colour; /* the value of --color-by */
};

extern const char *const report_picture_kinds[];
extern const char *const report_picture_overs[];

/* Options that are only for pictures. A command puts them into its table of options. */
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
    { "only", 0, OPTION_TEXT, &(options)->only, "[LABEL=]REGEX",                                           \
      "For a picture: show only the entities whose name matches, or with LABEL=REGEX the "         \
      "value of that label.", 0, 0, NULL },                                                        \
    { "pin", 0, OPTION_TEXT, &(options)->pin, "REGEX",                                             \
      "For a picture: always print the names of the entities whose name matches.", 0, 0, NULL },   \
    { "color-by", 0, OPTION_TEXT, &(options)->colour, "LABEL",                                     \
      "For barry3 and barry4: one color for each value of this label (user, application, ...), "   \
      "or for each name. Default: name, or the first label with more than one value where all "    \
      "names are the same. For ranking: one row for each; default: the process of a thread, or "   \
      "name. For ribbon: one layer for each of the six largest; default: the classes.", 0, 0,      \
      NULL }
/* clang-format on */

/* Complains that `output` is not a page, and names the kinds of pictures. Returns STATUS_USAGE. */
int report_picture_refuse(const char *output);

/* Checks the options before the source is opened. Returns OPTIONS_GO_ON, or an exit status after
 * an error message. */
int report_picture_check(const struct report_picture *options);

/* Returns the label by which the time of sessions is divided (source_set_division()), or NULL. */
const char *report_picture_division(const struct report_picture *options);

/* Reads the source of the page to its end, or `count` frames, and writes the picture. Returns an
 * exit status. */
int report_picture(const struct report_picture *options, struct page_options *page);

/* Checks whether a picture can be written to this path. Called before a long measurement.
 * Returns OPTIONS_GO_ON, or STATUS_USAGE after an error message. */
int picture_file_check(const char *path);

/* Returns whether another program makes the picture (PNG, PDF) of camp's SVG. */
bool picture_file_is_converted(const char *path);

/* Draws a picture as SVG with draw(), and writes it to a path that picture_file_check()
 * accepted. draw() returns CAMP_OK or CAMP_E_NOMEM. Returns STATUS_OK, or an exit status after
 * an error message; then no incomplete file is left. */
int picture_file_draw(const char *path, int (*draw)(void *context, FILE *stream), void *context);
