/*
 * A stream of frames that omit idle entities (IDLE_OMITTED), beside a stream of frames that have a
 * row for each. After every frame, readers of both know the same.
 *
 * Entities start, work, sleep in one of three states, exit, are missing in a frame, and reuse an
 * id. A reader forgets all entities at each key frame, as one that starts late.
 */
#include "stream_reader.h"

#define IDS 120
#define ROUNDS 20 /* a reader has ENTITIES_MAXIMUM numbers, which a round uses up */
#define FRAMES 400
#define STATES 3

struct model_entity {
    bool lives, is_missing;
    unsigned idle; /* intervals in one state: in the first it has a row, from the second on none */
    size_t state;
};

static struct model_entity entities[IDS + 1]; /* by id */
static size_t omitted, gone, numbers;

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
    const double most = random_below(400) == 0 ? 260 : 60; /* now and then another unit */
    const double share = random_below((unsigned)most);

    if (entity->idle > 0) {
        add(frame, id, flags, elapsed_ns,
            (double[STATES]){ entity->state == 0 ? 100 : 0, entity->state == 1 ? 100 : 0,
                              entity->state == 2 ? 100 : 0 });
        frame->only_states[frame->entity_count - 1] = (uint32_t)entity->state + 1;
    } else {
        add(frame, id, flags, elapsed_ns, (double[STATES]){ share, 100 - share, 0 });
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

/* The entity sleeps, or goes on sleeping. Its time is that of the interval, more or less. */
static void sleep_on(int64_t id, struct frame *each, struct frame *some)
{
    struct model_entity *entity = &entities[id];
    const uint64_t elapsed_ns = S - 5000000 + random_below(10000000);

    entity->idle++;
    add_row(each, id, 0, elapsed_ns);
    if (entity->idle == 1)
        assert_non_null(frame_add_row(some, each, each->entity_count - 1));
    else
        some->omitted++;
}

static void live(int64_t id, struct frame *each, struct frame *some)
{
    struct model_entity *entity = &entities[id];
    const unsigned choice = random_below(100);

    if (!entity->lives) {
        if (choice < 20 && numbers < ENTITIES_MAXIMUM)
            start(id, each, some);
    } else if (entity->is_missing) { /* it is there again */
        entity->is_missing = false;
        entity->idle = 0;
        add_to_both(each, some, id, 0, S);
    } else if (choice < 1) {
        entity->is_missing = true;
        leave_unread(id, some);
    } else if (choice < 2) { /* exits; another entity may get its id at once */
        entity->lives = false;
        if (random_below(2) == 0)
            leave_unread(id, some);
        else
            add_to_both(each, some, id, ENTITY_ENDED, S / 2);
        if (random_below(2) == 0 && numbers < ENTITIES_MAXIMUM)
            start(id, each, some);
    } else if (choice < 20) {
        entity->idle = 0;
        entity->state = random_below(STATES);
        add_to_both(each, some, id, 0, S);
    } else {
        sleep_on(id, each, some);
    }
}

static void assert_same(const struct reader *a, const struct reader *b)
{
    assert_memory_equal(a->is_there, b->is_there, sizeof a->is_there);
    for (size_t n = 0; n < ENTITIES_MAXIMUM; n++) {
        if (!a->is_there[n])
            continue;
        assert_true(fabs(a->elapsed[n] - b->elapsed[n]) < 1e-6f);
        assert_true(fabs(a->unaccounted[n] - b->unaccounted[n]) < 1e-6f);
        assert_int_equal(a->flags[n], b->flags[n]);
        for (size_t state = 0; state < STATES; state++)
            assert_true(fabs(a->shares[n][state] * a->unit - b->shares[n][state] * b->unit) <
                        a->unit / 2 + b->unit / 2);
    }
}

static void compare_readers(void)
{
    struct fixture *each = fixture_new(STATES), *some = fixture_new(STATES);

    memset(entities, 0, sizeof entities);
    numbers = 0;
    for (int i = 0; i < FRAMES; i++) {
        begin(&each->frame);
        begin(&some->frame);
        for (int64_t id = 1; id <= IDS; id++)
            live(id, &each->frame, &some->frame);
        omitted += some->frame.omitted;
        if (random_below(50) == 0)
            stream_request_key(&some->stream);
        go(each);
        go(some);
        assert_same(&some->reader, &each->reader);
        assert_in_range(some->stream.present.count, 0, numbers);
        assert_true(!some->reader.is_key || some->stream.present.count == some->reader.count);
    }
    fixture_free(each);
    fixture_free(some);
}

static void readers_know_the_same_of_omitted_entities_as_of_those_with_rows(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++)
        compare_readers();
    assert_true(omitted > 100000 && gone > 1000);
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
        cmocka_unit_test(readers_know_the_same_of_omitted_entities_as_of_those_with_rows),
        cmocka_unit_test(the_number_of_an_omitted_entity_does_not_expire),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
