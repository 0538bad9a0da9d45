/*
 * Measures the CPU time to write a picture, and the size of the picture. The synthetic entities
 * move slowly between the corners of the picture.
 *
 *   pictures ENTITIES FRAMES [FOLDER]
 *
 * Prints {"barry3": {"ms": 0.61, "bytes": 203000}, ...}, where ms is the median of 11 runs. The
 * pictures are kept in FOLDER.
 */
#include "views/pictures/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 11
#define STATES 4
#define SECOND 1000000000ull

static const struct column columns[STATES] = {
    { "cpu_ns", "cpu", "", COLUMN_STATE, CAMP_MEASURED },
    { "idle_ns", "idle", "", COLUMN_STATE, CAMP_MEASURED },
    { "io_ns", "io", "", COLUMN_STATE, CAMP_MEASURED },
    { "lock_ns", "lock", "", COLUMN_STATE, CAMP_MEASURED },
};
static const struct schema schema = { "sessions", columns, STATES, STATES };
static const char *const groups[] = { "oltp", "report", "batch", "web" };

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* without the time of other tasks */
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void fill_entity(struct frame *frame, size_t number, double phase)
{
    struct entity *entity = frame_add(frame);
    double shares[STATES], sum = 0;

    if (entity == NULL)
        exit(1);
    entity->id = (int64_t)number + 1;
    entity->pid = (int32_t)number + 1;
    snprintf(entity->name, sizeof entity->name, "%s", groups[number % 4]);
    frame->elapsed_ns[frame->entity_count - 1] = SECOND;
    for (size_t i = 0; i < STATES; i++) {
        shares[i] = exp(2.5 * sin(phase * (0.7 + (double)((number * 7 + i * 3) % 11) / 11) +
                                  (double)(number % 4 * i)));
        sum += shares[i];
    }
    for (size_t i = 0; i < STATES; i++)
        frame_values(frame, frame->entity_count - 1)[i] =
            (uint64_t)(shares[i] / sum * (double)SECOND * (number % 23 == 0 ? 0.9 : 1));
}

static void fill(struct timeline *timeline, size_t entities, size_t frames)
{
    struct frame frame;

    frame_init(&frame, &schema);
    for (size_t second = 0; second < frames; second++) {
        frame_clear(&frame);
        frame.start_ns = second * SECOND;
        frame.end_ns = frame.start_ns + SECOND;
        frame.wall_clock_ns = (int64_t)((1258000000 + second) * SECOND);
        for (size_t i = 0; i < entities; i++)
            fill_entity(&frame, i, (double)i * 0.37 + (double)second / 40);
        if (timeline_add(timeline, &frame) != CAMP_OK)
            exit(1);
    }
    frame_release(&frame);
}

static int compare_times(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static void keep_file(const char *folder, const char *name, const char *svg, size_t length)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s.svg", folder, name);
    file = fopen(path, "w");
    if (file == NULL || fwrite(svg, 1, length, file) != length || fclose(file) != 0)
        exit(1);
}

static void measure(const struct picture *picture, enum picture_kind kind, const char *folder)
{
    double times[ROUNDS];
    size_t length = 0;

    for (size_t i = 0; i < ROUNDS; i++) {
        char *svg = NULL;
        FILE *stream = open_memstream(&svg, &length);

        times[i] = now_ms();
        if (picture_write(stream, kind, picture) != CAMP_OK || fclose(stream) != 0)
            exit(1);
        times[i] = now_ms() - times[i];
        if (i == 0 && folder != NULL)
            keep_file(folder, picture_names[kind], svg, length);
        free(svg);
    }
    qsort(times, ROUNDS, sizeof *times, compare_times);
    printf("%s\"%s\": {\"ms\": %.3f, \"bytes\": %zu}", kind > 0 ? ", " : "{", picture_names[kind],
           times[ROUNDS / 2], length);
}

/* Each vertex gets one state. The last vertex gets all remaining states. */
static void set_vertices(struct vertices *vertices, size_t count)
{
    static const char *const names[] = { "CPU", "idle", "I/O", "lock" };
    static const char *const names_of_3[] = { "CPU", "idle", "waiting" };

    vertices_init(vertices, &schema, count == 3 ? names_of_3 : names, count);
    for (size_t i = 0; i < STATES; i++)
        vertices->of_state[i] = (uint8_t)((i < count ? i : count - 1) + 1);
}

int main(int argc, char **argv)
{
    struct vertices vertices;
    struct timeline timeline;

    if (argc < 3) {
        fprintf(stderr, "usage: pictures ENTITIES FRAMES [FOLDER]\n");
        return 2;
    }
    timeline_init(&timeline, &schema, (size_t)256 << 20);
    fill(&timeline, strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10));
    for (enum picture_kind kind = 0; kind < PICTURE_KIND_COUNT; kind++) {
        const struct picture picture = { .timeline = &timeline,
                                         .vertices = &vertices,
                                         .source = "sessions",
                                         .origin = "synthetic",
                                         .kind = "threads",
                                         .note = "",
                                         .only = "",
                                         .colour = PICTURE_COLOUR_USUAL,
                                         .frame = timeline.frame_count - 1 };

        set_vertices(&vertices, kind == PICTURE_BARRY4 ? 4 : 3);
        measure(&picture, kind, argc > 3 ? argv[3] : NULL);
    }
    printf("}\n");
    timeline_release(&timeline);
    return 0;
}
