/* Shared by the program in the kernel and by its reader. */
#pragma once

#include <stdint.h>

/* space for 6,553 processes between two readings */
#define FINAL_CLOCKS_BYTES (256u << 10)

struct final_clock {
    int32_t pid;
    uint32_t reserved;
    uint64_t start_ns;    /* CLOCK_MONOTONIC at which the process started */
    uint64_t measured_ns; /* sum_exec_runtime of all threads */
    uint64_t sampled_ns;  /* utime + stime of all threads */
};
