/* Tests that the catalogue names a source of illumos for exactly what the port reads. */
#pragma once

#include <camp/catalogue.h>

#include <stdbool.h>

/* Fails unless the counters of a struct that have a source are those that are known. */
static inline void expect_sources(int32_t record, uint32_t known)
{
    static struct camp_counter rows[300];
    size_t count = 0, with_bits = 0;

    assert_int_equal(
        camp_catalogue_read(rows, sizeof rows[0], sizeof rows / sizeof rows[0], &count, NULL),
        CAMP_OK);
    for (size_t i = 0; i < count; i++) {
        const bool is_known = (known & rows[i].known) != 0;

        if (rows[i].record != record || rows[i].known == 0 || rows[i].resolution[0] == '\0')
            continue;
        with_bits++;
        if (is_known != (rows[i].source[0] != '\0'))
            fail_msg("%s is %s, and its source is \"%s\"", rows[i].name,
                     is_known ? "known" : "unknown", rows[i].source);
    }
    assert_true(with_bits > 0);
}
