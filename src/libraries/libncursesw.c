#include "libncursesw.h"

struct libncursesw libncursesw;

static const char *const symbols[] = { LIBNCURSESW_SYMBOLS(LIBRARY_NAME) };

int libncursesw_load(struct camp_error *error)
{
    static struct library library =
        LIBRARY("ncurses", "libncursesw6", symbols, libncursesw, "libncursesw.so.6");

    return library_load(&library, error);
}
