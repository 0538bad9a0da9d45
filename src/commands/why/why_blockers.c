#include "why_blockers.h"

#include "counters/units.h"
#include "ledger/characters.h"
#include "ledger/words.h"
#include "sources/sessions/statement_text.h"
#include "views/summary_text.h"
#include "why_shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SENTENCES 3 /* above the table of a text */
#define LABEL_SIZE 256
#define SENTENCE_SIZE 1024
#define SHARE_SHOWN 0.05   /* A smaller part of a blocker's time is not shown. */
#define PERCENT_SHOWN 0.05 /* Less would be written as 0.0 %. */

static const struct field summary_fields[] = {
    { "time", NULL, "wall clock of the interval's end" },
    { "interval_s", NULL, "its length" },
    { "source", NULL, "as --from says it" },
    { "tier", NULL, "how it was measured" },
    { "contention_ns", NULL, "time that all sessions waited for locks, also of the server itself" },
    { "known_ns", NULL, "of it, that for a known session; the trees add up to it" },
    { "unknown_ns", NULL, "of it, the rest" },
    { "measured_ns", NULL,
      "of known_ns, what the kernel measured: waits that have ended; the server was asked for the "
      "rest of known_ns. null: nothing is measured on this tier" },
};

static const struct field tree_fields[] = {
    { "depth", NULL,
      "0: waits for no session; each session waited for the one before it with "
      "less depth" },
    { "pid", NULL, "by the server; null: a prepared transaction" },
    { "name", NULL, "user@database; null: it was seen only as a blocker" },
    { "application", NULL, "that the session names" },
    { NULL, "session", "" },
    { "waited_ns", NULL, "how long it waited for the session above it; null: a root, or unknown" },
    { NULL, "waited s", "", 9, 3 },
    { "measured_ns", NULL, "of waited_ns, what the kernel measured; null: as in the summary" },
    { NULL, "meas. %", "", 7, 1, .spare = 4 },
    { "blocking_ns", NULL, "how long the sessions below it waited, at all depths" },
    { NULL, "blocked s", "", 9, 3 },
    { "waiting", "sessions", "of a root: number of different sessions below it", 8, .spare = 3 },
    { "session_contention_ns", NULL, "all of its contention in the interval" },
    { "activity", NULL, "what it does, at the end of the interval; null: it blocks no session" },
    { "activity_ns", NULL, "how long it has done so" },
    { NULL, "activity", "", .spare = 2 },
    { "server", NULL, "of several servers: which it is of" },
    { "statement", NULL, "with a question mark for each literal, unless --queries" },
    { NULL, "last statement", "" },
    { "repeated", NULL, "whether the sessions that it blocks are at another place of the tree" },
    { "sentence", NULL, "of a root" },
    { "more", NULL,
      "with --top: how many rows this one stands for, whose waited_ns and measured_ns it has; "
      "null: "
      "a session, or a prepared transaction" },
    { "cpu_ns", NULL, "of a session that blocks others: its time on a CPU; null: unknown" },
    { "stopped_ns", NULL, "the same: how long its process was stopped, as by SIGSTOP" },
};

#define MORE_FIELD 21

static const struct table tables[WHY_BLOCKERS_TABLES] = {
    [WHY_BLOCKERS_SUMMARY] = DOCUMENT_ONE("summary", TABLE_INLINE, summary_fields),
    [WHY_BLOCKERS_TREE] = DOCUMENT_ROWS("tree", tree_fields),
    [WHY_BLOCKERS_WAITS] = DOCUMENT_ROWS("waits", why_event_fields),
};

static const struct record layout = DOCUMENT_LAYOUT("camp.blockers/1", tables, WHY_BLOCKERS_TREE);

static const struct blocker_session *session_of(const struct blocker_tree *tree, size_t node)
{
    return tree->sessions[tree->nodes[node].session];
}

/* Rules may assign locks to another state than contention. */
static uint64_t unknown_of(const struct blocker_tree *tree)
{
    return tree->contention_ns > tree->blocked_ns ? tree->contention_ns - tree->blocked_ns : 0;
}

static double seconds(uint64_t ns)
{
    return (double)ns / NS_PER_S;
}

/* Writes "1234 (migrate)", or what is known of it. */
static void write_session(char ret[LABEL_SIZE], const struct blocker_session *session)
{
    const char *name = session->application[0] != '\0' ? session->application : session->name;
    const int64_t number = session->id & ENTITY_NUMBER_MASK;

    if (number == BLOCKER_TREE_PREPARED)
        snprintf(ret, LABEL_SIZE, "a prepared transaction");
    else if (name[0] != '\0')
        snprintf(ret, LABEL_SIZE, "%" PRId64 " (%s)", number, name);
    else
        snprintf(ret, LABEL_SIZE, "%" PRId64, number);
    make_printable(ret);
}

/* Writes "idle in transaction for 41 s", or "". What the database does not know follows, as by
 * "active for 3.0 s, stopped 100 %" or "active for 3.0 s, on a CPU 97 %". */
static void write_activity(char ret[LABEL_SIZE], const struct blocker_session *session)
{
    const char *activity = strcmp(session->activity, "aborted") == 0
                               ? "idle in a failed transaction"
                               : session->activity;
    const double age_s = seconds(session->activity_ns);
    const double whole = (double)session->elapsed_ns;
    size_t length;

    if (activity[0] == '\0' || session->activity_ns == 0)
        snprintf(ret, LABEL_SIZE, "%s", activity);
    else
        snprintf(ret, LABEL_SIZE, "%s for %.*f s", activity, age_s < 10 ? 1 : 0, age_s);
    length = strlen(ret);
    if (length > 0 && whole > 0 && (double)session->stopped_ns >= whole * SHARE_SHOWN)
        snprintf(ret + length, LABEL_SIZE - length, ", stopped %.0f %%",
                 100 * (double)session->stopped_ns / whole);
    else if (length > 0 && whole > 0 && (double)session->cpu_ns >= whole * SHARE_SHOWN)
        snprintf(ret + length, LABEL_SIZE - length, ", on a CPU %.0f %%",
                 100 * (double)session->cpu_ns / whole);
    for (char *at = ret; (at = strchr(at, '_')) != NULL;)
        *at = ' ';
    make_printable(ret);
}

/* Finds the language of a session's statements. Returns false if it is unknown. With several
 * servers, the language follows from the name of the server (sources/servers/servers_from.c),
 * unless its connection string is hidden. */
static bool find_dialect(const struct why_blockers_interval *interval,
                         const struct blocker_session *session, enum statement_dialect *ret)
{
    static const char mariadb[] = "mariadb";
    const bool is_of_several = session->server[0] != '\0';
    const bool is_mariadb = strcmp(interval->kind, mariadb) == 0 ||
                            strncmp(session->server, mariadb, strlen(mariadb)) == 0;

    *ret = is_mariadb ? STATEMENT_MYSQL_ANY_MODE : STATEMENT_POSTGRES;
    return is_mariadb || session->is_of_postgres || (is_of_several && session->server[0] != '(');
}

/* Without its text, a statement is its id. */
static bool is_id(const char *statement)
{
    char *end;

    strtoll(statement, &end, 10);
    return statement[0] != '\0' && *end == '\0';
}

static void write_statement(char ret[LABELS_VALUE_SIZE],
                            const struct why_blockers_interval *interval,
                            const struct blocker_session *session)
{
    enum statement_dialect dialect;

    if (interval->shows_literals || is_id(session->statement))
        copy_text(ret, LABELS_VALUE_SIZE, session->statement, strlen(session->statement));
    else if (find_dialect(interval, session, &dialect))
        statement_text_without_literals(dialect, session->statement, ret, LABELS_VALUE_SIZE);
    else
        ret[0] = '\0';
    make_printable(ret);
    for (size_t length = strlen(ret); length > 0 && strchr("; ", ret[length - 1]) != NULL;)
        ret[--length] = '\0';
}

/* Writes the name of the server, or "" with one server. */
static void write_server(char ret[LABELS_VALUE_SIZE], const struct blocker_session *session)
{
    copy_text(ret, LABELS_VALUE_SIZE, session->server, strlen(session->server));
    make_printable(ret);
}

/* Writes such as "7 sessions waited 41.0 s for 1234 (migrate), idle in transaction for 41 s: alter
 * table t" for a root of the tree. All texts of the server are made printable. */
static void write_sentence(char ret[SENTENCE_SIZE], const struct why_blockers_interval *interval,
                           size_t root)
{
    const struct blocker_tree *tree = interval->tree;
    const struct blocker_node *node = &tree->nodes[root];
    const struct blocker_session *session = session_of(tree, root);
    const double waited_s = seconds(node->blocking_ns);
    char who[LABEL_SIZE], activity[LABEL_SIZE], statement[LABELS_VALUE_SIZE];
    char server[LABELS_VALUE_SIZE];

    write_session(who, session);
    write_activity(activity, session);
    write_statement(statement, interval, session);
    write_server(server, session);
    snprintf(ret, SENTENCE_SIZE, "%" PRIu32 " session%s waited %.*f s for %s%s%s%s%s%s%s",
             node->waiting, noun_of(node->waiting, "", "s"), waited_s < 9.995 ? 2 : 1, waited_s,
             who, server[0] != '\0' ? " of " : "", server, activity[0] != '\0' ? ", " : "",
             activity, statement[0] != '\0' ? ": " : "", statement);
}

static struct cell text_or_unknown(struct document *document, const char *text)
{
    return text[0] != '\0' ? cell_text(document_text(document, "%s", text)) : cell_unknown();
}

/* The same in a column that only text has: aligned like the other cells. */
static struct cell text_or_dash(struct document *document, const char *text)
{
    return cell_text(document_text(document, "%s", text[0] != '\0' ? text : "-"));
}

struct adding {
    struct document *document;
    const struct why_blockers_interval *interval;
    uint64_t root_ns;  /* what the sessions below the last root waited */
    bool has_ids_only; /* a statement is shown by its id */
};

static void add_node(void *context, size_t at)
{
    struct adding *adding = context;
    struct document *document = adding->document;
    const struct blocker_tree *tree = adding->interval->tree;
    const struct blocker_node *node = &tree->nodes[at];
    const struct blocker_session *session = session_of(tree, at);
    const bool has_measured = tree->has_measured && node->blocked_ns > 0;
    const bool is_blocker = session->elapsed_ns > 0;
    const int64_t number = session->id & ENTITY_NUMBER_MASK;
    char who[LABEL_SIZE], activity[LABEL_SIZE], statement[LABELS_VALUE_SIZE];
    char sentence[SENTENCE_SIZE] = "";

    write_session(who, session);
    write_activity(activity, session);
    write_statement(statement, adding->interval, session);
    adding->has_ids_only |= is_id(statement);
    if (node->depth == 0) {
        adding->root_ns = node->blocking_ns;
        write_sentence(sentence, adding->interval, at);
    }
    {
        const struct cell cells[] = {
            cell_natural(node->depth),
            number != BLOCKER_TREE_PREPARED ? cell_integer(number) : cell_unknown(),
            text_or_unknown(document, session->name),
            text_or_unknown(document, session->application),
            cell_text(document_text(document, "%*s%s%s", 2 * (int)node->depth, "", who,
                                    node->is_repeated ? " ..." : "")),
            node->blocked_ns > 0 ? cell_natural(node->blocked_ns) : cell_unknown(),
            node->blocked_ns > 0 ? cell_real(seconds(node->blocked_ns)) : cell_unknown(),
            has_measured ? cell_natural(node->measured_ns) : cell_unknown(),
            has_measured ? cell_real(100 * (double)node->measured_ns / (double)node->blocked_ns)
                         : cell_unknown(),
            cell_natural(node->blocking_ns),
            node->blocking_ns > 0 ? cell_real(seconds(node->blocking_ns)) : cell_unknown(),
            node->depth == 0 ? cell_natural(node->waiting) : cell_unknown(),
            cell_natural(session->contention_ns),
            text_or_unknown(document, session->activity),
            session->activity_ns > 0 ? cell_natural(session->activity_ns) : cell_unknown(),
            text_or_dash(document, activity),
            text_or_unknown(document, session->server),
            text_or_unknown(document, statement),
            text_or_dash(document, statement),
            cell_boolean(node->is_repeated),
            text_or_unknown(document, sentence),
            cell_unknown(),
            is_blocker ? cell_natural(session->cpu_ns) : cell_unknown(),
            is_blocker ? cell_natural(session->stopped_ns) : cell_unknown(),
        };

        DOCUMENT_ADD(document, WHY_BLOCKERS_TREE, cells);
    }
}

/* Adds the row of the nodes that are not shown. */
static void add_hidden(void *context, const struct why_hidden *hidden)
{
    const struct adding *adding = context;
    struct document *document = adding->document;
    const struct blocker_tree *tree = adding->interval->tree;
    const uint64_t whole_ns = hidden->depth == 0 ? tree->blocked_ns : adding->root_ns;
    const bool has_measured = tree->has_measured && hidden->blocked_ns > 0;
    const double share = 100 * (double)hidden->blocked_ns / (double)(whole_ns > 0 ? whole_ns : 1);
    const double measured = 100 * (double)hidden->measured_ns / (double)hidden->blocked_ns;
    const struct cell cells[] = {
        cell_natural(hidden->depth),
        cell_unknown(),
        cell_unknown(),
        cell_unknown(),
        cell_text(document_text(document, "%*sand %zu more, %.1f %%", 2 * (int)hidden->depth, "",
                                hidden->count, share)),
        cell_natural(hidden->blocked_ns),
        cell_real(seconds(hidden->blocked_ns)),
        has_measured ? cell_natural(hidden->measured_ns) : cell_unknown(),
        has_measured ? cell_real(measured) : cell_unknown(),
        [MORE_FIELD] = cell_natural(hidden->count),
    };

    DOCUMENT_ADD(document, WHY_BLOCKERS_TREE, cells);
}

/* Adds a sentence, wrapped at the width of the terminal. */
static void add_note(struct document *document, const struct why_blockers_interval *interval,
                     const char *sentence)
{
    char text[SENTENCE_SIZE];

    copy_text(text, sizeof text, sentence, strlen(sentence));
    if (interval->width > 0)
        summary_wrap(text, interval->width);
    for (char *line = text, *end; line != NULL; line = end) {
        end = strchr(line, '\n');
        if (end != NULL)
            *end++ = '\0';
        document_note(document, "%s", line);
    }
}

/* Returns `text`, if it is not NULL, with one more sentence in a line of its own. */
static const char *with_sentence(struct document *document,
                                 const struct why_blockers_interval *interval, const char *text,
                                 const char *sentence)
{
    char line[SENTENCE_SIZE];

    copy_text(line, sizeof line, sentence, strlen(sentence));
    if (interval->width > 0)
        summary_wrap(line, interval->width);
    return document_text(document, "%s%s%s", text != NULL ? text : "", text != NULL ? "\n" : "",
                         line);
}

static void write_headline(struct document *document, const struct why_blockers_interval *interval)
{
    const struct blocker_tree *tree = interval->tree;
    const char *text =
        with_sentence(document, interval, NULL,
                      document_text(document, "%s  %.2f s  %s  tier %s", interval->time,
                                    seconds(tree->elapsed_ns), interval->name, interval->tier));
    size_t count = 0;

    for (size_t i = 0; i < tree->count && count < SENTENCES; i++) {
        char sentence[SENTENCE_SIZE];

        if (tree->nodes[i].depth > 0)
            continue;
        count++;
        write_sentence(sentence, interval, i);
        text = with_sentence(document, interval, text, sentence);
    }
    if (interval->no_blockers != NULL)
        text = with_sentence(document, interval, text, interval->no_blockers);
    else if (count == 0 && interval->subject != NULL && tree->blocked_ns > 0)
        text = with_sentence(
            document, interval, text,
            document_text(document, "No session waited for one of %s, and none of these waited.",
                          interval->subject));
    else if (count == 0)
        text = with_sentence(document, interval, text, "No session waited for a known session.");
    document->record.headline = text;
}

static void add_notes(struct document *document, const struct why_blockers_interval *interval,
                      bool has_ids_only)
{
    const struct blocker_tree *tree = interval->tree;
    const uint64_t unknown_ns = unknown_of(tree);
    const double unknown_percent =
        tree->contention_ns > 0 ? 100 * (double)unknown_ns / (double)tree->contention_ns : 0;

    if (tree->measured_ns > 0)
        add_note(document, interval,
                 document_text(document,
                               "%.3f s are measured: waits that have ended, by the session that "
                               "ended them. Of waits that last the server was asked for the "
                               "blocker.",
                               seconds(tree->measured_ns)));
    if (unknown_percent >= PERCENT_SHOWN && interval->no_blockers == NULL)
        add_note(document, interval,
                 document_text(document,
                               "Of %.3f s of contention %.3f s (%.1f %%) were for %s: waits of "
                               "which no sample found the blocker, and locks of the server itself.",
                               seconds(tree->contention_ns), seconds(unknown_ns), unknown_percent,
                               interval->is_undivided
                                   ? "others than the longest blocker, or unknown"
                                   : "no known session"));
    if (has_ids_only && interval->is_undivided)
        add_note(document, interval, WHY_BLOCKERS_IDS_ONLY);
    if (interval->no_events != NULL)
        add_note(document, interval, interval->no_events);
    if (interval->note != NULL && interval->note[0] != '\0')
        add_note(document, interval, interval->note);
}

int why_blockers_fill(struct document *ret, const struct why_blockers_interval *interval)
{
    const struct blocker_tree *tree = interval->tree;
    struct adding adding = { ret, interval, 0, false };

    document_start(ret, &layout);
    {
        const bool is_known = interval->no_blockers == NULL;
        const struct cell cells[] = {
            cell_text(interval->time),
            cell_real(seconds(tree->elapsed_ns)),
            cell_text(interval->name),
            cell_text(interval->tier),
            cell_natural(tree->contention_ns),
            is_known ? cell_natural(tree->blocked_ns) : cell_unknown(),
            is_known ? cell_natural(unknown_of(tree)) : cell_unknown(),
            is_known && tree->has_measured ? cell_natural(tree->measured_ns) : cell_unknown(),
        };

        DOCUMENT_ADD(ret, WHY_BLOCKERS_SUMMARY, cells);
    }
    if (why_shown_each(tree, interval->most, add_node, add_hidden, &adding) != CAMP_OK)
        return CAMP_E_NOMEM;
    if (interval->events != NULL)
        why_events_add_rows(ret, WHY_BLOCKERS_WAITS, interval->events, interval->most);
    write_headline(ret, interval);
    add_notes(ret, interval, adding.has_ids_only);
    return document_finish(ret);
}

_Static_assert(WHY_BLOCKERS_LABEL >= LABEL_SIZE, "the words of a session fit");

void why_blockers_words(struct why_blockers_words *ret,
                        const struct why_blockers_interval *interval,
                        const struct blocker_session *session)
{
    write_session(ret->session, session);
    write_activity(ret->activity, session);
    write_statement(ret->statement, interval, session);
    write_server(ret->server, session);
}
