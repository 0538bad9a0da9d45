/* Tables for tests: temporary CSV files with a given text, and the stored tables of the
 * fixtures. */
#pragma once

#include "tree.h"

#include "counters/clock.h"
#include "ledger/frame.h"
#include "sources/from.h"

#define S ((int64_t)NS_PER_S)
#define T0 (1227319200 * S) /* start of the first interval in the stored tables */

static volatile sig_atomic_t never;

/* Writes the text to a new file, and the file's name, which ends in ".csv", to `path`. */
static inline void write_table(char path[64], const char *text, size_t length)
{
    int descriptor;

    snprintf(path, 64, "/tmp/camp-table-XXXXXX.csv");
    descriptor = mkstemps(path, 4);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, length), length);
    close(descriptor);
}

static inline const char *stored_table(const char *name)
{
    static char path[PATH_MAX];
    const char *fixtures = getenv("CAMP_FIXTURES");

    if (fixtures == NULL)
        fail_msg("CAMP_FIXTURES is not set: run the tests by make test");
    snprintf(path, sizeof path, "%s/table/%s.csv", fixtures, name);
    return path;
}

struct table {
    struct source *source;
    struct from_facts facts;
    const struct frame *frame; /* the frame read last */
};

static inline struct table opened(const struct from *from)
{
    struct camp_error error = { 0 };
    struct table table = { 0 };

    if (from_open(from, &table.source, &table.facts, &error) != CAMP_OK)
        fail_msg("%s: %s", from->text, error.message);
    return table;
}

static inline int next(struct table *table)
{
    return table->source->next(table->source, 0, &table->frame, NULL);
}

static inline void assert_at_end(struct table *table)
{
    assert_int_equal(next(table), SOURCE_END);
    assert_int_equal(next(table), SOURCE_END);
    source_close(table->source);
}

static inline size_t row_named(const struct frame *frame, const char *name)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        if (strcmp(frame->entities[i].name, name) == 0)
            return i;
    }
    fail_msg("there is no %s", name);
    return 0;
}

static inline uint64_t value_of(const struct frame *frame, const char *name, size_t state)
{
    return frame_values(frame, row_named(frame, name))[state];
}

static inline uint64_t elapsed_of(const struct frame *frame, const char *name)
{
    return frame->elapsed_ns[row_named(frame, name)];
}

static inline int64_t unaccounted_of(const struct frame *frame, const char *name)
{
    return frame_unaccounted_ns(frame, row_named(frame, name));
}
