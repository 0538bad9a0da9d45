/* camp doctor: its findings, as the cells of its tables. */
#pragma once

#include "program/capability.h"
#include "program/privilege.h"

#include "sources/source.h"
#include "views/record.h"

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FACT_FIELDS 4
#define CAPABILITY_FIELDS 3
#define TIER_FIELDS 5
#define SUMMARY_FIELDS 7
#define EVENT_FIELDS 5
#define FACTS_MAXIMUM 24
#define EVENTS_MAXIMUM 40
#define TIERS 3
#define MEANING_SIZE 96

struct doctor {
    bool words; /* "yes" and "no", as people would not read a blank as "no" */
    struct camp_kernel kernel;
    struct camp_error refusal; /* of taskstats; code CAMP_OK: it answers */
    uint16_t taskstats_version;
    struct camp_error states_refusal; /* of a session of microstates; likewise */
    enum tasks_tier tier;
    struct cell facts[FACTS_MAXIMUM][FACT_FIELDS];
    char unknown[FACTS_MAXIMUM][MEANING_SIZE]; /* the text of an unknown fact */
    size_t fact_count;
    struct cell capabilities[CAPABILITY_COUNT][CAPABILITY_FIELDS];
    struct cell events[EVENTS_MAXIMUM][EVENT_FIELDS];
    size_t event_count;
    struct cell tiers[TIERS][TIER_FIELDS];
    struct cell summary[SUMMARY_FIELDS];
    char headline[160];
    char setcap[PRIVILEGE_LINE_SIZE]; /* the command that gives capabilities to this program */
    char change[PRIVILEGE_LINE_SIZE + 32], microstates[CAMP_ERROR_SIZE + 128];
};

struct cell doctor_yes_or_no(const struct doctor *doctor, bool yes);

/* Fills the facts from doctor->kernel. */
void doctor_add_facts(struct doctor *doctor);
