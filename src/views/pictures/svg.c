#include "svg.h"

#include "views/format.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define LARGEST 1e9     /* larger values are clipped; they are outside of any picture */
#define GLYPH_WIDTH 0.6 /* width of most sans-serif characters, relative to the font size */

static const char style[] =
    "text{font:12px sans-serif;fill:#24292e}"
    ".title{font-size:16px;font-weight:bold}"
    ".name{font-size:13px;font-weight:bold}"
    ".tick{font-size:11px;fill:#57606a}"
    ".note{font-size:11px;fill:#57606a}"
    ".label{font-size:11px;paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}"
    ".grid{stroke:#d5d9de;stroke-width:1px;fill:none}"
    ".dot{stroke:#fff;stroke-width:.8px}"
    ".missing{stroke:#d1242f;stroke-width:1.5px;fill:none}"
    ".over{stroke:#000;stroke-width:1.5px;fill:none}"
    ".left-out{stroke:#2c6f9e;stroke-width:1.5px;fill:none;stroke-dasharray:3.5 2}"
    ".cells{stroke-width:1px;fill:none;shape-rendering:crispEdges}"
    ".frame{stroke:#57606a;stroke-width:1.2px;fill:none}";

const char svg_style_hash[] = "sha256-yHCAHC16hN7o1tDmH0FQ21kGRzlFNDIlqlUBKDuVbow=";

/* Writes a number without printf(), which depends on the locale and is slow: 1,000 dots have 5,000
 * numbers. */
static void write_number(FILE *stream, double value)
{
    char text[24];
    size_t at = sizeof text;
    const int64_t hundredths =
        isfinite(value) ? (int64_t)llround(fmin(fmax(value, -LARGEST), LARGEST) * 100) : 0;
    uint64_t left = (uint64_t)(hundredths < 0 ? -hundredths : hundredths);
    int decimals = 2;

    for (; decimals > 0 && left % 10 == 0; decimals--)
        left /= 10;
    for (int written = 0; written <= decimals || left > 0; written++) {
        if (decimals > 0 && written == decimals)
            text[--at] = '.';
        text[--at] = (char)('0' + left % 10);
        left /= 10;
    }
    if (hundredths < 0)
        text[--at] = '-';
    fwrite(text + at, 1, sizeof text - at, stream);
}

static void write_attribute(FILE *stream, const char *name, double value)
{
    putc_unlocked(' ', stream);
    fputs(name, stream);
    fputs("=\"", stream);
    write_number(stream, value);
    putc_unlocked('"', stream);
}

/* Returns the number of bytes before the next byte that may need an escape. */
static size_t plain_length(const char *text)
{
    size_t length = 0;

    while (text[length] >= ' ' && text[length] <= '~' && text[length] != '<' &&
           text[length] != '>' && text[length] != '&' && text[length] != '"')
        length++;
    return length;
}

void svg_escape(FILE *stream, const char *text)
{
    for (;;) {
        size_t length = plain_length(text);

        fwrite(text, 1, length, stream);
        text += length;
        if (*text == '\0')
            return;
        length = utf8_length(text);
        if (*text == '<')
            fputs("&lt;", stream);
        else if (*text == '>')
            fputs("&gt;", stream);
        else if (*text == '&')
            fputs("&amp;", stream);
        else if (*text == '"')
            fputs("&quot;", stream);
        else if (*text == '\n' || *text == '\t' || is_printable(text, length))
            fwrite(text, 1, length, stream);
        else
            fputs("\xef\xbf\xbd", stream);
        text += length > 0 ? length : 1;
    }
}

static void write_text_attribute(FILE *stream, const char *name, const char *text)
{
    if (text == NULL)
        return;
    putc_unlocked(' ', stream);
    fputs(name, stream);
    fputs("=\"", stream);
    svg_escape(stream, text);
    putc_unlocked('"', stream);
}

static void write_look(FILE *stream, const struct svg_look *look)
{
    write_text_attribute(stream, "class", look->class);
    write_text_attribute(stream, "fill", look->fill);
    write_text_attribute(stream, "stroke", look->stroke);
    if (look->stroke_width > 0)
        write_attribute(stream, "stroke-width", look->stroke_width);
    if (look->opacity > 0 && look->opacity < 1)
        write_attribute(stream, "opacity", look->opacity);
    write_text_attribute(stream, "stroke-dasharray", look->dashes);
}

static void write_element(FILE *stream, const char *name, const char *text)
{
    putc_unlocked('<', stream);
    fputs(name, stream);
    putc_unlocked('>', stream);
    svg_escape(stream, text);
    fputs("</", stream);
    fputs(name, stream);
    putc_unlocked('>', stream);
}

void svg_start(FILE *stream, double width, double height, const char *title,
               const char *description)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"",
          stream);
    write_attribute(stream, "width", width);
    write_attribute(stream, "height", height);
    fputs(" viewBox=\"0 0 ", stream);
    write_number(stream, width);
    putc(' ', stream);
    write_number(stream, height);
    fputs("\">\n", stream);
    write_element(stream, "title", title);
    putc('\n', stream);
    write_element(stream, "desc", description);
    fprintf(stream, "\n<style>%s</style>\n", style);
    svg_rect(stream, 0, 0, width, height, &(struct svg_look){ .fill = "#fff" });
    svg_text(stream, (struct svg_point){ 16, 26 }, SVG_START, SVG_TITLE, title);
}

void svg_end(FILE *stream)
{
    fputs("</svg>\n", stream);
}

void svg_group(FILE *stream, const char *class)
{
    fputs("<g", stream);
    write_text_attribute(stream, "class", class);
    fputs(">\n", stream);
}

void svg_group_end(FILE *stream)
{
    fputs("</g>\n", stream);
}

void svg_clip(FILE *stream, const char *id, double x, double y, double width, double height)
{
    fprintf(stream, "<clipPath id=\"%s\">", id);
    svg_rect(stream, x, y, width, height, &(struct svg_look){ 0 });
    fprintf(stream, "</clipPath>\n<g clip-path=\"url(#%s)\">\n", id);
}

void svg_hatch(FILE *stream, const char *colour)
{
    fprintf(stream,
            "<pattern id=\"hatched\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
            "patternTransform=\"rotate(45)\"><path d=\"M1 0V5\" stroke=\"%s\" "
            "stroke-width=\"1.6\"/></pattern>\n",
            colour);
}

void svg_line(FILE *stream, struct svg_point from, struct svg_point to, const struct svg_look *look)
{
    fputs("<line", stream);
    write_attribute(stream, "x1", from.x);
    write_attribute(stream, "y1", from.y);
    write_attribute(stream, "x2", to.x);
    write_attribute(stream, "y2", to.y);
    write_look(stream, look);
    fputs("/>\n", stream);
}

static void write_points(FILE *stream, const char *name, const struct svg_point *points,
                         size_t count, const struct svg_look *look)
{
    fprintf(stream, "<%s points=\"", name);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            putc(' ', stream);
        write_number(stream, points[i].x);
        putc(',', stream);
        write_number(stream, points[i].y);
    }
    putc('"', stream);
    write_look(stream, look);
    fputs("/>\n", stream);
}

void svg_polyline(FILE *stream, const struct svg_point *points, size_t count,
                  const struct svg_look *look)
{
    struct svg_look open = *look;

    if (open.fill == NULL)
        open.fill = "none";
    write_points(stream, "polyline", points, count, &open);
}

void svg_polygon(FILE *stream, const struct svg_point *points, size_t count,
                 const struct svg_look *look)
{
    write_points(stream, "polygon", points, count, look);
}

void svg_rect(FILE *stream, double x, double y, double width, double height,
              const struct svg_look *look)
{
    fputs("<rect", stream);
    write_attribute(stream, "x", x);
    write_attribute(stream, "y", y);
    write_attribute(stream, "width", width);
    write_attribute(stream, "height", height);
    write_look(stream, look);
    fputs("/>\n", stream);
}

void svg_circle(FILE *stream, struct svg_point centre, double radius, const struct svg_look *look,
                const char *title)
{
    fputs("<circle", stream);
    write_attribute(stream, "cx", centre.x);
    write_attribute(stream, "cy", centre.y);
    write_attribute(stream, "r", radius);
    write_look(stream, look);
    if (title == NULL) {
        fputs("/>\n", stream);
        return;
    }
    putc('>', stream);
    write_element(stream, "title", title);
    fputs("</circle>\n", stream);
}

/* A row of adjacent cells is a line through the middle of the cells, as thick as the cells are
 * high. A line needs 10 bytes, a rectangle 60. The style sheet disables antialiasing, because
 * otherwise the background would show between the lines. */
void svg_cells(FILE *stream, struct svg_point origin, double cell)
{
    fputs("<g class=\"cells\" transform=\"translate(", stream);
    write_number(stream, origin.x);
    putc(' ', stream);
    write_number(stream, origin.y + cell / 2);
    fputs(") scale(1 ", stream);
    write_number(stream, cell);
    fputs(")\"><path d=\"M0 0", stream);
}

void svg_cells_colour(FILE *stream, const char *colour)
{
    fprintf(stream, "\"/>\n<path stroke=\"%s\" d=\"", colour);
}

void svg_cells_run(FILE *stream, size_t line, double x, double width)
{
    putc('M', stream);
    write_number(stream, x);
    fprintf(stream, " %zuh", line);
    write_number(stream, width);
}

void svg_cells_end(FILE *stream)
{
    fputs("\"/>\n</g>\n", stream);
}

static void write_text(FILE *stream, struct svg_point at, enum svg_anchor anchor, const char *class,
                       const char *text, bool upwards)
{
    fputs("<text", stream);
    write_attribute(stream, "x", at.x);
    write_attribute(stream, "y", at.y);
    if (anchor != SVG_START)
        write_text_attribute(stream, "text-anchor", anchor == SVG_END ? "end" : "middle");
    if (upwards) {
        fputs(" transform=\"rotate(-90 ", stream);
        write_number(stream, at.x);
        putc(' ', stream);
        write_number(stream, at.y);
        fputs(")\"", stream);
    }
    write_text_attribute(stream, "class", class);
    putc('>', stream);
    svg_escape(stream, text);
    fputs("</text>\n", stream);
}

void svg_text(FILE *stream, struct svg_point at, enum svg_anchor anchor, const char *class,
              const char *text)
{
    write_text(stream, at, anchor, class, text, false);
}

void svg_text_upwards(FILE *stream, struct svg_point at, enum svg_anchor anchor, const char *class,
                      const char *text)
{
    write_text(stream, at, anchor, class, text, true);
}

size_t svg_text_fit(const char *text, double font_size, double width)
{
    size_t at = 0;

    for (double used = GLYPH_WIDTH * font_size; text[at] != '\0' && used <= width;
         used += GLYPH_WIDTH * font_size) {
        const size_t length = utf8_length(text + at);

        at += length > 0 ? length : 1;
    }
    return at;
}

double svg_text_width(const char *text, double font_size)
{
    size_t count = 0;

    for (; *text != '\0'; count++) {
        const size_t length = utf8_length(text);

        text += length > 0 ? length : 1;
    }
    return (double)count * GLYPH_WIDTH * font_size;
}
