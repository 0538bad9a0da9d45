/* The structure of camp verify. A trial is one experiment (a load of known truth, watched through
 * libcamp); it decides one finding for each of its rows. A row compares one number of the library
 * with the truth.
 *
 * * A finding is a pass, a FAIL, or not tested with the reason. It is decided once: a trial is
 * repeated (TRIES_MAX) only for rows that a witness reported as disturbed. A failed row of CPU time
 * is repeated too when the hypervisor stole time in that very try. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIES_MAX 3u
#define TRIAL_ROWS_MAX 6u

/* A pass excludes a number that is wrong by this share of the expected one. Each bound is read in
 * the same interval, so it grows under concurrent load. A row with a wider bound is tried again,
 * and if the last try is no better, it is not tested. */
#define DISTINGUISHED 0.3

/* The allowed error of a mean or a sum of many rounded numbers, in standard deviations: a
 * statistical constant. By chance it is larger in one trial of 16,000. */
#define DEVIATIONS 4.0

/* NTP slews CLOCK_MONOTONIC against the scheduler's clock by 500 ppm at most (MAXFREQ). */
#define SLEW_MAX 500e-6

struct verification;

struct row_spec {
    const char *name; /* "cpu-half-process" */
    const char *unit; /* of expected, reported, error and allowed */
    const char *help; /* what is compared with what */
};

struct trial {
    void (*run)(struct verification *verification);
    bool timed; /* rows of CPU time: a hypervisor that steals is a disturbance */
    struct row_spec rows[TRIAL_ROWS_MAX]; /* up to one without a name, in the order of display */
};
extern const struct trial verify_trials[];
extern const size_t verify_trial_count;

/* The trials, each in the file of its subject. */
void verify_idle(struct verification *verification);
void verify_half(struct verification *verification);
void verify_full(struct verification *verification);
void verify_two(struct verification *verification);
void verify_burners(struct verification *verification);
void verify_sum(struct verification *verification);
void verify_threads(struct verification *verification);
void verify_voluntary(struct verification *verification);
void verify_memory(struct verification *verification);
void verify_faults(struct verification *verification);
void verify_io(struct verification *verification);
void verify_network(struct verification *verification);
void verify_cpu_list(struct verification *verification);
void verify_disk_list(struct verification *verification);
void verify_network_list(struct verification *verification);
void verify_process_list(struct verification *verification);
void verify_between_ticks(struct verification *verification);
void verify_across_ticks(struct verification *verification);
void verify_exits(struct verification *verification);
void verify_states(struct verification *verification);
void verify_state_sleeps(struct verification *verification);

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

/* True: a call of the library failed (error->code), and the row is decided. PERM and NOTSUP mean
 * not tested, all else is a FAIL. */
bool has_failed(struct verification *verification, const char *row, const struct camp_error *error);

/* True if neither failed: the load by `result` and `error`, nor the library (NULL: each row has its
 * own call). Otherwise all rows of the running trial are decided: where the load failed, they are
 * not tested. */
bool trial_succeeded(struct verification *verification, int result, const struct camp_error *error,
                     const struct camp_error *library);
