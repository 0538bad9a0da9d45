#pragma once

int floor_taskstats_open(void); /* returns -1 if the kernel has no taskstats */
void floor_taskstats_close(void);
