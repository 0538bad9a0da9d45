/* Shared by the files that draw pictures (picture.h): captions, colours, dots. */
#pragma once

#include "oklab.h"
#include "picture.h"
#include "svg.h"

#define SHOWN_UNACCOUNTED 0.005 /* the share above which unaccounted time is marked */
/* Likewise for time at no vertex. A dot's position uses the proportions of the other time, so
 * unmarked dots are misplaced by at most this share of the triangle's height. */
#define SHOWN_LEFT_OUT 0.05
#define MARGIN 16
#define COLOUR_SIZE 8 /* "#rrggbb" */
#define LEFT_OUT_COLOUR "#c3c9d0"

/* The problems of many rows. */
struct sums {
    size_t rows;
    size_t missing, over;             /* rows with more than SHOWN_UNACCOUNTED */
    size_t nowhere;                   /* rows without time at any vertex */
    size_t left_out;                  /* rows with more than SHOWN_LEFT_OUT */
    double worst_missing, worst_over; /* shares of one row */
    double worst_left_out;
    struct weights mean; /* weighted by elapsed time */
    double elapsed_s;
};

void sums_add(struct sums *sums, const struct weights *weights, size_t vertices, double elapsed_s);

/* The text below a picture: source, time and number of entities; unaccounted time; time at no
 * vertex; entities without a dot; losses; the picture's note. */
struct caption {
    size_t from, to;  /* frames [from, to) */
    size_t entities;  /* the number of drawn ones */
    char remark[160]; /* follows the number of entities, up to the full stop */
    const struct sums *sums;
    const char *nouns[2];                  /* for a row, and rows: "dot", "dots" */
    const char *missing, *over, *left_out; /* the marks of such rows: " (red rings)", or "" */
    bool has_positions;                    /* a row has a dot at its position */
};

/* Starts a picture whose caption is below `height`, and draws the caption. `about` starts its
 * description. CAMP_OK; or CAMP_E_NOMEM, and nothing was written. */
int start_picture(FILE *stream, const struct picture *picture, const char *about, double width,
                  double height, const struct caption *caption);

/* "14:03:05"; with the date before it on request, and with milliseconds unless they are 0. */
#define MOMENT_SIZE 40
void moment_text(char ret[MOMENT_SIZE], int64_t wall_clock_ns, bool with_day);

/* "postgres 4711"; without a process the name alone. */
#define ENTITY_TEXT_SIZE (CAMP_NAME_SIZE + 24)
void entity_text(char ret[ENTITY_TEXT_SIZE], const struct entity *entity);

/* The colour of a vertex of 3 or 4. */
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
    struct sums sums;                           /* of all rows of the frame */
    char names[DOTS_GROUPS][LABELS_VALUE_SIZE]; /* of the groups, the largest first */
    size_t group_count;
    int colour; /* the label of the groups; PICTURE_COLOUR_NAME: their names */
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

#define DOTS_WIDTH 680.0 /* of a picture of dots */

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
