#include "report_picture.h"

#include "counters/units.h"
#include "ledger/axes.h"
#include "ledger/timeline.h"
#include "ledger/words.h"
#include "program/command.h"
#include "program/from_options.h"
#include "program/option_values.h"
#include "views/pictures/picture.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TIMELINE_BYTES ((size_t)256 << 20)

const char *const report_picture_kinds[] = { "barry3", "barry4",          "barymap",       "stack",
                                             "lines",  "error-over-time", "error-by-load", NULL };
const char *const report_picture_overs[] = { "time", "entities", NULL };

/* One picture in progress. */
struct work {
    const struct report_picture *options;
    const struct from_facts *facts;
    struct timeline timeline;
    struct frame chosen; /* --only: those rows of a frame */
    struct axes axes;
    bool *pinned; /* [timeline.registry.count] */
    int colour;   /* of struct picture */
    regex_t only, pin;
};

static bool shows_one_frame(const struct report_picture *options)
{
    return options->kind == PICTURE_BARRY3 || options->kind == PICTURE_BARRY4 ||
           (options->kind == PICTURE_STACK && options->over == 1);
}

static int check_pattern(const char *option, const char *text)
{
    char message[256];
    regex_t pattern;
    int r;

    if (text == NULL)
        return OPTIONS_GO_ON;
    r = regcomp(&pattern, text, REG_EXTENDED | REG_NOSUB);
    if (r == 0) {
        regfree(&pattern);
        return OPTIONS_GO_ON;
    }
    regerror(r, &pattern, message, sizeof message);
    return complain(STATUS_USAGE, "--%s %s: is no regular expression: %s", option, text, message);
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
    int status;

    if (options->output == NULL)
        return complain(STATUS_USAGE, "--picture takes --output, a file that ends with .svg, .png "
                                      "or .pdf");
    if (options->at != NULL && !shows_one_frame(options))
        return complain(STATUS_USAGE, "--at goes with barry3, barry4 and stack --over entities; "
                                      "--begin and --end say which time the others show");
    if (options->colour != NULL && options->kind != PICTURE_BARRY3 &&
        options->kind != PICTURE_BARRY4)
        return complain(STATUS_USAGE, "--color-by goes with barry3 and barry4");
    if (options->over == 1 && options->kind != PICTURE_STACK)
        return complain(STATUS_USAGE, "--over entities goes with --picture stack");
    status = check_pattern("only", options->only);
    if (status == OPTIONS_GO_ON)
        status = check_pattern("pin", options->pin);
    return status == OPTIONS_GO_ON ? picture_file_check(options->output) : status;
}

/* Three for barry3, four for barry4; for the others as given. */
static size_t vertices_wanted(const struct report_picture *options)
{
    if (options->kind == PICTURE_BARRY4)
        return 4;
    return options->kind != PICTURE_BARRY3 && options->axes_4 != NULL ? 4 : 3;
}

static int set_axes(struct work *work, const struct schema *schema)
{
    const size_t count = vertices_wanted(work->options);
    const char *option = count == 4 ? "axes4" : "axes";
    const char *text = count == 4 ? work->options->axes_4 : work->options->axes;
    struct axes_fault fault;

    if (text == NULL && axes_default(&work->axes, schema, count))
        return STATUS_OK;
    if (text == NULL)
        return complain(STATUS_USAGE, "%s has %zu %s, too few for %zu vertices", work->facts->name,
                        schema->state_count, noun_of(schema->state_count, "state", "states"),
                        count);
    if (!axes_parse(&work->axes, schema, text, &fault))
        return complain(STATUS_USAGE, "--%s: %s: '%s'", option, fault.problem, fault.word);
    if (work->axes.vertices.count != count)
        return complain(STATUS_USAGE, "--%s takes %zu vertices here, not %zu", option, count,
                        work->axes.vertices.count);
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

/* The rows with matching names. */
static int choose(struct work *work, const struct frame *frame)
{
    const size_t columns = frame->schema->column_count;

    frame_clear(&work->chosen);
    work->chosen.start_ns = frame->start_ns;
    work->chosen.end_ns = frame->end_ns;
    work->chosen.wall_clock_ns = frame->wall_clock_ns;
    work->chosen.losses = frame->losses;
    for (size_t i = 0; i < frame->entity_count; i++) {
        struct entity *entity;

        if (regexec(&work->only, frame->entities[i].name, 0, NULL, 0) != 0)
            continue;
        entity = frame_add(&work->chosen);
        if (entity == NULL)
            return CAMP_E_NOMEM;
        *entity = frame->entities[i];
        work->chosen.elapsed_ns[work->chosen.entity_count - 1] = frame->elapsed_ns[i];
        memcpy(frame_values(&work->chosen, work->chosen.entity_count - 1), frame_values(frame, i),
               columns * sizeof(uint64_t));
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
        return complain(STATUS_FAILURE, "%s has no name that --only asks for", work->facts->name);
    return status;
}

#define MINUTE_NS (60 * (int64_t)NS_PER_S)

static void put_time(int64_t time_ns, char *ret, size_t capacity)
{
    const time_t seconds = (time_t)(time_ns / (int64_t)NS_PER_S);
    struct tm local;

    strftime(ret, capacity, "%Y-%m-%dT%H:%M:%S", localtime_r(&seconds, &local));
}

/* Is a time within the frames read? Or in the minute of their start, as with --begin. */
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

static int choose_frame(struct work *work, size_t *ret)
{
    struct timeline *timeline = &work->timeline;
    const char *at = work->options->at;
    int64_t time_ns;

    if (at != NULL && strcmp(at, "mean") == 0) {
        timeline_merge(timeline, 0);
        *ret = 0;
    } else if (at == NULL || strcmp(at, "last") == 0) {
        *ret = timeline->frame_count - 1;
    } else if (from_time_parse(at, FROM_BEGIN, timeline->frames[0].begin_ns,
                               timeline->frames[timeline->frame_count - 1].end_ns, &time_ns)) {
        *ret = timeline_find(timeline, time_ns);
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

/* To memory first: the file is created only for a whole picture. */
static int draw(const struct work *work, size_t frame)
{
    char host[65] = "", origin[sizeof host + 64];
    const struct picture picture = {
        .timeline = (struct timeline *)&work->timeline,
        .vertices = &work->axes.vertices,
        .source = work->facts->name,
        .origin = origin,
        .note = work->facts->note,
        .frame = frame,
        .over_entities = work->options->over == 1,
        .pinned = work->pinned,
        .colour = work->colour,
    };
    char *svg = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&svg, &length);
    int status = STATUS_FAILURE;
    bool whole;

    gethostname(host, sizeof host - 1);
    snprintf(origin, sizeof origin, work->facts->live ? "%s, %s" : "%s", work->facts->tier, host);
    if (stream == NULL)
        return complain(status, "no memory for the picture");
    whole = picture_write(stream, (enum picture_kind)work->options->kind, &picture) == CAMP_OK;
    if (fclose(stream) == 0 && whole)
        status = picture_file_write(work->options->output, svg, length);
    else
        complain(status, "no memory for the picture");
    free(svg);
    return status;
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
    size_t frame = 0;
    int status;

    frame_init(&work.chosen, schema);
    timeline_init(&work.timeline, schema, TIMELINE_BYTES);
    if (options->only != NULL) /* report_picture_check() has compiled them */
        regcomp(&work.only, options->only, REG_EXTENDED | REG_NOSUB);
    if (options->pin != NULL)
        regcomp(&work.pin, options->pin, REG_EXTENDED | REG_NOSUB);
    status = set_axes(&work, schema);
    if (status == STATUS_OK)
        status = set_colour(&work, schema);
    if (status == STATUS_OK)
        status = read_frames(&work, page);
    if (status == OPTIONS_GO_ON)
        status = choose_frame(&work, &frame);
    if (status == STATUS_OK)
        status = find_pinned(&work);
    if (status == STATUS_OK)
        status = draw(&work, frame);
    release(&work);
    return status;
}
