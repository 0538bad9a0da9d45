/* Parser: src/ledger/conditions/condition.c */
/* Parses any bytes as a condition on frames (the option --when), and compares a frame with it. */
#include "ledger/conditions/condition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct column columns[] = {
    { "a_ns", "a", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU },
    { "b_ns", "b", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU },
    { "c_ns", "c", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE },
    { "d", "d", "", COLUMN_COUNTER, CAMP_MEASURED },
};
static const char *const labels[] = { "e" };
static const struct schema schema = { "made-up", columns, 4, 3, labels, 1 };

static struct frame two_rows(void)
{
    struct frame frame;

    frame_init(&frame, &schema);
    frame.end_ns = 100;
    for (uint64_t i = 0; i < 2; i++) {
        struct entity *entity = frame_add(&frame);

        if (entity == NULL)
            abort();
        entity->id = (int64_t)i;
        entity->name[0] = (char)('x' + i);
        frame.elapsed_ns[i] = 100;
        frame_values(&frame, i)[i] = 100;
        frame_values(&frame, i)[3] = i;
    }
    return frame;
}

/* A condition of one comparison holds if its comparison does. */
static void check(const struct condition *condition)
{
    struct condition_value values[CONDITION_MOST];
    struct frame frame = two_rows();
    size_t reason = CONDITION_MOST;
    bool holds = condition_holds(condition, &frame, NULL, values, &reason), any = false;

    for (size_t i = 0; i < condition->count; i++) {
        const struct comparison *comparison = &condition->comparisons[i];
        char name[CONDITION_COLUMN_SIZE];

        if (comparison->order >= order_count(&schema) || !isfinite(comparison->limit) ||
            comparison->limit < 0 || values[i].row > frame.entity_count)
            abort();
        condition_column(comparison, &schema, name);
        any |= values[i].holds;
    }
    if ((holds && !any) || (condition->count == 1 && holds != any))
        abort();
    if (holds ? !values[reason].holds : reason != CONDITION_MOST)
        abort();
    frame_release(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct condition_fault fault = { 0 };
    struct condition condition;

    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (!condition_parse(&condition, NULL, NULL, text, &fault) &&
        condition_parse(&condition, &schema, NULL, text, &fault))
        abort(); /* the syntax of a condition is right */
    if (!condition_parse(&condition, &schema, NULL, text, &fault)) {
        if (fault.problem == NULL || strlen(fault.rest) >= sizeof fault.rest)
            abort();
    } else {
        if (condition.count == 0 || condition.count > CONDITION_MOST)
            abort();
        check(&condition);
    }
    free(text);
    return 0;
}
