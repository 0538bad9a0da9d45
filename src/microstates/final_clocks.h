/*
 * The final CPU time of each exited process. A process is reported some milliseconds after its
 * parent has reaped it. Nothing is attached to context switches.
 */
#pragma once

#include "final_clocks_layout.h"

#include <camp/camp.h>

struct final_clocks;

typedef void final_clock_visit(void *context, const struct final_clock *final);

/* Returns CAMP_E_PERM if CAP_BPF or CAP_PERFMON is missing, or CAMP_E_NOTSUP if this kernel or this
 * build has no final clocks. */
int final_clocks_open(struct final_clocks **ret, struct camp_error *error);

/* Calls `visit` for each process that was reported since the previous call, and never blocks. A
 * process is not reported if more than 6,553 were freed between two calls. */
void final_clocks_read(struct final_clocks *clocks, final_clock_visit *visit, void *context);

/* Accepts NULL. */
void final_clocks_close(struct final_clocks *clocks);
