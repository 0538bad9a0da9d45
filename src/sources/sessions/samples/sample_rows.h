/*
 * Keeps the rows of a table of samples as compact arrays, in the order of the input. A row without
 * a time, or with the wrong number of fields, is kept, but marked as skipped.
 */
#pragma once

#include "sample_columns.h"
#include "sources/tables/table_names.h"

#include <camp/camp.h>

#include <stdint.h>

#define SAMPLE_PROBLEM_SIZE 192
/* The largest load of a row: more sessions than any server has */
#define SAMPLE_LOAD_MOST 1e6

/* A row of the table. The texts are ids in sample_rows.texts; 0 means that the text is empty. */
struct sample_row {
    int64_t time;     /* ns since 1970, or since the zero of the table */
    uint64_t sample;  /* SAMPLE_NUMBER; 0 if unknown */
    double load;      /* of one session: 1 */
    uint32_t session; /* index in sample_rows.sessions; UINT32_MAX if the row is skipped */
    uint32_t number;  /* `number` (struct row) */
    uint32_t next;    /* for samples.c: another row of the session in the same frame */
    uint32_t texts[SAMPLE_TEXTS];
};

/* A session, or what the samples have in place of one. */
struct sample_session {
    /* For samples.c; UINT32_MAX is none. */
    uint32_t last_row;   /* its last row, by time */
    uint32_t newest_row; /* its newest row so far; sample_row.next are others of the same frame */
    uint32_t frame;      /* the number of the frame of newest_row */
};

struct sample_rows {
    struct sample_columns columns;
    struct sample_row *rows; /* [count] */
    size_t count, capacity;
    struct table_names texts;
    struct table_names identities;   /* the identity of session i has the id i + 1 */
    struct sample_session *sessions; /* [identities.count] */
    size_t session_capacity;
    char *buffer; /* [buffer_capacity] for joining the texts of an identity */
    size_t buffer_capacity;
    uint64_t skipped;
    uint64_t problem_number; /* `number` of the first skipped row */
    char problem[SAMPLE_PROBLEM_SIZE];
};

/* Reads all rows of `input` after its header. *rows must be all zero; the caller releases it, also
 * after a failure. `name` is the name of the table. Returns CAMP_E_FORMAT if no row is a sample, or
 * an error of input->next(). */
int sample_rows_read(struct sample_rows *rows, const struct row *header, struct rows *input,
                     const char *name, struct camp_error *error);
void sample_rows_release(struct sample_rows *rows);

/* Marks a row as skipped. Only the first problem of the table is kept. */
void sample_rows_skip(struct sample_rows *rows, size_t row, const char *problem);

/* Copies a text of a row, which may be "", to ret[size]. */
void sample_text(const struct sample_rows *rows, size_t row, enum sample_role role, char *ret,
                 size_t size);
