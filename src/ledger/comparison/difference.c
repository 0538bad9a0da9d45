#include "difference.h"

#include "ledger/errors/inverse_fit.h"

#include <math.h>

double student_t_limit(double risk, double freedom)
{
    double low = 0, high = 1;

    while (student_t_two_sided(high, freedom) > risk && high < 1e300)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        const double middle = low + (high - low) / 2;

        if (student_t_two_sided(middle, freedom) > risk)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The degrees of freedom of a difference with two errors (Welch 1947, Satterthwaite 1946). */
static double freedom_of(const struct ratio *before, const struct ratio *after)
{
    const double a = before->error * before->error, b = after->error * after->error;
    const double parts = a * a / before->freedom + b * b / after->freedom;

    return parts > 0 ? (a + b) * (a + b) / parts : fmin(before->freedom, after->freedom);
}

static struct bounds bounds_of(double value, double error, double limit)
{
    return (struct bounds){ value - limit * error, value + limit * error };
}

void difference_of(const struct ratio *before, const struct ratio *after, size_t rows,
                   struct difference *ret)
{
    const double error = hypot(before->error, after->error);
    double freedom;

    ret->value = after->value - before->value;
    ret->own = ret->wide = (struct bounds){ -INFINITY, INFINITY };
    if (isnan(ret->value) || !isfinite(error))
        return;
    freedom = freedom_of(before, after);
    ret->own = bounds_of(ret->value, error, student_t_limit(DIFFERENCE_RISK, freedom));
    ret->wide =
        bounds_of(ret->value, error, student_t_limit(DIFFERENCE_RISK / (double)rows, freedom));
}

enum difference_verdict difference_judge(const struct difference *difference, double least)
{
    if (!isfinite(difference->wide.low) || !isfinite(difference->wide.high))
        return DIFFERENCE_UNKNOWN;
    if (difference->wide.low > least)
        return DIFFERENCE_MORE;
    return difference->wide.high < -least ? DIFFERENCE_LESS : DIFFERENCE_NONE;
}
