#pragma once

#include "ledger/frame.h"

/* A time in ns. The column has the name of the state with "_ns". */
#define STATE(name, title, short_title, class, help)                                               \
    {                                                                                              \
        name "_ns", title, help, COLUMN_STATE, CAMP_MEASURED, class, short_title                   \
    }
/* A count, or a time in ns. `name` is the complete name of the column. */
#define COUNTER(name, title, help)                                                                 \
    {                                                                                              \
        name, title, help, COLUMN_COUNTER, CAMP_MEASURED                                           \
    }
