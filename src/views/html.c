#include "html.h"

#include "format.h"
#include "views/pictures/svg.h"

#include <string.h>

/* In dark mode, pictures keep a white background, because their colours are chosen for white. */
static const char style[] =
    ":root{color-scheme:light dark;--ground:#fff;--ink:#24292e;--faint:#57606a;--line:#d5d9de;"
    "--good:#1a7f37;--notable:#9a6700;--bad:#b3261e}"
    "@media(prefers-color-scheme:dark){:root{--ground:#15181c;--ink:#e6e8eb;--faint:#9aa4af;"
    "--line:#363c44;--good:#57ab5a;--notable:#d4a72c;--bad:#ff8078}}"
    "body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.45 sans-serif}"
    "main{max-width:62rem;margin:0 auto;padding:1rem}"
    "h1{font-size:1.4rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}"
    "figure{margin:1rem 0}figure svg{display:block;max-width:100%;height:auto;border-radius:4px}"
    "div{overflow-x:auto}"
    "table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}"
    "caption{text-align:left;color:var(--faint);padding-bottom:.3rem}"
    "th,td{padding:.15rem .6rem;border-bottom:1px solid var(--line);text-align:left;"
    "vertical-align:top;white-space:nowrap}"
    "th{color:var(--faint);font-weight:600}th.number,td.number{text-align:right}"
    "td.good{color:var(--good)}td.notable{color:var(--notable)}td.bad{color:var(--bad)}"
    "td.faint{color:var(--faint)}";

/* The hash of `style`, checked by a unit test. */
static const char style_hash[] = "sha256-VHPOZErhHT3LY7w5HF47wGhoD4biMqnAhTroWM4GaL8=";

static void write_element(FILE *stream, const char *name, const char *text)
{
    fprintf(stream, "<%s>", name);
    svg_escape(stream, text);
    fprintf(stream, "</%s>\n", name);
}

void html_begin(FILE *stream, const char *title)
{
    fprintf(stream,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src '%s' '%s'; base-uri 'none'; form-action 'none'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
            style_hash, svg_style_hash);
    write_element(stream, "title", title);
    fprintf(stream, "<style>%s</style>\n</head>\n<body>\n<main>\n", style);
    write_element(stream, "h1", title);
}

void html_end(FILE *stream)
{
    fputs("</main>\n</body>\n</html>\n", stream);
}

void html_heading(FILE *stream, const char *text)
{
    write_element(stream, "h2", text);
}

void html_paragraph(FILE *stream, const char *text)
{
    write_element(stream, "p", text);
}

/* Omits the XML declaration, which is invalid in HTML. */
void html_picture(FILE *stream, const char *svg)
{
    const char *begin = strstr(svg, "<svg");

    fprintf(stream, "<figure>\n%s</figure>\n", begin != NULL ? begin : "");
}

static bool is_number(const struct cell *cell)
{
    return cell->kind == CELL_INTEGER || cell->kind == CELL_NATURAL || cell->kind == CELL_REAL;
}

static bool is_number_column(const struct table *table, size_t field)
{
    for (size_t i = 0; i < table->row_count; i++) {
        const struct cell *cell = &table->cells[i * table->field_count + field];

        if (cell->kind != CELL_UNKNOWN)
            return is_number(cell);
    }
    return false;
}

static void write_cell(FILE *stream, const struct field *field, const struct cell *cell)
{
    static const char *const classes[] = {
        [PLAIN] = "", [GOOD] = " good", [NOTABLE] = " notable", [BAD] = " bad", [FAINT] = " faint"
    };

    if (!is_number(cell)) {
        fputs("<td>", stream);
        if (cell->kind == CELL_BOOLEAN)
            fputs(cell->boolean ? "yes" : "no", stream);
        else
            svg_escape(stream, cell->kind == CELL_TEXT ? cell->text : "-");
        fputs("</td>", stream);
        return;
    }
    fprintf(stream, "<td class=\"number%s\"><data value=\"", classes[cell->emphasis]);
    write_plain(stream, cell);
    fputs("\">", stream);
    if (cell->kind == CELL_REAL && field->decimals >= 0)
        fprintf(stream, "%.*f", field->decimals, cell->real);
    else if (cell->kind == CELL_REAL)
        fprintf(stream, "%.*g", -field->decimals, cell->real);
    else
        write_plain(stream, cell);
    fputs("</data></td>", stream);
}

static void write_headings(FILE *stream, const struct table *table)
{
    fputs("<thead><tr>", stream);
    for (size_t i = 0; i < table->field_count; i++) {
        const struct field *field = &table->fields[i];

        fprintf(stream, "<th scope=\"col\"%s data-column=\"",
                is_number_column(table, i) ? " class=\"number\"" : "");
        svg_escape(stream, field->name != NULL ? field->name : "");
        fputs("\" title=\"", stream);
        svg_escape(stream, field->help != NULL ? field->help : "");
        fputs("\">", stream);
        svg_escape(stream, field->title != NULL ? field->title : field->name);
        fputs("</th>", stream);
    }
    fputs("</tr></thead>\n", stream);
}

void html_table(FILE *stream, const struct table *table, const char *caption)
{
    fputs("<div><table id=\"", stream);
    svg_escape(stream, table->name);
    fputs("\">\n", stream);
    if (caption != NULL)
        write_element(stream, "caption", caption);
    write_headings(stream, table);
    fputs("<tbody>\n", stream);
    for (size_t i = 0; i < table->row_count; i++) {
        fputs("<tr>", stream);
        for (size_t j = 0; j < table->field_count; j++)
            write_cell(stream, &table->fields[j], &table->cells[i * table->field_count + j]);
        fputs("</tr>\n", stream);
    }
    fputs("</tbody></table></div>\n", stream);
}
