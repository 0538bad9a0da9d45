/* The trials on Linux. */
#pragma once

#include "verify/verify.h"

void verify_idle(struct verification *verification);
void verify_half(struct verification *verification);
void verify_full(struct verification *verification);
void verify_two(struct verification *verification);
void verify_burners(struct verification *verification);
void verify_sum(struct verification *verification);
void verify_threads(struct verification *verification);
void verify_voluntary(struct verification *verification);
void verify_memory(struct verification *verification);
void verify_faults(struct verification *verification);
void verify_io(struct verification *verification);
void verify_network(struct verification *verification);
void verify_cpu_list(struct verification *verification);
void verify_disk_list(struct verification *verification);
void verify_network_list(struct verification *verification);
void verify_process_list(struct verification *verification);
void verify_between_ticks(struct verification *verification);
void verify_across_ticks(struct verification *verification);
void verify_exits(struct verification *verification);
void verify_states(struct verification *verification);
void verify_state_sleeps(struct verification *verification);
void verify_state_idle(struct verification *verification);
