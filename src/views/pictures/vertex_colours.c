#include "vertex_colours.h"

#include "palette.h"

/* The order in which vertices take colours that no other vertex has. */
static const enum column_class spare[CLASS_COUNT] = {
    CLASS_READY,      CLASS_IO,   CLASS_CONTENTION, CLASS_NETWORK, CLASS_THROTTLED,
    CLASS_OTHER_WAIT, CLASS_NONE, CLASS_CPU,        CLASS_IDLE,
};

/* The states of a vertex. */
struct states {
    size_t of_class[CLASS_COUNT]; /* number of states of each class */
};

static bool is_wait(enum column_class class)
{
    return class != CLASS_NONE && class != CLASS_CPU && class != CLASS_IDLE;
}

/* Returns the class whose colour suits a vertex, whatever the other vertices have. */
static enum column_class wish_of(const struct states *states)
{
    enum column_class wait = CLASS_NONE;
    size_t waits = 0, best = 0;

    for (int i = 0; i < CLASS_COUNT; i++) {
        const size_t count = states->of_class[i];

        if (count == 0 || !is_wait((enum column_class)i))
            continue;
        wait = waits > 0 ? CLASS_READY : (enum column_class)i;
        waits += count;
    }
    const struct {
        enum column_class class;
        size_t count;
    } kinds[] = {
        { CLASS_CPU, states->of_class[CLASS_CPU] },
        { wait, waits },
        { CLASS_IDLE, states->of_class[CLASS_IDLE] },
        { CLASS_NONE, states->of_class[CLASS_NONE] },
    };

    for (size_t i = 1; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].count > kinds[best].count)
            best = i;
    }
    return kinds[best].count > 0 ? kinds[best].class : CLASS_NONE;
}

static void count_states(const struct vertices *vertices, struct states ret[VERTICES_MAXIMUM])
{
    for (size_t i = 0; i < VERTICES_MAXIMUM; i++)
        ret[i] = (struct states){ 0 };
    for (size_t i = 0; i < vertices->schema->state_count; i++) {
        const size_t vertex = vertices->of_state[i];

        if (vertex > 0)
            ret[vertex - 1].of_class[vertices->schema->columns[i].class]++;
    }
}

/* Returns the first class in the order of `spare` that no vertex has. If there is one to which
 * states of the vertex belong, it is taken. */
static enum column_class spare_class(const struct states *states, const bool taken[CLASS_COUNT])
{
    enum column_class first = CLASS_COUNT;

    for (size_t i = 0; i < CLASS_COUNT; i++) {
        if (taken[spare[i]])
            continue;
        if (states->of_class[spare[i]] > 0)
            return spare[i];
        if (first == CLASS_COUNT)
            first = spare[i];
    }
    return first;
}

void vertices_classes(const struct vertices *vertices, enum column_class ret[VERTICES_MAXIMUM])
{
    bool taken[CLASS_COUNT] = { false }, has_colour[VERTICES_MAXIMUM] = { false };
    struct states states[VERTICES_MAXIMUM];

    count_states(vertices, states);
    /* First come the vertices that have states of the class they wish for. */
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < vertices->count; i++) {
            const enum column_class wish = wish_of(&states[i]);

            if (has_colour[i] || taken[wish] || (round == 0 && states[i].of_class[wish] == 0))
                continue;
            ret[i] = wish;
            has_colour[i] = taken[wish] = true;
        }
    }
    for (size_t i = 0; i < vertices->count; i++) {
        if (has_colour[i])
            continue;
        ret[i] = spare_class(&states[i], taken);
        taken[ret[i]] = true;
    }
}

static void look_up(const struct vertices *vertices, const char *const palette[CLASS_COUNT],
                    const char *ret[VERTICES_MAXIMUM])
{
    enum column_class classes[VERTICES_MAXIMUM];

    vertices_classes(vertices, classes);
    for (size_t i = 0; i < vertices->count; i++)
        ret[i] = palette[classes[i]];
}

void vertices_colours(const struct vertices *vertices, const char *ret[VERTICES_MAXIMUM])
{
    look_up(vertices, palette_classes, ret);
}

void vertices_colours_dark(const struct vertices *vertices, const char *ret[VERTICES_MAXIMUM])
{
    look_up(vertices, palette_classes_dark, ret);
}
