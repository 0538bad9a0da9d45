/*
 * camp verify: its frame. A trial is one experiment (a load of known truth, watched through
 * libcamp); it decides one finding for each of its rows. A row compares one number of the library
 * with the truth.
 *
 * A finding is a pass, a FAIL, or not tested with the reason. It is decided once: a trial is
 * repeated (TRIES_MAX) only for rows that a witness reported as disturbed. A failed row of CPU time
 * is repeated too when the hypervisor stole time in that very try.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIES_MAX 3u

/* A pass excludes a number that is wrong by this share of the expected one. Each bound is read in
 * the same interval, so it grows under concurrent load. A row with a wider bound is tried again,
 * and if the last try is no better, it is not tested. */
#define DISTINGUISHED 0.3

/* The allowed error of a mean or a sum of many rounded numbers, in standard deviations: a
 * statistical constant. By chance it is larger in one trial of 16,000. */
#define DEVIATIONS 4.0

/* NTP slews CLOCK_MONOTONIC against the scheduler's clock by 500 ppm at most (MAXFREQ). */
#define SLEW_MAX 500e-6
#define REASON_SIZE CAMP_ERROR_SIZE

enum verdict { VERDICT_OPEN, VERDICT_PASS, VERDICT_FAIL, VERDICT_NOT_TESTED };

struct row_spec {
    const char *name; /* "cpu-half-process" */
    const char *unit; /* of expected, reported, error and allowed */
    const char *help; /* what is compared with what */
};

struct finding {
    const struct row_spec *spec;
    enum verdict verdict;
    bool wanted;     /* --only */
    bool trying;     /* the running trial may decide it */
    bool interfered; /* undecided: a witness saw a disturbance */
    unsigned tries;
    double expected, reported;
    double below, above; /* allowed: reported may be from expected - below to expected + above */
    double confidence;   /* half the width of the mean's 95 % interval; NAN: no mean */
    char reason[REASON_SIZE];
};

struct verification;

struct trial {
    const struct row_spec *rows;
    size_t row_count;
    void (*run)(struct verification *verification);
};

/* Trials of one subject: CPUs, memory, ... [count] in the order of display. */
struct trial_list {
    const struct trial *trials;
    size_t count;
    bool timed; /* rows of CPU time: a hypervisor that steals is a disturbance */
};
extern const struct trial_list cpu_trials, task_trials, memory_trials, io_trials, network_trials,
    list_trials, phase_trials, exit_trials, state_trials, state_sleep_trials;

/* May this try decide the row? If not, the trial can skip it. */
bool is_open(struct verification *verification, const char *row);

/* Decides a row. */
void decide(struct verification *verification, const char *row, double expected, double reported,
            double allowed);
void decide_between(struct verification *verification, const char *row, double expected,
                    double reported, double below, double above);
/* The next decide() of this row is about a mean with this 95 % interval. */
void set_confidence(struct verification *verification, const char *row, double half_width);

/* The row cannot be tested on this machine. */
void not_tested(struct verification *verification, const char *row, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A note on an open row, whatever its verdict. */
void remark(struct verification *verification, const char *row, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The row could not be tested this time: a witness saw a disturbance. */
void interfered(struct verification *verification, const char *row, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A call of the library failed: PERM and NOTSUP mean not tested, all else is a FAIL. */
void decide_failure(struct verification *verification, const char *row, int result,
                    const struct camp_error *error);

/* What the running trial needs is unavailable: all its open rows are not tested. */
void trial_not_tested(struct verification *verification, const struct camp_error *error);

/* Length of the kernel's tick; 10 ms if unknown. */
uint64_t verify_tick_ns(void);
