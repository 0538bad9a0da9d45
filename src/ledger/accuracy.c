#include "accuracy.h"

#include <math.h>

void accuracy_add(struct accuracy *accuracy, double measured, double sampled)
{
    struct accuracy one = { 0 };

    if (measured > 0) {
        one.active = 1;
        one.measured = measured;
        one.sampled = sampled;
        one.absolute = fabs(sampled - measured);
        one.maximum = one.absolute / measured;
    } else {
        one.stray = sampled;
    }
    accuracy_merge(accuracy, &one);
}

void accuracy_merge(struct accuracy *whole, const struct accuracy *part)
{
    whole->active += part->active;
    whole->measured += part->measured;
    whole->sampled += part->sampled;
    whole->absolute += part->absolute;
    whole->maximum = fmax(whole->maximum, part->maximum);
    whole->stray += part->stray;
}

double error_percent(double measured, double sampled)
{
    return measured > 0 ? 100 * (sampled - measured) / measured : NAN;
}

double absolute_error_percent(const struct accuracy *accuracy)
{
    return accuracy->measured > 0 ? 100 * accuracy->absolute / accuracy->measured : NAN;
}

double maximum_error_percent(const struct accuracy *accuracy)
{
    return accuracy->measured > 0 ? 100 * accuracy->maximum : NAN;
}
