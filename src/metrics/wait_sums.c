#include "wait_sums.h"

#include "ledger/array.h"

#include <stdio.h>

#define WAITS_MOST (WAIT_PLACES + CAMP_STATE_COUNT)
#define CAUSES_MOST (CAUSE_PLACES + CAMP_STATE_COUNT)
#define FIRST_BOUND 10u /* binary logarithm of the first bound in ns */
/* A place is for at least this part of the interval, and for so many ns. */
#define WAIT_SHARE 1000u
#define WAIT_LEAST_NS 1000000u
#define CAUSE_SHARE 100u
#define CAUSE_LEAST_NS 10000000u

const uint64_t wait_bounds_ns[WAIT_BOUNDS] = {
    UINT64_C(1) << 10, UINT64_C(1) << 12, UINT64_C(1) << 14, UINT64_C(1) << 16, UINT64_C(1) << 18,
    UINT64_C(1) << 20, UINT64_C(1) << 22, UINT64_C(1) << 24, UINT64_C(1) << 26, UINT64_C(1) << 28,
    UINT64_C(1) << 30, UINT64_C(1) << 32, UINT64_C(1) << 34, UINT64_C(1) << 36,
};

/* The lengths of the waits of a group in a state, in the buckets of the metrics. */
struct ended_waits {
    uint64_t counts[WAIT_BOUNDS + 1];
    uint64_t total_ns;
};

/* Returns the bucket with the waits of at least 2^power ns and below 2^(power + 1). */
static size_t bucket_of(uint32_t power)
{
    const uint32_t above = power + 1 > FIRST_BOUND ? power + 1 - FIRST_BOUND : 0;
    const uint32_t bucket = (above + 1) / 2;

    return bucket < WAIT_BOUNDS ? bucket : WAIT_BOUNDS;
}

int wait_sums_init(struct wait_sums *ret, bool hides_names)
{
    *ret = (struct wait_sums){ .hides_names = hides_names,
                               .devices = "/sys/kernel/irq",
                               .name_count = 1,
                               .names = { { .kind = CAMP_GROUP_OTHER, .shown = "other" } } };
    ret->waits = calloc(WAITS_MOST, sizeof *ret->waits);
    ret->causes = calloc(CAUSES_MOST, sizeof *ret->causes);
    ret->before = calloc((size_t)CAUSE_GROUPS * CAMP_STATE_COUNT, sizeof *ret->before);
    return ret->waits != NULL && ret->causes != NULL && ret->before != NULL &&
                   index_reserve(&ret->wait_index, WAITS_MOST) &&
                   index_reserve(&ret->cause_index, CAUSES_MOST)
               ? CAMP_OK
               : CAMP_E_NOMEM;
}

void wait_sums_release(struct wait_sums *sums)
{
    free(sums->waits);
    free(sums->causes);
    free(sums->before);
    index_release(&sums->wait_index);
    index_release(&sums->cause_index);
    *sums = (struct wait_sums){ 0 };
}

static bool is_shown(const struct wait_sums *sums, const char *text)
{
    for (size_t i = 0; i < sums->name_count; i++) {
        if (strcmp(sums->names[i].shown, text) == 0)
            return true;
    }
    return false;
}

/* Returns whether a name of processes is what other groups are called, which may come later. */
static bool is_reserved(const struct camp_states_group *group)
{
    const uint32_t kinds[] = { CAMP_GROUP_KERNEL, CAMP_GROUP_OUTSIDE };
    bool ret = false;

    for (size_t i = 0; i < ARRAY_COUNT(kinds) && group->kind == CAMP_GROUP_NAME; i++) {
        char text[CAUSE_NAME_SIZE];

        cause_group_name(text, &(struct camp_states_group){ .kind = kinds[i] });
        ret |= strcmp(text, group->name) == 0;
    }
    return ret;
}

/* Returns the index of a group's name. Two groups may have one name: their sums are one. A name
 * that is that of another kind of group gets a number. */
static uint32_t name_of(struct wait_sums *sums, const struct camp_states_group *group)
{
    struct wait_name *name;
    char text[CAUSE_NAME_SIZE / 2];
    bool numbered = is_reserved(group);

    if (group->kind == CAMP_GROUP_OTHER || (sums->hides_names && group->kind >= CAMP_GROUP_NAME))
        return 0;
    for (uint32_t i = 1; i < sums->name_count; i++) {
        if (sums->names[i].kind == group->kind && strcmp(sums->names[i].name, group->name) == 0)
            return i;
    }
    if (sums->name_count >= ARRAY_COUNT(sums->names))
        return 0;
    name = &sums->names[sums->name_count];
    name->kind = group->kind;
    memcpy(name->name, group->name, sizeof name->name);
    cause_group_name(name->shown, group);
    snprintf(text, sizeof text, "%s", name->shown);
    for (uint32_t number = group->number; numbered || is_shown(sums, name->shown); number++) {
        snprintf(name->shown, sizeof name->shown, "%s (%u)", text, number);
        numbered = false;
    }
    return (uint32_t)sums->name_count++;
}

static bool is_wait(const void *places, uint32_t position, const void *key)
{
    const struct wait_place *place = &((const struct wait_place *)places)[position];
    const struct wait_place *wanted = key;

    return place->name == wanted->name && place->state == wanted->state;
}

/* Returns the place of a group's waits in a state, or that of "other". */
static struct wait_place *wait_place_of(struct wait_sums *sums, uint32_t name, uint32_t state,
                                        bool is_large)
{
    const struct wait_place key = { .name = name, .state = state };
    const uint32_t hash = index_hash_number((uint64_t)name << 32 | state);
    const struct index_slot *slot = index_find(&sums->wait_index, hash, is_wait, sums->waits, &key);

    if (slot != NULL)
        return &sums->waits[slot->position];
    if (name != 0 && (!is_large || sums->own_waits >= WAIT_PLACES))
        return wait_place_of(sums, 0, state, true);
    sums->own_waits += name != 0;
    sums->waits[sums->wait_count] = key;
    index_add(&sums->wait_index, hash, (uint32_t)sums->wait_count);
    return &sums->waits[sums->wait_count++];
}

static bool is_cause(const void *places, uint32_t position, const void *key)
{
    const struct cause_place *place = &((const struct cause_place *)places)[position];
    const struct cause_place *wanted = key;

    return place->name == wanted->name && place->state == wanted->state &&
           place->kind == wanted->kind && place->id == wanted->id;
}

static void name_cause(const struct wait_sums *sums, struct cause_place *place)
{
    if (place->kind == CAMP_CAUSE_GROUP)
        snprintf(place->who, sizeof place->who, "%s", sums->names[place->id].shown);
    else if (place->kind < WAIT_CAUSE_OTHER)
        cause_who(place->who, NULL, place->kind, place->id, sums->devices);
}

/* Returns the place of a cause, or that of "other". */
static struct cause_place *cause_place_of(struct wait_sums *sums, const struct cause_place *key,
                                          bool is_large)
{
    const uint64_t of_group = (uint64_t)key->name << 32 | key->state << 16 | key->kind;
    const uint32_t hash = index_hash_number(of_group ^ (uint64_t)key->id << 48);
    const struct index_slot *slot =
        index_find(&sums->cause_index, hash, is_cause, sums->causes, key);
    struct cause_place *place;

    if (slot != NULL)
        return &sums->causes[slot->position];
    if (key->kind != WAIT_CAUSE_OTHER && (!is_large || sums->own_causes >= CAUSE_PLACES)) {
        const struct cause_place other = { .state = key->state, .kind = WAIT_CAUSE_OTHER };

        return cause_place_of(sums, &other, true);
    }
    sums->own_causes += key->kind != WAIT_CAUSE_OTHER;
    place = &sums->causes[sums->cause_count];
    *place = *key;
    name_cause(sums, place);
    index_add(&sums->cause_index, hash, (uint32_t)sums->cause_count++);
    return place;
}

static uint64_t least_of(const struct causes *causes, uint64_t share, uint64_t least_ns)
{
    const uint64_t part_ns = (causes->end_ns - causes->start_ns) / share;

    return part_ns > least_ns ? part_ns : least_ns;
}

static void add_causes(struct wait_sums *sums, const struct causes *causes)
{
    const uint64_t least_ns = least_of(causes, CAUSE_SHARE, CAUSE_LEAST_NS);

    for (size_t i = 0; i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];
        const bool is_group = row->kind == CAMP_CAUSE_GROUP;
        const struct cause_place key = {
            .name = sums->name_of_group[row->group % CAUSE_GROUPS],
            .state = row->state,
            .kind = row->kind,
            .id = is_group ? sums->name_of_group[row->id % CAUSE_GROUPS] : row->id,
        };

        cause_place_of(sums, &key, row->wait_ns >= least_ns)->wait_ns += row->wait_ns;
    }
    for (size_t i = 0; i < CAUSE_GROUPS; i++)
        sums->reduced_ns += causes->reduced_ns[i];
}

static struct ended_waits ended_waits_of(const struct camp_wait_lengths *lengths)
{
    struct ended_waits ret = { .total_ns = lengths->total_ns };

    for (uint32_t i = 0; i < CAMP_WAIT_BUCKETS; i++)
        ret.counts[bucket_of(i)] += lengths->counts[i];
    return ret;
}

static void add_lengths(struct wait_sums *sums, const struct camp_wait_lengths *lengths,
                        uint64_t least_ns)
{
    struct ended_waits *before = &sums->before[lengths->group * CAMP_STATE_COUNT + lengths->state];
    const struct ended_waits now = ended_waits_of(lengths);
    const uint64_t grown_ns = now.total_ns > before->total_ns ? now.total_ns - before->total_ns : 0;
    struct wait_place *place = wait_place_of(sums, sums->name_of_group[lengths->group],
                                             lengths->state, grown_ns >= least_ns);

    place->total_ns += grown_ns;
    for (size_t i = 0; i <= WAIT_BOUNDS; i++)
        place->counts[i] +=
            now.counts[i] > before->counts[i] ? now.counts[i] - before->counts[i] : 0;
    if (lengths->longest_ns > place->longest_ns)
        place->longest_ns = lengths->longest_ns;
    *before = now;
}

/* Starts a window if the last one is over. */
static void turn_window(struct wait_sums *sums, uint64_t now_ns)
{
    const uint64_t passed_ns = now_ns - sums->window_ns;

    if (passed_ns < WAIT_WINDOW_NS)
        return;
    for (size_t i = 0; i < sums->wait_count; i++) {
        struct wait_place *place = &sums->waits[i];

        place->longest_before_ns = passed_ns < 2 * WAIT_WINDOW_NS ? place->longest_ns : 0;
        place->longest_ns = 0;
    }
    sums->window_ns = now_ns;
}

void wait_sums_add(struct wait_sums *sums, const struct causes *causes,
                   const struct camp_wait_lengths *lengths, size_t length_count)
{
    const uint64_t least_ns = least_of(causes, WAIT_SHARE, WAIT_LEAST_NS);

    turn_window(sums, causes->end_ns);
    for (size_t i = 0; i < causes->group_count; i++) {
        const struct camp_states_group *group = &causes->groups[i];

        if (group->number < CAUSE_GROUPS)
            sums->name_of_group[group->number] = name_of(sums, group);
    }
    add_causes(sums, causes);
    for (size_t i = 0; i < length_count; i++) {
        if (lengths[i].group < CAUSE_GROUPS && lengths[i].state < CAMP_STATE_COUNT)
            add_lengths(sums, &lengths[i], least_ns);
    }
}

uint64_t wait_place_longest_ns(const struct wait_place *place)
{
    return place->longest_ns > place->longest_before_ns ? place->longest_ns
                                                        : place->longest_before_ns;
}
