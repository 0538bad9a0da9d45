/* The blocks of a stream (docs/stream.md). A frame is little-endian binary, all other blocks are
 * JSON. */
#include "stream_block.h"
#include "views/format.h"
#include "views/memory_text.h"
#include "views/pictures/palette.h"
#include "views/pictures/vertex_colours.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "camp.stream/1"
#define BLOCK_ALIGNMENT 8u

enum stream_block {
    BLOCK_HEAD = 1,
    BLOCK_ENTITIES,
    BLOCK_FRAME,
    BLOCK_BEAT,
    BLOCK_END,
    BLOCK_NOTE,
    BLOCK_CPUS,
    BLOCK_CAUSES
};

/* Appends the header of a block and its padding. Returns the address to which the caller writes
 * `size` bytes of payload, or NULL if there is no memory. */
static uint8_t *start_block(struct bytes *out, enum stream_block type, size_t size)
{
    const size_t filling = (BLOCK_ALIGNMENT - size % BLOCK_ALIGNMENT) % BLOCK_ALIGNMENT;
    const uint32_t head[2] = { htole32((uint32_t)size), htole32((uint32_t)type) };
    uint8_t *at;

    if (size > UINT32_MAX)
        return NULL;
    at = bytes_extend(out, sizeof head + size + filling);
    if (at == NULL)
        return NULL;
    memcpy(at, head, sizeof head);
    memset(at + sizeof head + size, 0, filling);
    return at + sizeof head;
}

enum { FRAME_KEY = 1 };

static uint8_t *put_u16(uint8_t *at, uint16_t value)
{
    value = htole16(value);
    return (uint8_t *)memcpy(at, &value, sizeof value) + sizeof value;
}

static uint8_t *put_u32(uint8_t *at, uint64_t value)
{
    const uint32_t written = htole32(value < UINT32_MAX ? (uint32_t)value : UINT32_MAX);

    return (uint8_t *)memcpy(at, &written, sizeof written) + sizeof written;
}

static uint8_t *put_f32(uint8_t *at, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return put_u32(at, bits);
}

static uint8_t *put_f64(uint8_t *at, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    bits = htole64(bits);
    return (uint8_t *)memcpy(at, &bits, sizeof bits) + sizeof bits;
}

/* Sets the bit of each state that is above 0 in at least one of the rows to send. Returns the
 * number of set bits. */
static size_t find_columns(const struct stream *stream, uint32_t mask[STREAM_STATES_MAXIMUM / 32])
{
    const size_t states = stream->schema->state_count;
    size_t count = 0;

    memset(mask, 0, STREAM_STATES_MAXIMUM / 8);
    for (size_t i = 0; i < states; i++) {
        for (size_t j = 0; j < stream->chosen.count; j++) {
            if (stream->now.shares[stream->chosen.numbers[j] * states + i] == 0)
                continue;
            mask[i / 32] |= 1u << i % 32;
            count++;
            break;
        }
    }
    return count;
}

static uint8_t *put_frame_head(uint8_t *at, const struct stream *stream, const struct frame *frame,
                               bool is_key)
{
    at = put_f64(at, (double)frame->wall_clock_ns / 1e6);
    at = put_f64(at, (double)(frame->end_ns - frame->start_ns) / 1e6);
    at = put_f64(at, (double)(1u << stream->doublings) / SHARE_UNITS);
    at = put_u32(at, is_key ? FRAME_KEY : 0);
    at = put_u32(at, stream->chosen.count);
    at = put_u32(at, stream->gone.count);
    at = put_u32(at, frame->losses.unseen);
    at = put_u32(at, frame->losses.lost);
    return put_u32(at, frame->losses.partial);
}

static uint8_t *put_rows(uint8_t *at, const struct stream *stream)
{
    const struct stream_numbers *chosen = &stream->chosen;
    const struct stream_now *now = &stream->now;

    for (size_t i = 0; i < stream->gone.count; i++)
        at = put_u32(at, stream->gone.numbers[i]);
    for (size_t i = 0; i < chosen->count; i++)
        at = put_u32(at, now->numbers[chosen->numbers[i]]);
    for (size_t i = 0; i < chosen->count; i++)
        at = put_f32(at, now->rows[chosen->numbers[i]].elapsed);
    for (size_t i = 0; i < chosen->count; i++)
        at = put_f32(at, now->rows[chosen->numbers[i]].unaccounted);
    for (size_t i = 0; i < chosen->count; i++)
        at = put_u16(at, now->rows[chosen->numbers[i]].flags);
    return at;
}

int stream_put_frame(const struct stream *stream, const struct frame *frame, bool is_key,
                     struct bytes *out)
{
    const size_t states = stream->schema->state_count;
    const size_t rows = stream->chosen.count;
    uint32_t mask[STREAM_STATES_MAXIMUM / 32];
    const size_t columns = find_columns(stream, mask);
    const size_t size = 3 * sizeof(double) + 6 * sizeof(uint32_t) + sizeof mask +
                        stream->gone.count * sizeof(uint32_t) +
                        rows * (3 * sizeof(uint32_t) + (1 + columns) * sizeof(uint16_t));
    uint8_t *at = start_block(out, BLOCK_FRAME, size);

    if (at == NULL)
        return CAMP_E_NOMEM;
    at = put_frame_head(at, stream, frame, is_key);
    for (size_t i = 0; i < STREAM_STATES_MAXIMUM / 32; i++)
        at = put_u32(at, mask[i]);
    at = put_rows(at, stream);
    for (size_t i = 0; i < states; i++) {
        if ((mask[i / 32] >> i % 32 & 1) == 0)
            continue;
        for (size_t j = 0; j < rows; j++)
            at = put_u16(at, stream->now.shares[stream->chosen.numbers[j] * states + i]);
    }
    return CAMP_OK;
}

static int text_end(struct memory_text *text, enum stream_block type, struct bytes *out)
{
    const bool is_whole = memory_text_close(text);
    uint8_t *at = is_whole ? start_block(out, type, text->size) : NULL;

    if (at != NULL)
        memcpy(at, text->text, text->size);
    free(text->text);
    return at != NULL ? CAMP_OK : CAMP_E_NOMEM;
}

static void put_member(FILE *stream, const char *key, const char *text)
{
    fprintf(stream, ",\"%s\":", key);
    json_text(stream, text != NULL ? text : "");
}

static void put_states(FILE *stream, const struct schema *schema)
{
    fputs(",\"states\":[", stream);
    for (size_t i = 0; i < schema->state_count; i++) {
        const struct column *column = &schema->columns[i];

        fputs(i > 0 ? ",{\"name\":" : "{\"name\":", stream);
        json_text(stream, column->name);
        put_member(stream, "title", column->title);
        put_member(stream, "help", column->help);
        put_member(stream, "provenance", camp_provenance_name((int)column->provenance));
        put_member(stream, "class", column_class_name(column->class));
        putc('}', stream);
    }
    putc(']', stream);
}

/* The classes that states may have, in the order in which views show them. */
static void put_classes(FILE *stream)
{
    for (size_t i = CLASS_CPU; i <= CLASS_COUNT; i++) {
        const enum column_class at = i < CLASS_COUNT ? (enum column_class)i : CLASS_NONE;

        fputs(i > CLASS_CPU ? ",{\"name\":" : ",\"classes\":[{\"name\":", stream);
        json_text(stream, column_class_name(at));
        put_member(stream, "title", column_class_title(at));
        put_member(stream, "light", palette_classes[at]);
        put_member(stream, "dark", palette_classes_dark[at]);
        putc('}', stream);
    }
    putc(']', stream);
}

static void put_label_names(FILE *stream, const struct schema *schema)
{
    for (size_t i = 0; i < schema->label_count; i++) {
        fputs(i == 0 ? ",\"labels\":[" : ",", stream);
        json_text(stream, schema->label_names[i]);
    }
    if (schema->label_count > 0)
        putc(']', stream);
}

static void put_axis(FILE *stream, const struct vertices *vertices, size_t vertex)
{
    const char *before = "";

    fputs("{\"name\":", stream);
    json_text(stream, vertices->names[vertex]);
    fputs(",\"states\":[", stream);
    for (size_t i = 0; i < vertices->schema->state_count; i++) {
        if (vertices->of_state[i] != vertex + 1)
            continue;
        fprintf(stream, "%s%zu", before, i);
        before = ",";
    }
    fputs("]}", stream);
}

static void put_axes(FILE *stream, const char *key, const struct axes *axes)
{
    fprintf(stream, ",\"%s\":", key);
    if (axes == NULL) {
        fputs("null", stream);
        return;
    }
    for (size_t i = 0; i < axes->vertices.count; i++) {
        putc(i > 0 ? ',' : '[', stream);
        put_axis(stream, &axes->vertices, i);
    }
    putc(']', stream);
}

static void put_colours(FILE *stream, const char *key, const char *const *colours, size_t count)
{
    fprintf(stream, "\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            putc(',', stream);
        json_text(stream, colours[i]);
    }
    putc(']', stream);
}

/* Without axes, the colours of their vertices are an empty list. */
static void put_axes_colours(FILE *stream, const char *key, const char *key_dark,
                             const struct axes *axes)
{
    const char *colours[VERTICES_MAXIMUM] = { NULL }, *dark[VERTICES_MAXIMUM] = { NULL };
    const size_t count = axes != NULL ? axes->vertices.count : 0;

    if (axes != NULL) {
        vertices_colours(&axes->vertices, colours);
        vertices_colours_dark(&axes->vertices, dark);
    }
    put_colours(stream, key, colours, count);
    putc(',', stream);
    put_colours(stream, key_dark, dark, count);
    putc(',', stream);
}

static void put_all_colours(FILE *stream, const struct stream_facts *facts)
{
    static const char *const others[] = { PALETTE_OTHERS, PALETTE_OTHERS_DARK };

    fputs(",\"colours\":{", stream);
    put_axes_colours(stream, "axes3", "axes3_dark", facts->axes3);
    put_axes_colours(stream, "axes4", "axes4_dark", facts->axes4);
    put_colours(stream, "groups", palette_groups, sizeof palette_groups / sizeof palette_groups[0]);
    putc(',', stream);
    put_colours(stream, "groups_dark", palette_groups_dark,
                sizeof palette_groups_dark / sizeof palette_groups_dark[0]);
    putc(',', stream);
    put_colours(stream, "others", others, sizeof others / sizeof others[0]);
    putc('}', stream);
}

int stream_head(const struct schema *schema, const struct stream_facts *facts, struct bytes *out)
{
    struct memory_text text;

    if (!memory_text_open(&text))
        return CAMP_E_NOMEM;
    fputs("{\"schema\":\"" SCHEMA "\"", text.stream);
    put_member(text.stream, "version", camp_version());
    put_member(text.stream, "title", facts->title);
    put_member(text.stream, "source", facts->source);
    put_member(text.stream, "kind", facts->kind);
    put_member(text.stream, "tier", facts->tier);
    put_member(text.stream, "note", facts->note);
    put_member(text.stream, "host", facts->host);
    if (facts->from != NULL && facts->from[0] != '\0')
        put_member(text.stream, "from", facts->from);
    if (facts->below != NULL && facts->below[0] != '\0')
        put_member(text.stream, "below", facts->below);
    if (facts->causes != NULL)
        fprintf(text.stream, ",\"causes\":%s", facts->causes);
    if (facts->has_blockers)
        fputs(",\"blockers\":true", text.stream);
    fprintf(text.stream, ",\"live\":%s,\"interval_ms\":%.15g,\"frames\":%" PRIu64,
            facts->live ? "true" : "false", (double)facts->interval_ns / 1e6, facts->frames);
    put_states(text.stream, schema);
    put_classes(text.stream);
    put_label_names(text.stream, schema);
    put_axes(text.stream, "axes3", facts->axes3);
    put_axes(text.stream, "axes4", facts->axes4);
    put_all_colours(text.stream, facts);
    putc('}', text.stream);
    return text_end(&text, BLOCK_HEAD, out);
}

static void put_labels(FILE *stream, const struct schema *schema, labels_id labels)
{
    const char *before = ",\"labels\":{";

    for (size_t i = 0; i < schema->label_count; i++) {
        if (labels_value(labels, i)[0] == '\0')
            continue;
        fputs(before, stream);
        json_text(stream, schema->label_names[i]);
        putc(':', stream);
        json_text(stream, labels_value(labels, i));
        before = ",";
    }
    if (before[1] == '\0')
        putc('}', stream);
}

static void put_entity(FILE *stream, const struct schema *schema, const struct entity *entity,
                       size_t number)
{
    fprintf(stream,
            "{\"n\":%zu,\"id\":%" PRId64 ",\"pid\":%" PRId32 ",\"parent\":%" PRId32
            ",\"uid\":%" PRIu32,
            number, entity->id, entity->pid, entity->parent, entity->uid);
    put_member(stream, "name", entity->name);
    fprintf(stream, ",\"kernel\":%s", (entity->flags & ENTITY_KERNEL) != 0 ? "true" : "false");
    if (labels_count(entity->labels) > 0)
        put_labels(stream, schema, entity->labels);
    putc('}', stream);
}

/* Appends a block with the entities numbers[count], or with the first `count` entities if `numbers`
 * is NULL. */
static int put_entities(const struct stream *stream, const uint32_t *numbers, size_t count,
                        struct bytes *out)
{
    struct memory_text text;

    if (!memory_text_open(&text))
        return CAMP_E_NOMEM;
    putc('[', text.stream);
    for (size_t i = 0; i < count; i++) {
        const size_t number = numbers != NULL ? numbers[i] : i;

        if (i > 0)
            putc(',', text.stream);
        put_entity(text.stream, stream->schema, &stream->registry.entities[number].entity, number);
    }
    putc(']', text.stream);
    return text_end(&text, BLOCK_ENTITIES, out);
}

int stream_entities_numbered(const struct stream *stream, const struct stream_numbers *numbers,
                             struct bytes *out)
{
    return numbers->count > 0 ? put_entities(stream, numbers->numbers, numbers->count, out)
                              : CAMP_OK;
}

int stream_entities(const struct stream *stream, struct bytes *out)
{
    return put_entities(stream, NULL, stream->registry.count, out);
}

int stream_note(const char *note, struct bytes *out)
{
    struct memory_text text;

    if (!memory_text_open(&text))
        return CAMP_E_NOMEM;
    fputs("{\"text\":", text.stream);
    json_text(text.stream, note);
    putc('}', text.stream);
    return text_end(&text, BLOCK_NOTE, out);
}

int stream_end(const char *reason, const size_t *open, struct bytes *out)
{
    struct memory_text text;

    if (!memory_text_open(&text))
        return CAMP_E_NOMEM;
    fputs("{\"reason\":", text.stream);
    json_text(text.stream, reason);
    if (open != NULL)
        fprintf(text.stream, ",\"open\":%zu", *open);
    putc('}', text.stream);
    return text_end(&text, BLOCK_END, out);
}

int stream_cpus_block(const struct shared_cpus *cpus, struct bytes *out)
{
    struct memory_text text;

    if (!memory_text_open(&text))
        return CAMP_E_NOMEM;
    fprintf(text.stream, "{\"cpus\":%zu", cpus->count);
    if (cpus->has_others)
        fputs(",\"others\":true", text.stream);
    if (cpus->full > 0)
        fprintf(text.stream, ",\"full\":%zu,\"first_full\":%" PRId64, cpus->full, cpus->first_full);
    putc('}', text.stream);
    return text_end(&text, BLOCK_CPUS, out);
}

int stream_causes(const struct bytes *causes, struct bytes *out)
{
    uint8_t *at = causes->failed ? NULL : start_block(out, BLOCK_CAUSES, causes->size);

    if (at == NULL)
        return CAMP_E_NOMEM;
    memcpy(at, causes->data, causes->size);
    return CAMP_OK;
}

int stream_beat(struct bytes *out)
{
    return start_block(out, BLOCK_BEAT, 0) != NULL ? CAMP_OK : CAMP_E_NOMEM;
}
