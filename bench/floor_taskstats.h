/* Opens and closes the socket of floor_taskstats(). */
#pragma once

int floor_taskstats_open(void); /* 0, or -1: CAP_NET_ADMIN or taskstats is missing */
void floor_taskstats_close(void);
