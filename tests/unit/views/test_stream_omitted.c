/*
 * A stream of frames that omit idle entities (IDLE_OMITTED), beside a stream of frames that have a
 * row for each. After every frame, readers of both know the same.
 *
 * Entities start, work, sleep in one of three states, exit, are missing in some frames, and reuse
 * an id. The last rows of some come late. A reader forgets all entities at each key frame, as one
 * that starts late.
 */
#include "stream_reader.h"

#define IDS 120
#define ROUNDS 20 /* a reader has ENTITIES_MAXIMUM numbers, which a round uses up */
#define FRAMES 400
#define STATES 3
#define OUTSIDE (IDS + 1)

struct model_entity {
    bool lives, is_missing;
    bool ends_late; /* it is gone, and its last row comes in a later frame */
    unsigned idle;  /* intervals in one state: in the first it has a row, from the second on none */
    size_t state;
};

static struct model_entity entities[OUTSIDE + 1]; /* by id */
static uint64_t omitted;
static size_t gone, numbers;

static unsigned random_below(unsigned limit)
{
    static uint64_t seed = 88172645463325252u;

    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % limit;
}

static void add_row(struct frame *frame, int64_t id, uint32_t flags, uint64_t elapsed_ns)
{
    const struct model_entity *entity = &entities[id];
    const double share = random_below(random_below(400) == 0 ? 260 : 60); /* > 130: another unit */

    if (entity->idle > 0) {
        add(frame, id, flags, elapsed_ns,
            (double[STATES]){ entity->state == 0 ? 100 : 0, entity->state == 1 ? 100 : 0,
                              entity->state == 2 ? 100 : 0 });
        frame->only_states[frame->entity_count - 1] = (uint32_t)entity->state + 1;
    } else {
        add(frame, id, flags, elapsed_ns,
            (double[STATES]){ share, share < 100 ? 100 - share : 0, 0 });
    }
}

/* Adds the row to both frames. */
static void add_to_both(struct frame *each, struct frame *some, int64_t id, uint32_t flags,
                        uint64_t elapsed_ns)
{
    add_row(each, id, flags, elapsed_ns);
    assert_non_null(frame_add_row(some, each, each->entity_count - 1));
}

static void start(int64_t id, struct frame *each, struct frame *some)
{
    entities[id] = (struct model_entity){ .lives = true, .state = random_below(STATES) };
    numbers++;
    add_to_both(each, some, id, ENTITY_NEW, S / 3);
}

static void leave_unread(int64_t id, struct frame *some)
{
    add(some, id, ENTITY_GONE, 0, (double[STATES]){ 0 });
    gone++;
}

/* The entity sleeps, or goes on sleeping. Its time is that of the interval, more or less, or so
 * short that it has a row in the next frame, too. If `omits` is false, the frame has a row for each
 * entity. */
static void sleep_on(int64_t id, bool omits, struct frame *each, struct frame *some)
{
    struct model_entity *entity = &entities[id];
    const bool is_short = random_below(50) == 0;
    const uint64_t elapsed_ns = is_short ? S / 4 : S - 5000000 + random_below(10000000);

    entity->idle = is_short ? 1 : entity->idle + 1;
    add_row(each, id, 0, elapsed_ns);
    if (entity->idle == 1 || !omits)
        assert_non_null(frame_add_row(some, each, each->entity_count - 1));
    else
        some->omitted++;
    entity->idle = is_short ? 0 : entity->idle;
}

/* The entity exits. Its last row comes now or later; it may have been missing before, or have had
 * one state for the whole interval. Another entity may get its id at once. */
static void finish(int64_t id, struct frame *each, struct frame *some)
{
    struct model_entity *entity = &entities[id];
    const unsigned choice = random_below(5);

    entity->lives = false;
    entity->idle = choice == 1;
    entity->ends_late = choice == 2;
    if (choice != 1 && choice != 3)
        leave_unread(id, some);
    if (choice != 2 && choice != 4)
        add_to_both(each, some, id, ENTITY_ENDED, choice == 1 ? S : S / 2);
    if (choice != 2 && random_below(2) == 0 && numbers < ENTITIES_MAXIMUM)
        start(id, each, some);
}

static void live(int64_t id, bool omits, struct frame *each, struct frame *some)
{
    struct model_entity *entity = &entities[id];
    const unsigned choice = random_below(100);

    if (entity->ends_late) {
        if (choice < 50) {
            entity->ends_late = false;
            add_to_both(each, some, id, ENTITY_ENDED, S / 2);
        }
    } else if (!entity->lives) {
        if (choice < 20 && numbers < ENTITIES_MAXIMUM)
            start(id, each, some);
    } else if (entity->is_missing) { /* it is there again, sooner or later */
        entity->is_missing = choice < 50;
        entity->idle = 0;
        if (!entity->is_missing)
            add_to_both(each, some, id, 0, S);
    } else if (choice < 1) {
        entity->is_missing = true;
        leave_unread(id, some);
    } else if (choice < 2) {
        finish(id, each, some);
    } else if (choice < 20) {
        entity->idle = 0;
        entity->state = random_below(STATES);
        add_to_both(each, some, id, 0, S);
    } else {
        sleep_on(id, omits, each, some);
    }
}

/* A row in several states, without which the next frames do not omit its entity: it is gone. */
static void live_outside(struct frame *each, struct frame *some)
{
    entities[OUTSIDE].idle = 0;
    if (random_below(3) == 0)
        add_to_both(each, some, OUTSIDE, 0, S / 2);
}

static void assert_same(const struct reader *a, const struct reader *b)
{
    assert_memory_equal(a->is_there, b->is_there, sizeof a->is_there);
    for (size_t n = 0; n < ENTITIES_MAXIMUM; n++) {
        if (!a->is_there[n])
            continue;
        assert_true(fabsf(a->elapsed[n] - b->elapsed[n]) < 1e-6f);
        assert_true(fabsf(a->unaccounted[n] - b->unaccounted[n]) < 1e-6f);
        assert_int_equal(a->flags[n], b->flags[n]);
        for (size_t state = 0; state < STATES; state++)
            assert_true(fabs(a->shares[n][state] * a->unit - b->shares[n][state] * b->unit) <
                        a->unit / 2 + b->unit / 2);
    }
}

/* The stream with a row for each entity sends no row of one that goes on sleeping. */
static void assert_not_sent_again(const struct fixture *each)
{
    size_t asleep = 0;

    for (int64_t id = 1; id <= IDS; id++)
        asleep += entities[id].lives && !entities[id].is_missing && entities[id].idle > 1;
    assert_in_range(each->reader.count, 0, each->frame.entity_count - asleep);
}

static void assert_listed_once(const struct stream *stream)
{
    size_t listed = 0;

    for (size_t n = 0; n < stream->registry.count; n++)
        listed += stream->known[n].is_listed;
    assert_int_equal(stream->present.count, listed);
}

static void compare_readers(void)
{
    struct fixture *each = fixture_new(STATES), *some = fixture_new(STATES);

    memset(entities, 0, sizeof entities);
    numbers = 1; /* OUTSIDE */
    for (int i = 0; i < FRAMES; i++) {
        const bool omits = random_below(10) > 0;

        begin(&each->frame);
        begin(&some->frame);
        for (int64_t id = 1; id <= IDS; id++)
            live(id, omits, &each->frame, &some->frame);
        live_outside(&each->frame, &some->frame);
        omitted += some->frame.omitted;
        if (random_below(50) == 0)
            stream_request_key(&some->stream);
        go(each);
        go(some);
        assert_same(&some->reader, &each->reader);
        assert_listed_once(&some->stream);
        if (!each->reader.is_key)
            assert_not_sent_again(each);
        assert_true(!some->reader.is_key || some->stream.present.count == some->reader.count);
    }
    fixture_free(each);
    fixture_free(some);
}

static void omitted_entities_look_to_a_reader_as_if_they_had_rows(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++)
        compare_readers();
    assert_true(omitted > 100000 && gone > 1000);
}

static void an_idle_row_about_as_long_as_the_interval_has_an_elapsed_time_of_1(void **state)
{
    const uint64_t elapsed_ns[] = { S, S - 9000000, S + 9000000, S / 4, S - 15000000 };
    const double sent[] = { 1, 1, 1, 0.25, 0.985 };
    struct fixture *f = fixture_new(STATES);

    (void)state;
    begin(&f->frame);
    entities[7] = (struct model_entity){ .lives = true, .idle = 1 };
    for (size_t i = 0; i < COUNT(sent); i++) {
        add_row(&f->frame, 7, 0, elapsed_ns[i]);
        f->frame.entities[i].id = (int64_t)i + 1;
    }
    go(f);
    for (size_t i = 0; i < COUNT(sent); i++) {
        assert_true(fabs(f->reader.elapsed[i] - sent[i]) < (sent[i] < 1 ? 1.0 / 2048 : 1e-9));
        assert_true(fabs(f->reader.shares[i][0] * f->reader.unit - 1) < 1e-9);
    }
    fixture_free(f);
}

/* An omitted entity was last seen long ago, but is there. */
static void the_number_of_an_omitted_entity_does_not_expire(void **state)
{
    struct fixture *f = fixture_new(STATES);
    struct bytes bytes = { 0 };
    bool is_key;

    (void)state;
    entities[7] = (struct model_entity){ .lives = true, .idle = 1 };
    begin(&f->frame);
    add_row(&f->frame, 7, 0, S);
    go(f);
    for (int frame = 2; frame < 100; frame++) {
        begin(&f->frame);
        f->frame.omitted = 1;
        for (int i = 0; i < 1000; i++)
            add(&f->frame, 1000 * frame + i, ENTITY_ENDED, S, (double[STATES]){ 100, 0, 0 });
        bytes_clear(&bytes);
        assert_int_equal(stream_frame(&f->stream, &f->frame, &bytes, &is_key), CAMP_OK);
        if (frame > 5)
            stream_expire(&f->stream, (uint64_t)frame - 5);
    }
    assert_true(f->stream.registry.count < 80000);
    assert_int_equal(registry_find(&f->stream.registry, &(struct entity){ .id = 7 }), 0);
    assert_true(f->stream.known[0].is_present);
    bytes_release(&bytes);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(omitted_entities_look_to_a_reader_as_if_they_had_rows),
        cmocka_unit_test(an_idle_row_about_as_long_as_the_interval_has_an_elapsed_time_of_1),
        cmocka_unit_test(the_number_of_an_omitted_entity_does_not_expire),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
