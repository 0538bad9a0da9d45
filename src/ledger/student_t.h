/*
 * Student's t distribution: the probability of a coefficient that is this many standard errors away
 * from 0, when the true coefficient is 0.
 */
#ifndef CAMP_LEDGER_STUDENT_T_H
#define CAMP_LEDGER_STUDENT_T_H

/* The probability that a variable with `freedom` degrees of freedom (above 0, not only whole
 * numbers) lies at least as far from 0 as `t`, on either side. NAN when an argument is NAN or
 * `freedom` is not above 0. Where the probability is above 1e-300, its relative error is below
 * 1e-12 up to 1,000 degrees of freedom, and below 2e-10 up to 1,000,000. */
double student_t_two_sided(double t, double freedom);

#endif
