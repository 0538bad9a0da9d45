/* The catalogue of Windows. */
#define IS_LINUX 0
#define IS_WINDOWS 1
#define BY_SYSTEM(on_linux, on_windows, on_illumos) on_windows

#include "../catalogue_table.h"

const struct camp_usual camp_usual = USUAL_ON_WINDOWS;
