/* camp doctor: what it found, and the tables that show it. */
#pragma once

#include "program/capability.h"
#include "program/privilege.h"

#include "sources/source.h"
#include "views/document.h"

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FACTS, EVENTS, CAPABILITIES, TIERS, SUMMARY, TABLE_COUNT };

struct doctor {
    bool words; /* "yes" and "no", as people would not read a blank as "no" */
    struct camp_kernel kernel;
    struct camp_error refusal; /* of taskstats; code CAMP_OK: it answers */
    uint16_t taskstats_version;
    struct camp_error states_refusal; /* of a session of microstates; likewise */
    enum tasks_tier tier;
    struct document document;
};

struct cell doctor_yes_or_no(const struct doctor *doctor, bool yes);

/* Adds the facts of doctor->kernel to the document. */
void doctor_add_facts(struct doctor *doctor);
