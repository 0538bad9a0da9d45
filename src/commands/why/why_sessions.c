#include "why_sessions.h"

#include "counters/units.h"
#include "program/command.h"
#include "program/intervals.h"
#include "program/output_part.h"
#include "sources/from_list.h"
#include "why_blockers.h"

#include <stdio.h>
#include <string.h>

struct shown {
    const struct why_sessions *sessions;
    struct blocker_tree tree;
    struct document document;
    uint64_t read, records; /* intervals of the source, and shown ones */
    bool has_subject;       /* a session of the operand was there */
    int64_t wall_clock_ns;
    char note[FRAME_NOTE_SIZE];
};

bool why_sessions_is_database(const char *from)
{
    const struct from_source *source = from != NULL ? from_source_find(from) : NULL;

    return source != NULL && (source->opener == OPENS_POSTGRES || source->opener == OPENS_MARIADB);
}

/* Returns whether a session is the operand: its pid, its application or its name. */
static bool is_subject(const void *context, const struct blocker_session *session)
{
    const struct why_sessions *sessions = context;

    if (sessions->pid != 0)
        return (session->id & ENTITY_NUMBER_MASK) == sessions->pid;
    return strcmp(session->application, sessions->subject) == 0 ||
           strcmp(session->name, sessions->subject) == 0;
}

/* The same of a row of a frame. */
static bool has_row_of_subject(const struct why_sessions *sessions, const struct frame *frame)
{
    const struct schema *schema = frame->schema;
    size_t label = 0;

    while (label < schema->label_count && strcmp(schema->label_names[label], "application") != 0)
        label++;
    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[i];
        struct blocker_session session = { .id = entity->id };

        memcpy(session.name, entity->name, sizeof session.name);
        if (label < schema->label_count)
            snprintf(session.application, sizeof session.application, "%s",
                     labels_value(entity->labels, label));
        if (is_subject(sessions, &session))
            return true;
    }
    return false;
}

static int fail_without_subject(const struct why_sessions *sessions)
{
    return complain(STATUS_FAILURE, "%s has no session of the application, name or pid %s",
                    sessions->facts->name, sessions->subject);
}

static int show(struct shown *shown)
{
    const struct why_sessions *sessions = shown->sessions;
    const struct camp_error error = { 0 };
    char time[TIME_TEXT_SIZE];
    const struct why_blockers_interval interval = {
        .tree = &shown->tree,
        .time = time,
        .name = sessions->facts->name,
        .tier = sessions->facts->tier,
        .note = shown->note[0] != '\0' ? shown->note : sessions->facts->note,
        .kind = sessions->source->describe(sessions->source)->name,
        .shows_literals = sessions->shows_literals,
        .is_undivided = !sessions->facts->live,
        .most = sessions->most,
        .subject = sessions->subject,
    };
    int r =
        blocker_tree_finish(&shown->tree, sessions->subject != NULL ? is_subject : NULL, sessions);

    time_text(time, sizeof time, shown->wall_clock_ns);
    if (r == CAMP_OK)
        r = why_blockers_fill(&shown->document, &interval);
    blocker_tree_start(&shown->tree);
    if (r != CAMP_OK)
        return complain_of(r, &error);
    return show_document(&shown->document, sessions->view, sessions->view_options,
                         shown->records++);
}

static bool is_done(const struct shown *shown)
{
    return shown->sessions->count > 0 && shown->records >= shown->sessions->count;
}

/* Adds a frame. Of a source that measures now each is shown, of a recording those of interval_ns
 * together. */
static int add(struct shown *shown, const struct frame *frame)
{
    const struct why_sessions *sessions = shown->sessions;
    const uint64_t length_ns = frame->end_ns - frame->start_ns;

    shown->read++;
    shown->wall_clock_ns = frame->wall_clock_ns;
    snprintf(shown->note, sizeof shown->note, "%s", frame->note != NULL ? frame->note : "");
    blocker_tree_add(&shown->tree, frame);
    if (sessions->subject != NULL && !shown->has_subject) {
        shown->has_subject = has_row_of_subject(sessions, frame);
        if (!shown->has_subject && sessions->facts->live)
            return fail_without_subject(sessions);
    }
    /* Recorded intervals are a little shorter or longer than asked for. */
    if (!sessions->facts->live && (sessions->interval_ns == 0 ||
                                   shown->tree.elapsed_ns + length_ns / 2 < sessions->interval_ns))
        return OPTIONS_GO_ON;
    return show(shown);
}

static int show_all(struct shown *shown)
{
    const struct why_sessions *sessions = shown->sessions;
    struct intervals intervals = {
        .length_ns = sessions->interval_ns > 0 ? sessions->interval_ns : NS_PER_S,
    };
    int status = OPTIONS_GO_ON;

    while (status == OPTIONS_GO_ON && !is_done(shown) && next_interval(&intervals)) {
        struct camp_error error = { 0 };
        const struct frame *frame;
        const int r =
            sessions->source->next(sessions->source, intervals.deadline_ns, &frame, &error);

        progress_clear(&sessions->from->progress);
        if (r == SOURCE_END)
            break;
        status = r == CAMP_OK ? add(shown, frame) : complain_of(r, &error);
    }
    if (status == OPTIONS_GO_ON && sessions->subject != NULL && shown->read > 0 &&
        !shown->has_subject)
        return fail_without_subject(sessions);
    if (status == OPTIONS_GO_ON && !sessions->facts->live && !is_done(shown) &&
        shown->tree.elapsed_ns > 0)
        status = show(shown);
    if (status == OPTIONS_GO_ON && shown->read == 0 && !sessions->facts->live)
        return complain(STATUS_FAILURE, "%s has no interval in that time", sessions->facts->name);
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}

int why_sessions_show(const struct why_sessions *sessions)
{
    struct shown shown = { .sessions = sessions };
    int status;

    if (!blocker_tree_is_known(sessions->source->describe(sessions->source)))
        return complain(STATUS_FAILURE, "%s does not say who blocks whom", sessions->facts->name);
    source_set_division(sessions->source, SOURCE_LABEL_BLOCKER);
    status = show_all(&shown);
    blocker_tree_release(&shown.tree);
    document_release(&shown.document);
    return status;
}
