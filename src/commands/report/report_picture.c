#include "report_picture.h"

#include "counters/units.h"
#include "ledger/array.h"
#include "ledger/axes.h"
#include "ledger/index.h"
#include "ledger/registry.h"
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
    struct frame chosen; /* the rows of a frame that --only selects, or that are divided */
    struct axes axes;
    size_t frame; /* the index of the shown frame in the timeline, for a picture of one frame */
    bool *pinned; /* [timeline.registry.count] */
    int colour;   /* a label's index, or enum picture_colour */
    size_t cpus;
    regex_t only, pin;
    const regex_t *chooses; /* `only`, or NULL if all entities are shown */
    int only_label;         /* index of the label that --only compares, or -1 for the name */
    char only_text[160];    /* for struct picture */
    struct registry whole;  /* the entities of the last frame, as the source has them */
    size_t repeated;        /* for struct picture */
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

const char *report_picture_division(const struct report_picture *options)
{
    static const char *const labels[] = { SOURCE_LABEL_STATEMENT, SOURCE_LABEL_WAIT_EVENT };
    const char *const colour = options->colour != NULL ? options->colour : "";
    const char *const only = options->only != NULL ? options->only : "";

    for (size_t i = 0; i < ARRAY_COUNT(labels) && options->kind == PICTURE_RIBBON; i++) {
        const size_t length = strlen(labels[i]);

        if (strcmp(colour, labels[i]) == 0 ||
            (strncmp(only, labels[i], length) == 0 && only[length] == '='))
            return labels[i];
    }
    return NULL;
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

/* Returns the expression of --only, and sets *ret_label to the index of the label whose values it
 * is for, or to -1 if it is for names. */
static const char *only_pattern(const char *only, const struct schema *schema, int *ret_label)
{
    *ret_label = -1;
    for (size_t i = 0; i < schema->label_count; i++) {
        const size_t length = strlen(schema->label_names[i]);

        if (strncmp(only, schema->label_names[i], length) == 0 && only[length] == '=') {
            *ret_label = (int)i;
            return only + length + 1;
        }
    }
    return only;
}

static int set_only(struct work *work, const struct schema *schema)
{
    const char *only = work->options->only;
    int status;

    if (only == NULL)
        return STATUS_OK;
    only = only_pattern(only, schema, &work->only_label);
    snprintf(work->only_text, sizeof work->only_text, "%.60s matches %.80s",
             work->only_label >= 0 ? schema->label_names[work->only_label] : "name", only);
    status = pattern_compile("only", only, &work->only, &work->chooses);
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}

static bool is_chosen(const struct work *work, const struct entity *entity)
{
    const char *text = work->only_label < 0
                           ? entity->name
                           : labels_value(entity->labels, (size_t)work->only_label);

    return work->chooses == NULL || regexec(work->chooses, text, 0, NULL, 0) == 0;
}

static bool divides(const struct work *work)
{
    return work->options->kind == PICTURE_RIBBON && work->colour >= 0;
}

/* Returns an id of an entity with a value, which is not 0. */
static int64_t id_with(const struct entity *entity, const char *value)
{
    static const uint64_t of_names[2] = { 0 };
    const uint64_t id = entity->id != 0
                            ? (uint64_t)entity->id
                            : index_siphash(of_names, entity->name, strlen(entity->name));

    return (int64_t)(index_siphash((const uint64_t[]){ id, 1 }, value, strlen(value)) | 1);
}

/* Makes an entity one of the timeline for each value of the label of --color-by, because the
 * timeline only has the last labels of each entity. */
static int divide(struct work *work, struct entity *entity)
{
    const char *value = labels_value(entity->labels, (size_t)work->colour);
    enum registry_match match;
    uint32_t number;

    if (registry_enter(&work->whole, entity, &number, &match) != CAMP_OK)
        return CAMP_E_NOMEM;
    entity->id = id_with(entity, value);
    if (match != REGISTRY_NEW && registry_find(&work->timeline.registry, entity) == REGISTRY_NONE)
        work->repeated++;
    return CAMP_OK;
}

static int choose(struct work *work, const struct frame *frame)
{
    int r = CAMP_OK;

    frame_start_as(&work->chosen, frame);
    registry_start_frame(&work->whole);
    for (size_t i = 0; i < frame->entity_count && r == CAMP_OK; i++) {
        struct entity *entity;

        if (!is_chosen(work, &frame->entities[i]))
            continue;
        entity = frame_add_row(&work->chosen, frame, i);
        if (entity == NULL)
            r = CAMP_E_NOMEM;
        else if (divides(work))
            r = divide(work, entity);
    }
    registry_expire(&work->whole, work->whole.frames);
    return r;
}

static int keep(void *context, const struct frame *frame)
{
    struct work *work = context;
    int r = CAMP_OK;

    if (work->chooses != NULL || divides(work)) {
        r = choose(work, frame);
        frame = &work->chosen;
    }
    if (r == CAMP_OK)
        r = timeline_add(&work->timeline, frame);
    return r == CAMP_OK ? OPTIONS_GO_ON : complain(STATUS_FAILURE, "no memory for so many frames");
}

static int read_frames(struct work *work, struct page_options *page)
{
    const struct schema *schema = work->timeline.schema;
    const int status = page_read(page, work->options->count, keep, work);

    if (status == OPTIONS_GO_ON && work->timeline.registry.count == 0 &&
        work->options->only != NULL)
        return complain(STATUS_FAILURE, "%s has no %s that matches --only", work->facts->name,
                        work->only_label >= 0 ? schema->label_names[work->only_label] : "name");
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
        .only = work->only_text,
        .cpus = work->cpus,
        .repeated = work->repeated,
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
    if (work->chooses != NULL)
        regfree(&work->only);
    if (work->options->pin != NULL)
        regfree(&work->pin);
    free(work->pinned);
    frame_release(&work->chosen);
    registry_release(&work->whole);
    timeline_release(&work->timeline);
}

int report_picture(const struct report_picture *options, struct page_options *page)
{
    const struct schema *schema = page->source->describe(page->source);
    struct work work = { .options = options, .facts = &page->facts };
    int status;

    timeline_init(&work.timeline, schema, TIMELINE_BYTES);
    source_set_division(page->source, report_picture_division(options));
    if (options->pin != NULL) /* report_picture_check() has checked it. */
        regcomp(&work.pin, options->pin, REG_EXTENDED | REG_NOSUB);
    status = set_axes(&work, schema, page);
    if (status == STATUS_OK)
        status = set_only(&work, schema);
    if (status == STATUS_OK)
        status = set_colour(&work, schema);
    if (status == STATUS_OK)
        status = read_frames(&work, page);
    if (status == OPTIONS_GO_ON)
        status = choose_frame(&work);
    work.cpus =
        frame_cpu_count(source_beside(page->source), page->facts.cpus + page->facts.server_cpus);
    if (status == STATUS_OK)
        status = find_pinned(&work);
    if (status == STATUS_OK)
        status = picture_file_draw(options->output, draw, &work);
    release(&work);
    return status;
}
