/*
 * Files of pictures: x.svg directly; x.png and x.pdf by running rsvg-convert of librsvg. Linking
 * librsvg would load some 40 more libraries at each start of camp (4 ms of CPU time), and most
 * starts draw nothing.
 */
#ifndef CAMP_COMMANDS_REPORT_PICTURE_FILE_H
#define CAMP_COMMANDS_REPORT_PICTURE_FILE_H

#include <stddef.h>

/* Can such a file be written? OPTIONS_GO_ON, or STATUS_USAGE after a complaint: call it before a
 * long measurement. */
int picture_file_check(const char *path);

/* Writes the picture to a checked path. STATUS_OK, or an exit status after a complaint, without
 * leftovers. */
int picture_file_write(const char *path, const char *svg, size_t length);

#endif
