/*
 * Where a picture goes: x.svg as it is; x.png and x.pdf by rsvg-convert of librsvg, which is run as
 * a program of its own. Linking librsvg would load some 40 further libraries at each start of camp
 * (4 ms of CPU time), and most starts draw nothing.
 */
#ifndef CAMP_COMMANDS_REPORT_PICTURE_FILE_H
#define CAMP_COMMANDS_REPORT_PICTURE_FILE_H

#include <stddef.h>

/* Can such a file be written? OPTIONS_GO_ON, or STATUS_USAGE after a complaint: it is to be asked
 * before a long measurement, not after it. */
int picture_file_check(const char *path);

/* Writes the picture to a path that was checked. STATUS_OK, or an exit status after a complaint;
 * then no half of it is left behind. */
int picture_file_write(const char *path, const char *svg, size_t length);

#endif
