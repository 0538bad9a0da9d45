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

/* The text below a picture: source, time and number of entities; unaccounted and left out time;
 * dots without a position; losses; the picture's note. */
struct caption {
    size_t from, to;  /* frames [from, to) */
    size_t entities;  /* drawn */
    char remark[160]; /* after the number of entities, with its full stop */
    const struct sums *sums;
    const char *nouns[2];                  /* of a row: "dot", "dots" */
    const char *missing, *over, *left_out; /* how such rows are marked: " (red rings)", or "" */
    bool has_positions;                    /* rows are drawn as dots */
};

/* Starts a picture whose caption is below `height`, and draws the caption. `about` starts its
 * description. CAMP_OK; or CAMP_E_NOMEM, and nothing was written. */
int start_picture(FILE *stream, const struct picture *picture, const char *about, double width,
                  double height, const struct caption *caption);

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

/* Sets the groups of all dots (picture_groups.c). CAMP_OK or CAMP_E_NOMEM. */
int dots_find_groups(struct dots *dots, const struct picture *picture);

struct box {
    double left, top, right, bottom;
};

#define DOTS_WIDTH 680.0 /* of a picture of dots */

/* Draws the dots, far ones first, those of one place spread, with rings and labels; labels avoid
 * the `taken` places [count] of axis texts, and stay in the picture. */
void dots_draw(FILE *stream, const struct picture *picture, struct dots *dots,
               const struct box *taken, size_t count);

/* The groups' colours in a row at `at`. */
void dots_legend(FILE *stream, const struct picture *picture, const struct dots *dots,
                 struct svg_point at, double width);

int picture_barry3(FILE *stream, const struct picture *picture);
int picture_barry4(FILE *stream, const struct picture *picture);
int picture_barymap(FILE *stream, const struct picture *picture);
int picture_stack(FILE *stream, const struct picture *picture);
int picture_lines(FILE *stream, const struct picture *picture);
