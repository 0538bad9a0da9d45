#pragma once

#include "ledger/frame.h"

/* The column of a state, in ns. "_ns" is added to `name`. */
#define STATE(name, title, short_title, class, help)                                               \
    {                                                                                              \
        name "_ns", title, help, COLUMN_STATE, CAMP_MEASURED, class, short_title                   \
    }
/* The column of a count or of a time in ns. Nothing is added to `name`. */
#define COUNTER(name, title, help)                                                                 \
    {                                                                                              \
        name, title, help, COLUMN_COUNTER, CAMP_MEASURED                                           \
    }
