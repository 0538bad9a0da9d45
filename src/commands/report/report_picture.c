#include "report_picture.h"

#include "counters/units.h"
#include "ledger/axes.h"
#include "ledger/timeline.h"
#include "ledger/words.h"
#include "program/command.h"
#include "program/from_options.h"
#include "program/option_values.h"
#include "program/process_selection.h"
#include "views/frame_notes.h"
#include "views/pictures/picture.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TIMELINE_BYTES ((size_t)256 << 20)

/* The kinds of enum picture_kind, and the pictures of errors (report.c). */
const char *const report_picture_kinds[] = { "barry3",  "barry4",          "barymap",
                                             "stack",   "lines",           "ribbon",
                                             "ranking", "error-over-time", "error-by-load",
                                             NULL };
const char *const report_picture_overs[] = { "time", "entities", NULL };

struct work {
    const struct report_picture *options;
    const struct from_facts *facts;
    struct timeline timeline;
    struct frame chosen; /* the rows of a frame that --only selects */
    struct axes axes;
    size_t frame; /* the index of the shown frame in the timeline, for a picture of one frame */
    bool *pinned; /* [timeline.registry.count] */
    int colour;   /* a label's index, or enum picture_colour */
    size_t cpus;
    regex_t only, pin;
};

static int check_pattern(const char *option, const char *text)
{
    regex_t pattern;
    const regex_t *used;
    const int status = pattern_compile(option, text, &pattern, &used);

    if (used != NULL)
        regfree(&pattern);
    return status;
}

int report_picture_refuse(const char *output)
{
    const struct option_spec spec = { .type = OPTION_CHOICE, .choices = report_picture_kinds };
    char kinds[200];

    option_describe(&spec, kinds, sizeof kinds);
    return complain(STATUS_USAGE,
                    "--output %s: a page ends with .html; a picture takes --picture KIND, %s",
                    output, kinds);
}

int report_picture_check(const struct report_picture *options)
{
    int status = check_pattern("only", options->only);

    if (status == OPTIONS_GO_ON)
        status = check_pattern("pin", options->pin);
    return status == OPTIONS_GO_ON ? picture_file_check(options->output) : status;
}

static size_t vertices_wanted(const struct report_picture *options, const struct page_options *page)
{
    if (options->kind == PICTURE_BARRY4)
        return 4;
    return options->kind != PICTURE_BARRY3 && page->axes4_text != NULL ? 4 : 3;
}

static bool has_vertices(const struct report_picture *options)
{
    return options->kind != PICTURE_RIBBON && options->kind != PICTURE_RANKING;
}

static int set_axes(struct work *work, const struct schema *schema, const struct page_options *page)
{
    const size_t count = vertices_wanted(work->options, page);
    const char *text = count == 4 ? page->axes4_text : page->axes3_text;
    const struct axes *used;
    int status;

    if (!has_vertices(work->options))
        return STATUS_OK;
    status = page_resolve_axes(text, schema, count, &work->axes, &used);
    if (status != OPTIONS_GO_ON)
        return status;
    if (used == NULL)
        return complain(STATUS_USAGE, "%s has %zu %s, too few for %zu vertices", work->facts->name,
                        schema->state_count, noun_of(schema->state_count, "state", "states"),
                        count);
    return STATUS_OK;
}

static int set_colour(struct work *work, const struct schema *schema)
{
    const char *colour = work->options->colour;
    size_t label;
    int status;

    work->colour = colour == NULL ? PICTURE_COLOUR_USUAL : PICTURE_COLOUR_NAME;
    if (colour == NULL || strcmp(colour, "name") == 0)
        return STATUS_OK;
    status = from_label_index("color-by", colour, schema, work->facts, &label);
    work->colour = (int)label;
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}

static int choose(struct work *work, const struct frame *frame)
{
    frame_start_as(&work->chosen, frame);
    for (size_t i = 0; i < frame->entity_count; i++) {
        if (regexec(&work->only, frame->entities[i].name, 0, NULL, 0) == 0 &&
            frame_add_row(&work->chosen, frame, i) == NULL)
            return CAMP_E_NOMEM;
    }
    return CAMP_OK;
}

static int keep(void *context, const struct frame *frame)
{
    struct work *work = context;
    int r = CAMP_OK;

    if (work->options->only != NULL) {
        r = choose(work, frame);
        frame = &work->chosen;
    }
    if (r == CAMP_OK)
        r = timeline_add(&work->timeline, frame);
    return r == CAMP_OK ? OPTIONS_GO_ON : complain(STATUS_FAILURE, "no memory for so many frames");
}

static int read_frames(struct work *work, struct page_options *page)
{
    const int status = page_read(page, work->options->count, keep, work);

    if (status == OPTIONS_GO_ON && work->timeline.registry.count == 0 &&
        work->options->only != NULL)
        return complain(STATUS_FAILURE, "%s has no name that matches --only", work->facts->name);
    return status;
}

#define MINUTE_NS (60 * (int64_t)NS_PER_S)

static void put_time(int64_t time_ns, char *ret, size_t capacity)
{
    const time_t seconds = (time_t)(time_ns / (int64_t)NS_PER_S);
    struct tm local;

    strftime(ret, capacity, "%Y-%m-%dT%H:%M:%S", localtime_r(&seconds, &local));
}

/* Checks that a time is within the frames that were read. The start of the minute in which the
 * first frame begins is also accepted, because --begin accepts it. */
static int check_in_range(const struct work *work, int64_t time_ns)
{
    const struct timeline *timeline = &work->timeline;
    const int64_t begin_ns = timeline->frames[0].begin_ns;
    const int64_t end_ns = timeline->frames[timeline->frame_count - 1].end_ns;
    char begin[32], end[32];

    if (time_ns <= end_ns && (time_ns >= begin_ns || time_ns == begin_ns - begin_ns % MINUTE_NS))
        return STATUS_OK;
    put_time(begin_ns, begin, sizeof begin);
    put_time(end_ns, end, sizeof end);
    return complain(STATUS_USAGE, "--at %s: %s goes from %s to %s", work->options->at,
                    work->facts->name, begin, end);
}

static int choose_frame(struct work *work)
{
    struct timeline *timeline = &work->timeline;
    const char *at = work->options->at;
    int64_t time_ns;

    if (at != NULL && strcmp(at, "mean") == 0) {
        timeline_merge(timeline, 0);
        work->frame = 0;
    } else if (at == NULL || strcmp(at, "last") == 0) {
        work->frame = timeline->frame_count - 1;
    } else if (from_time_parse(at, FROM_BEGIN, timeline->frames[0].begin_ns,
                               timeline->frames[timeline->frame_count - 1].end_ns, &time_ns)) {
        work->frame = timeline_find(timeline, time_ns);
        return check_in_range(work, time_ns);
    } else {
        return complain(STATUS_USAGE, "--at %s: takes last, mean, or a time as --begin", at);
    }
    return STATUS_OK;
}

static int find_pinned(struct work *work)
{
    const struct registry *registry = &work->timeline.registry;

    work->pinned = calloc(registry->count + 1, sizeof *work->pinned);
    if (work->pinned == NULL)
        return complain(STATUS_FAILURE, "no memory");
    for (size_t i = 0; work->options->pin != NULL && i < registry->count; i++)
        work->pinned[i] = regexec(&work->pin, registry->entities[i].entity.name, 0, NULL, 0) == 0;
    return STATUS_OK;
}

/* Returns what the rows are, in the plural. */
static const char *kind_of(const struct work *work)
{
    const char *kind = work->facts->kind;

    return kind_noun(kind[0] != '\0' ? kind : work->timeline.schema->name, 2);
}

static int draw(void *context, FILE *stream)
{
    const struct work *work = context;
    char host[65] = "", origin[sizeof host + 64];
    const struct picture picture = {
        .timeline = (struct timeline *)&work->timeline,
        .vertices = has_vertices(work->options) ? &work->axes.vertices : NULL,
        .source = work->facts->name,
        .origin = origin,
        .note = work->facts->note,
        .kind = kind_of(work),
        .cpus = work->cpus,
        .frame = work->frame,
        .over_entities = work->options->over == 1,
        .pinned = work->pinned,
        .colour = work->colour,
    };

    gethostname(host, sizeof host - 1);
    snprintf(origin, sizeof origin, work->facts->live ? "%s, %s" : "%s", work->facts->tier, host);
    return picture_write(stream, (enum picture_kind)work->options->kind, &picture);
}

static void release(struct work *work)
{
    if (work->options->only != NULL)
        regfree(&work->only);
    if (work->options->pin != NULL)
        regfree(&work->pin);
    free(work->pinned);
    frame_release(&work->chosen);
    timeline_release(&work->timeline);
}

int report_picture(const struct report_picture *options, struct page_options *page)
{
    const struct schema *schema = page->source->describe(page->source);
    struct work work = { .options = options, .facts = &page->facts };
    int status;

    timeline_init(&work.timeline, schema, TIMELINE_BYTES);
    if (options->only != NULL) /* report_picture_check() has checked both expressions. */
        regcomp(&work.only, options->only, REG_EXTENDED | REG_NOSUB);
    if (options->pin != NULL)
        regcomp(&work.pin, options->pin, REG_EXTENDED | REG_NOSUB);
    status = set_axes(&work, schema, page);
    if (status == STATUS_OK)
        status = set_colour(&work, schema);
    if (status == STATUS_OK)
        status = read_frames(&work, page);
    if (status == OPTIONS_GO_ON)
        status = choose_frame(&work);
    work.cpus = frame_cpu_count(source_beside(page->source), page->facts.cpus);
    if (status == STATUS_OK)
        status = find_pinned(&work);
    if (status == STATUS_OK)
        status = picture_file_draw(options->output, draw, &work);
    release(&work);
    return status;
}
