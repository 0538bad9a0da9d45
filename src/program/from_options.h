/*
 * The options of every command with a source by name: --from, --query, --unit, --group, --begin,
 * --end, --speed. A command puts FROM_OPTIONS(&options) into its table of options, and opens the
 * source:
 *
 *     struct from_options from;
 *
 *     from_options_init(&from);
 *     ... options_parse() of a table with FROM_OPTIONS(&from) in it ...
 *     status = from_options_open(&from, &source, &facts);
 */
#pragma once

#include "common_options.h"
#include "progress.h"
#include "sources/from.h"

struct from_options {
    struct from from;
    const char *begin, *end; /* as given on the command line; NULL: not given */
    const char *group;       /* likewise */
    struct progress progress;
    char reported[FRAME_NOTE_SIZE]; /* the note of the last frame that was shown */

    /* Set by from_options_open(): */
    bool live;
    uint64_t notes; /* how many notes of a recording were counted, not shown */
};

/* The names of all sources, for the help of --from. The result is constant, like those of the
 * functions below. */
const char *from_help(void);

/* What shells offer for --from, NULL-terminated. */
const char *const *from_words(void);
const char *const *from_session_words(void); /* database sessions alone */

/* clang-format off */
#define FROM_OPTIONS(options)                                                                      \
    COMMON_OPTION(COMMON_GROUP, &(options)->group, .argument = "LABEL",                            \
                  .help = "One row for each value of this label, such as user or database: rows "  \
                          "with the same value are added up."),                                    \
    FROM_SOURCE_OPTIONS(options)

/* The same without --group, for a command with a --group of its own. */
#define FROM_SOURCE_OPTIONS(options)                                                               \
    COMMON_OPTION(COMMON_FROM, &(options)->from.text, .help = from_help(),                         \
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

/* Options for a fleet only; camp view also listens at the address of its --host. */
#define FROM_FLEET_OPTIONS(options)                                                                \
    COMMON_OPTION(COMMON_HOST, &(options)->from.host, .help =                                      \
      "With prometheus:URL: show the groups of this host, named with or without its port. (For "   \
      "camp view, 127.0.0.1, localhost and ::1 are addresses of this computer to listen at.)"),    \
    { "column", 0, OPTION_TEXT, &(options)->from.column, "LABEL",                                  \
      "With PromQL in --query: the label that names the column (state, mode or vertex).",          \
      0, 0, NULL }

/* Options for database sessions only, except --tier. */
#define FROM_SESSION_OPTIONS(options)                                                              \
    COMMON_OPTION(COMMON_TIER, &(options)->from.tier, .help =                                      \
      "Measure in this way only, where a source can be measured in several (threads: bpf, "         \
      "schedstat; check: taskstats, schedstat, bpf; cpus: bpf, proc). Without it camp uses the "    \
      "best available tier, and names it."),                                                       \
    FROM_DATABASE_OPTIONS(options)

#define FROM_DATABASE_OPTIONS(options)                                                             \
    { "detail", 0, OPTION_FLAG, &(options)->from.detail, NULL,                                     \
      "For database sessions: the columns of the rules become the states.",                        \
      0, 0, NULL },                                                                                \
    { "queries", 0, OPTION_FLAG, &(options)->from.queries, NULL,                                   \
      "For database sessions: show the texts of their statements, which may hold private data.",   \
      0, 0, NULL },                                                                                \
    FROM_RULES_OPTIONS(options)

/* The selection of sessions and their idle time, for a command that shows only sums. */
#define FROM_RULES_OPTIONS(options)                                                                \
    { "rules", 0, OPTION_TEXT, &(options)->from.rules, "FILE",                                     \
      "For database sessions: rules for what is contention, wait or idle. A line is STATE COLUMN " \
      "class=REGEX event=REGEX activity=REGEX type=REGEX (docs/sessions.md).", 0, 0, NULL },       \
    { "background", 0, OPTION_FLAG, &(options)->from.background, NULL,                             \
      "For database sessions: include the server's own processes.", 0, 0, NULL }

/* --begin, --end and --speed alone, for `what`: for a command with a --from of its own. */
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

/* Sets the defaults; the stop flag is the command's, progress goes to stderr, speed is 0. */
void from_options_init(struct from_options *options);

/* A command's --interval (0: not given), which is also the length of a fleet's finished intervals;
 * 1 s if not given. */
void from_options_interval(struct from_options *options, uint64_t *interval_ns);

/* Checks whether all given options fit the source `text`. Returns OPTIONS_GO_ON, or an exit status
 * after a complaint. from_options_open() includes this check; a command that opens a source in
 * another way calls it. */
int from_options_check(const struct from_options *options, const char *text);

/* Opens the source. OPTIONS_GO_ON, or an exit status after a complaint. While *ret is read without
 * waiting, a progress line may be on stderr: progress_clear(&options->progress) removes it.
 * `options` must outlive *ret. */
int from_options_open(struct from_options *options, struct source **ret,
                      struct from_facts *ret_facts);

/* Writes a frame's note to stderr, if it differs from the note of the last frame. Notes of a
 * recording are only counted. */
void from_options_note(struct from_options *options, const struct frame *frame);

/* The index of the label that an option names (without its --). OPTIONS_GO_ON, or an exit status
 * after a complaint. */
int from_label_index(const char *option, const char *name, const struct schema *schema,
                     const struct from_facts *facts, size_t *ret);

enum from_side { FROM_BEGIN, FROM_END };

/* Parses a time for --begin and --end, to wall clock ns: within a recording from begin_ns to end_ns
 * (both 0: unknown, then "02:00" is today's). "02:00" is the first such time in the recording, or
 * in the minute of its start; otherwise the last one before it for a begin, the first one after it
 * for an end. False: the text is no time, or is relative to an unknown time. */
bool from_time_parse(const char *text, enum from_side side, int64_t begin_ns, int64_t end_ns,
                     int64_t *ret_ns);
