/* The console, as a terminal that understands escape sequences. */
#include "views/terminal/terminal.h"
#include "views/view.h"
#include "windows.h"

#include <stdlib.h>

int view_colour = VIEW_COLOUR_AUTOMATIC;

static HANDLE console_of(FILE *stream)
{
    const intptr_t handle = _get_osfhandle(_fileno(stream));

    return handle == -1 || handle == -2 ? INVALID_HANDLE_VALUE : (HANDLE)handle;
}

/* Windows 10 has escape sequences, unless the console is in its legacy mode. */
static bool shows_escapes(FILE *stream)
{
    const HANDLE console = console_of(stream);
    DWORD mode;

    return GetConsoleMode(console, &mode) &&
           SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

bool view_wants_colour(FILE *stream)
{
    const char *no_colour = getenv("NO_COLOR");

    if (view_colour != VIEW_COLOUR_AUTOMATIC)
        return view_colour == VIEW_COLOUR_ALWAYS;
    return (no_colour == NULL || no_colour[0] == '\0') && shows_escapes(stream);
}

size_t view_width(FILE *stream)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    int width;

    if (!GetConsoleScreenBufferInfo(console_of(stream), &info))
        return 80;
    width = info.srWindow.Right - info.srWindow.Left + 1;
    return (size_t)width;
}

size_t view_height(FILE *stream)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    int height;

    if (!GetConsoleScreenBufferInfo(console_of(stream), &info))
        return 0;
    height = info.srWindow.Bottom - info.srWindow.Top + 1;
    return (size_t)height;
}

bool terminal_is_of_other_job(FILE *stream)
{
    (void)stream;
    return false;
}

bool terminal_has_utf8(void)
{
    return true; /* prepare_program() chose it */
}

int terminal_columns(const char *character, size_t length)
{
    wchar_t wide[2];
    WORD kind, width;
    const int units =
        MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, character, (int)length, wide, 2);

    /* Characters of two units are mostly emoji and ideographs. */
    if (units != 1)
        return units == 2 ? 2 : -1;
    if (!GetStringTypeW(CT_CTYPE1, wide, 1, &kind) || !GetStringTypeW(CT_CTYPE3, wide, 1, &width) ||
        (kind & C1_DEFINED) == 0 || (kind & C1_CNTRL) != 0)
        return -1;
    /* A letter with its accent in one character is nonspacing as well as a letter. */
    if ((width & (C3_NONSPACING | C3_ALPHA)) == C3_NONSPACING)
        return 0;
    return (width & (C3_FULLWIDTH | C3_IDEOGRAPH | C3_KATAKANA | C3_HIRAGANA)) != 0 &&
                   (width & C3_HALFWIDTH) == 0
               ? 2
               : 1;
}
