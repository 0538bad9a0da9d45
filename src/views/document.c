#include "document.h"

#include <camp/camp.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_texts(struct document *document)
{
    while (document->text_count > 0)
        free(document->texts[--document->text_count]);
}

void document_start(struct document *document, const struct record *layout)
{
    free_texts(document);
    document->failed = false;
    document->note_count = 0;
    memcpy(document->tables, layout->tables, layout->table_count * sizeof *layout->tables);
    document->record = *layout;
    document->record.tables = document->tables;
    document->record.notes = NULL;
}

void document_add(struct document *document, size_t table, const struct cell *cells, size_t count)
{
    struct table *to = &document->tables[table];
    const size_t used = to->row_count * to->field_count;

    if (!ARRAY_RESERVE(document->cells[table], document->capacities[table],
                       used + to->field_count)) {
        document->failed = true;
        return;
    }
    to->cells = document->cells[table];
    to->row_count++;
    for (size_t i = 0; i < to->field_count; i++)
        document->cells[table][used + i] = i < count ? cells[i] : cell_unknown();
}

__attribute__((format(printf, 2, 0))) static const char *
format_text(struct document *document, const char *format, va_list arguments)
{
    char *text = NULL;

    if (!ARRAY_RESERVE(document->texts, document->text_capacity, document->text_count + 1) ||
        vasprintf(&text, format, arguments) < 0) {
        document->failed = true;
        return "";
    }
    document->texts[document->text_count++] = text;
    return text;
}

const char *document_text(struct document *document, const char *format, ...)
{
    const char *text;
    va_list arguments;

    va_start(arguments, format);
    text = format_text(document, format, arguments);
    va_end(arguments);
    return text;
}

void document_note(struct document *document, const char *format, ...)
{
    va_list arguments;

    if (!ARRAY_RESERVE(document->notes, document->note_capacity, document->note_count + 2)) {
        document->failed = true;
        return;
    }
    va_start(arguments, format);
    document->notes[document->note_count++] = format_text(document, format, arguments);
    va_end(arguments);
    document->notes[document->note_count] = NULL;
    document->record.notes = document->notes;
}

int document_finish(const struct document *document)
{
    return document->failed ? CAMP_E_NOMEM : CAMP_OK;
}

void document_release(struct document *document)
{
    free_texts(document);
    free(document->texts);
    free(document->notes);
    for (size_t i = 0; i < DOCUMENT_TABLES; i++)
        free(document->cells[i]);
    *document = (struct document){ 0 };
}

static int compare_keys(const void *left, const void *right, void *context)
{
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const uint64_t *keys = context;

    if (keys[a] != keys[b])
        return keys[a] > keys[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int compare_rows(const void *left, const void *right)
{
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;

    return a < b ? -1 : a > b;
}

size_t rows_with_most(size_t *rows, size_t count, size_t most, uint64_t *keys)
{
    if (most == 0 || count <= most)
        return count;
    qsort_r(rows, count, sizeof *rows, compare_keys, keys);
    qsort(rows, most, sizeof *rows, compare_rows);
    return most;
}
