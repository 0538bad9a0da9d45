#include "ledger/words.h"
#include "palette.h"
#include "picture_parts.h"
#include "vertex_colours.h"
#include "views/memory_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CAPTION_GLYPH 5.8 /* average width of a character of the caption, px */
#define NS_PER_S 1000000000
#define TITLE_SIZE 400

const char *const picture_names[PICTURE_KIND_COUNT + 1] = { "barry3", "barry4", "barymap", "stack",
                                                            "lines",  "ribbon", "ranking", NULL };

int picture_write(FILE *stream, enum picture_kind kind, const struct picture *picture)
{
    static int (*const draw[PICTURE_KIND_COUNT])(FILE *, const struct picture *) = {
        picture_barry3, picture_barry4, picture_barymap, picture_stack,
        picture_lines,  picture_ribbon, picture_ranking
    };

    return draw[kind](stream, picture);
}

void moment_text(char ret[MOMENT_SIZE], int64_t wall_clock_ns, bool with_day)
{
    const time_t seconds = (time_t)(wall_clock_ns / NS_PER_S);
    const int milliseconds = (int)(wall_clock_ns % NS_PER_S / 1000000);
    struct tm broken;
    size_t length;

    ret[0] = '\0';
    if (localtime_r(&seconds, &broken) == NULL)
        return;
    length = strftime(ret, MOMENT_SIZE, with_day ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", &broken);
    if (milliseconds > 0)
        snprintf(ret + length, MOMENT_SIZE - length, ".%03d", milliseconds);
}

void entity_text(char ret[ENTITY_TEXT_SIZE], const struct entity *entity)
{
    const long long id = (long long)entity->id;

    if (entity->name[0] == '\0')
        snprintf(ret, ENTITY_TEXT_SIZE, id < 0 ? "all" : "%lld", id);
    else if (entity->pid > 0 && id > 0)
        snprintf(ret, ENTITY_TEXT_SIZE, "%s %lld", entity->name, id);
    else
        snprintf(ret, ENTITY_TEXT_SIZE, "%s", entity->name);
}

const char *vertex_colour(const struct vertices *vertices, size_t vertex)
{
    const char *colours[VERTICES_MAXIMUM];

    vertices_colours(vertices, colours);
    return colours[vertex];
}

static bool is_pale(const char *colour)
{
    return strcmp(colour, palette_classes[CLASS_IDLE]) == 0;
}

const char *vertex_line_colour(const struct vertices *vertices, size_t vertex)
{
    const char *colour = vertex_colour(vertices, vertex);

    return is_pale(colour) ? PALETTE_IDLE_EDGE : colour;
}

struct svg_look area_look(const char *colour)
{
    return (struct svg_look){ .fill = colour,
                              .stroke = is_pale(colour) ? PALETTE_IDLE_EDGE : NULL,
                              .stroke_width = is_pale(colour) ? 0.8 : 0 };
}

void colour_text(char ret[COLOUR_SIZE], uint32_t rgb)
{
    snprintf(ret, COLOUR_SIZE, "#%06x", (unsigned)(rgb & 0xffffff));
}

void sums_add(struct sums *sums, const struct weights *weights, size_t vertices, double elapsed_s)
{
    double whole = 0;

    for (size_t i = 0; i < vertices; i++)
        whole += weights->shares[i];
    sums->rows++;
    sums->nowhere += !(whole > 0);
    sums->missing += weights->missing > SHOWN_UNACCOUNTED;
    sums->over += weights->over > SHOWN_UNACCOUNTED;
    sums->worst_missing = fmax(sums->worst_missing, weights->missing);
    sums->left_out += weights->left_out > SHOWN_LEFT_OUT;
    sums->worst_over = fmax(sums->worst_over, weights->over);
    sums->worst_left_out = fmax(sums->worst_left_out, weights->left_out);
    weights_add(&sums->mean, &sums->elapsed_s, weights, elapsed_s);
}

static void write_period(FILE *stream, const struct timeline *timeline, size_t from, size_t to)
{
    const int64_t begin = timeline->frames[from].begin_ns, end = timeline->frames[to - 1].end_ns;
    char text[MOMENT_SIZE];
    uint64_t merged = 0;

    for (size_t i = from; i < to; i++)
        merged += timeline->frames[i].merged;
    moment_text(text, begin, true);
    fprintf(stream, "%s to ", text);
    moment_text(text, end, end - begin >= (int64_t)86400 * NS_PER_S);
    fprintf(stream, "%s (%.4g s", text, (double)(end - begin) / NS_PER_S);
    if (merged > 1)
        fprintf(stream, ", %llu intervals", (unsigned long long)merged);
    if (merged > to - from)
        fprintf(stream, to - from == 1 ? ", their mean" : ", up to %llu added up to one",
                (unsigned long long)timeline->merging);
    fputs(")", stream);
}

static void write_unaccounted(FILE *stream, const struct caption *caption)
{
    const struct sums *sums = caption->sums;

    if (sums->missing + sums->over == 0) {
        fputs("Unaccounted: nowhere more than 0.5 % of the time.\n", stream);
        return;
    }
    fputs("Unaccounted:", stream);
    if (sums->missing > 0)
        fprintf(stream, " of %zu %s up to %.1f %% of the time is missing%s", sums->missing,
                caption->nouns[sums->missing != 1], 100 * sums->worst_missing, caption->missing);
    if (sums->over > 0)
        fprintf(stream, "%s of %zu %s up to %.1f %% was accounted twice%s",
                sums->missing > 0 ? ";" : "", sums->over, caption->nouns[sums->over != 1],
                100 * sums->worst_over, caption->over);
    fputs(".\n", stream);
}

static void write_left_out(FILE *stream, const struct vertices *vertices,
                           const struct caption *caption)
{
    const struct sums *sums = caption->sums;
    const char *gap = " (";
    size_t count = 0;

    fprintf(stream, "Left out: up to %.1f %% of the time of a row is at no vertex",
            100 * sums->worst_left_out);
    for (size_t i = 0; i < vertices->schema->state_count; i++) {
        if (vertices->of_state[i] != 0)
            continue;
        if (count++ < 6)
            fprintf(stream, "%s%s", gap, vertices->schema->columns[i].title);
        gap = ", ";
    }
    fputs(count > 6 ? ", ...)" : ")", stream);
    if (sums->left_out > 0)
        fprintf(stream, "; of %zu %s more than %.0f %%%s", sums->left_out,
                caption->nouns[sums->left_out != 1], 100 * SHOWN_LEFT_OUT, caption->left_out);
    fputs(".\n", stream);
}

static void write_losses(FILE *stream, const struct timeline *timeline, size_t from, size_t to)
{
    struct losses all = { 0 };

    for (size_t i = from; i < to; i++) {
        const struct losses *losses = &timeline->frames[i].losses;

        all.unseen += losses->unseen;
        all.lost += losses->lost;
        all.partial += losses->partial;
    }
    if (all.unseen + all.lost + all.partial > 0)
        fprintf(stream, "Not seen: %llu unseen, %llu lost, %llu partial.\n",
                (unsigned long long)all.unseen, (unsigned long long)all.lost,
                (unsigned long long)all.partial);
}

/* Writes the name of the source and its origin. The name of a table already ends with its
 * origin. */
static void write_source(FILE *stream, const char *about, const struct picture *picture)
{
    char origin[256];

    snprintf(origin, sizeof origin, " (%s)", picture->origin);
    fprintf(stream, "%s\nSource %s%s, ", about, picture->source,
            ends_with(picture->source, origin) ? "" : origin);
}

/* Returns the description of the picture: the paragraph `about`, and the paragraphs of the caption,
 * each ended by a newline. The caller frees the text. Returns NULL if there is no memory. */
static char *describe(const struct picture *picture, const char *about,
                      const struct caption *caption)
{
    const struct sums *sums = caption->sums;
    struct memory_text text;
    FILE *stream;

    if (!memory_text_open(&text))
        return NULL;
    stream = text.stream;
    write_source(stream, about, picture);
    write_period(stream, picture->timeline, caption->from, caption->to);
    fprintf(stream, ": %zu %s%s\n", caption->entities,
            noun_of(caption->entities, "entity", "entities"), caption->remark);
    if (picture->only[0] != '\0')
        fprintf(stream, "Only entities whose %s are shown.\n", picture->only);
    write_unaccounted(stream, caption);
    if (sums->worst_left_out > 0)
        write_left_out(stream, picture->vertices, caption);
    if (caption->has_positions && (sums->worst_left_out > 0 || sums->missing + sums->over > 0))
        fputs("Where the shares do not add up to 100 %, a dot stands by their proportions.\n",
              stream);
    if (caption->has_positions && sums->nowhere > 0)
        fprintf(stream, "%zu more have no time at any vertex, and no dot.\n", sums->nowhere);
    write_losses(stream, picture->timeline, caption->from, caption->to);
    if (picture->note[0] != '\0')
        fprintf(stream, "%s\n", picture->note);
    memory_text_close(&text);
    return text.text;
}

/* Returns the length of the next line in bytes. A line has at most `most` characters, and ends at a
 * blank if possible. */
static size_t line_length(const char *text, size_t most)
{
    const size_t whole = strcspn(text, "\n");
    const size_t fits = svg_text_fit(text, 1, 0.6 * (double)(most - 1) + 0.3);
    size_t length = fits;

    if (whole <= fits)
        return whole;
    while (length > 0 && text[length] != ' ')
        length--;
    return length > 0 ? length : fits;
}

size_t caption_draw(FILE *stream, double y, double width, const char *caption)
{
    const size_t most = (size_t)((width - 2 * MARGIN) / CAPTION_GLYPH);
    size_t lines = 0;

    while (*caption != '\0') {
        const size_t length = line_length(caption, most);
        char line[1024];

        snprintf(line, sizeof line, "%.*s", (int)length, caption);
        if (stream != NULL)
            svg_text(stream, (struct svg_point){ MARGIN, y + CAPTION_LINE * (double)lines },
                     SVG_START, SVG_NOTE, line);
        lines++;
        caption += length;
        caption += *caption == ' ' || *caption == '\n';
    }
    return lines;
}

int start_picture(FILE *stream, const struct picture *picture, const char *about, double width,
                  double height, const struct caption *caption)
{
    const struct vertices *vertices = picture->vertices;
    char *description = describe(picture, about, caption);
    const char *text = description != NULL ? description + strlen(about) + 1 : "";
    const double caption_height = CAPTION_LINE * (double)caption_draw(NULL, 0, width, text);
    char title[TITLE_SIZE];
    int length = snprintf(title, sizeof title, "%.120s",
                          caption->title[0] != '\0' ? caption->title : picture->source);

    for (size_t i = 0; caption->title[0] == '\0' && i < vertices->count; i++)
        length += snprintf(title + length, sizeof title - (size_t)length, "%s%s",
                           i == 0 ? ": " : ", ", vertices->names[i]);
    if (description != NULL) {
        svg_start(stream, width, height + caption_height + MARGIN, title, description);
        caption_draw(stream, height + CAPTION_LINE, width, text);
    }
    free(description);
    return description != NULL ? CAMP_OK : CAMP_E_NOMEM;
}
