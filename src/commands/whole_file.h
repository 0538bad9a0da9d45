/* A file that is there as a whole or not at all: written beside its place, and put there once it is
 * complete. What is no regular file (a pipe, a device) is written as it comes. */
#ifndef CAMP_COMMANDS_WHOLE_FILE_H
#define CAMP_COMMANDS_WHOLE_FILE_H

#include <stdio.h>

struct whole_file {
    FILE *stream;    /* NULL: not open */
    char *path;      /* where it will be; owned */
    char *temporary; /* where it is; NULL: at its place */
};

/* 0, or the errno why there can be none: asked before long work, not after it. */
int whole_file_open(struct whole_file *ret, const char *path);

/* 0: it is there. Otherwise the errno of what failed, and what was there before is untouched. */
int whole_file_keep(struct whole_file *file);

/* Nothing is left of it, unless it was kept. All zero is fine. */
void whole_file_drop(struct whole_file *file);

#endif
