/*
 * The rows of the catalogue as they are stored. The texts of a row are one string, so that the
 * dynamic linker has one pointer a row to relocate: with a pointer for each text the library would
 * be 17 KB larger.
 */
#pragma once

#include <camp/catalogue.h>

/* What a counter needs in addition to a kernel that camp supports. */
enum catalogue_need { NEED_NOTHING, NEED_TASKSTATS, NEED_SCHED_INFO, NEED_IO, NEED_ITS_SOURCE };

struct catalogue_row {
    const char
        *texts; /* field, name (empty: the same), resolution, source, help: each ends in NUL */
    uint16_t offset;
    uint16_t known;
    uint8_t kinds;
    uint8_t record;
    uint8_t type;
    uint8_t nature;
    uint8_t rule;
    uint8_t need;     /* enum catalogue_need */
    uint8_t wraps_ms; /* 1: the kernel counts it in 32 bits of ms */
};

extern const struct catalogue_row camp_catalogue_rows[];
extern const size_t camp_catalogue_row_count;
