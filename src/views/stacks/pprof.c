#include "pprof.h"

#include "ledger/array.h"
#include "views/protobuf.h"

#include <string.h>

/* Fields of the messages in profile.proto. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    TYPE_TYPE = 1,
    TYPE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_TEXT = 2,
    LOCATION_ID = 1,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2
};

#define FRAMES_MAX 1024 /* of a stack: twice CAMP_STACK_FRAMES, and the first ones */

/* A text that is part of a stack. */
struct name {
    const char *text;
    size_t length;
};

/* The texts of the profile by number: 0 is "". */
struct names {
    struct name *items; /* [count] */
    size_t count, capacity;
    struct index index;
    bool failed;
};

static bool is_same(const void *context, uint32_t position, const void *key)
{
    const struct name *name = &((const struct names *)context)->items[position], *wanted = key;

    return name->length == wanted->length && memcmp(name->text, wanted->text, name->length) == 0;
}

static uint32_t number_of(struct names *names, const char *text, size_t length)
{
    const struct name name = { text, length };
    const uint32_t hash = index_hash_bytes(text, length);
    const struct index_slot *slot = index_find(&names->index, hash, is_same, names, &name);

    if (slot != NULL)
        return slot->position;
    if (!ARRAY_RESERVE(names->items, names->capacity, names->count + 1) ||
        !index_reserve(&names->index, names->count + 1)) {
        names->failed = true;
        return 0;
    }
    index_add(&names->index, hash, (uint32_t)names->count);
    names->items[names->count] = name;
    return (uint32_t)names->count++;
}

static uint32_t number_of_word(struct names *names, const char *word)
{
    return number_of(names, word, strlen(word));
}

/* Fills ret[FRAMES_MAX] with the frames of a stack, the outermost first. Returns their number. */
static size_t split(uint32_t *ret, struct names *names, const char *stack)
{
    size_t count = 0;

    while (count < FRAMES_MAX) {
        const size_t length = strcspn(stack, (const char[]){ STACK_SEPARATOR, '\0' });

        ret[count++] = number_of(names, stack, length);
        if (stack[length] == '\0')
            break;
        stack += length + 1;
    }
    return count;
}

static void put_type(struct bytes *ret, struct names *names, const char *type, const char *unit)
{
    const size_t place = protobuf_begin(ret, PROFILE_SAMPLE_TYPE);

    protobuf_number(ret, TYPE_TYPE, number_of_word(names, type));
    protobuf_number(ret, TYPE_UNIT, number_of_word(names, unit));
    protobuf_end(ret, place);
}

static void put_label(struct bytes *ret, struct names *names, const char *key, uint32_t text)
{
    const size_t place = protobuf_begin(ret, SAMPLE_LABEL);

    protobuf_number(ret, LABEL_KEY, number_of_word(names, key));
    protobuf_number(ret, LABEL_TEXT, text);
    protobuf_end(ret, place);
}

/* The locations of a sample start with the innermost frame. */
static void put_sample(struct bytes *ret, struct names *names, const struct stack_sum *sum)
{
    const size_t place = protobuf_begin(ret, PROFILE_SAMPLE);
    uint32_t frames[FRAMES_MAX];
    const size_t count = split(frames, names, sum->stack);

    for (size_t i = count; i > 0; i--)
        protobuf_number(ret, SAMPLE_LOCATION, frames[i - 1]);
    protobuf_number(ret, SAMPLE_VALUE, sum->count);
    protobuf_number(ret, SAMPLE_VALUE, sum->ns);
    put_label(ret, names, "process", frames[0]);
    if (count > 1)
        put_label(ret, names, "state", frames[1]);
    protobuf_end(ret, place);
}

/* Each name is a function and a location, with the number of its text, which must not be 0. */
static void put_function(struct bytes *ret, uint32_t number)
{
    size_t place = protobuf_begin(ret, PROFILE_LOCATION), line;

    protobuf_number(ret, LOCATION_ID, number);
    line = protobuf_begin(ret, LOCATION_LINE);
    protobuf_number(ret, LINE_FUNCTION, number);
    protobuf_end(ret, line);
    protobuf_end(ret, place);
    place = protobuf_begin(ret, PROFILE_FUNCTION);
    protobuf_number(ret, FUNCTION_ID, number);
    protobuf_number(ret, FUNCTION_NAME, number);
    protobuf_end(ret, place);
}

void pprof_write(struct bytes *ret, const struct stack_sums *sums, const struct pprof_times *times)
{
    struct names names = { 0 };

    (void)number_of_word(&names, "");
    put_type(ret, &names, "sleeps", "count");
    put_type(ret, &names, "asleep", "nanoseconds");
    for (size_t i = 0; i < sums->count; i++)
        put_sample(ret, &names, &sums->items[i]);
    protobuf_signed(ret, PROFILE_TIME_NANOS, times->start_ns);
    protobuf_number(ret, PROFILE_DURATION_NANOS, times->duration_ns);
    protobuf_number(ret, PROFILE_DEFAULT_SAMPLE_TYPE, number_of_word(&names, "asleep"));
    for (size_t i = 1; i < names.count; i++)
        put_function(ret, (uint32_t)i);
    for (size_t i = 0; i < names.count; i++)
        protobuf_text(ret, PROFILE_STRING, names.items[i].text, names.items[i].length);
    ret->failed |= names.failed;
    index_release(&names.index);
    free(names.items);
}
