/* The tables of the libraries that are linked into a camp of one static file. They replace
 * libmicrohttpd.c and libncursesw.c. */
#include "libmicrohttpd.h"
#include "libncursesw.h"

#define LINKED(name) .name = &name,

struct libmicrohttpd libmicrohttpd = { LIBMICROHTTPD_SYMBOLS(LINKED) };
struct library libmicrohttpd_library = { .title = "libmicrohttpd", .is_loaded = true };

struct libncursesw libncursesw = { LIBNCURSESW_SYMBOLS(LINKED) };
struct library libncursesw_library = { .title = "ncurses", .is_loaded = true };
