/* Shared by the files that draw pictures (picture.h): captions, colours, dots. */
#pragma once

#include "oklab.h"
#include "picture.h"
#include "svg.h"

#define SHOWN_UNACCOUNTED 0.005 /* marked from here on */
/* Likewise for time at no vertex: a dot's position uses the proportions of the rest, so before that
 * it is off by at most this share of the triangle's height. */
#define SHOWN_LEFT_OUT 0.05
#define MARGIN 16
#define COLOUR_SIZE 8 /* "#rrggbb" */
#define LEFT_OUT_COLOUR "#c3c9d0"

/* Problems over many rows. */
struct sums {
    size_t rows;
    size_t missing, over;             /* rows with more than SHOWN_UNACCOUNTED */
    size_t nowhere;                   /* rows without time at any vertex */
    size_t left_out;                  /* rows with more than SHOWN_LEFT_OUT */
    double worst_missing, worst_over; /* shares of one row */
    double worst_left_out;
    struct weights mean; /* of all time */
    double elapsed_s;
};

void sums_add(struct sums *sums, const struct weights *weights, size_t vertices, double elapsed_s);

/* A caption is a text of paragraphs, each ended by a newline. */

/* The source, the time of frames [from, to), and the count: "...: 60 entities". */
void caption_source(FILE *caption, const struct picture *picture, size_t from, size_t to,
                    size_t entities);
extern const char *const entity_nouns[2];

/* Time in no state or at no vertex; `marks`: how it is marked (" (red rings)", ""); a row is one of
 * `nouns`: "dot", "dots". */
struct marks {
    const char *missing, *over, *left_out;
};
void caption_sums(FILE *caption, const struct picture *picture, const struct sums *sums,
                  const char *const nouns[2], const struct marks *marks);
/* Losses of these frames, and the picture's note. */
void caption_losses(FILE *caption, const struct picture *picture, size_t from, size_t to);

/* Starts a picture whose caption is below `height`, and draws the caption. `about` starts its
 * description. */
void start_picture(FILE *stream, const struct picture *picture, const char *about, double width,
                   double height, const char *caption);

/* "14:03:05", with the date before it and milliseconds behind it where needed. */
#define MOMENT_SIZE 40
void moment_text(char ret[MOMENT_SIZE], int64_t wall_clock_ns, bool with_day);

/* "postgres 4711"; without a process the name alone. */
#define ENTITY_TEXT_SIZE (CAMP_NAME_SIZE + 24)
void entity_text(char ret[ENTITY_TEXT_SIZE], const struct entity *entity);

/* Of a vertex, of 3 or 4. */
const char *vertex_colour(size_t count, size_t vertex);

void colour_text(char ret[COLOUR_SIZE], uint32_t rgb);

#define DOTS_GROUPS 6

struct dot {
    struct svg_point at; /* exact position */
    double depth;        /* 0 near to 1 far; 0 in a plane */
    size_t row;          /* of the timeline */
    struct weights weights;
    int group;      /* 0 to 5; -1: none */
    bool is_pinned; /* always labelled */
};

struct dots {
    struct dot *dots; /* [count]; owned: dots_release() */
    size_t count;
    size_t capacity;                            /* of dots */
    struct sums sums;                           /* of all rows of the frame */
    char names[DOTS_GROUPS][LABELS_VALUE_SIZE]; /* of the groups, largest first */
    size_t group_count;
    int colour; /* which label they are of; PICTURE_COLOUR_NAME: of names */
};

/* A dot for each row of the picture's frame that has a position; `project` sets at and depth.
 * CAMP_OK or CAMP_E_NOMEM. */
int dots_gather(struct dots *ret, const struct picture *picture,
                void (*project)(const struct position *position, struct dot *dot));
void dots_release(struct dots *dots);

/* The entity of a dot. */
const struct entity *dots_entity(const struct picture *picture, const struct dot *dot);

/* Finds the groups of all dots (picture_groups.c). CAMP_OK or CAMP_E_NOMEM. */
int dots_find_groups(struct dots *dots, const struct picture *picture);

/* The number of an entity's group; -1: none. */
int dots_group(const struct dots *dots, const struct entity *entity);

struct box {
    double left, top, right, bottom;
};

#define DOTS_WIDTH 680.0 /* of a picture of dots */

/* Draws the dots, far ones first, those of one place spread, with rings and labels; labels avoid
 * the `taken` places [count] of axis texts, and stay in the picture. */
void dots_draw(FILE *stream, const struct picture *picture, struct dots *dots,
               const struct box *taken, size_t count);

/* The groups' colours in a row at `at`; returns whether there are any. */
bool dots_legend(FILE *stream, const struct picture *picture, const struct dots *dots,
                 struct svg_point at, double width);

int picture_barry3(FILE *stream, const struct picture *picture);
int picture_barry4(FILE *stream, const struct picture *picture);
int picture_barymap(FILE *stream, const struct picture *picture);
int picture_stack(FILE *stream, const struct picture *picture);
int picture_lines(FILE *stream, const struct picture *picture);
