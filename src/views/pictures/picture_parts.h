/* Shared by the files that draw pictures (picture.h): captions, colours, dots. */
#pragma once

#include "oklab.h"
#include "picture.h"
#include "svg.h"

#define SHOWN_UNACCOUNTED 0.005 /* the share above which unaccounted time is marked */
/* Likewise for time at no vertex. A dot's position shows the proportions of the rest of its time,
 * so unmarked dots are misplaced by at most this share of the triangle's height. */
#define SHOWN_LEFT_OUT 0.05
#define MARGIN 16
#define COLOUR_SIZE 8 /* "#rrggbb" */
#define LEFT_OUT_COLOUR "#c3c9d0"

/* The problems of many rows, added up. */
struct sums {
    size_t rows;
    size_t missing, over; /* rows with more unaccounted time than SHOWN_UNACCOUNTED */
    size_t nowhere;       /* rows without time at any vertex */
    size_t left_out;      /* rows with a larger share at no vertex than SHOWN_LEFT_OUT */
    double worst_missing, worst_over; /* largest shares of a row */
    double worst_left_out;
    struct weights mean; /* weighted by elapsed time */
    double elapsed_s;
};

void sums_add(struct sums *sums, const struct weights *weights, size_t vertices, double elapsed_s);

/* The text below a picture: source, time and number of entities; unaccounted time; time at no
 * vertex; entities without a dot; losses; the picture's note. */
struct caption {
    size_t from, to;  /* frames [from, to) */
    size_t entities;  /* number of entities drawn */
    char remark[160]; /* follows the number of entities, up to the full stop */
    const struct sums *sums;
    const char *nouns[2]; /* the words for one row and for several: "dot", "dots" */
    const char *missing, *over, *left_out; /* marks of rows with a problem: " (red rings)", or "" */
    bool has_positions;                    /* a row has a dot at its position */
};

/* Starts a picture whose caption is below `height`, and draws the caption. `about` is the start of
 * the picture's description. CAMP_OK; or CAMP_E_NOMEM, and nothing was written. */
int start_picture(FILE *stream, const struct picture *picture, const char *about, double width,
                  double height, const struct caption *caption);

/* Writes "14:03:05", with milliseconds unless they are 0; `with_day`: with the date before it. */
#define MOMENT_SIZE 40
void moment_text(char ret[MOMENT_SIZE], int64_t wall_clock_ns, bool with_day);

/* Writes "postgres 4711"; only the name if there is no process. */
#define ENTITY_TEXT_SIZE (CAMP_NAME_SIZE + 24)
void entity_text(char ret[ENTITY_TEXT_SIZE], const struct entity *entity);

/* Returns the colour of a vertex, in a picture with `count` (3 or 4) vertices. */
const char *vertex_colour(size_t count, size_t vertex);

void colour_text(char ret[COLOUR_SIZE], uint32_t rgb);

#define DOTS_GROUPS 6

struct dot {
    struct svg_point at; /* position in the picture, px */
    double depth;        /* 0 near to 1 far; 0 in a plane */
    size_t row;          /* index of the dot's row in the timeline */
    struct weights weights;
    int group;      /* index of the group, 0 to 5; -1: none */
    bool is_pinned; /* always labelled */
};

struct dots {
    struct dot *dots; /* [count]; owned: dots_release() */
    size_t count;
    struct sums sums;                           /* the problems of all rows of the frame */
    char names[DOTS_GROUPS][LABELS_VALUE_SIZE]; /* names of the groups, the largest group first */
    size_t group_count;
    int colour; /* index of the label that forms the groups; PICTURE_COLOUR_NAME: names */
};

/* Makes a dot for each row of the picture's frame that has a position; `project` sets `at` and
 * `depth`. CAMP_OK or CAMP_E_NOMEM; dots_release() in any case. */
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

#define DOTS_WIDTH 680.0 /* width of a picture of dots */

/* Draws the dots with their rings and labels: far dots first, coinciding ones side by side. Labels
 * stay in the picture, and avoid taken[count], the boxes of axis texts. */
void dots_draw(FILE *stream, const struct picture *picture, struct dots *dots,
               const struct box *taken, size_t count);

/* Draws the colours and names of the groups in a row. */
void dots_legend(FILE *stream, const struct picture *picture, const struct dots *dots,
                 struct svg_point at, double width);

int picture_barry3(FILE *stream, const struct picture *picture);
int picture_barry4(FILE *stream, const struct picture *picture);
int picture_barymap(FILE *stream, const struct picture *picture);
int picture_stack(FILE *stream, const struct picture *picture);
int picture_lines(FILE *stream, const struct picture *picture);
