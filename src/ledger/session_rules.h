/*
 * What a database session does off the CPU, by rules: the database reports a class and an event,
 * which a rule assigns to a state and a more detailed column. Pure text.
 *
 * A line is a rule: the state, the name of the column, then conditions, each once at most:
 *
 *     STATE  COLUMN  class=REGEX  event=REGEX  activity=REGEX  type=REGEX
 *
 * STATE is one of cpu, run_queue, contention, wait, idle. COLUMN consists of a-z, 0-9 and _; rules
 * with the same one add up, and have the same state. Expressions are POSIX extended and must match
 * all of the text: class=Lock is not LWLock. A missing text is `none`. Blanks in the database's
 * texts are _ here (type=parallel_worker). A # at the start of a line makes a comment. The first
 * matching rule wins; unmatched time is in no state: unaccounted.
 */
#pragma once

#include "rule_text.h"

enum session_state {
    SESSION_CPU,
    SESSION_RUN_QUEUE,
    SESSION_CONTENTION,
    SESSION_WAIT,
    SESSION_IDLE,
    SESSION_STATE_COUNT
};

/* "cpu", "run_queue" ... */
extern const char *const session_state_names[SESSION_STATE_COUNT];

enum session_key { SESSION_CLASS, SESSION_EVENT, SESSION_ACTIVITY, SESSION_TYPE, SESSION_KEYS };

/* What the database reports: class, event, the session's activity (active, idle,
 * idle_in_transaction ...), and its type (client, parallel_worker ...). NULL: missing. */
struct session_kind {
    const char *texts[SESSION_KEYS];
};

#define SESSION_COLUMN_SIZE 40
#define SESSION_COLUMNS_MAXIMUM 100 /* with the states; as many as a picture can distinguish */

struct session_column {
    enum session_state state;
    char name[SESSION_COLUMN_SIZE]; /* "io_wal" */
    char *rules;                    /* rules of the column, with "; " between them; owned */
};

struct session_rule {
    size_t column;
    struct rule_conditions conditions; /* by enum session_key */
};

struct session_rules {
    struct session_rule *rules; /* [count]; owned: session_rules_release() */
    size_t count, capacity;
    struct session_column columns[SESSION_COLUMNS_MAXIMUM]; /* [column_count], by state */
    size_t column_count;
};

/* Parses rules from any bytes. CAMP_OK; CAMP_E_FORMAT with *fault; CAMP_E_NOMEM. On failure *ret
 * has no rules. */
int session_rules_parse(struct session_rules *ret, const char *text, size_t length,
                        struct rule_fault *fault);
void session_rules_release(struct session_rules *rules);

/* The column of the first matching rule; SIZE_MAX: unmatched. */
size_t session_rules_match(const struct session_rules *rules, const struct session_kind *kind);
