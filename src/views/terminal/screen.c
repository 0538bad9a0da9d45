#include "screen.h"
#include "views/memory_text.h"

#include "views/format.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef CAMP_HAS_CURSES

#include "libraries/libncursesw.h"

#include <stdio.h>

static SCREEN *terminal;

/* `code` is a colour in the escape sequences of text_view, `colour` the same colour in curses. The
 * curses colour pair i + 1 has colours[i].colour. */
static const struct {
    int code;
    short colour;
} colours[] = { { 31, COLOR_RED }, { 32, COLOR_GREEN }, { 33, COLOR_YELLOW } };

static void prepare_colours(void)
{
    if (!view_wants_colour(stdout) || !libncursesw.has_colors() || libncursesw.start_color() == ERR)
        return;
    libncursesw.use_default_colors();
    for (size_t i = 0; i < sizeof colours / sizeof colours[0]; i++)
        libncursesw.init_pair((short)(i + 1), colours[i].colour, -1);
}

bool screen_open(struct camp_error *error)
{
    const char *term = getenv("TERM");

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || term == NULL ||
        strcmp(term, "dumb") == 0)
        return false;
    if (library_load(&libncursesw_library, error) != CAMP_OK)
        return false;
    terminal = libncursesw.newterm(NULL, stdout, stdin);
    if (terminal == NULL)
        return false;
    prepare_colours();
    libncursesw.cbreak();
    libncursesw.noecho();
    libncursesw.keypad(*libncursesw.stdscr, TRUE);
    libncursesw.set_escdelay(25);
    libncursesw.curs_set(0);
    return true;
}

void screen_close(void)
{
    if (terminal == NULL)
        return;
    libncursesw.endwin();
    libncursesw.delscreen(terminal);
    terminal = NULL;
}

void screen_size(size_t *ret_columns, size_t *ret_lines)
{
    *ret_columns = *libncursesw.COLS > 0 ? (size_t)*libncursesw.COLS : 80;
    *ret_lines = *libncursesw.LINES > 0 ? (size_t)*libncursesw.LINES : 24;
}

/* A line of the text that text_view wrote, without the newline. */
struct line {
    const char *text;
    size_t length;
};

static bool next_line(const char **text, struct line *ret)
{
    if (**text == '\0')
        return false;
    *ret = (struct line){ *text, strcspn(*text, "\n") };
    *text += ret->length + ((*text)[ret->length] == '\n');
    return true;
}

/* Only headings and the headline are bold in the output of text_view. */
static bool is_heading(struct line line)
{
    const char *bold = strstr(line.text, "\033[1m");

    return bold != NULL && bold < line.text + line.length;
}

static attr_t attributes_of(int code)
{
    if (code == 1)
        return A_BOLD;
    if (code == 2)
        return A_DIM;
    for (size_t i = 0; i < sizeof colours / sizeof colours[0]; i++) {
        if (colours[i].code == code)
            return (attr_t)libncursesw.COLOR_PAIR((int)i + 1);
    }
    return A_NORMAL;
}

static bool parse_colour(struct line *line, attr_t *ret)
{
    const char *end = memchr(line->text, 'm', line->length);

    if (line->length < 4 || line->text[0] != '\033' || end == NULL)
        return false;
    *ret = attributes_of(atoi(line->text + 2));
    line->length -= (size_t)(end + 1 - line->text);
    line->text = end + 1;
    return true;
}

/* Draws the characters that fit, and a mark if there are more, because curses would continue a
 * longer line in the next row. */
static void draw_line(int row, struct line line, attr_t attributes)
{
    const bool heading = (attributes & A_REVERSE) != 0;
    attr_t colour = A_NORMAL;
    int column = 0;

    while (row < *libncursesw.LINES && line.length > 0) {
        size_t length, columns;
        int width;

        if (parse_colour(&line, &colour))
            continue;
        length = character_length(line.text, &columns);
        width = columns > 0 ? (int)columns : 1;
        if (column + width > *libncursesw.COLS) {
            const char *mark = view_cut_mark(&columns);

            libncursesw.mvaddnstr(row, *libncursesw.COLS - (int)columns, mark, (int)strlen(mark));
            break;
        }
        libncursesw.attrset((int)(attributes | (heading ? A_NORMAL : colour)));
        libncursesw.mvaddnstr(row, column, columns > 0 ? line.text : "?",
                              columns > 0 ? (int)length : 1);
        column += width;
        line.text += length;
        line.length -= length;
    }
    libncursesw.attrset((int)attributes);
    while (heading && row < *libncursesw.LINES && column < *libncursesw.COLS)
        libncursesw.mvaddch(row, column++, ' ');
    libncursesw.attrset((int)A_NORMAL);
}

/* Counts the lines that do not scroll: the lines down to the heading of the main table. */
static size_t count_still(const char *text, const struct record *record)
{
    size_t headings = 1, count = 1;
    struct line line;

    for (size_t i = 0; i < record->main_table; i++)
        headings += !record->tables[i].hidden_in_text && record->tables[i].row_count > 0;
    for (size_t i = 0; headings > 0 && next_line(&text, &line); i++) {
        if (i > 0 && is_heading(line)) {
            headings--;
            count = i + 1;
        }
    }
    return count;
}

static size_t count_lines(const char *text)
{
    size_t count = 0;
    struct line line;

    while (next_line(&text, &line))
        count++;
    return count;
}

/* Returns the highest scroll position, at which the last rows are visible. */
static size_t last_scroll(size_t lines)
{
    const size_t room = *libncursesw.LINES > 1 ? (size_t)*libncursesw.LINES - 1 : 0;

    return lines > room ? lines - room : 0;
}

static void draw_lines(const char *text, size_t still, size_t scroll)
{
    struct line line;
    int row = 1;

    for (size_t i = 0; row < *libncursesw.LINES && next_line(&text, &line); i++) {
        if (i < still || i >= still + scroll)
            draw_line(row++, line, i > 0 && is_heading(line) ? A_REVERSE : A_NORMAL);
    }
}

static void draw_head(const char *head)
{
    libncursesw.erase();
    draw_line(0, (struct line){ head, strlen(head) }, A_BOLD);
}

void screen_draw(const char *head, const struct record *record, size_t *scroll)
{
    struct view_options options = { .colour = true };
    struct memory_text text;
    size_t lines;

    screen_size(&options.width, &lines);
    if (!memory_text_open(&text))
        return;
    options.stream = text.stream;
    text_view.record(&options, record, 0);
    if (memory_text_close(&text)) {
        if (*scroll > last_scroll(count_lines(text.text)))
            *scroll = last_scroll(count_lines(text.text));
        draw_head(head);
        draw_lines(text.text, count_still(text.text, record), *scroll);
        libncursesw.refresh();
    }
    free(text.text);
}

void screen_draw_text(const char *head, const char *text)
{
    struct line line;

    draw_head(head);
    for (int row = 1; next_line(&text, &line); row++)
        draw_line(row, line, A_NORMAL);
    libncursesw.refresh();
}

int screen_key(int timeout_ms)
{
    static const struct {
        int code, key;
    } keys[] = {
        { KEY_UP, SCREEN_UP },         { KEY_DOWN, SCREEN_DOWN },
        { KEY_PPAGE, SCREEN_PAGE_UP }, { KEY_NPAGE, SCREEN_PAGE_DOWN },
        { KEY_HOME, SCREEN_HOME },     { KEY_RESIZE, SCREEN_RESIZED },
        { KEY_ENTER, '\r' },           { KEY_BACKSPACE, 127 },
    };
    int code;

    libncursesw.timeout(timeout_ms);
    code = libncursesw.getch();
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
    libncursesw.curs_set(1);
    for (;;) {
        int key;

        libncursesw.move(*libncursesw.LINES - 1, 0);
        libncursesw.clrtoeol();
        libncursesw.printw("%s%s", question, ret);
        libncursesw.refresh();
        key = screen_key(-1);
        if (key == '\n' || key == '\r' || key == 27 || key == SCREEN_GONE) {
            libncursesw.curs_set(0);
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

bool screen_open(struct camp_error *error)
{
    (void)error;
    return false;
}

void screen_close(void)
{
}

void screen_size(size_t *ret_columns, size_t *ret_lines)
{
    *ret_columns = 80;
    *ret_lines = 24;
}

void screen_draw(const char *head, const struct record *record, size_t *scroll)
{
    (void)head;
    (void)record;
    (void)scroll;
}

void screen_draw_text(const char *head, const char *text)
{
    (void)head;
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
