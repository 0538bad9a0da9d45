#include "terminal.h"

#include "views/view.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

int view_colour = VIEW_COLOUR_AUTOMATIC;

bool view_wants_colour(FILE *stream)
{
    const char *terminal = getenv("TERM");
    const char *no_colour = getenv("NO_COLOR");

    if (view_colour != VIEW_COLOUR_AUTOMATIC)
        return view_colour == VIEW_COLOUR_ALWAYS;
    return isatty(fileno(stream)) && terminal != NULL && strcmp(terminal, "dumb") != 0 &&
           (no_colour == NULL || no_colour[0] == '\0');
}

size_t view_width(FILE *stream)
{
    struct winsize size;

    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

size_t view_height(FILE *stream)
{
    struct winsize size;

    return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

bool terminal_is_of_other_job(FILE *stream)
{
    const pid_t foreground = tcgetpgrp(fileno(stream));

    return foreground > 0 && foreground != getpgrp();
}

bool terminal_has_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

int terminal_columns(const char *character, size_t length)
{
    mbstate_t state = { 0 };
    wchar_t wide;

    return mbrtowc(&wide, character, length, &state) == length ? wcwidth(wide) : -1;
}
