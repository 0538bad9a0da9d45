/* The catalogue of a system that counts nothing yet. */
#define IS_LINUX 0
#define IS_WINDOWS 0
#define BY_SYSTEM(on_linux, on_windows, on_illumos) ""

#include "../catalogue_table.h"

const struct camp_usual camp_usual = { .split = CAMP_UNKNOWN };
