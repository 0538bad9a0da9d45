/* The columns of camp top: those of its own, and those of a source's schema as JSON and CSV have
 * them: "states", "counters", unaccounted_ns. */
#ifndef CAMP_COMMANDS_TOP_TOP_FIELDS_H
#define CAMP_COMMANDS_TOP_TOP_FIELDS_H

#include "ledger/frame.h"
#include "views/record.h"

#define TOP_FIELDS_MAXIMUM 64
#define TOP_PERCENT_SIZE 8

struct top_fields {
    struct field fields[TOP_FIELDS_MAXIMUM]; /* [count] */
    char names[TOP_FIELDS_MAXIMUM][32];      /* of states, without their unit */
    size_t count;
};

/* What is beyond the maximum is not added: a program's mistake, which the tests would show. */
void top_fields_add(struct top_fields *fields, const struct field *added, size_t count);
void top_fields_add_schema(struct top_fields *fields, const struct schema *schema);

/* The cells of top_fields_add_schema(), of one row. Returns what is behind them. */
struct cell *top_cells_add(struct cell *cells, const struct frame *frame, size_t row);

/* A share in percent in 4 columns: "0.3", "99.9", "100", "2500", "30k" (30,000). `buffer` holds
 * what is no number. Faint where it would be 0.0. */
struct cell top_percent(int64_t part, uint64_t whole, char buffer[TOP_PERCENT_SIZE]);

#endif
