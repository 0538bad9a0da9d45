/* Rows of camp top as lines of prstat -mL (prstat(1M) of Solaris), column for column. */
#ifndef CAMP_COMMANDS_TOP_TOP_PRSTAT_H
#define CAMP_COMMANDS_TOP_TOP_PRSTAT_H

#include "top_rows.h"

/* `ended`: of those that ended. */
const char *prstat_heading(const struct top_selection *selection, bool ended);

/* The line of one row of `groups`, in percent of the row's own wall time. `name`: as it is shown.
 */
void prstat_line(char *ret, size_t capacity, const struct frame *groups, size_t row,
                 const struct top_selection *selection, const char *name);

#endif
