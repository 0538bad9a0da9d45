#include "verify_findings.h"

#include "program/command.h"

#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void findings_open(struct verification *verification, const char *only)
{
    verification->count = 0;
    for (size_t i = 0; i < verify_trial_count; i++) {
        const struct row_spec *rows = verify_trials[i].rows;

        for (size_t j = 0; j < TRIAL_ROWS_MAX && rows[j].name != NULL; j++)
            verification->findings[verification->count++] = (struct finding){
                .trial = &verify_trials[i],
                .spec = &rows[j],
                .wanted = only == NULL || fnmatch(only, rows[j].name, 0) == 0,
                .confidence = NAN,
            };
    }
}

size_t findings_count(const struct finding *findings, size_t count, enum verdict verdict)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        found += findings[i].wanted && findings[i].verdict == verdict;
    return found;
}

/* Returns NULL if the row already has a verdict, is not wanted, or was disturbed in this try. */
static struct finding *open_finding(struct verification *verification, const char *row)
{
    for (size_t i = 0; i < verification->count; i++) {
        struct finding *finding = &verification->findings[i];

        if (strcmp(finding->spec->name, row) == 0)
            return finding->wanted && finding->verdict == VERDICT_OPEN && !finding->interfered
                       ? finding
                       : NULL;
    }
    return NULL;
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

/* Returns whether the bounds would accept a number that is wrong by the share DISTINGUISHED. An
 * infinite upper bound is allowed, because such a row tests only a lower bound. */
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
    finding->expected = expected;
    finding->reported = reported;
    finding->below = below;
    finding->above = above;
    /* With NAN, both comparisons are false, so the row fails. */
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

void remark(struct verification *verification, const char *row, const char *format, ...)
{
    struct finding *finding = open_finding(verification, row);
    va_list arguments;

    va_start(arguments, format);
    if (finding != NULL)
        vsnprintf(finding->reason, sizeof finding->reason, format, arguments);
    va_end(arguments);
}

void not_tested(struct verification *verification, const char *row, const char *format, ...)
{
    struct finding *finding = open_finding(verification, row);
    va_list arguments;

    if (finding == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(finding->reason, sizeof finding->reason, format, arguments);
    va_end(arguments);
    finding->verdict = VERDICT_NOT_TESTED;
}

void interfered(struct verification *verification, const char *row, const char *format, ...)
{
    struct finding *finding = open_finding(verification, row);
    va_list arguments;

    if (finding == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(finding->reason, sizeof finding->reason, format, arguments);
    va_end(arguments);
    finding->interfered = true;
    finding->was_disturbed = finding->tries >= TRIES_MAX;
    if (finding->was_disturbed)
        finding->verdict = VERDICT_NOT_TESTED;
}

bool has_failed(struct verification *verification, const char *row, const struct camp_error *error)
{
    struct finding *finding = open_finding(verification, row);
    const char *message =
        error->message[0] != '\0' ? error->message : camp_result_name(error->code);

    if (error->code == CAMP_OK || finding == NULL)
        return error->code != CAMP_OK;
    snprintf(finding->reason, sizeof finding->reason, "%s", message);
    finding->verdict = VERDICT_NOT_TESTED;
    if (error->code != CAMP_E_PERM && error->code != CAMP_E_NOTSUP) {
        finding->expected = finding->reported = finding->below = finding->above = NAN;
        finding->verdict = VERDICT_FAIL;
    }
    return true;
}

bool trial_succeeded(struct verification *verification, int result, const struct camp_error *error,
                     const struct camp_error *library)
{
    for (size_t i = 0; i < verification->running_count; i++) {
        const char *row = verification->running[i].spec->name;

        if (result != CAMP_OK)
            not_tested(verification, row, "%s", stop_requested != 0 ? "stopped" : error->message);
        else if (library != NULL)
            has_failed(verification, row, library);
    }
    return result == CAMP_OK && (library == NULL || library->code == CAMP_OK);
}
