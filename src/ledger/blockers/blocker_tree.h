/*
 * Who blocks whom in frames of sessions, as trees: the root of a chain of blockers, below it the
 * sessions that waited for it, and below each of these its own waiting sessions.
 *
 * A row of a session that waited has the labels "blocker" and "root_blocker" and the column
 * blocked_ns (sources/sessions/session.h). A session that waited for several others is below each
 * of them, with the time for that one, so the times in a tree add up to what its sessions waited.
 * What a session blocked is shown once in each tree, at the first place of the session; so sessions
 * that wait for each other end.
 */
#pragma once

#include "ledger/frame.h"
#include "ledger/labels.h"

/* The number of a prepared transaction, which is no session. */
#define BLOCKER_TREE_PREPARED ((int64_t)0)

/* A session that blocks or is blocked, by its last row. Texts that are unknown are "". */
struct blocker_session {
    int64_t id; /* of several servers: the number of the server and that of the session (frame.h) */
    char server[LABELS_VALUE_SIZE]; /* "" with one server */
    char name[CAMP_NAME_SIZE];
    char application[LABELS_VALUE_SIZE], statement[LABELS_VALUE_SIZE];
    bool is_of_postgres;              /* its statement is one of PostgreSQL */
    char activity[LABELS_VALUE_SIZE]; /* of a session that blocks, such as "idle_in_transaction" */
    uint64_t activity_ns;             /* how long it has had its activity; 0 if unknown */
    uint64_t contention_ns;           /* all of its contention, in all intervals */
    /* Of a session that blocks, in the intervals in which it does: all of its time, that on a CPU,
     * and how long its process was stopped. */
    uint64_t elapsed_ns, cpu_ns, stopped_ns;
    bool has_row; /* false: only its id is known, as a blocker */
};

struct blocker_node {
    size_t session;      /* index in `sessions` */
    uint32_t depth;      /* 0 for a root */
    uint64_t blocked_ns; /* how long it waited for the session above; 0 for a root, or if unknown */
    uint64_t measured_ns; /* the part of blocked_ns that the kernel measured */
    uint64_t blocking_ns; /* how long the sessions below waited, at all depths */
    uint32_t waiting;     /* of a root: number of sessions below, each counted once; otherwise 0 */
    bool is_repeated;     /* the sessions below it are at its first place in the tree */
};

/* All zero is empty. */
struct blocker_tree {
    struct blocker_node *nodes; /* [count] each before those below it; most time first */
    size_t count, capacity;
    struct blocker_session **sessions; /* [session_count] in ascending order of ids; owned */
    size_t session_count, session_capacity;
    struct blocker_edge *edges; /* [edge_count] */
    size_t edge_count, edge_capacity;
    uint64_t elapsed_ns;    /* of the intervals */
    uint64_t contention_ns; /* of all sessions */
    uint64_t blocked_ns;    /* of it, that by a known session */
    uint64_t measured_ns;   /* of that, what the kernel measured; the rest is of samples */
    bool has_measured;      /* The frames say what is measured. */
    bool failed;
};

/* Returns whether the frames of a source have blockers. */
bool blocker_tree_is_known(const struct schema *schema);

/* Starts a tree of no interval. */
void blocker_tree_start(struct blocker_tree *tree);

/* Adds the sessions of an interval, whose schema is known. */
void blocker_tree_add(struct blocker_tree *tree, const struct frame *frame);

/* Fills the nodes: of all trees, or if `is_wanted` is not NULL of those with a session for which it
 * returns true. CAMP_OK, or CAMP_E_NOMEM, also if there was no memory in blocker_tree_add(). */
int blocker_tree_finish(struct blocker_tree *tree,
                        bool (*is_wanted)(const void *context,
                                          const struct blocker_session *session),
                        const void *context);

void blocker_tree_release(struct blocker_tree *tree);
