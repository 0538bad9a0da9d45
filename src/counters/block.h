/* Waiting between two readings. */
#ifndef CAMP_COUNTERS_BLOCK_H
#define CAMP_COUNTERS_BLOCK_H

/* Sleeps for so long on CLOCK_MONOTONIC, whatever signals come. */
void camp_block_ms(unsigned interval_ms);

#endif
