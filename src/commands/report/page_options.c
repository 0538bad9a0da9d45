#include "page_options.h"

#include "program/command.h"
#include "views/frame_notes.h"

#include <stdio.h>
#include <unistd.h>

void page_options_init(struct page_options *options)
{
    *options = (struct page_options){ 0 };
    from_options_init(&options->from);
}

static void list_states(const struct schema *schema, char *ret, size_t capacity)
{
    size_t length = 0;

    ret[0] = '\0';
    for (size_t i = 0; i < schema->state_count && length < capacity; i++) {
        const int written = snprintf(ret + length, capacity - length, "%s%s", i > 0 ? ", " : "",
                                     schema->columns[i].title);

        length += written > 0 ? (size_t)written : 0;
    }
}

static int complain_of_axes(const char *option, const struct schema *schema,
                            const struct axes_fault *fault)
{
    char states[512];

    list_states(schema, states, sizeof states);
    return complain(STATUS_USAGE, "--%s: %s: '%s'; the states are %s", option, fault->problem,
                    fault->word, states);
}

int page_resolve_axes(const char *text, const struct schema *schema, size_t count, struct axes *ret,
                      const struct axes **ret_used)
{
    const char *option = count == 4 ? "axes4" : "axes";
    struct axes_fault fault;

    *ret_used = ret;
    if (text == NULL) {
        if (!axes_default(ret, schema, count))
            *ret_used = NULL;
        return OPTIONS_GO_ON;
    }
    if (!axes_parse(ret, schema, text, &fault))
        return complain_of_axes(option, schema, &fault);
    if (ret->vertices.count != count)
        return complain(STATUS_USAGE, "--%s takes %zu vertices, not %zu", option, count,
                        ret->vertices.count);
    return OPTIONS_GO_ON;
}

static void resolve_facts(struct page_options *options)
{
    const struct from_facts *facts = &options->facts;

    if (gethostname(options->host, sizeof options->host - 1) != 0)
        options->host[0] = '\0';
    options->stream.title = options->title != NULL ? options->title : "";
    options->stream.source = facts->name;
    options->stream.tier = facts->tier;
    options->stream.note = facts->note;
    options->stream.kind =
        kind_noun(facts->kind[0] != '\0' ? facts->kind : options->schema->name, 2);
    options->stream.from = facts->from;
    options->stream.below = facts->below;
    options->stream.host = options->host;
    options->stream.live = facts->live;
    if (facts->has_causes) {
        page_causes_words(options->causes_words);
        options->stream.causes = options->causes_words;
    }
    options->stream.has_blockers = page_blockers_are_known(options->schema);
    options->stream.interval_ns = facts->live ? options->interval_ns : facts->interval_ns;
    options->stream.frames = facts->frames;
}

int page_open(struct page_options *options)
{
    int status;

    options->from.from.wants_states = true;
    options->from.from.causes = options->why;
    from_options_interval(&options->from, &options->interval_ns);
    status = from_options_open(&options->from, &options->source, &options->facts);
    if (status != OPTIONS_GO_ON)
        return status;
    if (options->why && !options->facts.has_causes)
        return complain(STATUS_FAILURE,
                        "%s has no causes of waits: record them with camp record --why",
                        options->facts.name);
    options->schema = options->source->describe(options->source);
    if (options->schema->state_count > STREAM_STATES_MAXIMUM)
        return complain(STATUS_FAILURE, "the page shows %d states at most; %s has %zu",
                        STREAM_STATES_MAXIMUM, options->facts.name, options->schema->state_count);
    resolve_facts(options);
    status = page_resolve_axes(options->axes3_text, options->schema, 3, &options->axes3,
                               &options->stream.axes3);
    if (status == OPTIONS_GO_ON)
        status = page_resolve_axes(options->axes4_text, options->schema, 4, &options->axes4,
                                   &options->stream.axes4);
    options->intervals.length_ns = options->interval_ns;
    return status;
}

void page_close(struct page_options *options)
{
    progress_clear(&options->from.progress);
    source_close(options->source);
    options->source = NULL;
    bytes_release(&options->causes);
    blocker_tree_release(&options->blockers);
}

struct shared_cpus page_cpus(const struct page_options *options, const struct frame *frame)
{
    struct shared_cpus cpus =
        shared_cpus_of(source_beside(options->source), frame, options->facts.cpus);

    if (cpus.count == 0 && options->facts.server_cpus > 0)
        cpus = (struct shared_cpus){ .count = options->facts.server_cpus, .has_others = true };
    return cpus;
}

const struct bytes *page_causes(const struct page_options *options)
{
    return options->causes.size > 0 ? &options->causes : NULL;
}

int page_next(struct page_options *options, const struct frame **ret_frame)
{
    struct camp_error error = { 0 };
    int r;

    r = options->source->next(options->source, options->intervals.deadline_ns, ret_frame, &error);
    if (r != CAMP_OK)
        progress_clear(&options->from.progress);
    if (r == CAMP_OK && options->facts.has_causes)
        r = page_causes_read(&options->causes, options->source);
    else if (r == CAMP_OK && options->stream.has_blockers)
        r = page_blockers_read(&options->causes, &options->blockers, *ret_frame,
                               options->from.from.queries);
    if (r == CAMP_OK)
        from_options_note(&options->from, *ret_frame);
    if (r == SOURCE_END)
        *ret_frame = NULL;
    else if (r != CAMP_OK)
        return complain_of(r, &error);
    return OPTIONS_GO_ON;
}

int page_read(struct page_options *options, uint64_t count,
              int (*use)(void *context, const struct frame *frame), void *context)
{
    int status = OPTIONS_GO_ON;

    options->frames = 0;
    options->status = OPTIONS_GO_ON;
    options->intervals = (struct intervals){ .length_ns = options->interval_ns,
                                             .count = options->facts.live ? count : 0 };
    while (status == OPTIONS_GO_ON && next_interval(&options->intervals)) {
        const struct frame *frame;

        options->status = page_next(options, &frame);
        if (options->status != OPTIONS_GO_ON || frame == NULL)
            break;
        status = use(context, frame);
        options->frames++;
    }
    progress_clear(&options->from.progress);
    if (status != OPTIONS_GO_ON || options->frames > 0)
        return status;
    if (options->status != OPTIONS_GO_ON)
        return options->status;
    return complain(STATUS_FAILURE,
                    stop_requested ? "%s: stopped before its first interval"
                                   : "%s has no interval in that time: nothing to show",
                    options->facts.name);
}
