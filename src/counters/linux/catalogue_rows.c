/* The catalogue of Linux. */
#define IS_LINUX 1
#define BY_SYSTEM(on_linux, on_windows, on_illumos) on_linux

#include "../catalogue_table.h"

const int camp_usual_split = CAMP_SCALED;
