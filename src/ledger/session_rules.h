/*
 * Rules that say what a database session does while it is off the CPU. From what the database
 * reports about a session (class, event ...), a rule finds a state and a column. A state consists
 * of one or more columns.
 *
 * Each line is a rule. Each condition is given at most once:
 *
 *     STATE  COLUMN  class=REGEX  event=REGEX  activity=REGEX  type=REGEX
 *
 * STATE is cpu, run_queue, contention, wait or idle. COLUMN consists of a-z, 0-9 and _. Several
 * rules may have the same COLUMN, if they have the same STATE; their times are added up. The
 * expressions are POSIX extended, and must match the whole text: class=Lock does not match LWLock.
 * A text that the database does not report is `none`. A blank in a text is written as _
 * (type=parallel_worker). A line that starts with # is a comment. The first matching rule is used.
 * If no rule matches, the time is unaccounted.
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

extern const char *const session_state_names[SESSION_STATE_COUNT];

enum session_key { SESSION_CLASS, SESSION_EVENT, SESSION_ACTIVITY, SESSION_TYPE, SESSION_KEYS };

/* What the database reports about a session: class, event, activity (active, idle,
 * idle_in_transaction ...) and type (client, parallel_worker ...), as texts[enum session_key]. A
 * text that is not reported is "none", not NULL. */
struct session_kind {
    const char *texts[SESSION_KEYS];
};

#define SESSION_COLUMN_SIZE 40
/* In a picture, a reader could not distinguish more columns. */
#define SESSION_COLUMNS_MAXIMUM 100

struct session_column {
    enum session_state state;
    char name[SESSION_COLUMN_SIZE];
    /* Text of the conditions of all rules of the column, joined by "; "; freed by
     * session_rules_release(). */
    char *rules;
};

struct session_rule {
    size_t column;
    struct rule_conditions conditions;
};

struct session_rules {
    struct session_rule *rules; /* [count]; freed by session_rules_release() */
    size_t count, capacity;
    struct session_column columns[SESSION_COLUMNS_MAXIMUM]; /* [column_count], sorted by state */
    size_t column_count;
};

/* Parses rules. `text` may contain any bytes. Returns CAMP_OK, CAMP_E_NOMEM, or CAMP_E_FORMAT with
 * the reason in *fault. After a failure *ret has no rules. */
int session_rules_parse(struct session_rules *ret, const char *text, size_t length,
                        struct rule_fault *fault);
void session_rules_release(struct session_rules *rules);

/* Returns the column of the first matching rule, or SIZE_MAX if no rule matches. */
size_t session_rules_match(const struct session_rules *rules, const struct session_kind *kind);
