/*
 * The parts of camp verify: a trial runs a load whose true numbers are known, and reads the same
 * numbers through the library. A row of a trial compares one number of the library with the true
 * number. The result of a row is its finding: pass, FAIL, or not tested with a reason.
 *
 * A finding gets its verdict once. A trial is repeated, up to TRIES_MAX times, only for rows that
 * were disturbed. A row is disturbed if the trial calls interfered() for it. A row of CPU time is
 * also disturbed if it fails while the hypervisor steals CPU time.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIES_MAX 3u
#define TRIAL_ROWS_MAX 6u

/* The bounds of a row must exclude numbers that are wrong by this share. But concurrent load makes
 * bounds wider. A row whose bounds are too wide is tried again. After TRIES_MAX tries, its verdict
 * is "not tested". */
#define DISTINGUISHED 0.3

/* The allowed error of a mean or a sum of many rounded numbers, in standard deviations. By chance,
 * a greater error occurs in one trial of 16,000. */
#define DEVIATIONS 4.0

/* The speeds of CLOCK_MONOTONIC and of the scheduler's clock differ by at most this share: NTP
 * changes only CLOCK_MONOTONIC, by up to 500 ppm (MAXFREQ). */
#define SLEW_MAX 500e-6

struct verification;

struct row_spec {
    const char *name;
    const char *unit; /* unit of the columns expected, reported, error and allowed */
    const char *help; /* what is compared with what */
};

struct trial {
    void (*run)(struct verification *verification);
    bool timed; /* The rows are CPU times, which are disturbed if a hypervisor steals CPU time. */
    /* The rows are in the order of display. A row without a name ends the list. */
    struct row_spec rows[TRIAL_ROWS_MAX];
};
extern const struct trial verify_trials[];
extern const size_t verify_trial_count;

/* Returns the time that the hypervisor stole from all CPUs since boot, or 0 if it is unknown. */
uint64_t verify_stolen_ns(void);

/* Returns true if the row has no verdict yet. A trial that is repeated skips all other rows. */
bool is_open(struct verification *verification, const char *row);

/* Compare the reported number with the expected one, and set the verdict. The row passes if the
 * number is between expected - below and expected + above; for decide(), `below` and `above` are
 * `allowed`. If the bounds are too wide (DISTINGUISHED), interfered() is called instead. */
void decide(struct verification *verification, const char *row, double expected, double reported,
            double allowed);
void decide_between(struct verification *verification, const char *row, double expected,
                    double reported, double below, double above);
/* Sets half the width of the 95 % interval of a mean. The caller must call it before decide() of
 * the same row. */
void set_confidence(struct verification *verification, const char *row, double half_width);

/* Sets the verdict "not tested" with a reason. */
void not_tested(struct verification *verification, const char *row, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a note to an undecided row. A later verdict keeps the note. */
void remark(struct verification *verification, const char *row, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reports that something disturbed the row, so that this try cannot decide it. After TRIES_MAX
 * tries, the verdict is "not tested". */
void interfered(struct verification *verification, const char *row, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns whether a call of the library failed. If it failed, sets the verdict: "not tested" for
 * CAMP_E_PERM and CAMP_E_NOTSUP, FAIL for any other code. */
bool has_failed(struct verification *verification, const char *row, const struct camp_error *error);

/* Returns whether the load and the library succeeded. `result` and `error` are those of the load.
 * If the load failed, the verdict of all rows of the trial is "not tested". `library` is the error
 * of the library. If the library failed, has_failed() decides all rows. `library` is NULL if each
 * row has an error of its own. */
bool trial_succeeded(struct verification *verification, int result, const struct camp_error *error,
                     const struct camp_error *library);
