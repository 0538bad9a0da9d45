/* Parts shared by the files that draw pictures (picture.h): captions, colours and dots. */
#pragma once

#include "ledger/active.h"
#include "oklab.h"
#include "picture.h"
#include "svg.h"

#define SHOWN_UNACCOUNTED 0.005 /* larger shares of unaccounted time are marked */
/* Larger shares of left-out time (in states that belong to no vertex) are marked. Left-out time has
 * no influence on a dot's position. So the position of an unmarked dot is wrong by at most this
 * share of the triangle's height. */
#define SHOWN_LEFT_OUT 0.05
#define MARGIN 16
#define COLOUR_SIZE 8 /* "#rrggbb" */
#define LEFT_OUT_COLOUR "#c3c9d0"

/* The problems of many rows, added up. */
struct sums {
    size_t rows;
    /* Rows whose share of missing time, or of time accounted twice, is above SHOWN_UNACCOUNTED. */
    size_t missing, over;
    size_t nowhere;                   /* rows whose time is all left out */
    size_t left_out;                  /* rows whose left-out share is above SHOWN_LEFT_OUT */
    double worst_missing, worst_over; /* largest shares of a row */
    double worst_left_out;
    struct weights mean; /* mean of all rows, weighted by elapsed time */
    double elapsed_s;
};

void sums_add(struct sums *sums, const struct weights *weights, size_t vertices, double elapsed_s);

/* The text below a picture: the source, the time, the number of entities, the problems of the rows,
 * the losses and the picture's note. */
struct caption {
    char title[160]; /* "": the title is the source and the names of the vertices */
    size_t from, to; /* frames [from, to) of the timeline */
    size_t entities;
    char remark[160]; /* text after the number of entities, including its full stop */
    const struct sums *sums;
    const char *nouns[2]; /* nouns for one row and for several, such as "dot" and "dots" */
    /* How rows with a problem are marked, such as " (red rings)", or "". */
    const char *missing, *over, *left_out;
    bool has_positions; /* rows are drawn as dots */
};

/* Starts a picture, and draws the caption below `height`. `about` is the start of the picture's
 * description. Returns CAMP_OK, or CAMP_E_NOMEM before anything is written. */
int start_picture(FILE *stream, const struct picture *picture, const char *about, double width,
                  double height, const struct caption *caption);

/* Writes a time such as "14:03:05", with milliseconds unless they are 0. If `with_day` is set, the
 * date comes before the time. */
#define MOMENT_SIZE 40
void moment_text(char ret[MOMENT_SIZE], int64_t wall_clock_ns, bool with_day);

/* Writes a name and id such as "postgres 4711", or only the name if the entity is neither process
 * nor thread. If the name is empty, writes only the id, or "all" if the id is below 0. */
#define ENTITY_TEXT_SIZE (CAMP_NAME_SIZE + 24)
void entity_text(char ret[ENTITY_TEXT_SIZE], const struct entity *entity);

/* Return the colour of areas and of lines that stand for a vertex. */
const char *vertex_colour(const struct vertices *vertices, size_t vertex);
const char *vertex_line_colour(const struct vertices *vertices, size_t vertex);

/* Returns the look of an area of this colour. The pale area of idle time has an edge. */
struct svg_look area_look(const char *colour);

void colour_text(char ret[COLOUR_SIZE], uint32_t rgb);

/* The classes that are active time, in the order of views. */
#define ACTIVE_CLASSES (CLASS_COUNT - 1)
extern const enum column_class active_classes[ACTIVE_CLASSES];

/* Active time over time: neighbouring frames are added up, so that there are few columns. */
struct active_column {
    double begin, end; /* wall clock, seconds */
    double length_s;   /* length of the frames, without the gaps between them */
};

#define ACTIVE_COLUMNS_MOST 600

/* Sets ret[] to the columns of the timeline, at most `most`. Returns their number. */
size_t active_columns(const struct timeline *timeline, size_t most, struct active_column *ret);

/* Returns the column of a frame, if there are `columns`. */
size_t active_column_of(const struct timeline *timeline, size_t frame, size_t columns);

/* Returns whether more than half of a column's length is missing between it and the column before
 * it. */
bool active_is_after_gap(const struct active_column *column);

/* Computes the active time of a row, and adds the row's problems to *sums. Returns false if the row
 * has no elapsed time. */
bool active_row(const struct timeline *timeline, size_t row, struct active *ret, struct sums *sums);

/* Draws the legend of the classes that have time in `sum`, with their active time divided by
 * `length_s`. `at` is where its first row starts. */
void active_legend(FILE *stream, struct svg_point at, double width, const struct active *sum,
                   double length_s);

/* Returns the part of a name, or the value of the label `colour`, that a group of dots has in
 * common: a name without the number at its end. *ret_length is its length. */
const char *group_name_of(const struct entity *entity, int colour, size_t *ret_length);

#define DOTS_GROUPS 6

struct dot {
    struct svg_point at; /* position in the picture, px */
    double depth;        /* from 0 (nearest) to 1 (farthest); always 0 in a triangle */
    size_t row;          /* index of the dot's row in the timeline */
    struct weights weights;
    int group; /* index of the group, or -1 if the dot is in no group */
    bool is_pinned;
};

struct dots {
    struct dot *dots; /* [count], released by dots_release() */
    size_t count;
    /* The problems of all rows of the frame, also of rows without a dot. */
    struct sums sums;
    char names[DOTS_GROUPS][LABELS_VALUE_SIZE]; /* names of the groups, the largest group first */
    size_t group_count;
    int colour; /* index of the label that forms the groups, or PICTURE_COLOUR_NAME */
};

/* Makes a dot for each row of the picture's frame that has a position. `project` sets the members
 * `at` and `depth` of a dot. Returns CAMP_OK or CAMP_E_NOMEM; the caller calls dots_release() in
 * either case. */
int dots_gather(struct dots *ret, const struct picture *picture,
                void (*project)(const struct position *position, struct dot *dot));
void dots_release(struct dots *dots);

const struct entity *dots_entity(const struct picture *picture, const struct dot *dot);

/* Puts the dots into groups. Returns CAMP_OK or CAMP_E_NOMEM. */
int dots_find_groups(struct dots *dots, const struct picture *picture);

struct box {
    double left, top, right, bottom;
};

#define DOTS_WIDTH 680.0

/* Draws the dots with their rings and labels, far dots first. Dots at the same position are
 * drawn side by side. Labels stay in the picture, and avoid taken[count], the boxes of the texts
 * of axes. */
void dots_draw(FILE *stream, const struct picture *picture, struct dots *dots,
               const struct box *taken, size_t count);

void dots_legend(FILE *stream, const struct picture *picture, const struct dots *dots,
                 struct svg_point at, double width);

/* The triangle of a picture of width DOTS_WIDTH. */
#define TRIANGLE_TOP 96.0
#define TRIANGLE_HEIGHT 460.0
#define TRIANGLE_TEXTS 12

/* Returns the place of a position in the picture. */
struct svg_point triangle_point(const struct position *position);

/* Draws the triangle with its grid and the names of its three vertices. Sets ret_taken to the boxes
 * that texts cover, and returns their number. */
size_t triangle_draw(FILE *stream, const struct vertices *vertices,
                     struct box ret_taken[TRIANGLE_TEXTS]);

/* Draws paragraphs below a picture, from the base line `y` on, each ended by a newline. Returns the
 * number of lines. If `stream` is NULL, the lines are only counted. */
size_t caption_draw(FILE *stream, double y, double width, const char *caption);
#define CAPTION_LINE 15

int picture_barry3(FILE *stream, const struct picture *picture);
int picture_barry4(FILE *stream, const struct picture *picture);
int picture_barymap(FILE *stream, const struct picture *picture);
int picture_stack(FILE *stream, const struct picture *picture);
int picture_lines(FILE *stream, const struct picture *picture);
int picture_ribbon(FILE *stream, const struct picture *picture);
int picture_ranking(FILE *stream, const struct picture *picture);
