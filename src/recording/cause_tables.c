#include "cause_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cause_tables[] =
    "CREATE TABLE cause_word(word TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL,"
    " PRIMARY KEY(word, number)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE cause_group(number INTEGER NOT NULL, since_tick INTEGER NOT NULL,"
    " kind INTEGER NOT NULL, pid INTEGER NOT NULL, name TEXT NOT NULL,"
    " PRIMARY KEY(number, since_tick)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE cause_threads(since_tick INTEGER NOT NULL, number INTEGER NOT NULL,"
    " threads INTEGER NOT NULL, reduced_ns INTEGER NOT NULL,"
    " PRIMARY KEY(since_tick, number)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE cause(tick INTEGER NOT NULL, number INTEGER NOT NULL, state INTEGER NOT NULL,"
    " kind INTEGER NOT NULL, who INTEGER NOT NULL, time_ns INTEGER NOT NULL,"
    " PRIMARY KEY(tick, number, state, kind, who)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE cause_lengths(tick INTEGER NOT NULL, number INTEGER NOT NULL,"
    " state INTEGER NOT NULL, longest_ns INTEGER NOT NULL, longest_tid INTEGER NOT NULL,"
    " longest_wall_clock_ns INTEGER NOT NULL, counts TEXT NOT NULL,"
    " PRIMARY KEY(tick, number, state)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE cause_device(number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;"
    "CREATE TABLE cause_object(object INTEGER PRIMARY KEY, call TEXT NOT NULL, name TEXT NOT NULL)"
    " STRICT;"
    "CREATE TABLE cause_call(tick INTEGER NOT NULL, pid INTEGER NOT NULL, state INTEGER NOT NULL,"
    " object INTEGER NOT NULL, sleep_ns INTEGER NOT NULL, count INTEGER NOT NULL,"
    " PRIMARY KEY(tick, pid, state, object)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE cause_open(tick INTEGER NOT NULL, pid INTEGER NOT NULL, state INTEGER NOT NULL,"
    " object INTEGER NOT NULL, number INTEGER NOT NULL, sleep_ns INTEGER NOT NULL,"
    " state_ns INTEGER NOT NULL, threads INTEGER NOT NULL, does INTEGER NOT NULL,"
    " holder INTEGER NOT NULL, other_end TEXT NOT NULL, who TEXT NOT NULL,"
    " PRIMARY KEY(tick, pid, state, object)) STRICT, WITHOUT ROWID;";

/* The name that a group had in the interval of the row `c`. */
#define NAME_OF(number)                                                                            \
    "(SELECT CASE kind WHEN 0 THEN 'other processes' WHEN 1 THEN 'kernel threads' WHEN 2 THEN"     \
    " 'outside of this container' ELSE name END FROM cause_group AS g WHERE g.number = " number    \
    " AND since_tick <= c.tick ORDER BY since_tick DESC LIMIT 1)"

/* clang-format off */
const char cause_view[] =
    "CREATE VIEW causes AS SELECT c.tick, " NAME_OF("c.number") " AS waiter,"
    " state.name AS state, kind.name AS cause,"
    " CASE kind.name WHEN 'group' THEN " NAME_OF("c.who")
    " WHEN 'device' THEN (SELECT name FROM cause_device AS d WHERE d.number = c.who) END AS who,"
    " time_ns FROM cause AS c"
    " JOIN cause_word AS state ON state.word = 'state' AND state.number = c.state"
    " JOIN cause_word AS kind ON kind.word = 'kind' AND kind.number = c.kind;";
/* clang-format on */

void cause_counts_write(char ret[CAUSE_COUNTS_SIZE], const uint64_t counts[CAMP_WAIT_BUCKETS])
{
    size_t length = 0;

    for (int i = 0; i < CAMP_WAIT_BUCKETS; i++) {
        if (counts[i] > 0)
            length += (size_t)snprintf(ret + length, CAUSE_COUNTS_SIZE - length,
                                       "%s\"%d\":%" PRIu64, length == 0 ? "{" : ",", i, counts[i]);
    }
    snprintf(ret + length, CAUSE_COUNTS_SIZE - length, "}");
}

/* Reads "20":5 and sets *ret to the text after it. */
static bool read_bucket(const char *text, const char **ret, uint64_t counts[CAMP_WAIT_BUCKETS])
{
    const size_t digits = *text == '"' ? strspn(text + 1, "0123456789") : 0;
    unsigned long bucket;
    size_t length;

    if (digits < 1 || digits > 2 || strncmp(text + 1 + digits, "\":", 2) != 0)
        return false;
    bucket = strtoul(text + 1, NULL, 10);
    text += digits + 3;
    length = strspn(text, "0123456789");
    if (length < 1 || length > 18 || bucket >= CAMP_WAIT_BUCKETS)
        return false;
    counts[bucket] = strtoull(text, NULL, 10);
    *ret = text + length;
    return counts[bucket] <= UINT32_MAX * UINT64_C(1000);
}

bool cause_counts_read(const char *text, uint64_t counts[CAMP_WAIT_BUCKETS])
{
    if (*text != '{')
        return false;
    do {
        if (!read_bucket(text + 1, &text, counts))
            return false;
    } while (*text == ',');
    return strcmp(text, "}") == 0;
}
