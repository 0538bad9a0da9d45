/* The catalogue of illumos. */
#define IS_LINUX 0
#define IS_WINDOWS 0
#define BY_SYSTEM(on_linux, on_windows, on_illumos) on_illumos

#include "../catalogue_table.h"

const struct camp_usual camp_usual = USUAL_ON_ILLUMOS;
