/*
 * camp verify: the frame of it. A trial is one experiment (a load whose truth is known, watched
 * through libcamp); it books one finding for each of its rows. A row is one number of the library
 * held against the truth.
 *
 * A finding is a pass, a FAIL, or not tested with the reason. It is decided once: a trial is
 * repeated (TRIES_MAX) only for rows of which a witness said that others interfered. One of CPU
 * time that failed is such a row when the hypervisor stole in that very try.
 */
#ifndef CAMP_VERIFY_VERIFY_H
#define CAMP_VERIFY_VERIFY_H

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIES_MAX 3u

/* A pass excludes a number that is wrong by this share of the expected one. Each bound is a reading
 * of the same interval, so it grows under concurrent load. A row with a wider bound than this is
 * tried again, and if the last try is no better, it is not tested. */
#define DISTINGUISHED 0.3

/* What a mean or a sum of many rounded numbers may be off by, in standard deviations: a statistical
 * constant. By chance it is more in one trial of 16,000. */
#define DEVIATIONS 4.0

/* NTP slews CLOCK_MONOTONIC against the scheduler's clock by 500 ppm at most (MAXFREQ). */
#define SLEW_MAX 500e-6
#define REASON_SIZE CAMP_ERROR_SIZE

enum verdict { VERDICT_OPEN, VERDICT_PASS, VERDICT_FAIL, VERDICT_NOT_TESTED };

struct row_spec {
    const char *name; /* "cpu-half-process" */
    const char *unit; /* of expected, reported, error and allowed */
    const char *help; /* what is held against what */
};

struct finding {
    const struct row_spec *spec;
    enum verdict verdict;
    bool wanted;     /* --only */
    bool trying;     /* the trial that runs may decide it */
    bool interfered; /* not decided: a witness saw others */
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

/* A room of the house each: CPUs, memory, ... [count] in the order they are shown. */
struct trial_list {
    const struct trial *trials;
    size_t count;
    bool timed; /* its rows are of CPU time: a hypervisor that steals is a disturbance */
};
extern const struct trial_list cpu_trials, task_trials, memory_trials, io_trials, network_trials,
    list_trials, phase_trials, exit_trials, state_trials, state_sleep_trials;

/* Whether this try may decide the row; where not, nothing has to be done for it. */
bool is_open(struct verification *verification, const char *row);

/* Decides a row. */
void book(struct verification *verification, const char *row, double expected, double reported,
          double allowed);
void book_between(struct verification *verification, const char *row, double expected,
                  double reported, double below, double above);
/* The next book() of this row is of a mean with this 95 % interval. */
void book_confidence(struct verification *verification, const char *row, double half_width);

/* It cannot be tested here. */
void not_tested(struct verification *verification, const char *row, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Something to be known of an open row, however it is decided. */
void remark(struct verification *verification, const char *row, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* It could not be tested this time: a witness saw others. */
void interfered(struct verification *verification, const char *row, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A call of the library failed: PERM and NOTSUP are not tested, all else is a FAIL. */
void book_failure(struct verification *verification, const char *row, int result,
                  const struct camp_error *error);

/* All rows of the running trial that are open: what it needs could not be had. */
void trial_not_tested(struct verification *verification, const struct camp_error *error);

/* Length of the kernel's tick; 10 ms where it is unknown. */
uint64_t verify_tick_ns(void);

#endif
