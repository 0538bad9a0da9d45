#include "compare_side.h"

#include "ledger/array.h"
#include "ledger/words.h"
#include "program/command.h"
#include "program/from_options.h"
#include "sources/from_list.h"
#include "views/frame_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TIMELINE_BYTES ((size_t)128 << 20)
#define INTERVALS_FEWEST 64 /* fewer intervals are not added up to save memory */
#define NAME_SIZE (LABELS_VALUE_SIZE > CAMP_NAME_SIZE ? LABELS_VALUE_SIZE : CAMP_NAME_SIZE)
#define LABELS_TEXT_SIZE ((size_t)LABELS_MOST * (LABELS_VALUE_SIZE + 64))

/* In camp top, a command is all processes of one name: here, these are one process. */
static const struct {
    const char *name;
    enum compare_group group;
} thread_groups[] = { { "process", COMPARE_PROCESS },
                      { "command", COMPARE_PROCESS },
                      { "thread", COMPARE_THREAD },
                      { "user", COMPARE_USER } };

int compare_side_check(const char *text, const char *query)
{
    const struct from_source *source = NULL;
    struct camp_error error = { 0 };

    if (from_source_of(text, &source, &error) != CAMP_OK)
        return complain_of(CAMP_E_INVALID, &error);
    if ((from_source_options(source, query != NULL) & WITH_SPEED) != 0)
        return OPTIONS_GO_ON;
    return complain(STATUS_USAGE,
                    "%s is measured now and has no end: record it first, with camp record --from "
                    "%s --output FILE.camp",
                    from_shown(text).text, from_shown(text).text);
}

/* Removes the options in `refused` (enum from_option). */
static void remove_options(struct from *from, uint32_t refused)
{
    from->query = (refused & WITH_QUERY) != 0 ? NULL : from->query;
    from->host = (refused & WITH_HOST) != 0 ? NULL : from->host;
    from->column = (refused & WITH_COLUMN) != 0 ? NULL : from->column;
    from->unit = (refused & WITH_UNIT) != 0 ? NULL : from->unit;
}

int compare_sides_set_options(struct compare_side sides[2], const struct from *given)
{
    const uint32_t options = from_given(given);
    const struct from_source *source = NULL;
    uint32_t refused[2];
    int r = CAMP_OK;
    struct camp_error error = { 0 };

    for (int i = 0; i < 2 && r == CAMP_OK; i++) {
        struct from *from = &sides[i].page.from.from;

        r = from_source_of(from->text, &source, &error);
        if (r != CAMP_OK)
            break;
        from->query = given->query;
        from->host = given->host;
        from->column = given->column;
        from->unit = given->unit;
        refused[i] =
            options & ~from_source_options(source, given->query != NULL &&
                                                       (source->options & WITH_QUERY) != 0);
        remove_options(from, refused[i]);
        if (i == 1 && (refused[0] & refused[1]) != 0)
            r = from_check(source, from->text, refused[0] & refused[1], &error);
    }
    return r == CAMP_OK ? OPTIONS_GO_ON : complain_of(r, &error);
}

void compare_side_allow(struct compare_side *side, const struct compare_side *other)
{
    const char *text = other->page.from.from.text;
    const struct from_source *source;
    struct from_options *options = &side->page.from;

    if (from_source_of(text, &source, NULL) != CAMP_OK)
        return;
    options->other = source->opener;
    options->sandbox.other_input = from_path(source, text, side->other_path);
}

/* Lists what --group takes: the groups of threads, and the labels. */
static int complain_of_group(const struct compare_side *side, const char *text, bool has_threads)
{
    const struct schema *schema = side->page.schema;
    char names[LABELS_TEXT_SIZE] = "";
    size_t length = 0;

    for (size_t i = 0; has_threads && i < ARRAY_COUNT(thread_groups); i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                   length > 0 ? ", " : "", thread_groups[i].name);
    for (size_t i = 0; i < schema->label_count && length < sizeof names; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                   length > 0 ? ", " : "", schema->label_names[i]);
    if (length == 0)
        return complain(STATUS_USAGE, "--group %s: %s has no labels to group by", text,
                        side->page.facts.name);
    return complain(STATUS_USAGE, "--group %s: %s can be grouped by %s", text,
                    side->page.facts.name, names);
}

static int resolve_group(struct compare_side *side, const char *text)
{
    const struct schema *schema = side->page.schema;
    const bool has_threads = strcmp(side->page.facts.kind, "threads") == 0;

    side->group = has_threads ? COMPARE_PROCESS : COMPARE_ROWS;
    side->group_name = has_threads ? "process" : NULL;
    if (text == NULL)
        return OPTIONS_GO_ON;
    for (size_t i = 0; has_threads && i < ARRAY_COUNT(thread_groups); i++) {
        if (strcmp(thread_groups[i].name, text) == 0) {
            side->group = thread_groups[i].group;
            if (side->group != COMPARE_PROCESS)
                side->group_name = thread_groups[i].name;
            return OPTIONS_GO_ON;
        }
    }
    side->label = schema_find_label(schema, text);
    if (side->label == SIZE_MAX)
        return complain_of_group(side, text, has_threads);
    side->group = COMPARE_LABEL;
    side->group_name = schema->label_names[side->label];
    return OPTIONS_GO_ON;
}

int compare_side_open(struct compare_side *side, const char *group_text)
{
    struct page_options *page = &side->page;
    int status;

    page->from.from.wants_states = true;
    status = from_options_open(&page->from, &page->source, &page->facts);
    if (status != OPTIONS_GO_ON)
        return status;
    if (page->facts.live)
        return complain(STATUS_USAGE,
                        "%s is measured now and has no end: give --begin TIME, and --end TIME",
                        page->facts.name);
    page->schema = page->source->describe(page->source);
    if (page->schema->state_count == 0)
        return complain(STATUS_USAGE, "%s has no states, so there is no time to compare",
                        page->facts.name);
    status = resolve_group(side, group_text);
    if (side->group != COMPARE_ROWS && side->group != COMPARE_THREAD)
        source_set_idle(page->source, IDLE_BY_PROCESS);
    return status;
}

/* Returns whether a label changes while a session lasts, or is a pid: sessions are not matched by
 * it. */
static bool is_of_a_moment(const char *name)
{
    static const char *const names[] = { SOURCE_LABEL_LAST_STATEMENT, SOURCE_LABEL_BLOCKER,
                                         SOURCE_LABEL_ROOT_BLOCKER, SOURCE_LABEL_BLOCKING_ACTIVITY,
                                         "leader" };
    bool ret = false;

    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        ret |= strcmp(name, names[i]) == 0;
    return ret;
}

/* Writes "user=bob, database=shop". Labels without a value are left out. */
static void put_labels(const struct schema *schema, bool are_sessions, labels_id labels,
                       char ret[LABELS_TEXT_SIZE])
{
    size_t length = 0;

    ret[0] = '\0';
    for (size_t i = 0; i < schema->label_count && length < LABELS_TEXT_SIZE; i++) {
        const char *value = labels_value(labels, i);

        if (value[0] != '\0' && !(are_sessions && is_of_a_moment(schema->label_names[i])))
            length += (size_t)snprintf(ret + length, LABELS_TEXT_SIZE - length, "%s%.40s=%s",
                                       length > 0 ? ", " : "", schema->label_names[i], value);
    }
}

/* Exited and living processes of a name are one entity. */
static void put_name(const struct compare_side *side, const struct entity *entity,
                     char ret[NAME_SIZE])
{
    const char *kind = kind_noun(side->page.facts.kind, 1);
    size_t length = strlen(entity->name);

    if ((entity->flags & ENTITY_ENDED) != 0 && ends_with(entity->name, ENTITY_ENDED_SUFFIX))
        length -= strlen(ENTITY_ENDED_SUFFIX);
    copy_text(ret, NAME_SIZE, entity->name, length);
    if ((entity->flags & ENTITY_OUTSIDE) != 0)
        snprintf(ret, NAME_SIZE, "outside");
    else if (length == 0)
        snprintf(ret, NAME_SIZE, "%s %" PRId64, kind, entity->id);
}

/* Finds the entity of a row. Returns CAMP_OK or CAMP_E_NOMEM; *ret_left_out says whether the filter
 * leaves it out. */
static int find_entity(struct compare_side *side, const struct frame *rows, size_t row, size_t *ret,
                       bool *ret_left_out)
{
    const struct entity *entity = &rows->entities[row];
    char labels[LABELS_TEXT_SIZE] = "", name[NAME_SIZE];
    const char *value;

    put_name(side, entity, name);
    if (side->group == COMPARE_ROWS)
        put_labels(rows->schema, strcmp(side->page.facts.kind, "sessions") == 0, entity->labels,
                   labels);
    if (side->group == COMPARE_USER && (entity->flags & ENTITY_OUTSIDE) == 0)
        snprintf(name, sizeof name, "%s", user_names_get(&side->users, entity->uid));
    if (side->group == COMPARE_LABEL) {
        value = labels_value(entity->labels, side->label);
        value = value[0] != '\0' ? value : "(none)";
        copy_text(name, sizeof name, value, strlen(value));
    }
    *ret_left_out = side->filter != NULL && regexec(side->filter, name, 0, NULL, 0) != 0;
    return *ret_left_out ? CAMP_OK
                         : compared_entities_enter(side->entities, name, labels, side->number, ret);
}

/* Adds up neighbouring intervals if there are many of them, or many rows. A full timeline would
 * also fold entities, and then they could not be matched: so these timelines are never full. */
static void limit_timelines(struct timeline *timeline, struct timeline *causes)
{
    const size_t row_bytes = (4 + timeline->schema->state_count) * sizeof(float);
    const bool is_large = timeline->row_count > TIMELINE_BYTES / row_bytes ||
                          causes->row_count > TIMELINE_BYTES / row_bytes;

    if (timeline->frame_count > 2 * COMPARE_INTERVALS_MOST ||
        (is_large && timeline->frame_count >= (size_t)2 * INTERVALS_FEWEST)) {
        timeline_merge(timeline, 2);
        timeline_merge(causes, 2);
    }
}

/* Adds a row of all wall time, from which the lengths of merged intervals are known. */
static int add_clock(struct compare_side *side)
{
    struct frame *renamed = &side->renamed;
    struct entity *entity = frame_add(renamed);

    if (entity == NULL)
        return CAMP_E_NOMEM;
    entity->id = COMPARE_CLOCK;
    renamed->elapsed_ns[renamed->entity_count - 1] = renamed->end_ns - renamed->start_ns;
    return CAMP_OK;
}

static int add_row(struct compare_side *side, const struct frame *rows, size_t row)
{
    struct frame *renamed = &side->renamed;
    struct entity *entity;
    bool is_left_out;
    size_t found;
    int r = find_entity(side, rows, row, &found, &is_left_out);

    if (r != CAMP_OK || is_left_out)
        return r;
    entity = frame_add_row(renamed, rows, row);
    if (entity == NULL)
        return CAMP_E_NOMEM;
    *entity = (struct entity){ .id = COMPARE_ID + (int64_t)found, .count = 1 };
    return CAMP_OK;
}

static int keep(void *context, const struct frame *frame)
{
    struct compare_side *side = context;
    const struct frame *rows = frame;
    int r = CAMP_OK;

    if (side->group == COMPARE_PROCESS) {
        r = group_frame(&side->groups, frame, &(struct grouping){ .key = GROUP_PROCESS });
        rows = &side->groups;
    }
    frame_start_as(&side->renamed, frame);
    if (r == CAMP_OK)
        r = add_clock(side);
    for (size_t i = 0; i < rows->entity_count && r == CAMP_OK; i++)
        r = add_row(side, rows, i);
    if (r == CAMP_OK)
        r = timeline_add(&side->timeline, &side->renamed);
    if (r == CAMP_OK)
        r = cause_times_add(&side->causes, side->page.source, frame, side->entities, side->states);
    limit_timelines(&side->timeline, &side->causes.timeline);
    side->intervals++;
    return r == CAMP_OK ? OPTIONS_GO_ON
                        : complain(STATUS_FAILURE, "no memory for so many intervals");
}

/* Returns whether the entities are processes by name, as the groups of causes are. */
static bool are_names(const struct compare_side *side)
{
    const char *kind = side->page.facts.kind;

    return side->group == COMPARE_PROCESS ||
           (side->group == COMPARE_ROWS &&
            (strcmp(kind, "processes") == 0 || strcmp(kind, "commands") == 0));
}

int compare_side_read(struct compare_side *side, struct compared_entities *entities,
                      struct compared_causes *causes, const struct comparison *states,
                      const regex_t *filter)
{
    struct timeline *timeline = &side->timeline;
    int status;

    side->entities = entities;
    side->filter = filter;
    frame_init(&side->groups, side->page.schema);
    frame_init(&side->renamed, side->page.schema);
    timeline_init(timeline, side->page.schema, SIZE_MAX);
    cause_times_start(&side->causes, causes);
    side->causes.is_of_other_groups = !are_names(side);
    side->states = states;
    status = page_read(&side->page, 0, keep, side);
    if (status == OPTIONS_GO_ON && timeline->frame_count > COMPARE_INTERVALS_MOST) {
        const uint64_t count =
            (timeline->frame_count + COMPARE_INTERVALS_MOST - 1) / COMPARE_INTERVALS_MOST;

        timeline_merge(timeline, count);
        timeline_merge(&side->causes.timeline, count);
    }
    return status;
}

void compare_side_release(struct compare_side *side)
{
    page_close(&side->page);
    user_names_release(&side->users);
    frame_release(&side->groups);
    frame_release(&side->renamed);
    timeline_release(&side->timeline);
    cause_times_release(&side->causes);
}
