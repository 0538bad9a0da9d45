/* The tables of the causes of waits in a recording, for the writer and the reader. */
#pragma once

#include <camp/states.h>

#include <stdbool.h>

#define CAUSE_STATE "state" /* in cause_word: names of states, and of kinds of causes */
#define CAUSE_KIND "kind"
#define CAUSE_ON_CPU 100    /* number of the kind of a row that is time on a CPU */
#define CAUSE_GROUP_GONE -1 /* kind of a number that no group has any more */
#define CAUSE_NO_GROUP -1   /* in cause_open: a step of a chain, which is of no group */
#define CAUSE_COUNTS_SIZE (CAMP_WAIT_BUCKETS * 27 + 2) /* of {"47":18446744073709551615,...} */

/* SQL that creates the tables, and a view with names. */
extern const char cause_tables[], cause_view[];

/* The names of the tables, and of the view. */
#define CAUSE_TABLES                                                                               \
    "cause_word", "cause_group", "cause_threads", "cause", "cause_lengths", "cause_device",        \
        "cause_object", "cause_call", "cause_open"

/* Writes numbers of waits by power of two, those above 0: {"20":5,"21":17}. */
void cause_counts_write(char ret[CAUSE_COUNTS_SIZE], const uint64_t counts[CAMP_WAIT_BUCKETS]);

/* Reads such a text. Returns false if it is another text. Counts that it lacks are unchanged. */
bool cause_counts_read(const char *text, uint64_t counts[CAMP_WAIT_BUCKETS]);
