/* What a struct camp_reader is of. The number is in reader->kind; a reader of one kind that is
 * handed to the function of another is CAMP_E_INVALID. */
#pragma once

#include <camp/camp.h>

enum camp_reader_kind {
    CAMP_READER_CPUS = 1,
    CAMP_READER_MEMORY = 2,
    CAMP_READER_NETWORKS = 3,
    CAMP_READER_DISKS = 4,
    CAMP_READER_PROCESS = 5
};

/* CAMP_E_INVALID when the reader is not an open one of that kind. */
int camp_reader_check(const struct camp_reader *reader, enum camp_reader_kind kind,
                      struct camp_error *error);

/* Opens `path` as *reader of that kind. On a failure *reader is left as it was. */
int camp_reader_open(struct camp_reader *reader, enum camp_reader_kind kind, const char *path,
                     struct camp_error *error);
