/* Waiting between two readings. */
#ifndef CAMP_COUNTERS_BLOCK_H
#define CAMP_COUNTERS_BLOCK_H

/* Sleeps for a time on CLOCK_MONOTONIC, regardless of signals. */
void camp_block_ms(unsigned interval_ms);

#endif
