/* Opens and closes the socket of floor_taskstats(). */
#pragma once

int floor_taskstats_open(void); /* 0, or -1: no CAP_NET_ADMIN, or no taskstats */
void floor_taskstats_close(void);
