/*
 * Recognises a table of samples by the names of its columns. Each row says what one session did at
 * one moment. The names are those of Oracle's V$ACTIVE_SESSION_HISTORY and
 * DBA_HIST_ACTIVE_SESS_HISTORY, of PostgreSQL's pg_stat_activity and its histories (pgsentinel,
 * pg_ash), and of the dimensions of Performance Insights. Capitals do not matter, and any sequence
 * of characters other than letters and digits counts as "_".
 */
#pragma once

#include "sources/tables/rows.h"

#include <stdbool.h>
#include <stddef.h>

enum sample_role {
    SAMPLE_TIME,
    SAMPLE_NUMBER, /* counts the samples of the server, also those without an active session */
    SAMPLE_LOAD,   /* how many sessions the row stands for; without the column, one */
    /* Texts, which identify a session together. */
    SAMPLE_INSTANCE,
    SAMPLE_SESSION,
    SAMPLE_SERIAL,
    /* Texts that are labels, in the order of the labels. */
    SAMPLE_USER,
    SAMPLE_APPLICATION,
    SAMPLE_DATABASE,
    SAMPLE_CLIENT,
    SAMPLE_MODULE,
    SAMPLE_STATEMENT,
    SAMPLE_EVENT,
    SAMPLE_BLOCKER,
    /* Texts for the rules. */
    SAMPLE_CLASS,
    SAMPLE_ACTIVITY,
    SAMPLE_TYPE,
    SAMPLE_ROLES,

    SAMPLE_FIRST_TEXT = SAMPLE_INSTANCE,
    SAMPLE_FIRST_LABEL = SAMPLE_USER,
    SAMPLE_LABEL_END = SAMPLE_CLASS,
    SAMPLE_TEXTS = SAMPLE_ROLES - SAMPLE_FIRST_TEXT
};

#define SAMPLE_ABSENT SIZE_MAX

struct sample_columns {
    size_t count;            /* number of columns in the header */
    size_t at[SAMPLE_ROLES]; /* index of each role's column, or SAMPLE_ABSENT */
    bool is_oracle;          /* the names of states and events are those of Oracle */
    bool is_history;         /* Oracle's DBA_HIST_ACTIVE_SESS_HISTORY: a sample in ten seconds */
};

/* Returns false if the header is not that of a table of samples. */
bool sample_columns_find(struct sample_columns *ret, const struct row *header);

/* Returns the name of a label, such as "application", for a role from SAMPLE_FIRST_LABEL to
 * SAMPLE_LABEL_END - 1. */
const char *sample_label_name(enum sample_role role);
