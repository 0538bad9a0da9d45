/* Tests the source that adds up threads by user or process. */
#include "sources/groups.h"

#include "../tree.h"

static const struct column columns[] = {
    { "run_ns", "run", "", COLUMN_STATE, CAMP_MEASURED },
};
static const struct schema schema = { "threads", columns, 1, 1 };
static const struct column lock_columns[] = {
    { "run_ns", "run", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU, NULL },
    { "lock_ns", "lock", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CONTENTION, "lck" },
    { "switches", "switches", "", COLUMN_COUNTER, CAMP_MEASURED, CLASS_NONE, NULL },
};
static const struct schema lock_schema = { "threads", lock_columns, 3, 2, NULL, 0 };

struct made {
    struct source source;
    struct frame frame;
};

static const struct schema *describe(const struct source *source)
{
    return ((const struct made *)source)->frame.schema;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct made *made = (struct made *)base;

    (void)deadline_ns;
    (void)error;
    *ret_frame = &made->frame;
    return CAMP_OK;
}

static void close_made(struct source *base)
{
    frame_release(&((struct made *)base)->frame);
    free(base);
}

static struct made *made_threads(void)
{
    struct made *made = calloc(1, sizeof *made);

    assert_non_null(made);
    made->source = (struct source){ describe, next, close_made, NULL };
    frame_init(&made->frame, &schema);
    return made;
}

static void add_thread(struct made *made, int32_t pid, uint32_t uid, uint32_t flags,
                       const char *name)
{
    struct entity *entity = frame_add(&made->frame);

    assert_non_null(entity);
    entity->id = pid;
    entity->pid = pid;
    entity->uid = uid;
    entity->flags = flags;
    snprintf(entity->name, sizeof entity->name, "%s", name);
    made->frame.elapsed_ns[made->frame.entity_count - 1] = 10;
    *frame_values(&made->frame, made->frame.entity_count - 1) = 4;
}

static const struct frame *grouped(struct made *made, enum group_key key, struct source **ret)
{
    struct camp_error error = { 0 };
    const struct frame *frame;

    assert_int_equal(groups_source_open(&made->source, key, ret, &error), CAMP_OK);
    assert_int_equal((*ret)->next(*ret, 0, &frame, &error), CAMP_OK);
    return frame;
}

static void the_row_of_a_user_has_the_name_of_the_user(void **state)
{
    struct made *made = made_threads();
    const struct frame *frame;
    struct source *source;

    (void)state;
    add_thread(made, 7, 0, ENTITY_NEW, "a");
    add_thread(made, 8, 0, ENTITY_NEW, "b");
    frame = grouped(made, GROUP_USER, &source);
    assert_int_equal(frame->entity_count, 1);
    assert_string_equal(frame->entities[0].name, "root");
    assert_int_equal(frame->entities[0].flags & ENTITY_NEW, 0);
    assert_int_equal(frame->elapsed_ns[0], 20);
    assert_int_equal(*frame_values(frame, 0), 8);
    source_close(source);
}

static void ended_threads_of_a_user_have_their_own_row_without_an_id(void **state)
{
    struct made *made = made_threads();
    const struct frame *frame;
    struct source *source;

    (void)state;
    add_thread(made, 7, 54321, 0, "a");
    add_thread(made, 8, 54321, ENTITY_ENDED, "b");
    frame = grouped(made, GROUP_USER, &source);
    assert_int_equal(frame->entity_count, 2);
    assert_string_equal(frame->entities[0].name, "54321");
    assert_string_equal(frame->entities[1].name, "54321 (ended)");
    assert_int_equal(frame->entities[1].id, 0);
    source_close(source);
}

/* Three threads of a process: one waits for a lock, two wait for work. */
static void waits_of_parked_threads_are_a_state_of_a_process(void **state)
{
    static const uint64_t values[][3] = { { 200, 800, 5 }, { 4, 996, 1 }, { 10, 990, 2 } };
    struct made *made = made_threads();
    const struct frame *frame;
    const struct schema *described;
    struct source *source;

    (void)state;
    frame_release(&made->frame);
    frame_init(&made->frame, &lock_schema);
    for (int i = 0; i < 3; i++) {
        add_thread(made, 7, 0, 0, "pool");
        made->frame.elapsed_ns[i] = 1000;
        memcpy(frame_values(&made->frame, (size_t)i), values[i], sizeof values[i]);
    }
    frame = grouped(made, GROUP_PROCESS, &source);
    described = source->describe(source);
    assert_ptr_equal(frame->schema, described);
    assert_int_equal(described->state_count, 3);
    assert_string_equal(described->columns[2].name, "parked_ns");
    assert_int_equal(described->columns[2].class, CLASS_IDLE);
    assert_string_equal(described->columns[3].name, "switches");
    assert_int_equal(frame->entity_count, 1);
    assert_memory_equal(frame_values(frame, 0), ((const uint64_t[]){ 214, 800, 1986, 8 }),
                        4 * sizeof(uint64_t));
    assert_int_equal(frame_unaccounted_ns(frame, 0), 0);
    source_close(source);
}

static void a_new_process_is_marked_as_new(void **state)
{
    struct made *made = made_threads();
    const struct frame *frame;
    struct source *source;

    (void)state;
    add_thread(made, 7, 0, ENTITY_NEW, "a");
    frame = grouped(made, GROUP_PROCESS, &source);
    assert_int_equal(frame->entities[0].id, 7);
    assert_int_equal(frame->entities[0].flags & ENTITY_NEW, ENTITY_NEW);
    source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_row_of_a_user_has_the_name_of_the_user),
        cmocka_unit_test(ended_threads_of_a_user_have_their_own_row_without_an_id),
        cmocka_unit_test(waits_of_parked_threads_are_a_state_of_a_process),
        cmocka_unit_test(a_new_process_is_marked_as_new),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
