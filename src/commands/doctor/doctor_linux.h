/* What camp doctor finds on Linux. */
#pragma once

#include "doctor.h"

#include "sources/source.h"

#include <camp/linux.h>

struct examined {
    struct camp_kernel kernel;
    struct camp_linux facts;
    /* The error of taskstats. Its code is CAMP_OK if taskstats answers. */
    struct camp_error refusal;
    uint16_t taskstats_version;
    /* The error of opening a session of microstates. Its code is CAMP_OK after success. */
    struct camp_error states_refusal;
    enum tasks_tier tier;
    bool final_clocks; /* whether tier taskstats has the complete CPU time of exited processes */
};

void doctor_add_linux_facts(struct doctor *doctor, const struct examined *found);
