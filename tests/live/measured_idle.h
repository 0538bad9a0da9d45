/* Skips laws about idle time, and about busy time that is the rest of it. */
#pragma once

#include "sources/machine/idle_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Skips the test if this kernel does not measure idle time. */
static inline void needs_measured_idle(void)
{
    struct camp_kernel kernel = { 0 };
    const char *doubt;

    assert_int_equal(camp_kernel_read(NULL, &kernel, sizeof kernel, NULL), CAMP_OK);
    doubt = idle_time_doubt(&kernel);
    if (doubt == NULL)
        return;
    print_message("%s\n", doubt);
    skip();
}
