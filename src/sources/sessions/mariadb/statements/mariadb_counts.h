/*
 * The server's own counts of statements in the intervals of a source: calls, their time, the part
 * of it in which they waited for locks of tables, and rows. They are asked for once at the end of
 * an interval, and only while time is divided by statement. A failure leaves the source without
 * counts in this interval; the next difference then has two intervals.
 */
#pragma once

#include "digest_counts.h"
#include "ledger/frame.h"

struct mariadb_source;

struct mariadb_counts {
    struct digest_facts facts;
    struct statement_counts counts;
    bool is_available;
    char note[FRAME_NOTE_SIZE]; /* what the last reading lacks, or "" */
};

/* Asks whether the server has digests and counts of statements, before the first sample. Sets
 * source->statements.has_digests. If there are none, mariadb_counts_describe() appends the reason
 * and what to do to a note. */
void mariadb_counts_open(struct mariadb_source *source);
void mariadb_counts_describe(const struct mariadb_source *source, char *note, size_t size);
void mariadb_counts_release(struct mariadb_counts *counts);

/* Reads the counts. CAMP_OK or CAMP_E_NOMEM; other failures are in the note. */
int mariadb_counts_read(struct mariadb_source *source);

/* Adds a row for each statement that was called since the last reading. CAMP_OK or CAMP_E_NOMEM. */
int mariadb_counts_add_rows(struct mariadb_source *source);
