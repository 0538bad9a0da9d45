/* A session of microstates, or a skip that says why. */
#ifndef CAMP_TESTS_STATES_SESSION_H
#define CAMP_TESTS_STATES_SESSION_H

#include <camp/camp.h>
#include <camp/states.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static inline struct camp_states *open_states_or_skip(uint32_t options)
{
    struct camp_states *session = NULL;
    struct camp_error error;
    int r = camp_states_open(&session, options, &error);

    if (r == CAMP_E_PERM || r == CAMP_E_NOTSUP) {
        print_message("skipped: %s\n", error.message);
        skip();
    }
    if (r != CAMP_OK)
        fail_msg("%s", error.message);
    return session;
}

#endif
