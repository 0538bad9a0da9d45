/*
 * The waits of all threads since the exporter was opened: by group and state how long they lasted
 * (a histogram), and by group, state and cause their time. The groups are those of the ledger of
 * causes (names of processes), which are the same as long as the session is open.
 *
 *     time of a state = sum of its causes, over all groups
 *
 * The waits of a group in a state get a place of their own when those that ended have a thousandth
 * of the time between two snapshots, and at least 1 ms. A cause gets one when it has a hundredth,
 * and at least 10 ms. Both keep it. There are WAIT_PLACES and CAUSE_PLACES. What has no place is
 * added to the group "other". So no sum ever falls, and names that anybody may choose cannot make
 * more series than that.
 */
#pragma once

#include "ledger/index.h"
#include "metric.h"
#include "sources/causes/cause_names.h"

#define WAIT_PLACES 150   /* for a group and state, without those of "other" */
#define CAUSE_PLACES 1000 /* for a cause, without those of "other" */
#define WAIT_BOUNDS 14

/* Upper bounds of the buckets in ns, ascending. A bucket has the waits below its bound, and the
 * last bucket, of which there is one more, the rest. Every second power of two, 1.024 us to 69 s.
 */
extern const uint64_t wait_bounds_ns[WAIT_BOUNDS];

enum wait_cause_kind {
    WAIT_CAUSE_OTHER = CAUSE_KIND_COUNT, /* causes without a place */
    WAIT_CAUSE_KIND_COUNT
};

/* A group as a metric names it. */
struct wait_name {
    uint32_t kind; /* enum camp_group_kind */
    char name[CAMP_STATES_NAME_SIZE];
    char shown[CAUSE_NAME_SIZE]; /* different for each; may contain any bytes */
};

/* The waits of a group in a state that have ended. */
struct wait_place {
    uint32_t name; /* index in wait_sums.names */
    uint32_t state;
    uint64_t counts[WAIT_BOUNDS + 1];
    uint64_t total_ns;
    /* The longest wait since the last start of a window, and in the window before. */
    uint64_t longest_ns, longest_before_ns;
};

struct cause_place {
    uint32_t name, state;
    uint32_t kind; /* enum camp_cause_kind, CAUSE_NOT_ENDED, CAUSE_QUOTA or WAIT_CAUSE_OTHER */
    uint32_t id;   /* index in wait_sums.names, or the number of a device's interrupt */
    uint64_t wait_ns;
    char who[CAUSE_NAME_SIZE]; /* as a metric names it; "" if the kind says all */
};

/* All zero before wait_sums_init(), which also sets the constant members. */
struct wait_sums {
    bool hides_names;    /* all names are "other" */
    const char *devices; /* folder with the names of devices: /sys/kernel/irq */
    struct wait_name names[CAUSE_GROUPS + 1]; /* [name_count], the first is "other" */
    size_t name_count;
    uint32_t name_of_group[CAUSE_GROUPS]; /* index in `names` by number of a group */
    struct wait_place *waits;             /* [wait_count]; freed by wait_sums_release() */
    size_t wait_count;
    struct cause_place *causes; /* [cause_count]; freed by wait_sums_release() */
    size_t cause_count;
    struct index wait_index, cause_index;
    size_t own_waits, own_causes; /* places that are not of "other" */
    struct ended_waits *before;   /* [CAUSE_GROUPS x CAMP_STATE_COUNT] of the last snapshot */
    uint64_t window_ns;           /* CLOCK_MONOTONIC at the start of the window */
    uint64_t reduced_ns;          /* what causes had more than their states */
};

/* The window of the longest wait. A place has that of the last one to two windows, or since the
 * last snapshot, if that is longer ago. So it does not depend on other readers. */
#define WAIT_WINDOW_NS UINT64_C(60000000000)

/* Returns CAMP_OK or CAMP_E_NOMEM. The caller must call wait_sums_release() in both cases. */
int wait_sums_init(struct wait_sums *ret, bool hides_names);
void wait_sums_release(struct wait_sums *sums);

/* Adds an interval, and the lengths[length_count] of all waits since the session was opened. */
void wait_sums_add(struct wait_sums *sums, const struct causes *causes,
                   const struct camp_wait_lengths *lengths, size_t length_count);

/* Returns the longest wait of a place, or 0 if none has ended in its window. */
uint64_t wait_place_longest_ns(const struct wait_place *place);
