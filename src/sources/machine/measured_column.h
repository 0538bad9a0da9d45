/* Initializers for columns that are measured at each event in the kernel. */
#pragma once

#include "ledger/frame.h"

/* A time in ns, named as its state. */
#define STATE(name, title, short_title, class, help)                                               \
    {                                                                                              \
        name "_ns", title, help, COLUMN_STATE, CAMP_MEASURED, class, short_title                   \
    }
/* A count, or a time in ns whose name is given in full. */
#define COUNTER(name, title, help)                                                                 \
    {                                                                                              \
        name, title, help, COLUMN_COUNTER, CAMP_MEASURED                                           \
    }
