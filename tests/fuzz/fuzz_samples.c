/* Parser: src/sources/sessions/samples/sample_columns.c */
/* Parser: src/sources/sessions/samples/sample_frames.c */
/* Parser: src/sources/sessions/samples/sample_rows.c */
/* Parser: src/sources/sessions/samples/sample_times.c */
/* Parser: src/sources/sessions/samples/samples.c */
/* Reads any bytes as a table of samples. The first line chooses one of the headers. */
#include "ledger/vertex.h"
#include "sources/sessions/samples/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define COMPARED_MAX 200 /* entities of a frame */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile sig_atomic_t never;

static const char *const headers[] = {
    "sample_time,sample_id,inst_id,sid,serial#,session_state,event,wait_class,sql_id\n",
    "sample_time,pid,state,wait_event_type,wait_event,backend_type\n",
    "sample_time,datname,wait_event,query_id\n",
    "timestamp,db.wait_event.name,db.load.avg\n",
    "", /* the input has its own */
};

static void write_file(const char *header, const uint8_t *data, size_t size, char path[32])
{
    static int descriptor = -1;
    const size_t length = strlen(header);

    if (descriptor < 0)
        descriptor = memfd_create("foreign", MFD_CLOEXEC);
    if (descriptor < 0 || ftruncate(descriptor, (off_t)(length + size)) < 0 ||
        pwrite(descriptor, header, length, 0) != (ssize_t)length ||
        pwrite(descriptor, data, size, (off_t)length) != (ssize_t)size)
        abort();
    snprintf(path, 32, "/dev/fd/%d", descriptor);
}

/* The states of a row must not add up to more than its time: each sample counts once. */
static void check_frame(const struct frame *frame)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[i];

        if (entity->id < 0 || strnlen(entity->name, CAMP_NAME_SIZE) == CAMP_NAME_SIZE ||
            frame->elapsed_ns[i] == 0 ||
            frame->elapsed_ns[i] > (uint64_t)INT64_MAX / VERTICES_STATES_MAXIMUM ||
            frame_unaccounted_ns(frame, i) < 0)
            abort();
        for (size_t j = 0; j < i && i < COMPARED_MAX; j++) {
            if (frame->entities[j].id == entity->id && entity->id != 0 &&
                strcmp(frame->entities[j].name, entity->name) == 0)
                abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct from from = { .stop = &never };
    struct from_facts facts = { .name = "x.csv" };
    const struct frame *frame;
    struct source *source;
    struct rows *rows;
    uint64_t count = 0, end_ns = 0;
    char path[32];

    if (size == 0)
        return 0;
    write_file(headers[data[0] % (sizeof headers / sizeof headers[0])], data + 1, size - 1, path);
    if (csv_rows_open(path, &from, &rows, NULL) != CAMP_OK ||
        samples_or_table_open(rows, facts.name, &from, &source, &facts, NULL) != CAMP_OK)
        return 0;
    if (strnlen(facts.note, sizeof facts.note) == sizeof facts.note || facts.interval_ns == 0)
        abort();
    for (; source->next(source, 0, &frame, NULL) == CAMP_OK; count++) {
        if (frame->start_ns != end_ns || frame->end_ns <= frame->start_ns)
            abort();
        end_ns = frame->end_ns;
        if (strcmp(facts.tier, "samples") == 0)
            check_frame(frame);
    }
    if (count != facts.frames)
        abort();
    source_close(source);
    return 0;
}
