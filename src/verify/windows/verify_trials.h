/* The trials on Windows, and what they share. */
#pragma once

#include "verify/verify.h"

#include "verify_subject.h"

#define MIB 1048576.0
#define MS 1e6       /* ns */
#define ANY HUGE_VAL /* no upper bound, because other programs add to the number */

void verify_cycles(struct verification *verification);
void verify_full(struct verification *verification);
void verify_half(struct verification *verification);
void verify_cpu_states(struct verification *verification);
void verify_between_ticks(struct verification *verification);
void verify_across_ticks(struct verification *verification);
void verify_memory(struct verification *verification);
void verify_commit(struct verification *verification);
void verify_handles(struct verification *verification);
void verify_threads(struct verification *verification);
void verify_sleeps(struct verification *verification);
void verify_age(struct verification *verification);
void verify_written(struct verification *verification);
void verify_read(struct verification *verification);
void verify_network(struct verification *verification);
void verify_cpu_list(struct verification *verification);
void verify_network_list(struct verification *verification);
void verify_volume_list(struct verification *verification);
void verify_process_list(struct verification *verification);
void verify_frequency(struct verification *verification);

/* Returns whether the library knows a number, whose bit is in `known`. If not, the row fails, or on
 * Wine it is not tested: "Wine does not report <what>". */
bool is_known(struct verification *verification, const char *row, uint32_t known, uint32_t bit,
              const char *what);

/* is_known() in both readings of the subject, and no error of the library. */
bool is_observed(struct verification *verification, const char *row,
                 const struct observed *observed, uint32_t bit, const char *what);

/* Sets the verdict "not tested: Wine <why>" on Wine. Returns whether this is Wine. */
bool is_of_wine(struct verification *verification, const char *row, const char *why);
