/* The papers' pictures of the sampling error: CPU time and its error over time, and the error by
 * load with the fitted inverse curve (ledger/error_series.h, inverse_fit.h). */
#pragma once

#include "ledger/error_series.h"

#include <stdio.h>

/* A series of errors, and the curve fitted to it. A picture that is all zero is empty. */
struct error_picture {
    const char *source;           /* the name shown in titles: "run.camp (check)" */
    struct error_series series;   /* owned: error_picture_release() */
    struct inverse_point *points; /* [point_count] */
    size_t point_count;
    struct inverse_fit fit;
    struct inverse_judgement judgement;
};

/* Fits the curve to picture->series. CAMP_OK or CAMP_E_NOMEM. */
int error_picture_fit(struct error_picture *picture);
void error_picture_release(struct error_picture *picture);

/* Writes sentences about the fit: whether one curve fits, or why not; its coefficients with their
 * standard errors; its deviance. Returns their number. */
#define ERROR_SENTENCES 3
#define ERROR_SENTENCE_SIZE 160
size_t error_sentences(const struct error_picture *picture,
                       char ret[ERROR_SENTENCES][ERROR_SENTENCE_SIZE]);

/* Each writes an SVG document. A dot is an interval; of more than ERROR_DOTS, every k-th is drawn,
 * with a note. CAMP_OK or CAMP_E_NOMEM. */
#define ERROR_DOTS 20000
int error_over_time(FILE *stream, const struct error_picture *picture);
int error_by_load(FILE *stream, const struct error_picture *picture);
