/* Helpers of tests that draw a timeline of synthetic entities as a picture. */
#pragma once

#include "views/pictures/oklab.h"
#include "views/pictures/picture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1000000000u
#define DOT "class=\"dot\""
#define RUNS "<path stroke=\"#"

static const struct column columns[] = {
    { "cpu_ns", "cpu", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU, NULL },
    { "idle_ns", "idle", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE, NULL },
    { "wait_ns", "wait", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IO, NULL },
    { "lock_ns", "lock", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CONTENTION, NULL },
};
static const char *const label_names[] = { "user", "application" };
static const struct schema schema = { "made-up", columns, 4, 4, label_names, 2 };
static const char *const names[] = { "CPU", "idle", "wait", "contention" };

static struct frame frame;
static struct timeline timeline;
static struct vertices vertices;
static char *svg;
static int colour;
static const char *kind_of_entities;
static const char *only;
static size_t cpus;

static int set_up(void **state)
{
    (void)state;
    frame_init(&frame, &schema);
    timeline_init(&timeline, &schema, 1 << 24);
    svg = NULL;
    colour = PICTURE_COLOUR_USUAL;
    kind_of_entities = "threads";
    only = "";
    cpus = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    frame_release(&frame);
    timeline_release(&timeline);
    free(svg);
    return 0;
}

static void begin(unsigned second)
{
    frame_clear(&frame);
    frame.start_ns = (uint64_t)second * SECOND;
    frame.end_ns = frame.start_ns + SECOND;
    frame.wall_clock_ns = (int64_t)(1000 + second) * SECOND;
}

static void add(const char *name, double cpu, double idle, double wait, double lock)
{
    const double shares[] = { cpu, idle, wait, lock };
    struct entity *entity = frame_add(&frame);

    assert_non_null(entity);
    entity->id = (int64_t)frame.entity_count;
    snprintf(entity->name, sizeof entity->name, "%s", name);
    frame.elapsed_ns[frame.entity_count - 1] = SECOND;
    for (size_t i = 0; i < 4; i++)
        frame_values(&frame, frame.entity_count - 1)[i] = (uint64_t)llround(shares[i] * SECOND);
}

static void keep(void)
{
    assert_int_equal(timeline_add(&timeline, &frame), CAMP_OK);
}

/* Draws the timeline. Each of the first `count` states is a vertex. */
static void draw(enum picture_kind kind, size_t count, bool over_entities)
{
    struct picture picture = { .timeline = &timeline,
                               .vertices = &vertices,
                               .source = "made-up",
                               .origin = "test",
                               .note = "",
                               .kind = kind_of_entities,
                               .only = only,
                               .cpus = cpus,
                               .over_entities = over_entities,
                               .colour = colour };
    size_t length;
    FILE *stream;

    assert_true(vertices_init(&vertices, &schema, names, count));
    for (size_t i = 0; i < count; i++)
        vertices.of_state[i] = (uint8_t)(i + 1);
    free(svg);
    stream = open_memstream(&svg, &length);
    assert_non_null(stream);
    assert_int_equal(picture_write(stream, kind, &picture), CAMP_OK);
    assert_int_equal(fclose(stream), 0);
}

static size_t count_of(const char *word)
{
    size_t count = 0;

    for (const char *at = svg; (at = strstr(at, word)) != NULL; at++)
        count++;
    return count;
}

static void assert_says(const char *text)
{
    if (strstr(svg, text) == NULL)
        fail_msg("no '%s' in %s", text, svg);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
