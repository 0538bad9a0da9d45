/* Opens and closes the socket of floor_taskstats(). */
#ifndef CAMP_BENCH_FLOOR_TASKSTATS_H
#define CAMP_BENCH_FLOOR_TASKSTATS_H

int floor_taskstats_open(void); /* 0, or -1: no CAP_NET_ADMIN, or no taskstats */
void floor_taskstats_close(void);

#endif
