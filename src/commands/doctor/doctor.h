/* The document of camp doctor. doctor.c has its tables, and each system a file that fills them. */
#pragma once

#include "views/document.h"

#include <camp/camp.h>

#include <stdbool.h>
#include <stdint.h>

enum { FACTS, EVENTS, CAPABILITIES, TIERS, IMITATION, SUMMARY, TABLE_COUNT };

struct doctor {
    bool words; /* show "yes" and "no", because the text view shows false as a blank */
    struct document document;
};

/* Examines this system, and fills all tables, the headline and the notes. Every system has a
 * function of its own. Returns CAMP_OK or an error. */
int doctor_fill(struct doctor *doctor, struct camp_error *error);

struct cell doctor_yes_or_no(const struct doctor *doctor, bool yes);

/* Copies a text that is the value, but no other text. */
void doctor_add_fact(struct doctor *doctor, const char *name, struct cell value,
                     const char *meaning, const char *how);

void doctor_add_right(struct doctor *doctor, const char *name, bool is_known, bool held,
                      const char *gives);

struct doctor_tier {
    const char *name;
    bool is_available, is_used;
    const char *sees;
    const char *lacks; /* NULL: nothing */
};

void doctor_add_tier(struct doctor *doctor, const struct doctor_tier *tier);

struct doctor_summary {
    const struct camp_kernel *kernel;
    const char *tier;
    unsigned taskstats_version;      /* 0: unknown */
    const char *change;              /* NULL: there is nothing to change */
    const char *microstates_refusal; /* NULL: they can be measured */
};

/* Copies all texts except the name of the tier. */
void doctor_add_summary(struct doctor *doctor, const struct doctor_summary *summary);
