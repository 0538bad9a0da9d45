/*
 * Two processes that pass a byte back and forth. A round trip has two context switches, each with a
 * wakeup.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <time.h>

uint64_t clock_ns(clockid_t clock);
int pin(size_t cpu);

/* Runs in the second process. Answers until its input ends, and then exits. */
void answer(int from, int to);

/* Returns 0, or -1 if the other process has exited. */
int round_trips(int to, int from, size_t count);
