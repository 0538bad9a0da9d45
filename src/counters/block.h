/* Waiting between two readings. */
#pragma once

/* Sleeps for a time on CLOCK_MONOTONIC, regardless of signals. */
void camp_block_ms(unsigned interval_ms);
