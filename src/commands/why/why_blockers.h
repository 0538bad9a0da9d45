/* `camp why` of database sessions: who blocks whom, as a record of the schema "camp.blockers/1". */
#pragma once

#include "ledger/blockers/blocker_tree.h"
#include "views/document.h"
#include "why_events.h"

enum { WHY_BLOCKERS_SUMMARY, WHY_BLOCKERS_TREE, WHY_BLOCKERS_WAITS, WHY_BLOCKERS_TABLES };

#define WHY_BLOCKERS_IDS_ONLY                                                                      \
    "A recording of sessions has the server's ids of their last statements, not the texts: "       \
    "select "                                                                                      \
    "query from pg_stat_statements where queryid = ID has them."

struct why_blockers_interval {
    const struct blocker_tree *tree;
    const char *time; /* wall clock of the end */
    const char *name; /* of the source */
    const char *tier;
    const char *note;        /* of the source or the interval; NULL or "" for none */
    const char *kind;        /* name of the frames' schema, which says whose statements they are */
    bool shows_literals;     /* of statements; otherwise each is a question mark */
    const char *subject;     /* only trees with sessions of this name are shown; NULL: all */
    bool is_undivided;       /* a session has only the one that blocked it longest */
    size_t most;             /* sessions below each session, and wait events; 0: all */
    size_t width;            /* sentences are wrapped at it; 0: they are not */
    const char *no_blockers; /* a sentence: why they are unknown; NULL: they are known */
    const struct why_events *events; /* NULL: unknown */
    const char *no_events;           /* a sentence: what of them is unknown; NULL: nothing */
};

/* Fills the record of an interval. CAMP_OK or CAMP_E_NOMEM. */
int why_blockers_fill(struct document *ret, const struct why_blockers_interval *interval);

#define WHY_BLOCKERS_LABEL 256

/* What a row of the tree says of a session, printable. Texts that are unknown are "". */
struct why_blockers_words {
    char session[WHY_BLOCKERS_LABEL];  /* "1234 (migrate)" */
    char activity[WHY_BLOCKERS_LABEL]; /* "idle in transaction for 41 s" */
    char statement[LABELS_VALUE_SIZE];
    char server[LABELS_VALUE_SIZE]; /* "" with one server */
};

/* Fills the words of a session. Of the interval it reads how statements are shown. */
void why_blockers_words(struct why_blockers_words *ret,
                        const struct why_blockers_interval *interval,
                        const struct blocker_session *session);
