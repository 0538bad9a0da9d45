/*
 * The two-sided probability of Student's t distribution. With n degrees of freedom, x = n / (n +
 * t^2) and a = n / 2, the probability is the regularized incomplete beta function
 *
 *     I_x(a, 1/2) = x^a (1 - x)^(1/2) / B(a, 1/2) * K(a, 1/2, x) / a
 *
 * where K is a continued fraction. These sections of the NIST Digital Library of Mathematical
 * Functions (https://dlmf.nist.gov) describe the parts of the computation:
 *
 * - 8.17.2 the function, 8.17.4 its symmetry
 * - 8.17.22 and 8.17.23 the continued fraction, and where it converges fast
 * - 3.10(iii) how to sum up a continued fraction from its front (method of Steed)
 * - 5.12.1 the function B from gamma functions
 * - 5.11.8 the logarithm of a gamma function at a shifted argument
 *
 * Formulas 26.7.1 and 26.5.27 in Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964,
 * show how t leads to this x.
 */
#include "inverse_fit.h"

#include <float.h>
#include <math.h>

#define TERMS_MAXIMUM 1000 /* 1 to 1e12 degrees of freedom need at most 100 terms */
/* From this `a` on, the series in gamma_ratio() is as exact as a double. */
#define LARGE 100

/* The partial numerator d_n of DLMF 8.17.23. All partial denominators are 1. */
static double numerator(double a, double b, double x, int n)
{
    const int half = n / 2;
    const double m = half;

    if (n % 2 == 0)
        return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
}

/* Returns 1 / (1 + d1 / (1 + d2 / ...)). If x is below (a + 1) / (a + b + 2), all reciprocals are
 * above 0, and nothing is divided by 0. */
static double fraction(double a, double b, double x)
{
    double reciprocal = 1, change = 1, sum = 1;

    for (int n = 1; n < TERMS_MAXIMUM && fabs(change) > DBL_EPSILON / 4 * fabs(sum); n++) {
        reciprocal = 1 / (1 + numerator(a, b, x, n) * reciprocal);
        change *= reciprocal - 1;
        sum += change;
    }
    return sum;
}

/* Returns gamma(a + 1/2) / gamma(a). The difference of two values of lgamma() would lose the digits
 * that they have in common: at a = 5e5, seven of sixteen digits. */
static double gamma_ratio(double a)
{
    const double c = 1 / (a * a);

    if (a < LARGE)
        return tgamma(a + 0.5) / tgamma(a);
    return sqrt(a) * exp((-1.0 / 8 + c * (1.0 / 192 - c / 640)) / a);
}

double student_t_two_sided(double t, double freedom)
{
    const double a = freedom / 2, b = 0.5;
    const double ratio = fabs(t) / sqrt(freedom);
    const double length = hypot(1, ratio);                 /* x = 1 / length^2 */
    const double sine = isinf(ratio) ? 1 : ratio / length; /* 1 - x = sine^2 */
    const double x = 1 / length / length;
    /* log(length) would lose digits if the length is near 1, which matters for many degrees of
     * freedom. */
    const double logarithm = ratio < 1 ? log1p(ratio * ratio) / 2 : log(length);
    const double front = exp(-freedom * logarithm) * sine * gamma_ratio(a) / sqrt(M_PI);

    if (x < (a + 1) / (a + b + 2))
        return front * fraction(a, b, x) / a;
    return 1 - front * fraction(b, a, sine * sine) / b;
}
