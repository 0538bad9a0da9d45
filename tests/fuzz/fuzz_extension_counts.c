/* Parser: src/sources/sessions/postgres/statements/extension_counts.c */
/* Parser: src/sources/sessions/statement_counts.c */
/* Reads any bytes as answers of pg_stat_statements: what it is, two readings of its counts, and
 * texts. Each field is a byte with its length and its bytes; NONE is a field without a value, and
 * EIGHT a number of 8 bytes of which the input has the last one. */
#include "sources/sessions/postgres/statements/extension_counts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NONE 0xff
#define EIGHT 0xfe
#define ROWS_MOST 64
#define COUNTS_COLUMNS 8
#define FIND_COLUMNS 9
#define TEXTS_COLUMNS 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
    const uint8_t *at, *end;
};

static struct postgres_field next_field(struct bytes *bytes, char eight[8])
{
    struct postgres_field field = { NULL, 0 };

    if (bytes->at == bytes->end || *bytes->at++ == NONE)
        return field;
    if (bytes->at[-1] == EIGHT && bytes->at < bytes->end) {
        memset(eight, 0, 8);
        eight[7] = (char)*bytes->at++;
        return (struct postgres_field){ eight, 8 };
    }
    field.length = bytes->at[-1];
    if (field.length > (size_t)(bytes->end - bytes->at))
        field.length = (size_t)(bytes->end - bytes->at);
    field.bytes = (const char *)bytes->at;
    bytes->at += field.length;
    return field;
}

static void fill(struct postgres_answer *answer, struct bytes *bytes, size_t columns)
{
    postgres_answer_begin(answer, columns);
    for (size_t rows = bytes->at < bytes->end ? *bytes->at++ % ROWS_MOST : 0;
         rows > 0 && bytes->at < bytes->end; rows--) {
        struct postgres_field fields[POSTGRES_COLUMNS_MOST];
        char eights[POSTGRES_COLUMNS_MOST][8];

        for (size_t i = 0; i < columns; i++)
            fields[i] = next_field(bytes, eights[i]);
        if (postgres_answer_add(answer, fields, NULL) != CAMP_OK)
            abort();
    }
}

static void find(struct postgres_answer *answer, struct bytes *bytes)
{
    char text[EXTENSION_QUERY_SIZE];
    struct extension extension;

    fill(answer, bytes, FIND_COLUMNS);
    if (extension_read(&extension, answer, NULL) != CAMP_OK ||
        extension_why_not(&extension) != NULL)
        return;
    extension_counts_query(&extension, text);
    if (strlen(text) >= sizeof text - 1)
        abort();
    extension_texts_query(&extension, "{1}", text);
    if (strlen(text) >= sizeof text - 1)
        abort();
}

static void count(struct postgres_answer *answer, struct bytes *bytes,
                  struct statement_counts *counts)
{
    struct extension_reading reading;
    uint64_t lost = 0;

    fill(answer, bytes, COUNTS_COLUMNS);
    statement_counts_start(counts);
    if (extension_counts_read(counts, &reading, answer, NULL) != CAMP_OK)
        return;
    if (statement_counts_finish(counts) != CAMP_OK)
        abort();
    for (size_t i = 0; i < counts->growth_count; i++) {
        const struct statement_growth *growth = &counts->growth[i];

        if (i > 0 && statement_id_compare(&growth[-1].statement, &growth->statement) >= 0)
            abort();
        lost += growth->lost;
    }
    if (lost != counts->lost)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = { data, data + size };
    struct postgres_answer answer = { 0 };
    struct statement_counts counts = { 0 };
    struct extension_text text;
    bool has_row = true;

    find(&answer, &bytes);
    for (int i = 0; i < 3; i++)
        count(&answer, &bytes, &counts);
    fill(&answer, &bytes, TEXTS_COLUMNS);
    while (has_row && extension_texts_next(&answer, &text, &has_row, NULL) == CAMP_OK && has_row) {
        if (strlen(text.sql) > size)
            abort();
    }
    statement_counts_release(&counts);
    postgres_answer_release(&answer);
    return 0;
}
