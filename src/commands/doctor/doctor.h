/* The results of camp doctor, and the document that shows them. */
#pragma once

#include "program/capability.h"
#include "program/privilege.h"

#include "sources/source.h"
#include "views/document.h"

#include <camp/linux.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FACTS, EVENTS, CAPABILITIES, TIERS, SUMMARY, TABLE_COUNT };

struct doctor {
    bool words; /* show "yes" and "no", because the text view shows false as a blank */
    struct camp_kernel kernel;
    struct camp_linux facts; /* of Linux */
    /* The error of taskstats. Its code is CAMP_OK if taskstats answers. */
    struct camp_error refusal;
    uint16_t taskstats_version;
    /* The error of opening a session of microstates. Its code is CAMP_OK after success. */
    struct camp_error states_refusal;
    enum tasks_tier tier;
    bool final_clocks; /* whether tier taskstats has the complete CPU time of exited processes */
    struct document document;
};

struct cell doctor_yes_or_no(const struct doctor *doctor, bool yes);

void doctor_add_facts(struct doctor *doctor);
