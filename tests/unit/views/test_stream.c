/* The stream: what a reader makes of its blocks is what the frames said. */
#include "views/page/stream.h"

#include "../tree.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S 1000000000u
#define ENTITIES_MAXIMUM 512
#define STATES_MAXIMUM STREAM_STATES_MAXIMUM

static struct column columns[STATES_MAXIMUM + 1];
static char column_names[STATES_MAXIMUM + 1][16];

static struct schema schema_of(size_t states)
{
    for (size_t i = 0; i < states; i++) {
        snprintf(column_names[i], sizeof column_names[i], "state%zu_ns", i);
        columns[i] = (struct column){ column_names[i], "state", "help \"quoted\"", COLUMN_STATE,
                                      CAMP_MEASURED };
    }
    return (struct schema){ "test", columns, states, states };
}

/* -------------------------------------------------------------------------------- Reading -- */

/* A reader, as docs/stream.md says it: what it knows after each block. */
struct reader {
    size_t states;
    bool is_there[ENTITIES_MAXIMUM];
    float elapsed[ENTITIES_MAXIMUM], unaccounted[ENTITIES_MAXIMUM];
    uint16_t flags[ENTITIES_MAXIMUM];
    uint16_t shares[ENTITIES_MAXIMUM][STATES_MAXIMUM];
    double end_ms, length_ms, unit;
    bool is_key;
    uint32_t count, gone, unseen, lost, partial;
    char text[65536]; /* of the last JSON */
    unsigned blocks[8];
};

static uint32_t u32_at(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return le32toh(value);
}

static uint16_t u16_at(const uint8_t *at)
{
    uint16_t value;

    memcpy(&value, at, sizeof value);
    return le16toh(value);
}

static float f32_at(const uint8_t *at)
{
    const uint32_t bits = u32_at(at);
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static double f64_at(const uint8_t *at)
{
    uint64_t bits;
    double value;

    memcpy(&bits, at, sizeof bits);
    bits = le64toh(bits);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void leave(struct reader *reader, const uint8_t *gone)
{
    for (size_t n = 0; n < ENTITIES_MAXIMUM; n++) {
        if (reader->is_key || (reader->flags[n] & 2) != 0)
            reader->is_there[n] = false;
    }
    for (size_t i = 0; i < reader->gone; i++) {
        const uint32_t n = u32_at(gone + 4 * i);

        assert_true(n < ENTITIES_MAXIMUM && reader->is_there[n]);
        reader->is_there[n] = false;
    }
}

static void read_rows(struct reader *reader, const uint8_t *mask, const uint8_t *rows)
{
    const size_t count = reader->count;

    for (size_t i = 0; i < count; i++) {
        const uint32_t n = u32_at(rows + 4 * i);
        const uint8_t *shares = rows + 14 * count + 2 * i;

        assert_true(n < ENTITIES_MAXIMUM);
        reader->is_there[n] = true;
        reader->elapsed[n] = f32_at(rows + 4 * (count + i));
        reader->unaccounted[n] = f32_at(rows + 4 * (2 * count + i));
        reader->flags[n] = u16_at(rows + 12 * count + 2 * i);
        for (size_t state = 0; state < STATES_MAXIMUM; state++) {
            reader->shares[n][state] = 0;
            if ((u32_at(mask + 4 * (state / 32)) >> state % 32 & 1) != 0) {
                assert_true(state < reader->states);
                reader->shares[n][state] = u16_at(shares);
                shares += 2 * count;
            }
        }
    }
}

static void read_frame(struct reader *reader, const uint8_t *payload, size_t size)
{
    size_t columns_there = 0;
    double unit = reader->unit;

    reader->end_ms = f64_at(payload);
    reader->length_ms = f64_at(payload + 8);
    reader->unit = f64_at(payload + 16);
    reader->is_key = (u32_at(payload + 24) & 1) != 0;
    reader->count = u32_at(payload + 28);
    reader->gone = u32_at(payload + 32);
    reader->unseen = u32_at(payload + 36);
    reader->lost = u32_at(payload + 40);
    reader->partial = u32_at(payload + 44);
    for (size_t i = 0; i < 4; i++)
        columns_there += (size_t)__builtin_popcount(u32_at(payload + 48 + 4 * i));
    assert_int_equal(size, 64 + 4 * reader->gone + reader->count * (14 + 2 * columns_there));
    if (!reader->is_key)
        assert_true(fabs(unit - reader->unit) < 1e-12);
    leave(reader, payload + 64);
    read_rows(reader, payload + 48, payload + 64 + 4 * reader->gone);
}

/* All blocks that are there; they are taken away. */
static void read_blocks(struct reader *reader, struct bytes *bytes)
{
    memset(reader->blocks, 0, sizeof reader->blocks);
    assert_false(bytes->failed);
    for (size_t at = 0; at < bytes->size;) {
        const uint32_t size = u32_at(bytes->data + at), type = u32_at(bytes->data + at + 4);
        const uint8_t *payload = bytes->data + at + 8;

        assert_int_equal(at % 8, 0);
        assert_true(at + 8 + size <= bytes->size);
        assert_in_range(type, 1, 6);
        reader->blocks[type]++;
        if (type == 3) {
            read_frame(reader, payload, size);
        } else {
            assert_true(size < sizeof reader->text);
            memcpy(reader->text, payload, size);
            reader->text[size] = '\0';
        }
        at += 8 + (size + 7) / 8 * 8;
    }
    bytes_clear(bytes);
}

/* ------------------------------------------------------------------------------- Writing -- */

/* An entity's row; its states are percent of its time. */
static void add(struct frame *frame, int64_t id, uint32_t flags, uint64_t elapsed_ns,
                const double *percent)
{
    struct entity *entity = frame_add(frame);

    assert_non_null(entity);
    entity->id = id;
    entity->flags = flags;
    snprintf(entity->name, sizeof entity->name, "e%d", (int)id);
    frame->elapsed_ns[frame->entity_count - 1] = elapsed_ns;
    for (size_t i = 0; i < frame->schema->state_count; i++)
        frame_values(frame, frame->entity_count - 1)[i] =
            (uint64_t)(percent[i] / 100 * (double)elapsed_ns);
}

static void begin(struct frame *frame)
{
    frame_clear(frame);
    frame->start_ns = frame->end_ns;
    frame->end_ns += S;
    frame->wall_clock_ns += S;
}

static void write_and_read(struct stream *stream, const struct frame *frame, struct reader *reader)
{
    struct bytes bytes = { 0 };
    bool is_key;

    assert_int_equal(stream_frame(stream, frame, &bytes, &is_key), CAMP_OK);
    read_blocks(reader, &bytes);
    assert_int_equal(reader->blocks[3], 1);
    assert_true(is_key == reader->is_key);
    bytes_release(&bytes);
}

static double share(const struct reader *reader, size_t n, size_t state)
{
    return reader->shares[n][state] * reader->unit;
}

/* What a test of three states needs. */
struct fixture {
    struct schema schema;
    struct stream stream;
    struct frame frame;
    struct reader reader;
};

static struct fixture *fixture_new(size_t states)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    assert_non_null(fixture);
    fixture->schema = schema_of(states);
    fixture->reader.states = states;
    frame_init(&fixture->frame, &fixture->schema);
    fixture->frame.wall_clock_ns = 1700000000 * (int64_t)S;
    assert_int_equal(stream_init(&fixture->stream, &fixture->schema), CAMP_OK);
    return fixture;
}

static void fixture_free(struct fixture *fixture)
{
    stream_release(&fixture->stream);
    frame_release(&fixture->frame);
    free(fixture);
}

static void go(struct fixture *fixture)
{
    write_and_read(&fixture->stream, &fixture->frame, &fixture->reader);
}

#define assert_near(a, b, within) assert_true(fabs((double)(a) - (double)(b)) <= (within))

/* ---------------------------------------------------------------------------------- Tests -- */

static void a_frame_is_read_as_it_was_written(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    f->frame.losses = (struct losses){ .unseen = 3, .lost = 1ull << 40, .partial = 7 };
    add(&f->frame, 10, ENTITY_NEW, S / 2, (double[]){ 25, 0, 70 });
    add(&f->frame, 11, ENTITY_ENDED, S / 1000, (double[]){ 100, 0, 0 });
    go(f);
    assert_true(f->reader.is_key);
    assert_near(f->reader.end_ms, 1700000001000.0, 1e-3);
    assert_near(f->reader.length_ms, 1000, 1e-9);
    assert_int_equal(f->reader.unseen, 3);
    assert_int_equal(f->reader.lost, UINT32_MAX);
    assert_int_equal(f->reader.partial, 7);
    assert_near(f->reader.elapsed[0], 0.5, 0);
    assert_near(share(&f->reader, 0, 0), 0.25, 1e-5);
    assert_near(share(&f->reader, 0, 2), 0.70, 1e-5);
    assert_near(f->reader.unaccounted[0], 0.05, 1e-5);
    assert_int_equal(f->reader.flags[0], 1);
    assert_near(f->reader.elapsed[1], 0.001, 0.001 / 2048);
    assert_int_equal(f->reader.flags[1], 2);
    fixture_free(f);
}

static void what_stays_as_it_was_is_not_sent_again(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
    add(&f->frame, 11, 0, S, (double[]){ 10, 90, 0 });
    go(f);
    assert_int_equal(f->reader.blocks[2], 1);
    begin(&f->frame);
    add(&f->frame, 11, 0, S, (double[]){ 10, 80, 0 });
    add(&f->frame, 10, 0, S + 9000, (double[]){ 25, 0, 75 }); /* jitter of 9 us */
    go(f);
    assert_false(f->reader.is_key);
    assert_int_equal(f->reader.blocks[2], 0);
    assert_int_equal(f->reader.count, 1);
    assert_near(share(&f->reader, 1, 1), 0.80, 1e-5);
    assert_near(f->reader.unaccounted[1], 0.10, 1e-5);
    assert_near(share(&f->reader, 0, 2), 0.75, 1e-5);
    fixture_free(f);
}

static void who_has_gone_is_said_or_had_ended(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
    add(&f->frame, 11, ENTITY_ENDED, S, (double[]){ 10, 90, 0 });
    add(&f->frame, 12, 0, S, (double[]){ 10, 90, 0 });
    go(f);
    begin(&f->frame);
    add(&f->frame, 12, 0, S, (double[]){ 10, 90, 0 });
    go(f);
    assert_int_equal(f->reader.gone, 1);
    assert_int_equal(f->reader.count, 0);
    assert_false(f->reader.is_there[0]);
    assert_false(f->reader.is_there[1]);
    assert_true(f->reader.is_there[2]);
    begin(&f->frame); /* comes again */
    add(&f->frame, 12, 0, S, (double[]){ 10, 90, 0 });
    add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
    go(f);
    assert_int_equal(f->reader.count, 1);
    assert_true(f->reader.is_there[0]);
    fixture_free(f);
}

/* What ended, added up by name, has a row in frame after frame. */
static void who_ends_again_and_again_is_sent_each_time(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    for (int i = 0; i < 3; i++) {
        begin(&f->frame);
        add(&f->frame, 0, ENTITY_ENDED, S, (double[]){ 25, 0, 75 });
        go(f);
        assert_int_equal(f->reader.count, 1);
        assert_true(f->reader.is_there[0]);
    }
    fixture_free(f);
}

static void a_key_frame_comes_every_64th_time_and_when_it_is_asked_for(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    for (int i = 0; i <= 128; i++) {
        begin(&f->frame);
        add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
        go(f);
        assert_true(f->reader.is_key == (i % STREAM_KEY_EVERY == 0));
        assert_int_equal(f->reader.count, i % STREAM_KEY_EVERY == 0);
    }
    stream_request_key(&f->stream);
    for (int i = 0; i <= 64; i++) {
        begin(&f->frame);
        go(f);
        assert_true(f->reader.is_key == (i % STREAM_KEY_EVERY == 0));
        assert_false(f->reader.is_there[0]);
    }
    fixture_free(f);
}

static void more_than_100_percent_raises_the_unit(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
    go(f);
    assert_near(f->reader.unit, 1 / 50000.0, 1e-12);
    begin(&f->frame);
    add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
    add(&f->frame, 11, 0, S, (double[]){ 250, 10, 40 });
    go(f);
    assert_true(f->reader.is_key);
    assert_near(f->reader.unit, 2 / 50000.0, 1e-12);
    assert_near(share(&f->reader, 1, 0), 2.5, 2e-5);
    assert_near(f->reader.unaccounted[1], -2, 1e-5);
    assert_near(share(&f->reader, 0, 0), 0.25, 2e-5);
    begin(&f->frame);
    add(&f->frame, 11, 0, S, (double[]){ 130, 0, 0 });
    go(f);
    assert_true(f->reader.is_key);
    assert_near(f->reader.unit, 1 / 50000.0, 1e-12);
    assert_near(share(&f->reader, 1, 0), 1.3, 1e-5);
    fixture_free(f);
}

static void what_is_far_above_100_percent_is_cut_and_blurs_nobody(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
    add(&f->frame, 11, 0, S, (double[]){ 0, 0, 0 });
    frame_values(&f->frame, 1)[2] = UINT64_MAX;
    go(f);
    assert_near(share(&f->reader, 0, 0), 0.25, 2e-4);
    assert_near(share(&f->reader, 1, 2), 20.97, 0.01);
    assert_true(f->reader.unaccounted[1] < -1e10f);
    fixture_free(f);
}

static void who_had_no_time_has_no_shares(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    add(&f->frame, 10, 0, 0, (double[]){ 0, 0, 0 });
    add(&f->frame, 11, 0, 0, (double[]){ 0, 0, 0 });
    frame_values(&f->frame, 1)[1] = 5;
    go(f);
    for (size_t n = 0; n < 2; n++) {
        assert_true(f->reader.is_there[n]);
        assert_near(f->reader.elapsed[n], 0, 0);
        assert_int_equal(f->reader.shares[n][1], 0);
    }
    assert_near(f->reader.unaccounted[0], 0, 0);
    assert_near(f->reader.unaccounted[1], -1, 0);
    fixture_free(f);
}

static void a_group_has_more_time_than_the_interval(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    add(&f->frame, 10, 0, 137ull * S, (double[]){ 25, 0, 75 });
    go(f);
    assert_near(f->reader.elapsed[0], 137, 0);
    assert_near(share(&f->reader, 0, 0), 0.25, 1e-5);
    fixture_free(f);
}

/* A thread's number was used again within one interval. */
static void two_rows_of_one_entity_are_added_up(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    add(&f->frame, 10, ENTITY_ENDED, S / 4, (double[]){ 100, 0, 0 });
    add(&f->frame, 11, 0, S, (double[]){ 0, 0, 100 });
    add(&f->frame, 10, ENTITY_NEW, 3 * (S / 4), (double[]){ 0, 100, 0 });
    go(f);
    assert_int_equal(f->reader.count, 2);
    assert_near(f->reader.elapsed[0], 1, 0);
    assert_near(share(&f->reader, 0, 0), 0.25, 1e-5);
    assert_near(share(&f->reader, 0, 1), 0.75, 1e-5);
    assert_int_equal(f->reader.flags[0], 3);
    fixture_free(f);
}

static void there_are_up_to_128_states_and_no_more(void **state)
{
    struct fixture *f = fixture_new(STATES_MAXIMUM);
    const struct schema more = schema_of(STATES_MAXIMUM + 1);
    double percent[STATES_MAXIMUM] = { 0 };
    struct stream stream;

    (void)state;
    begin(&f->frame);
    percent[0] = percent[31] = percent[32] = 10;
    percent[127] = 70;
    add(&f->frame, 10, 0, S, percent);
    go(f);
    for (size_t i = 0; i < STATES_MAXIMUM; i++)
        assert_near(share(&f->reader, 0, i), percent[i] / 100, 1e-5);
    assert_int_equal(stream_init(&stream, &more), CAMP_E_INVALID);
    fixture_free(f);
}

/* Returns how many notes there are, the last in the reader's text. */
static unsigned said(struct fixture *f, const char *note)
{
    struct bytes bytes = { 0 };

    f->frame.note = note;
    f->frame.wall_clock_ns = 1700000000 * (int64_t)S;
    assert_int_equal(stream_frame_note(&f->stream, &f->frame, &bytes), CAMP_OK);
    read_blocks(&f->reader, &bytes);
    bytes_release(&bytes);
    return f->reader.blocks[6];
}

static void a_note_is_told_when_it_is_another(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    assert_int_equal(said(f, NULL), 0);
    assert_int_equal(said(f, "it is gone"), 1);
    assert_non_null(strstr(f->reader.text, ":20: it is gone\"}"));
    assert_int_equal(said(f, "it is gone"), 0);
    assert_int_equal(said(f, ""), 0);
    assert_int_equal(said(f, "it is gone"), 1);
    fixture_free(f);
}

static void names_of_any_bytes_are_json(void **state)
{
    struct fixture *f = fixture_new(3);
    struct bytes bytes = { 0 };
    const char *mended = "\"name\":\"a\\\"\\\\\\u000a\\ufffd\xc3\xa4</script>\"";
    struct entity *entity;
    bool is_key;

    (void)state;
    begin(&f->frame);
    add(&f->frame, 10, ENTITY_KERNEL, S, (double[]){ 25, 0, 75 });
    entity = &f->frame.entities[0];
    snprintf(entity->name, sizeof entity->name, "%s", "a\"\\\n\xff\xc3\xa4</script>");
    entity->pid = 9;
    entity->parent = 1;
    entity->uid = UINT32_MAX;
    assert_int_equal(stream_frame(&f->stream, &f->frame, &bytes, &is_key), CAMP_OK);
    read_blocks(&f->reader, &bytes);
    assert_non_null(strstr(f->reader.text, mended));
    assert_non_null(strstr(f->reader.text, "{\"n\":0,\"id\":10,\"pid\":9,\"parent\":1,"
                                           "\"uid\":4294967295,"));
    assert_non_null(strstr(f->reader.text, "\"kernel\":true}]"));
    bytes_release(&bytes);
    fixture_free(f);
}

static void who_changed_its_name_is_sent_again(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
    go(f);
    begin(&f->frame);
    add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
    snprintf(f->frame.entities[0].name, sizeof f->frame.entities[0].name, "other");
    go(f);
    assert_int_equal(f->reader.blocks[2], 1);
    assert_non_null(strstr(f->reader.text, "\"other\""));
    assert_int_equal(f->reader.count, 0);
    fixture_free(f);
}

static void labels_are_told_when_they_change(void **state)
{
    static const char *const names[] = { "user", "data\"base", "query" };
    const char *const first[] = { "app", "", "7" }, *const second[] = { "", "sh\xffop", "" };
    struct fixture *f = fixture_new(3);
    struct schema schema = *f->stream.schema;

    (void)state;
    schema.label_names = names;
    schema.label_count = COUNT(names);
    f->stream.schema = &schema;
    for (unsigned i = 0; i < 4; i++) {
        begin(&f->frame);
        add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
        f->frame.entities[0].labels = i == 3 ? NULL : labels_intern(i < 2 ? first : second, 3);
        go(f);
        assert_int_equal(f->reader.blocks[2], i != 1);
        if (i == 0)
            assert_non_null(strstr(f->reader.text, "\"kernel\":false,\"labels\":"
                                                   "{\"user\":\"app\",\"query\":\"7\"}}]"));
        if (i == 2)
            assert_non_null(strstr(f->reader.text, "\"labels\":{\"data\\\"base\":"
                                                   "\"sh\\ufffdop\"}}]"));
    }
    assert_non_null(strstr(f->reader.text, "\"kernel\":false}]"));
    fixture_free(f);
}

static void who_begins_late_gets_everybody(void **state)
{
    struct fixture *f = fixture_new(3);
    struct bytes bytes = { 0 };

    (void)state;
    assert_int_equal(stream_entities(&f->stream, &bytes), CAMP_OK);
    read_blocks(&f->reader, &bytes);
    assert_string_equal(f->reader.text, "[]");
    begin(&f->frame);
    add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
    go(f);
    begin(&f->frame);
    add(&f->frame, 11, 0, S, (double[]){ 25, 0, 75 });
    go(f);
    assert_int_equal(stream_entities(&f->stream, &bytes), CAMP_OK);
    read_blocks(&f->reader, &bytes);
    assert_non_null(strstr(f->reader.text, "[{\"n\":0,"));
    assert_non_null(strstr(f->reader.text, ",{\"n\":1,"));
    bytes_release(&bytes);
    fixture_free(f);
}

/* Threads come and go for days: their numbers are used again, once nobody has their frames. */
static void a_crowd_that_came_and_went_is_forgotten(void **state)
{
    struct fixture *f = fixture_new(3);
    struct bytes bytes = { 0 };
    bool is_key;

    (void)state;
    for (int64_t frame = 1; frame <= 300; frame++) {
        begin(&f->frame);
        add(&f->frame, 1, 0, S, (double[]){ 25, 0, 75 });
        for (int64_t i = 0; i < 1000; i++)
            add(&f->frame, 1000 * frame + i, ENTITY_NEW | ENTITY_ENDED, S / 2,
                (double[]){ 25, 0, 75 });
        bytes_clear(&bytes);
        assert_int_equal(stream_frame(&f->stream, &f->frame, &bytes, &is_key), CAMP_OK);
        if (frame > 5)
            stream_expire(&f->stream, (uint64_t)frame - 5);
    }
    assert_true(f->stream.registry.count < 80000);
    assert_int_equal(f->stream.present.count, 1001);
    bytes_release(&bytes);
    fixture_free(f);
}

static void the_head_says_states_axes_and_colours(void **state)
{
    static const char *const labels[] = { "user", "a\"b" };
    struct schema schema = schema_of(4);
    struct stream_facts facts = {
        .title = "a \"b\"", .source = "x.csv", .tier = "table", .interval_ns = S / 4, .frames = 12
    };
    struct reader *reader = calloc(1, sizeof *reader);
    struct bytes bytes = { 0 };
    struct axes axes;
    struct axes_fault fault;

    (void)state;
    assert_non_null(reader);
    assert_true(axes_parse(&axes, &schema, "A=state0;B=state2+state3;C=state1", &fault));
    facts.axes3 = &axes;
    assert_int_equal(stream_head(&schema, &facts, &bytes), CAMP_OK);
    assert_int_equal(stream_note("n", &bytes), CAMP_OK);
    assert_int_equal(stream_beat(&bytes), CAMP_OK);
    assert_int_equal(stream_end("over", &bytes), CAMP_OK);
    read_blocks(reader, &bytes);
    for (unsigned type = 1; type <= 6; type++)
        assert_int_equal(reader->blocks[type], type != 2 && type != 3);
    assert_string_equal(reader->text, "{\"reason\":\"over\"}");
    schema.label_names = labels;
    schema.label_count = COUNT(labels);
    assert_int_equal(stream_head(&schema, &facts, &bytes), CAMP_OK);
    read_blocks(reader, &bytes);
    assert_non_null(strstr(reader->text, "{\"schema\":\"camp.stream/1\",\"version\":\""));
    assert_non_null(strstr(reader->text, "\"title\":\"a \\\"b\\\"\",\"source\":\"x.csv\""));
    assert_non_null(strstr(reader->text, "\"live\":false,\"interval_ms\":250,\"frames\":12,"));
    assert_non_null(strstr(reader->text, "{\"name\":\"state0_ns\",\"title\":\"state\",\"help\":"
                                         "\"help \\\"quoted\\\"\",\"provenance\":\"measured\"}"));
    assert_non_null(strstr(reader->text, "}],\"labels\":[\"user\",\"a\\\"b\"],\"axes3\":"));
    assert_non_null(strstr(reader->text, "\"axes3\":[{\"name\":\"A\",\"states\":[0]},{\"name\":"
                                         "\"B\",\"states\":[2,3]},{\"name\":\"C\",\"states\":[1]}"
                                         "],\"axes4\":null,\"colours\":{\"axes3\":[\"#5a91ff\""));
    bytes_release(&bytes);
    free(reader);
}

/* ----------------------------------------------------------------------------- At random -- */

/* A row that is mostly as it was, as rows are. */
static void change(uint64_t *elapsed_ns, uint64_t *values, size_t states)
{
    uint64_t left;

    if (rand() % 4 != 0 && *elapsed_ns != 0)
        return;
    left = *elapsed_ns = (uint64_t)(rand() % 1000 + 1) * (S / 250);
    for (size_t i = 0; i < states; i++) {
        values[i] = rand() % 3 == 0 ? (uint64_t)rand() % (left + 1) : 0;
        left -= values[i];
    }
    if (rand() % 200 == 0)
        values[0] *= 9; /* booked more than once */
}

static void check_row(const struct fixture *f, size_t row, size_t n)
{
    const struct frame *frame = &f->frame;
    const double elapsed_ns = (double)frame->elapsed_ns[row];
    const double unaccounted = (double)frame_unaccounted_ns(frame, row) / elapsed_ns;

    assert_true(f->reader.is_there[n]);
    assert_near(f->reader.elapsed[n], elapsed_ns / S, elapsed_ns / S / 2048);
    assert_near(f->reader.unaccounted[n], unaccounted, 1.01e-5);
    for (size_t i = 0; i < f->schema.state_count; i++) {
        const double expected = (double)frame_values(frame, row)[i] / elapsed_ns;

        assert_near(share(&f->reader, n, i), expected, f->reader.unit * 0.5001);
    }
}

static void random_frames_are_read_as_they_were_written(void **state)
{
    enum { COUNT = 200, STATES = 40, FRAMES = 300 };
    static uint64_t elapsed_ns[COUNT], values[COUNT][STATES];
    static uint32_t numbers[COUNT];
    struct fixture *f = fixture_new(STATES);
    unsigned keys = 0, sent = 0;

    (void)state;
    srand(4);
    memset(numbers, 0xff, sizeof numbers);
    for (int frame = 0; frame < FRAMES; frame++) {
        size_t there[COUNT], count = 0, total = 0;

        begin(&f->frame);
        for (size_t i = 0; i < COUNT; i++) {
            change(&elapsed_ns[i], values[i], STATES);
            if (rand() % 10 == 0)
                continue;
            add(&f->frame, (int64_t)i + 1, 0, 0, (double[STATES]){ 0 });
            f->frame.elapsed_ns[count] = elapsed_ns[i];
            memcpy(frame_values(&f->frame, count), values[i], sizeof values[i]);
            there[count++] = i;
        }
        go(f);
        keys += f->reader.is_key;
        sent += f->reader.count;
        for (size_t row = 0; row < count; row++) { /* numbers are given in the order of meeting */
            if (numbers[there[row]] == UINT32_MAX) {
                uint32_t next = 0;

                for (size_t i = 0; i < COUNT; i++)
                    next += numbers[i] != UINT32_MAX;
                numbers[there[row]] = next;
            }
            check_row(f, row, numbers[there[row]]);
        }
        for (size_t n = 0; n < ENTITIES_MAXIMUM; n++)
            total += f->reader.is_there[n];
        assert_int_equal(total, count);
    }
    assert_in_range(keys, 5, FRAMES - 1); /* by number, and where the unit changed */
    assert_true(sent < COUNT * FRAMES * 8 / 10);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_is_read_as_it_was_written),
        cmocka_unit_test(what_stays_as_it_was_is_not_sent_again),
        cmocka_unit_test(who_has_gone_is_said_or_had_ended),
        cmocka_unit_test(who_ends_again_and_again_is_sent_each_time),
        cmocka_unit_test(a_key_frame_comes_every_64th_time_and_when_it_is_asked_for),
        cmocka_unit_test(more_than_100_percent_raises_the_unit),
        cmocka_unit_test(what_is_far_above_100_percent_is_cut_and_blurs_nobody),
        cmocka_unit_test(who_had_no_time_has_no_shares),
        cmocka_unit_test(a_group_has_more_time_than_the_interval),
        cmocka_unit_test(two_rows_of_one_entity_are_added_up),
        cmocka_unit_test(there_are_up_to_128_states_and_no_more),
        cmocka_unit_test(names_of_any_bytes_are_json),
        cmocka_unit_test(who_changed_its_name_is_sent_again),
        cmocka_unit_test(labels_are_told_when_they_change),
        cmocka_unit_test(who_begins_late_gets_everybody),
        cmocka_unit_test(a_crowd_that_came_and_went_is_forgotten),
        cmocka_unit_test(the_head_says_states_axes_and_colours),
        cmocka_unit_test(a_note_is_told_when_it_is_another),
        cmocka_unit_test(random_frames_are_read_as_they_were_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
