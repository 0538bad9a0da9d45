/*
 * The options of every command that opens a source by name: --from, --query, --unit, --group,
 * --begin, --end, --speed. A command puts FROM_OPTIONS(&options) into its table of options, and
 * opens the source like this:
 *
 *     struct from_options from;
 *
 *     from_options_init(&from);
 *     ... options_parse() of a table with FROM_OPTIONS(&from) in it ...
 *     status = from_options_open(&from, &source, &facts);
 */
#pragma once

#include "common_options.h"
#include "from_groups.h"
#include "progress.h"
#include "sandbox.h"
#include "sources/from.h"
#include "sources/from_list.h"

struct from_options {
    struct from from;
    struct first_texts texts; /* of --from: the first is from.text */
    const char *begin, *end;  /* NULL if the option was not given */
    const char *range;        /* the end of the names of these two options, such as "-b" */
    const char *group;        /* NULL if --group was not given */
    /* Another source that the command opens later, whose file is sandbox.other_input. It is
     * OPENS_DEMO, which needs nothing, if there is none. */
    enum from_opener other;
    struct progress progress;
    /* What the command does besides reading the source: the caller sets `output`, `serves`,
     * `socket` and `converts`. */
    struct sandbox sandbox;
    char reported[FRAME_NOTE_SIZE]; /* the last note of a frame that was shown or counted */

    bool live;
    uint64_t notes; /* the number of notes of a recording, which are counted but not shown */
};

/* Lists all sources, for the help of --from. The text is constant. */
const char *from_help(void);

/* The words that shells complete after --from, NULL-terminated. The list is constant. */
const char *const *from_words(void);
const char *const *from_session_words(void); /* only the words for database sessions */

/* clang-format off */
#define FROM_OPTIONS(options)                                                                      \
    COMMON_OPTION(COMMON_GROUP, &(options)->group, .argument = "LABEL",                            \
                  .help = "One row for each value of this label, such as user or database: rows "  \
                          "with the same value are added up."),                                    \
    FROM_SOURCE_OPTIONS(options)

/* Like FROM_OPTIONS, but without --group, for a command that has its own --group. */
#define FROM_SOURCE_OPTIONS(options)                                                               \
    COMMON_OPTION(COMMON_FROM, &(options)->texts, .help = from_help(),                             \
                  .choices = from_words()),                                                        \
    { "query", 0, OPTION_TEXT, &(options)->from.query, "QUERY",                                    \
      "With sqlite:FILE or odbc:DSN: SQL that returns a time, an entity and numbers. With "        \
      "prometheus:URL: matchers that select hosts, such as '{datacenter=\"fra\"}', or PromQL "     \
      "whose labels name rows and columns.", 0, 0, NULL },                                         \
    FROM_FLEET_OPTIONS(options),                                                                   \
    { "unit", 0, OPTION_TEXT, &(options)->from.unit, "UNIT",                                       \
      "The unit of the numbers in a table: ns, us, ms, s, percent or share.", 0, 0, NULL },        \
    FROM_SESSION_OPTIONS(options),                                                                 \
    FROM_PART_OPTIONS(options, "a recording or a table")

/* Options for a fleet only. For camp view, --host is also the address to listen at. */
#define FROM_FLEET_OPTIONS(options)                                                                \
    COMMON_OPTION(COMMON_HOST, &(options)->from.host, .help =                                      \
      "With prometheus:URL: show the groups of this host, named with or without its port. (For "   \
      "camp view, 127.0.0.1, localhost and ::1 are addresses of this computer to listen at.)"),    \
    { "column", 0, OPTION_TEXT, &(options)->from.column, "LABEL",                                  \
      "With PromQL in --query: the label that names the column (state, mode or vertex).",          \
      0, 0, NULL }

/* Options for database sessions. --tier is also for other sources. */
#define FROM_SESSION_OPTIONS(options)                                                              \
    COMMON_OPTION(COMMON_TIER, &(options)->from.tier, .help =                                      \
      "Measure in this way only, where a source can be measured in several (threads: bpf, "         \
      "schedstat; check: taskstats, schedstat, bpf, on Windows cycles; cpus: bpf, proc). Without "   \
      "it camp uses the best available tier, and names it."),                                                       \
    FROM_DATABASE_OPTIONS(options)

#define FROM_DATABASE_OPTIONS(options)                                                             \
    { "detail", 0, OPTION_FLAG, &(options)->from.detail, NULL,                                     \
      "For database sessions: the columns of the rules become the states.",                        \
      0, 0, NULL },                                                                                \
    { "queries", 0, OPTION_FLAG, &(options)->from.queries, NULL,                                   \
      "For database sessions: show the texts of their statements, which may hold private data.",   \
      0, 0, NULL },                                                                                \
    FROM_RULES_OPTIONS(options)

/* The options that select sessions and define idle time, for a command that shows only sums. */
#define FROM_RULES_OPTIONS(options)                                                                \
    { "rules", 0, OPTION_TEXT, &(options)->from.rules, "FILE",                                     \
      "For database sessions: rules for what is contention, wait or idle. A line is STATE COLUMN " \
      "class=REGEX event=REGEX activity=REGEX type=REGEX (docs/sessions.md).", 0, 0, NULL },       \
    { "background", 0, OPTION_FLAG, &(options)->from.background, NULL,                             \
      "For database sessions: include the server's own processes.", 0, 0, NULL }

/* Only --begin, --end and --speed, for a command that has its own --from. `what` names the input
 * in the help texts. */
#define FROM_PART_OPTIONS(options, what)                                                           \
    { "begin", 0, OPTION_TEXT, &(options)->begin, "TIME",                                          \
      "Start reading " what " at this time: 2026-11-22T02:00 (or with Z or +01:00), 02:00, "       \
      "+10m after its start, -10m before its end.", 0, 0, NULL },                                  \
    { "end", 0, OPTION_TEXT, &(options)->end, "TIME",                                              \
      "Stop reading at this time, written as for --begin.", 0, 0, NULL },                          \
    { "speed", 0, OPTION_REAL, &(options)->from.speed, "N",                                        \
      "The speed at which " what " is shown: 1 as measured, 10 ten times as fast, 0 at once.",     \
      0, 1e6, NULL }
/* clang-format on */

/* Clears the options. A source that is opened with the options stops when stop_requested is set,
 * and shows its progress on stderr. */
void from_options_init(struct from_options *options);

/* Copies *interval_ns, the value of --interval, to the options. If the value is 0, the option was
 * not given, and *interval_ns becomes 1 s. In the history of a fleet, a given value is the length
 * of each interval. */
void from_options_interval(struct from_options *options, uint64_t *interval_ns);

/* Checks whether all given options fit the source named `text`. Returns OPTIONS_GO_ON, or an
 * exit status after an error message. from_options_open() calls this function; a command that
 * opens a source in another way must call it itself. */
int from_options_check(const struct from_options *options, const char *text);

/* Opens the source. Returns OPTIONS_GO_ON, or an exit status after an error message. While a
 * recording is read at full speed, a progress line may be on stderr.
 * progress_clear(&options->progress) removes it. `options` must outlive *ret. */
int from_options_open(struct from_options *options, struct source **ret,
                      struct from_facts *ret_facts);

/* Writes a frame's note to stderr, unless the previous frame had the same note. Notes of a
 * recording are only counted. */
void from_options_note(struct from_options *options, const struct frame *frame);

enum from_side { FROM_BEGIN, FROM_END };

/*
 * Parses the text of --begin or --end to wall clock ns. The recording spans begin_ns to end_ns;
 * both are 0 if they are unknown, and "02:00" then means today.
 *
 * "02:00" means the first 02:00 in the recording, or within one minute before its start. If the
 * recording has no 02:00, FROM_BEGIN means the last 02:00 before the recording, and FROM_END the
 * first 02:00 after the recording.
 *
 * Returns false if the text is not a time, or is relative to an unknown time.
 */
bool from_time_parse(const char *text, enum from_side side, int64_t begin_ns, int64_t end_ns,
                     int64_t *ret_ns);
