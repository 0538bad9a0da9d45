/* Parser: src/sources/tables/csv.c */
/* Parser: src/sources/tables/table.c */
/* Parser: src/sources/tables/table_columns.c */
/* Parser: src/sources/tables/table_rows.c */
/* Parser: src/sources/tables/table_times.c */
/* Parses any bytes as a CSV file, and reads its rows as frames of a table. */
#include "ledger/vertex.h"
#include "sources/tables/rows.h"
#include "sources/tables/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define COMPARED_MAX 200 /* entities of a frame */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile sig_atomic_t never;

static void write_file(const uint8_t *data, size_t size, char path[32])
{
    static int descriptor = -1;

    if (descriptor < 0)
        descriptor = memfd_create("foreign", MFD_CLOEXEC);
    if (descriptor < 0 || ftruncate(descriptor, (off_t)size) < 0 ||
        pwrite(descriptor, data, size, 0) != (ssize_t)size)
        abort();
    snprintf(path, 32, "/dev/fd/%d", descriptor);
}

/* The fields of a row must not overlap, and line numbers must increase. */
static void check_rows(const char *path, const struct from *from)
{
    struct rows *rows;
    struct row row;
    uint64_t line = 0;

    if (csv_rows_open(path, from, &rows, NULL) != CAMP_OK)
        return;
    while (rows->next(rows, &row, NULL) == CAMP_OK) {
        if (row.number <= line || row.count == 0)
            abort();
        line = row.number;
        for (size_t i = 1; i < row.count; i++) {
            if (row.fields[i].text <= row.fields[i - 1].text + row.fields[i - 1].length)
                abort();
        }
    }
    rows->close(rows);
}

/* The id and the name together must identify an entity. The id is 0 if its name is enough. */
static void check_identities(const struct frame *frame)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        for (size_t j = 0; j < i && i < COMPARED_MAX; j++) {
            if (frame->entities[i].id == frame->entities[j].id &&
                strcmp(frame->entities[i].name, frame->entities[j].name) == 0)
                abort();
        }
    }
}

static void check_frame(const struct frame *frame)
{
    check_identities(frame);
    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[i];
        uint64_t sum = 0;

        if (entity->id < 0 || strnlen(entity->name, CAMP_NAME_SIZE) == CAMP_NAME_SIZE ||
            frame->elapsed_ns[i] == 0 || frame->elapsed_ns[i] > INT64_MAX)
            abort();
        for (size_t j = 0; j < frame->schema->state_count; j++) {
            if (frame_values(frame, i)[j] > (uint64_t)(INT64_MAX / VERTICES_STATES_MAXIMUM))
                abort();
            sum += frame_values(frame, i)[j];
        }
        if (frame_unaccounted_ns(frame, i) != (int64_t)frame->elapsed_ns[i] - (int64_t)sum)
            abort();
    }
}

/* Each frame must start at the end of the previous frame, and facts.frames must be the number of
 * frames. */
static void check_table(const char *path, const struct from *from)
{
    struct from_facts facts = { .name = "x.csv" };
    const struct frame *frame;
    struct source *source;
    struct rows *rows;
    uint64_t count = 0, end_ns = 0;

    if (csv_rows_open(path, from, &rows, NULL) != CAMP_OK ||
        table_source_open(rows, facts.name, from, &source, &facts, NULL) != CAMP_OK)
        return;
    if (strnlen(facts.note, sizeof facts.note) == sizeof facts.note || facts.interval_ns == 0)
        abort();
    for (; source->next(source, 0, &frame, NULL) == CAMP_OK; count++) {
        if (frame->start_ns != end_ns || frame->end_ns <= frame->start_ns)
            abort();
        end_ns = frame->end_ns;
        check_frame(frame);
    }
    if (count != facts.frames)
        abort();
    source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct from from = { .stop = &never };
    char path[32];

    write_file(data, size, path);
    check_rows(path, &from);
    check_table(path, &from);
    return 0;
}
