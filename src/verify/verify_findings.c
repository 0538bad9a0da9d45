/*
 * The findings of camp verify: one for each row, how it is decided, and its remarks.
 */
#include "verify_findings.h"

#include "program/command.h"

#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void findings_open(struct verification *verification, const struct trial_list *const *lists,
                   size_t list_count, const char *only)
{
    size_t count = 0;

    for (size_t i = 0; i < list_count; i++) {
        for (size_t j = 0; j < lists[i]->count; j++) {
            const struct trial *trial = &lists[i]->trials[j];

            for (size_t k = 0; k < trial->row_count && count < ROWS_MAX; k++)
                verification->findings[count++] = (struct finding){
                    .spec = &trial->rows[k],
                    .wanted = only == NULL || fnmatch(only, trial->rows[k].name, 0) == 0,
                    .confidence = NAN,
                };
        }
    }
    verification->count = count;
}

struct finding *findings_find(struct verification *verification, const char *row)
{
    for (size_t i = 0; i < verification->count; i++)
        if (strcmp(verification->findings[i].spec->name, row) == 0)
            return &verification->findings[i];
    return NULL;
}

static struct finding *open_finding(struct verification *verification, const char *row)
{
    struct finding *finding = findings_find(verification, row);

    /* A disturbed row is not decided by the same try. */
    return finding != NULL && finding->wanted && finding->verdict == VERDICT_OPEN &&
                   !finding->interfered
               ? finding
               : NULL;
}

bool is_open(struct verification *verification, const char *row)
{
    return open_finding(verification, row) != NULL;
}

static double distorted(const struct verification *verification, const char *row, double reported)
{
    for (size_t i = 0; i < verification->distortion_count; i++) {
        const struct distortion *distortion = &verification->distortions[i];

        if (fnmatch(distortion->row, row, 0) == 0)
            return reported == 0 ? distortion->factor : reported * distortion->factor;
    }
    return reported;
}

/* True: a number that is wrong by DISTINGUISHED may still be within the bounds. An infinite upper
 * bound is allowed: the row then claims "at least". */
static bool is_too_wide(double expected, double below, double above)
{
    const double size = fabs(expected);
    const double inner = expected < 0 ? above : below, outer = expected < 0 ? below : above;

    if (expected == 0 || !isfinite(above))
        return below >= DISTINGUISHED * (expected == 0 ? 1 : size) ||
               (isfinite(above) && above >= DISTINGUISHED);
    return (1 - DISTINGUISHED) * (size + outer) >= size - inner ||
           (1 + DISTINGUISHED) * (size - inner) <= size + outer;
}

void decide_between(struct verification *verification, const char *row, double expected,
                    double reported, double below, double above)
{
    struct finding *finding = open_finding(verification, row);

    if (finding == NULL)
        return;
    if (is_too_wide(expected, below, above)) {
        interfered(verification, row, "the bounds are too wide to judge: -%.4g to +%.4g %s", below,
                   above, finding->spec->unit);
        return;
    }
    reported = distorted(verification, row, reported);
    finding->interfered = false;
    finding->expected = expected;
    finding->reported = reported;
    finding->below = below;
    finding->above = above;
    /* Written so that NAN fails. */
    finding->verdict =
        reported >= expected - below && reported <= expected + above ? VERDICT_PASS : VERDICT_FAIL;
}

void decide(struct verification *verification, const char *row, double expected, double reported,
            double allowed)
{
    decide_between(verification, row, expected, reported, allowed, allowed);
}

void set_confidence(struct verification *verification, const char *row, double half_width)
{
    struct finding *finding = open_finding(verification, row);

    if (finding != NULL)
        finding->confidence = half_width;
}

/* Adds a remark to an open row and returns the row; NULL: it is decided. */
static struct finding *say(struct verification *verification, const char *row, const char *format,
                           va_list arguments)
{
    struct finding *finding = open_finding(verification, row);

    if (finding != NULL)
        vsnprintf(finding->reason, sizeof finding->reason, format, arguments);
    return finding;
}

void remark(struct verification *verification, const char *row, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(verification, row, format, arguments);
    va_end(arguments);
}

void not_tested(struct verification *verification, const char *row, const char *format, ...)
{
    struct finding *finding;
    va_list arguments;

    va_start(arguments, format);
    finding = say(verification, row, format, arguments);
    va_end(arguments);
    if (finding == NULL)
        return;
    finding->interfered = false;
    finding->verdict = VERDICT_NOT_TESTED;
}

void interfered(struct verification *verification, const char *row, const char *format, ...)
{
    struct finding *finding;
    va_list arguments;

    va_start(arguments, format);
    finding = say(verification, row, format, arguments);
    va_end(arguments);
    if (finding == NULL)
        return;
    finding->interfered = true;
    if (finding->tries >= TRIES_MAX)
        finding->verdict = VERDICT_NOT_TESTED;
}

void decide_failure(struct verification *verification, const char *row, int result,
                    const struct camp_error *error)
{
    struct finding *finding = open_finding(verification, row);
    const char *message = error->message[0] != '\0' ? error->message : camp_result_name(result);

    if (finding == NULL)
        return;
    if (result == CAMP_E_PERM || result == CAMP_E_NOTSUP) {
        not_tested(verification, row, "%s", message);
        return;
    }
    snprintf(finding->reason, sizeof finding->reason, "%s", message);
    finding->interfered = false;
    finding->expected = finding->reported = finding->below = finding->above = NAN;
    finding->verdict = VERDICT_FAIL;
}

void trial_not_tested(struct verification *verification, const struct camp_error *error)
{
    for (size_t i = 0; i < verification->running->row_count; i++)
        not_tested(verification, verification->running->rows[i].name, "%s",
                   stop_requested != 0 ? "stopped" : error->message);
}
