/* The head of the stream, its entities with names and labels, and its notes. */
#include "stream_reader.h"

/* Writes the note of a frame. Returns the number of note blocks that the reader got. */
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

static void a_note_is_sent_only_when_it_changes(void **state)
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

static void names_of_any_bytes_become_valid_json(void **state)
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

static void a_renamed_entity_is_sent_again(void **state)
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

static void an_entity_with_changed_labels_is_sent_again(void **state)
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
        f->frame.entities[0].labels =
            i == 3 ? LABELS_NONE : labels_intern(i < 2 ? first : second, 3);
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

static void a_reader_that_connects_late_gets_all_entities(void **state)
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

/* The number of an exited thread is reused when no reader can have the frames of that thread. */
static void the_numbers_of_gone_entities_are_reused(void **state)
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

/* A page that is opened late starts at a key frame, so the CPUs stand before each of them. */
static void the_cpus_are_sent_before_key_frames_and_when_they_change(void **state)
{
    struct fixture *f = fixture_new(3);
    struct bytes bytes = { 0 };
    const struct shared_cpus cpus[] = { { 0 },
                                        { .count = 2 },
                                        { .count = 2 },
                                        { 2, true, 1, 0 },
                                        { 2, true, 1, 1 },
                                        { .count = 4 },
                                        { .count = 4, .has_others = true },
                                        { 0 } };
    const bool keys[] = { true, false, true, false, false, false, false, false };
    const char *const sent[] = { NULL,
                                 "{\"cpus\":2}",
                                 "{\"cpus\":2}",
                                 "{\"cpus\":2,\"full\":1,\"first_full\":0}",
                                 "{\"cpus\":2,\"full\":1,\"first_full\":1}",
                                 "{\"cpus\":4}",
                                 "{\"cpus\":4,\"others\":true}",
                                 "{\"cpus\":0}" };
    bool is_key;

    (void)state;
    for (size_t i = 0; i < COUNT(cpus); i++) {
        begin(&f->frame);
        add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
        stream_set_cpus(&f->stream, cpus[i]);
        if (keys[i])
            stream_request_key(&f->stream);
        assert_int_equal(stream_frame(&f->stream, &f->frame, &bytes, &is_key), CAMP_OK);
        assert_int_equal(is_key, keys[i]);
        read_blocks(&f->reader, &bytes);
        assert_int_equal(f->reader.blocks[7], sent[i] != NULL);
        if (sent[i] != NULL)
            assert_string_equal(f->reader.text, sent[i]);
    }
    bytes_release(&bytes);
    fixture_free(f);
}

static void the_head_of_the_stream_has_states_and_axes_and_colours(void **state)
{
    static const char *const labels[] = { "user", "a\"b" };
    struct schema schema = schema_of(4);
    struct stream_facts facts = {
        .title = "a \"b\"", .source = "x.csv", .tier = "table", .interval_ns = S / 4, .frames = 12
    };
    struct reader *reader = calloc(1, sizeof *reader);
    struct bytes bytes = { 0 }, causes = { 0 };
    struct axes axes;
    struct axes_fault fault;

    (void)state;
    assert_non_null(reader);
    assert_true(axes_parse(&axes, &schema, "A=state0;B=state2+state3;C=state1", &fault));
    facts.axes3 = &axes;
    assert_int_equal(stream_head(&schema, &facts, &bytes), CAMP_OK);
    assert_int_equal(stream_note("n", &bytes), CAMP_OK);
    assert_int_equal(stream_beat(&bytes), CAMP_OK);
    assert_int_equal(stream_end("over", NULL, &bytes), CAMP_OK);
    read_blocks(reader, &bytes);
    for (unsigned type = 1; type <= 6; type++)
        assert_int_equal(reader->blocks[type], type != 2 && type != 3);
    assert_string_equal(reader->text, "{\"reason\":\"over\"}");
    assert_int_equal(stream_end("over", &(size_t){ 12 }, &bytes), CAMP_OK);
    read_blocks(reader, &bytes);
    assert_string_equal(reader->text, "{\"reason\":\"over\",\"open\":12}");
    bytes_put(&causes, "{\"rows\":[]}", 11);
    assert_int_equal(stream_causes(&causes, &bytes), CAMP_OK);
    read_blocks(reader, &bytes);
    assert_int_equal(reader->blocks[8], 1);
    assert_string_equal(reader->text, "{\"rows\":[]}");
    bytes_release(&causes);
    schema.label_names = labels;
    schema.label_count = COUNT(labels);
    assert_int_equal(stream_head(&schema, &facts, &bytes), CAMP_OK);
    read_blocks(reader, &bytes);
    assert_non_null(strstr(reader->text, "{\"schema\":\"camp.stream/1\",\"version\":\""));
    assert_non_null(strstr(reader->text, "\"title\":\"a \\\"b\\\"\",\"source\":\"x.csv\""));
    assert_non_null(strstr(reader->text, "\"live\":false,\"interval_ms\":250,\"frames\":12,"));
    assert_non_null(strstr(reader->text,
                           "{\"name\":\"state0_ns\",\"title\":\"state\",\"help\":"
                           "\"help \\\"quoted\\\"\",\"provenance\":\"measured\",\"class\":"));
    assert_non_null(strstr(reader->text, "\"classes\":[{\"name\":\"cpu\",\"title\":\"CPU\","
                                         "\"light\":\"#2a71b1\",\"dark\":\"#"));
    assert_non_null(strstr(reader->text, "}],\"labels\":[\"user\",\"a\\\"b\"],\"axes3\":"));
    assert_non_null(strstr(reader->text, "\"axes3\":[{\"name\":\"A\",\"states\":[0]},{\"name\":"
                                         "\"B\",\"states\":[2,3]},{\"name\":\"C\",\"states\":[1]}"
                                         "],\"axes4\":null,\"colours\":{"));
    assert_non_null(strstr(reader->text,
                           "\"colours\":{\"axes3\":[\"#845220\",\"#c7590a\",\"#229569\"],"
                           "\"axes3_dark\":[\"#bf9211\",\"#f78366\",\"#37c69e\"],"
                           "\"axes4\":[],\"axes4_dark\":[],\"groups\":[\"#004c89\","));
    bytes_release(&bytes);
    free(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_any_bytes_become_valid_json),
        cmocka_unit_test(a_renamed_entity_is_sent_again),
        cmocka_unit_test(an_entity_with_changed_labels_is_sent_again),
        cmocka_unit_test(a_reader_that_connects_late_gets_all_entities),
        cmocka_unit_test(the_numbers_of_gone_entities_are_reused),
        cmocka_unit_test(the_cpus_are_sent_before_key_frames_and_when_they_change),
        cmocka_unit_test(the_head_of_the_stream_has_states_and_axes_and_colours),
        cmocka_unit_test(a_note_is_sent_only_when_it_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
