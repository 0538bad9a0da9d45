#include "backend_lengths.h"

#include "../backends_layout.h"

#include <bpf/bpf.h>

#include <stdlib.h>
#include <string.h>

#define IDLE_READINGS 2 /* A place that did not grow in so many readings may be freed. */

/* What a place had at the last reading of each half. */
struct lengths_before {
    struct half_before {
        uint64_t ns;
        uint32_t counts[BACKEND_LENGTHS];
    } halves[2];
    uint8_t idle; /* readings since it last grew */
    /* The kernel finds the place no longer. A program that had found it may still write to it, so
     * it becomes free at the next reading. */
    bool is_closed;
};

void lengths_give_all(struct backend_lengths_places *places)
{
    for (uint32_t i = 0; i < BACKEND_LENGTHS_MAX; i++)
        places->free[i] = i;
    places->given = BACKEND_LENGTHS_MAX;
}

bool lengths_reader_init(struct lengths_reader *reader, struct backend_lengths *shared,
                         struct backend_lengths_places *places, int index)
{
    *reader = (struct lengths_reader){
        .shared = shared,
        .places = places,
        .index = index,
        .before = calloc(BACKEND_LENGTHS_MAX, sizeof *reader->before),
        .growth = calloc(BACKEND_LENGTHS_MAX, sizeof *reader->growth),
    };
    return reader->before != NULL && reader->growth != NULL;
}

void lengths_reader_release(struct lengths_reader *reader)
{
    free(reader->before);
    free(reader->growth);
    *reader = (struct lengths_reader){ 0 };
}

/* Adds what a half has grown by to *ret. Returns whether it has. */
static bool add_half(volatile struct backend_lengths_half *half, struct half_before *before,
                     struct backend_lengths_growth *ret)
{
    const uint64_t ns = half->ns;
    bool has_grown = false;

    for (int i = 0; i < BACKEND_LENGTHS; i++) {
        const uint32_t count = half->counts[i];

        ret->counts[i] += count - before->counts[i];
        has_grown |= count != before->counts[i];
        before->counts[i] = count;
    }
    ret->ns += ns - before->ns;
    before->ns = ns;
    if (half->longest_ns > ret->longest_ns) {
        ret->longest_ns = half->longest_ns;
        ret->longest_end_ns = half->longest_end_ns;
    }
    half->longest_ns = 0;
    return has_grown;
}

static void close_place(struct lengths_reader *reader, uint32_t number)
{
    const struct backend_lengths_key key = reader->shared[number].key;

    bpf_map_delete_elem(reader->index, &key);
    reader->before[number].is_closed = true;
}

static void give_back(struct lengths_reader *reader, uint32_t number)
{
    struct backend_lengths_places *places = reader->places;

    memset(&reader->shared[number], 0, sizeof reader->shared[number]);
    reader->before[number] = (struct lengths_before){ 0 };
    places->use[number] = BACKEND_LENGTHS_FREE;
    places->free[places->given % BACKEND_LENGTHS_MAX] = number;
    __atomic_store_n(&places->given, places->given + 1, __ATOMIC_RELEASE);
}

/* Nothing writes to the places of a backend that has ended. */
static void read_place(struct lengths_reader *reader, uint32_t number, uint32_t reading,
                       const uint32_t *rows, const bool *ended, bool is_scarce)
{
    const uint32_t slot = reader->shared[number].key.slot;
    const bool is_of_ended = slot < BACKENDS_MAX && ended[slot];
    struct lengths_before *before = &reader->before[number];
    struct backend_lengths_growth *growth = &reader->growth[reader->count];
    const bool was_closed = before->is_closed;
    struct backend_lengths *place = &reader->shared[number];
    const uint32_t half = (reading - 1) & 1;
    bool has_grown;

    *growth = (struct backend_lengths_growth){ .event = place->key.event,
                                               .activity = place->key.activity,
                                               .statement = place->key.statement };
    has_grown = add_half(&place->halves[half], &before->halves[half], growth);
    if (is_of_ended || was_closed) /* This is the last reading of the place. */
        has_grown |= add_half(&place->halves[1 - half], &before->halves[1 - half], growth);
    if (has_grown) {
        growth->row = slot < BACKENDS_MAX ? rows[slot] : BACKEND_LENGTHS_OTHER;
        reader->count++;
        before->idle = 0;
    } else if (before->idle < IDLE_READINGS) {
        before->idle++;
    }
    if (!was_closed && (is_of_ended || (is_scarce && before->idle >= IDLE_READINGS)))
        close_place(reader, number);
    if (was_closed || is_of_ended)
        give_back(reader, number);
}

void lengths_read(struct lengths_reader *reader, uint32_t reading, const uint32_t *rows,
                  const bool *ended)
{
    const volatile struct backend_lengths_places *places = reader->places;
    const bool is_scarce = places->given - places->taken < BACKEND_LENGTHS_MAX / 4;

    reader->count = 0;
    for (uint32_t i = 0; i < BACKEND_LENGTHS_MAX; i++) {
        if (places->use[i] == BACKEND_LENGTHS_SPOILT)
            give_back(reader, i);
        else if (places->use[i] == BACKEND_LENGTHS_USED)
            read_place(reader, i, reading, rows, ended, is_scarce);
    }
}
