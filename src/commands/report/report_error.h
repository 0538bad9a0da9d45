/* camp report --picture error-over-time, error-by-load: for recordings of sampled and measured CPU
 * time (--from check, or a recording of it). */
#ifndef CAMP_COMMANDS_REPORT_REPORT_ERROR_H
#define CAMP_COMMANDS_REPORT_REPORT_ERROR_H

#include "report_picture.h"

/* Is a kind of picture (an index of report_picture_kinds) one of these? */
bool report_error_is(int kind);

/* Checks their options before the source is opened. OPTIONS_GO_ON or an exit status. */
int report_error_check(const struct report_picture *options);

/* Reads the page's source to its end, or `count` frames, and writes the picture. An exit status. */
int report_error(const struct report_picture *options, struct page_options *page);

#endif
