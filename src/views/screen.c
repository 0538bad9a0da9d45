#include "screen.h"

#include "view.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef CAMP_HAS_CURSES

#include <curses.h>

#define LINES_ABOVE 2 /* of the record's rows: its headline and headings */

static SCREEN *terminal;

bool screen_open(void)
{
    const char *term = getenv("TERM");

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || term == NULL ||
        strcmp(term, "dumb") == 0)
        return false;
    terminal = newterm(NULL, stdout, stdin);
    if (terminal == NULL)
        return false;
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    return true;
}

void screen_close(void)
{
    if (terminal == NULL)
        return;
    endwin();
    delscreen(terminal);
    terminal = NULL;
}

static void draw_line(int row, const char *line, size_t length, attr_t attributes)
{
    if (row >= LINES)
        return;
    attron(attributes);
    mvaddnstr(row, 0, line, length > (size_t)COLS ? COLS : (int)length);
    attroff(attributes);
}

/* How far it can be scrolled, so that the last rows are still in sight. */
static size_t last_scroll(size_t lines)
{
    const size_t room = LINES > 1 ? (size_t)LINES - 1 : 0;

    return lines > room ? lines - room : 0;
}

static size_t count_lines(const char *text)
{
    size_t count = 0;

    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

static void draw_lines(const char *text, size_t scroll)
{
    int row = 1;

    for (size_t i = 0; *text != '\0' && row < LINES; i++) {
        size_t length = strcspn(text, "\n");

        if (i < LINES_ABOVE)
            draw_line(row++, text, length, i == 0 ? A_NORMAL : A_REVERSE);
        else if (i >= LINES_ABOVE + scroll)
            draw_line(row++, text, length, A_NORMAL);
        text += length + (text[length] == '\n');
    }
}

void screen_draw(const char *head, const struct record *record, size_t *scroll)
{
    struct view_options options = { .width = COLS > 0 ? (size_t)COLS : 80 };
    char *text = NULL;
    size_t length;

    options.stream = open_memstream(&text, &length);
    if (options.stream == NULL)
        return;
    text_view.record(&options, record, 0);
    fclose(options.stream);
    if (text != NULL) {
        if (*scroll > last_scroll(count_lines(text)))
            *scroll = last_scroll(count_lines(text));
        erase();
        draw_line(0, head, strlen(head), A_BOLD);
        draw_lines(text, *scroll);
        refresh();
    }
    free(text);
}

void screen_draw_text(const char *text)
{
    erase();
    for (int row = 0; *text != '\0'; row++) {
        size_t length = strcspn(text, "\n");

        draw_line(row, text, length, A_NORMAL);
        text += length + (text[length] == '\n');
    }
    refresh();
}

int screen_key(int timeout_ms)
{
    static const struct {
        int code, key;
    } keys[] = {
        { KEY_UP, SCREEN_UP },           { KEY_DOWN, SCREEN_DOWN }, { KEY_PPAGE, SCREEN_PAGE_UP },
        { KEY_NPAGE, SCREEN_PAGE_DOWN }, { KEY_HOME, SCREEN_HOME }, { KEY_RESIZE, SCREEN_RESIZED },
    };
    int code;

    timeout(timeout_ms);
    code = getch();
    if (code == ERR)
        return isatty(STDIN_FILENO) ? SCREEN_NONE : SCREEN_GONE;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i].code == code)
            return keys[i].key;
    }
    return code < 256 ? code : SCREEN_NONE;
}

bool screen_ask(const char *question, char *ret, size_t capacity)
{
    size_t length = 0;

    ret[0] = '\0';
    curs_set(1);
    for (;;) {
        int key;

        move(LINES - 1, 0);
        clrtoeol();
        printw("%s%s", question, ret);
        refresh();
        key = screen_key(-1);
        if (key == '\n' || key == '\r' || key == 27 || key == SCREEN_GONE) {
            curs_set(0);
            return key == '\n' || key == '\r';
        }
        if ((key == 127 || key == '\b') && length > 0)
            ret[--length] = '\0';
        else if (key >= ' ' && key < 127 && length + 1 < capacity) {
            ret[length++] = (char)key;
            ret[length] = '\0';
        }
    }
}

#else

bool screen_open(void)
{
    return false;
}

void screen_close(void)
{
}

void screen_draw(const char *head, const struct record *record, size_t *scroll)
{
    (void)head;
    (void)record;
    (void)scroll;
}

void screen_draw_text(const char *text)
{
    (void)text;
}

int screen_key(int timeout_ms)
{
    (void)timeout_ms;
    return SCREEN_GONE;
}

bool screen_ask(const char *question, char *ret, size_t capacity)
{
    (void)question;
    (void)ret;
    (void)capacity;
    return false;
}

#endif
