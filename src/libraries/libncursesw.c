#include "libncursesw.h"

struct libncursesw libncursesw;

static const char *const symbols[] = { LIBNCURSESW_SYMBOLS(LIBRARY_NAME) };
struct library libncursesw_library =
    LIBRARY("ncurses", "libncursesw6", symbols, libncursesw, "libncursesw.so.6");
