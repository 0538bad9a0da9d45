/* The operands of a command: INTERVAL [COUNT] as in vmstat(8), and the operands that a command
 * refuses. */
#ifndef CAMP_PROGRAM_OPTION_OPERANDS_H
#define CAMP_PROGRAM_OPTION_OPERANDS_H

#include "options.h"

/* Where the usage has INTERVAL and COUNT, reads them from the operands argv[*first] to
 * argv[argc - 1], sets --interval and --count, and moves *first past them. `given` says for each
 * option of the table whether it was given. Returns OPTIONS_GO_ON, or STATUS_USAGE after a
 * complaint, also about any operand of a command that takes none. */
int operands_take(const struct option_table *table, const bool *given, int argc, char **argv,
                  int *first);

#endif
