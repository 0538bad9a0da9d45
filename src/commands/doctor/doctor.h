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
    bool words; /* text form: "yes" and "no", as a blank would not be read as "no" */
    struct camp_kernel kernel;
    struct camp_error refusal; /* error of taskstats; code CAMP_OK: taskstats answers */
    uint16_t taskstats_version;
    struct camp_error states_refusal; /* error of opening a session of microstates; likewise */
    enum tasks_tier tier;
    struct document document;
};

struct cell doctor_yes_or_no(const struct doctor *doctor, bool yes);

/* Adds the facts of doctor->kernel to the document. */
void doctor_add_facts(struct doctor *doctor);
