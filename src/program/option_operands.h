/* The operands of a command: INTERVAL [COUNT] as in vmstat(8), and refused operands. */
#ifndef CAMP_PROGRAM_OPTION_OPERANDS_H
#define CAMP_PROGRAM_OPTION_OPERANDS_H

#include "options.h"

/* Where the usage has INTERVAL and COUNT, reads them from the operands argv[*first] to argv[argc -
 * 1], sets --interval and --count, and advances *first. `given` has for each option of the table
 * whether it was given. Returns OPTIONS_GO_ON, or STATUS_USAGE after a complaint, also about any
 * operand of a command without operands. */
int operands_parse(const struct option_table *table, const bool *given, int argc, char **argv,
                   int *first);

#endif
