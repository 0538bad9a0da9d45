/* The structure of camp verify. A trial is one experiment (a load of known truth, watched through
 * libcamp); it decides one finding for each of its rows. A row compares one number of the library
 * with the truth.
 *
 * A finding is a pass, a FAIL, or not tested with the reason. A finding is decided once: a trial
 * is repeated (TRIES_MAX) only for rows that a second measurement, the witness, reported as
 * disturbed, and for failed rows of CPU time if the hypervisor stole time in the same try. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIES_MAX 3u
#define TRIAL_ROWS_MAX 6u

/* A pass must exclude a number that is wrong by this share of the expected one. The bounds of a row
 * are measured in the same interval, so they become wider under concurrent load. A row whose bounds
 * are too wide is tried again; if they still are in the last try, the row is not tested. */
#define DISTINGUISHED 0.3

/* The allowed error of a mean or a sum of many rounded numbers, in standard deviations. By chance
 * an error exceeds it in one trial of 16,000. */
#define DEVIATIONS 4.0

/* NTP slews CLOCK_MONOTONIC against the scheduler's clock by 500 ppm at most (MAXFREQ). */
#define SLEW_MAX 500e-6

struct verification;

struct row_spec {
    const char *name; /* "cpu-half-process" */
    const char *unit; /* unit of the columns expected, reported, error and allowed */
    const char *help; /* what is compared with what */
};

struct trial {
    void (*run)(struct verification *verification);
    bool timed; /* rows of CPU time, which a hypervisor disturbs when it steals time */
    struct row_spec rows[TRIAL_ROWS_MAX]; /* the last one has no name; in the order of display */
};
extern const struct trial verify_trials[];
extern const size_t verify_trial_count;

/* The trials, each in the file named after its subject. */
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

/* Whether this try may decide the row; if not, the trial can skip it. */
bool is_open(struct verification *verification, const char *row);

/* Decides a row. */
void decide(struct verification *verification, const char *row, double expected, double reported,
            double allowed);
void decide_between(struct verification *verification, const char *row, double expected,
                    double reported, double below, double above);
/* Sets the 95 % interval of a mean, about which the next decide() of this row is. */
void set_confidence(struct verification *verification, const char *row, double half_width);

/* Decides that the row cannot be tested on this machine. */
void not_tested(struct verification *verification, const char *row, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a note to an open row, whatever its verdict will be. */
void remark(struct verification *verification, const char *row, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Notes that a witness saw a disturbance, so that this try could not test the row. */
void interfered(struct verification *verification, const char *row, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether a call of the library failed (error->code). If so, decides the row: not tested for
 * CAMP_E_PERM and CAMP_E_NOTSUP, a FAIL for any other code. */
bool has_failed(struct verification *verification, const char *row, const struct camp_error *error);

/* Whether neither the load (by `result` and `error`) nor the call of the library failed (NULL: each
 * row has its own call). Otherwise decides all rows of the running trial: if the load failed, they
 * are not tested. */
bool trial_succeeded(struct verification *verification, int result, const struct camp_error *error,
                     const struct camp_error *library);
