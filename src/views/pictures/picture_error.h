/* Pictures of the sampling error: CPU time and its error over time, and the error by load with a
 * fitted inverse curve (ledger/error_series.h, inverse_fit.h). */
#pragma once

#include "ledger/errors/error_series.h"

#include <stdio.h>

/* A series of errors, and the curve fitted to the errors. A picture that is all zero is empty. */
struct error_picture {
    const char *source;           /* the name in titles, such as "run.camp (check)" */
    struct error_series series;   /* owned, released by error_picture_release() */
    struct inverse_point *points; /* [point_count] */
    size_t point_count;
    struct inverse_fit fit;
    struct inverse_judgement judgement;
};

/* Fits the curve to picture->series. Returns CAMP_OK or CAMP_E_NOMEM. */
int error_picture_fit(struct error_picture *picture);
void error_picture_release(struct error_picture *picture);

/* Writes up to ERROR_SENTENCES sentences about the fit: whether one curve fits or why not, the
 * coefficients with their standard errors, and the deviance. Returns the number of sentences. */
#define ERROR_SENTENCES 3
#define ERROR_SENTENCE_SIZE 160
size_t error_sentences(const struct error_picture *picture,
                       char ret[ERROR_SENTENCES][ERROR_SENTENCE_SIZE]);

/* Each function writes an SVG document in which a dot is an interval. If there are more than
 * ERROR_DOTS intervals, only every k-th interval is drawn, and a note says so. Returns CAMP_OK or
 * CAMP_E_NOMEM. */
#define ERROR_DOTS 20000
int error_over_time(FILE *stream, const struct error_picture *picture);
int error_by_load(FILE *stream, const struct error_picture *picture);
