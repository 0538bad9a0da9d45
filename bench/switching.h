/* Two processes that pass a byte to and fro: a round trip is two switches, each with a wakeup. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <time.h>

uint64_t clock_ns(clockid_t clock);
int pin(size_t cpu);

/* Runs as the second process: answers until its input ends, then exits. */
void answer(int from, int to);

/* Does a number of round trips. 0, or -1: the other process has exited. */
int round_trips(int to, int from, size_t count);
