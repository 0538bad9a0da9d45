/*
 * The options that every command has which takes a source by its name: --from, --query, --unit,
 * --group, --begin, --end, --speed. A command puts FROM_OPTIONS(&options) into its table of
 * options, and opens what they say:
 *
 *     struct from_options from;
 *
 *     from_options_init(&from);
 *     ... options_parse() of a table with FROM_OPTIONS(&from) in it ...
 *     status = from_options_open(&from, &source, &facts);
 */
#ifndef CAMP_PROGRAM_FROM_OPTIONS_H
#define CAMP_PROGRAM_FROM_OPTIONS_H

#include "common_options.h"
#include "progress.h"
#include "sources/from.h"

struct from_options {
    struct from from;
    const char *begin, *end; /* as given; NULL: not given */
    const char *group;       /* likewise */
    struct progress progress;
    char reported[FRAME_NOTE_SIZE]; /* the last frame's note */

    /* Once it is open: */
    bool live;
    uint64_t notes; /* so many were in what was read, and not said as they are not of now */
};

/* What shells offer for --from. */
extern const char *const from_words[];         /* NULL-terminated, as all that follow */
extern const char *const from_session_words[]; /* database sessions alone */

/* clang-format off */
#define FROM_OPTIONS(options)                                                                      \
    COMMON_OPTION(COMMON_GROUP, &(options)->group, .argument = "LABEL",                            \
                  .help = "One row for each value of this label, such as user or database: rows "  \
                          "with the same value are added up."),                                    \
    FROM_SOURCE_OPTIONS(options)

/* Without --group: for a command with one of its own. */
#define FROM_SOURCE_OPTIONS(options)                                                               \
    COMMON_OPTION(COMMON_FROM, &(options)->from.text, .help =                                      \
      "threads (the default), processes, users, commands, cgroups, cpus or check of this "         \
      "machine; demo, the sample data that comes with camp; FILE.camp, a recording, or the "        \
      "folder of a rotated recording; FILE.csv, .tsv or .txt, a table; - for a table on standard "  \
      "input; sqlite:FILE; postgres:CONNINFO and mariadb:CONNINFO, sessions of a database "         \
      "(docs/sessions.md); odbc:DSN, sessions of Oracle or, with --query, a table; "                \
      "prometheus:URL, a fleet of hosts (docs/fleet.md).",                                         \
      .choices = from_words),                                                                      \
    { "query", 0, OPTION_TEXT, &(options)->from.query, "QUERY",                                    \
      "With sqlite:FILE or odbc:DSN: SQL that returns a time, an entity and numbers. With "        \
      "prometheus:URL: matchers that select hosts, such as '{datacenter=\"fra\"}', or PromQL "     \
      "whose labels name rows and columns.", 0, 0, NULL },                                         \
    FROM_FLEET_OPTIONS(options),                                                                   \
    { "unit", 0, OPTION_TEXT, &(options)->from.unit, "UNIT",                                       \
      "The unit of the numbers in a table: ns, us, ms, s, percent or share.", 0, 0, NULL },        \
    FROM_SESSION_OPTIONS(options),                                                                 \
    FROM_PART_OPTIONS(options, "a recording or a table")

/* For a fleet only; camp view also listens at the address that its --host names. */
#define FROM_FLEET_OPTIONS(options)                                                                \
    COMMON_OPTION(COMMON_HOST, &(options)->from.host, .help =                                      \
      "With prometheus:URL: show the groups of this host, named with or without its port. (For "   \
      "camp view, 127.0.0.1, localhost and ::1 are addresses of this computer to listen at.)"),    \
    { "column", 0, OPTION_TEXT, &(options)->from.column, "LABEL",                                  \
      "With PromQL in --query: the label that names the column (state, mode or vertex).",          \
      0, 0, NULL }

/* For database sessions only, except --tier. */
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

/* Which sessions there are, and what their time is: for a command that shows their sums alone. */
#define FROM_RULES_OPTIONS(options)                                                                \
    { "rules", 0, OPTION_TEXT, &(options)->from.rules, "FILE",                                     \
      "For database sessions: rules for what is contention, wait or idle. A line is STATE COLUMN " \
      "class=REGEX event=REGEX activity=REGEX type=REGEX (docs/sessions.md).", 0, 0, NULL },       \
    { "background", 0, OPTION_FLAG, &(options)->from.background, NULL,                             \
      "For database sessions: include the server's own processes.", 0, 0, NULL }

/* --begin, --end and --speed alone, of `what`: for a command with a --from of its own. */
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

/* Nothing said; the stop flag is the command's, progress is shown on stderr, speed is 0. */
void from_options_init(struct from_options *options);

/* --interval of a command, 0: not said, is the length of a fleet's finished intervals, too; becomes
 * 1 s where it was not said. */
void from_options_interval(struct from_options *options, uint64_t *interval_ns);

/* Opens what they say. OPTIONS_GO_ON, or an exit status after a complaint. While *ret is read
 * without waiting, progress may stand on stderr: progress_clear(&options->progress) takes it away.
 * `options` must outlive *ret. */
int from_options_open(struct from_options *options, struct source **ret,
                      struct from_facts *ret_facts);

/* Says on stderr what a frame says of its interval, when that is another than of the last one. Of
 * what happened at another time (a recording) it is only counted. */
void from_options_tell(struct from_options *options, const struct frame *frame);

/* Which of a source's labels an option (without its --) names. OPTIONS_GO_ON, or an exit status
 * after a complaint. */
int from_label_find(const char *option, const char *name, const struct schema *schema,
                    const struct from_facts *facts, size_t *ret);

enum from_side { FROM_BEGIN, FROM_END };

/* A time as a person says it, for --begin and --end, in wall clock ns: of a recording that lasted
 * from begin_ns to end_ns (both 0: not known, then "02:00" is today's). "02:00" is the first one
 * in it, or that of the minute in which it began; when none is, of a beginning the last one before
 * it, of an end the first one after it. False: it is no such time, or relative to what is not
 * known. */
bool from_time_parse(const char *text, enum from_side side, int64_t begin_ns, int64_t end_ns,
                     int64_t *ret_ns);

#endif
