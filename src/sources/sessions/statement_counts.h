/*
 * What a database itself counts of each statement: its calls, the time of planning and executing
 * them, and their rows. A database reports sums since the start of an entry; these functions make
 * the differences between two readings.
 *
 * A database may have several entries for a statement, one for each owner (such as a user in a
 * database). An entry that has fallen, or that the database says it started anew, has lost its
 * earlier counts: its difference is what it has counted since, and it is a lost entry. So is an
 * entry that is gone. No difference is negative.
 *
 * If more than STATEMENT_GROWTH_MOST statements have grown, those with the least execution time are
 * added up: a row of a frame takes a kilobyte, and a server may have a hundred thousand statements.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATEMENT_GROWTH_MOST 10000

struct statement_id {
    uint64_t high, low;
};

/* Sums since the start of an entry. */
struct statement_entry {
    struct statement_id statement;
    uint64_t owner;
    uint64_t since; /* changes when the database starts the entry anew; 0 if it is unknown */
    uint64_t calls; /* that have ended */
    uint64_t planning_ns, execution_ns;
    uint64_t rows;
    uint64_t lock_ns; /* part of execution_ns, if the database counts it */
};

/* The growth of a statement between two readings: the sum of all its entries. */
struct statement_growth {
    struct statement_id statement;
    uint64_t calls, planning_ns, execution_ns, rows;
    uint64_t lost; /* lost entries */
    uint64_t lock_ns;
};

/* Two readings. All zero means that there was none. */
struct statement_counts {
    struct statement_entry *before; /* [before_count], in ascending order */
    size_t before_count, before_capacity;
    struct statement_entry *now; /* [now_count] */
    size_t now_count, now_capacity;
    bool has_before;
    struct statement_growth *growth; /* [growth_count], in ascending order of statements */
    size_t growth_count, growth_capacity;
    /* The sum of the other_count statements that have grown, too, but are not in `growth`. */
    struct statement_growth others;
    size_t other_count;
    uint64_t lost; /* sum of growth[].lost and others.lost */
};

void statement_counts_release(struct statement_counts *counts);

/* A reading is statement_counts_start(), statement_counts_add() for each entry, in any order, and
 * statement_counts_finish(), which sets `growth` to what has changed since the last reading. After
 * the first reading nothing has. Entries of one statement and owner are added up. A reading that is
 * not finished has no effect. CAMP_OK or CAMP_E_NOMEM. */
void statement_counts_start(struct statement_counts *counts);
int statement_counts_add(struct statement_counts *counts, const struct statement_entry *entry);
int statement_counts_finish(struct statement_counts *counts);

/* Forgets the last reading: the next one is the first. */
void statement_counts_forget(struct statement_counts *counts);

/* Compares two statements, as for qsort(3). */
int statement_id_compare(const struct statement_id *left, const struct statement_id *right);
