/*
 * How the library stores the catalogue. The texts of a row are one string, because each pointer
 * needs a relocation. One pointer per text would make the library 17 KB larger.
 */
#pragma once

#include "usual.h"

#include <camp/catalogue.h>

enum catalogue_need {
    NEED_NOTHING,
    NEED_TASKSTATS,
    NEED_SCHED_INFO,
    NEED_IO,
    NEED_ITS_SOURCE,
    NEED_TRACE
};

struct catalogue_row {
    /* five strings, each ending in NUL: field, name, resolution, source, help; an empty name means
     * that the name is the same as the field */
    const char *texts;
    uint16_t offset;
    uint32_t known;
    uint16_t kinds;
    uint8_t record;
    uint8_t type;
    uint8_t nature;
    uint8_t rule;
    uint8_t need;
    uint8_t wraps_ms; /* 1 if the kernel prints this time as a 32-bit number of ms, otherwise 0 */
};

struct catalogue_part {
    const struct catalogue_row *rows;
    size_t count;
};

#define CATALOGUE_PARTS 3

/* The rows of all systems, in order. A row that has kinds, but no source, is of another system. */
extern const struct catalogue_part camp_catalogue_parts[CATALOGUE_PARTS];

/* Like camp_counter_provenance(), on a system that counts like `usual`. */
int camp_provenance_of(const struct camp_counter *counter, const struct camp_usual *usual,
                       const struct camp_kernel *kernel, int32_t cpu, const struct camp_task *task);
