/*
 * The server's own counts of statements in the intervals of a source: calls, planning and execution
 * time, rows. They are asked for once at the end of an interval, and only while time is divided by
 * statement. A failure leaves the source without counts in this interval; the next difference then
 * has two intervals.
 */
#pragma once

#include "extension_counts.h"
#include "ledger/frame.h"

struct postgres_source;

struct postgres_counts {
    bool is_available;
    uint64_t connection; /* on which `extension` was found */
    struct extension extension;
    struct extension_reading reading;
    struct statement_counts counts;
    int64_t own[8]; /* ids of camp's own statements, which are not shown */
    size_t own_count;
    char note[FRAME_NOTE_SIZE]; /* what the last reading lacks, or "" */
};

/* Looks for the extension, after the tier was opened. If the source cannot have counts,
 * postgres_counts_describe() appends the reason and what to do to a note. */
void postgres_counts_open(struct postgres_source *source);
void postgres_counts_describe(struct postgres_source *source, char *note, size_t size);
void postgres_counts_release(struct postgres_counts *counts);

/* Keeps the id of a statement of camp's own, which is not shown. */
void postgres_counts_add_own(struct postgres_counts *counts, int64_t id);

/* Reads the counts, and with `queries` the texts of statements that have none yet. */
void postgres_counts_read(struct postgres_source *source);

/* Adds a row for each statement that was called since the last reading. CAMP_OK or CAMP_E_NOMEM. */
int postgres_counts_add_rows(struct postgres_source *source);
