/* Sentences about the fit of a series of errors. */
#include "picture_error.h"

#include <camp/camp.h>

#include <stdlib.h>

int error_picture_fit(struct error_picture *picture)
{
    free(picture->points);
    picture->point_count = 0;
    picture->points = calloc(picture->series.count + 1, sizeof *picture->points);
    if (picture->points == NULL)
        return CAMP_E_NOMEM;
    picture->point_count = error_series_points(&picture->series, picture->points);
    inverse_fit(picture->points, picture->point_count, &picture->fit);
    inverse_fit_judge(&picture->fit, picture->points, picture->point_count, &picture->judgement);
    return picture->fit.outcome == INVERSE_NO_MEMORY ? CAMP_E_NOMEM : CAMP_OK;
}

void error_picture_release(struct error_picture *picture)
{
    error_series_release(&picture->series);
    free(picture->points);
    *picture = (struct error_picture){ 0 };
}

static void describe_unfitted(const struct inverse_fit *fit, char *ret, size_t size)
{
    static const char *const reasons[] = {
        [INVERSE_TOO_FEW] = "fewer than 3 intervals with an error above 0",
        [INVERSE_ONE_LOAD] = "the load was the same in all intervals",
        [INVERSE_NO_STEP] = "no step of the fit keeps all fitted errors above 0",
        [INVERSE_NO_END] = "the fit did not converge in 25 iterations",
        [INVERSE_NO_MEMORY] = "out of memory",
    };

    snprintf(ret, size, "No curve could be fitted: %s.", reasons[fit->outcome]);
}

static void describe_verdict(const struct error_picture *picture, char *ret, size_t size)
{
    const struct inverse_judgement *judgement = &picture->judgement;
    const double explained = 100 * judgement->explained;

    switch (judgement->verdict) {
    case VERDICT_NOT_FITTED:
        describe_unfitted(&picture->fit, ret, size);
        break;
    case VERDICT_FEW:
        snprintf(ret, size, "Too few intervals to say whether one curve fits: %zu, it takes %d.",
                 picture->fit.used, VERDICT_POINTS);
        break;
    case VERDICT_FITS:
        snprintf(ret, size, "The inverse curve explains %.1f %% of the deviance.", explained);
        break;
    case VERDICT_ONE_LOAD:
        snprintf(ret, size,
                 "The load hardly varied (%.1f to %.1f %%): nothing can be said about a curve.",
                 judgement->least_load, judgement->most_load);
        break;
    case VERDICT_NO_RELATION:
        snprintf(ret, size,
                 "No single curve fits: the error does not depend on load (b may be 0: p = %.2g).",
                 picture->fit.b_probability);
        break;
    case VERDICT_RISES:
        snprintf(ret, size,
                 "No single curve fits: the error rises with load, by no inverse curve.");
        break;
    case VERDICT_CLUSTERS:
        snprintf(ret, size,
                 "No single curve fits: separate clusters, whose errors at one load differ by a "
                 "factor of %.1f.",
                 judgement->apart);
        break;
    case VERDICT_SCATTERED:
        snprintf(ret, size,
                 "No single curve fits: too scattered, it explains %.1f %% of the deviance only.",
                 explained);
        break;
    }
}

size_t error_sentences(const struct error_picture *picture,
                       char ret[ERROR_SENTENCES][ERROR_SENTENCE_SIZE])
{
    const struct inverse_fit *fit = &picture->fit;

    describe_verdict(picture, ret[0], ERROR_SENTENCE_SIZE);
    if (fit->outcome != INVERSE_FITTED)
        return 1;
    snprintf(ret[1], ERROR_SENTENCE_SIZE,
             "error = 1 / (a + b \xc3\x97 cpu), a = %.4g \xc2\xb1 %.2g, b = %.4g \xc2\xb1 %.2g "
             "(standard errors); Gamma, inverse link.",
             fit->a, fit->a_error, fit->b, fit->b_error);
    snprintf(ret[2], ERROR_SENTENCE_SIZE,
             "%zu intervals (%zu without an error above 0 left out), deviance %.4g of %.4g, "
             "dispersion %.3g.",
             fit->used, fit->left_out, fit->deviance, fit->null_deviance, fit->dispersion);
    return ERROR_SENTENCES;
}
