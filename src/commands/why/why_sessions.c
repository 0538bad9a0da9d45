#include "why_sessions.h"

#include "counters/units.h"
#include "program/command.h"
#include "program/from_groups.h"
#include "program/intervals.h"
#include "program/output_part.h"
#include "sources/from_list.h"
#include "why_blockers.h"

#include <stdio.h>
#include <string.h>

struct shown {
    const struct why_sessions *sessions;
    struct blocker_tree tree;
    struct why_events events;
    bool has_tree, has_events;         /* the rows are sessions; they are divided by wait event */
    bool has_events_beside;            /* the second frames are */
    char no_blockers[FRAME_NOTE_SIZE]; /* unless has_tree: why there is none */
    struct document document;
    uint64_t read, records; /* intervals of the source, and shown ones */
    bool has_subject;       /* a session of the operand was there */
    int64_t wall_clock_ns;
    char note[FRAME_NOTE_SIZE];
};

bool why_sessions_is_database(const char *from)
{
    return from != NULL && from_source_is_server(from_source_find(from));
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
static bool is_row_of_subject(const void *context, const struct frame *frame, size_t row)
{
    const struct entity *entity = &frame->entities[row];
    const size_t label = schema_find_label(frame->schema, "application");
    struct blocker_session session = { .id = entity->id };

    memcpy(session.name, entity->name, sizeof session.name);
    if (label != SIZE_MAX)
        snprintf(session.application, sizeof session.application, "%s",
                 labels_value(entity->labels, label));
    return is_subject(context, &session);
}

static bool has_row_of_subject(const struct why_sessions *sessions, const struct frame *frame)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        if (is_row_of_subject(sessions, frame, i))
            return true;
    }
    return false;
}

static int fail_without_subject(const struct why_sessions *sessions)
{
    return complain(STATUS_FAILURE, "%s has no session of the application, name or pid %s",
                    sessions->facts->name, sessions->subject);
}

/* Returns what is unknown of the wait events, and what to do, or NULL. */
static const char *unknown_of_events(const struct shown *shown)
{
    const bool is_live = shown->sessions->facts->live;

    if (!shown->events.has_lengths)
        return is_live ? "How long waits lasted is measured for PostgreSQL on tier bpf only."
                       : NULL;
    if (shown->has_events)
        return NULL;
    return shown->sessions->facts->has_events
               ? "Waits that are not idle, of all events together: a recording has those of each "
                 "event by application, not by session."
               : "Waits that are not idle, of all events together: camp record --why records those "
                 "of each event.";
}

static int show(struct shown *shown)
{
    const struct why_sessions *sessions = shown->sessions;
    const struct camp_error error = { 0 };
    const bool has_waits = shown->has_events || shown->events.has_lengths;
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
        .width = sessions->view_options->width,
        .no_blockers = shown->has_tree ? NULL : shown->no_blockers,
        .events = has_waits ? &shown->events : NULL,
        .no_events = has_waits ? unknown_of_events(shown) : NULL,
    };
    int r =
        blocker_tree_finish(&shown->tree, sessions->subject != NULL ? is_subject : NULL, sessions);

    if (r == CAMP_OK)
        r = why_events_finish(&shown->events);
    time_text(time, sizeof time, shown->wall_clock_ns);
    if (r == CAMP_OK)
        r = why_blockers_fill(&shown->document, &interval);
    blocker_tree_start(&shown->tree);
    why_events_start(&shown->events, shown->has_events);
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
    if (shown->has_tree)
        blocker_tree_add(&shown->tree, frame);
    else
        shown->tree.elapsed_ns += length_ns;
    why_events_add(&shown->events,
                   shown->has_events_beside ? source_beside(sessions->source) : frame,
                   sessions->subject != NULL ? is_row_of_subject : NULL, sessions);
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

/* Finds what the rows say. Those of a recording may be groups, which have no blockers. */
static int find_rows(struct shown *shown)
{
    const struct why_sessions *sessions = shown->sessions;
    const struct from_facts *facts = sessions->facts;
    const struct schema *schema = sessions->source->describe(sessions->source);

    if (!blocker_tree_is_known(schema))
        return complain(STATUS_FAILURE,
                        "%s has no blockers: record the sessions with camp record --from "
                        "postgres:CONNINFO or mariadb:CONNINFO",
                        facts->name);
    shown->has_tree = facts->live || strcmp(facts->kind, "sessions") == 0;
    /* The rows by wait event of a recording have no pids. */
    shown->has_events_beside = facts->has_events && sessions->pid == 0;
    shown->has_events = schema_find_label(schema, SOURCE_LABEL_WAIT_EVENT) != SIZE_MAX &&
                        (facts->live || shown->has_events_beside ||
                         from_group_has(facts->kind, SOURCE_LABEL_WAIT_EVENT));
    if (shown->has_tree)
        return OPTIONS_GO_ON;
    snprintf(shown->no_blockers, sizeof shown->no_blockers,
             "This recording is divided by %s, so it cannot say which session waited for which: "
             "record without --group for that.",
             facts->kind);
    if (!shown->has_events && schema->longest == 0)
        return complain(STATUS_FAILURE,
                        "%s is divided by %s, so it cannot say which session waited for which: "
                        "record without --group",
                        facts->name, facts->kind);
    if (sessions->subject != NULL)
        return complain(STATUS_FAILURE,
                        "%s is divided by %s, so %s cannot be told apart: record without --group",
                        facts->name, facts->kind, sessions->subject);
    return OPTIONS_GO_ON;
}

int why_sessions_show(const struct why_sessions *sessions)
{
    struct shown shown = { .sessions = sessions };
    int status = find_rows(&shown);

    if (status != OPTIONS_GO_ON)
        return status;
    source_set_division(sessions->source, shown.has_events_beside ? SOURCE_DIVISION_BESIDE
                                          : shown.has_events      ? SOURCE_DIVISION_WAITS
                                                                  : SOURCE_LABEL_BLOCKER);
    why_events_start(&shown.events, shown.has_events);
    status = show_all(&shown);
    blocker_tree_release(&shown.tree);
    why_events_release(&shown.events);
    document_release(&shown.document);
    return status;
}
