/* Columns measured at each event in the kernel, for the tables of sources. */
#pragma once

#include "ledger/frame.h"

/* A time in ns, by the name of its state. */
#define STATE(name, title, short_title, class, help)                                               \
    {                                                                                              \
        name "_ns", title, help, COLUMN_STATE, CAMP_MEASURED, class, short_title                   \
    }
/* A count; a time in ns, by its full name. */
#define COUNTER(name, title, help)                                                                 \
    {                                                                                              \
        name, title, help, COLUMN_COUNTER, CAMP_MEASURED                                           \
    }
