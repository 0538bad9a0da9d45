/* The catalogue of Linux. */
#define IS_LINUX 1
#define IS_WINDOWS 0
#define BY_SYSTEM(on_linux, on_windows, on_illumos) on_linux

#include "../catalogue_table.h"

const struct camp_usual camp_usual = USUAL_ON_LINUX;
