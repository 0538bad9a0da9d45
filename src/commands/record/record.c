/*
 * camp record writes the intervals of any source to a file, which --from or SQL can read later
 * (docs/recording.md).
 */
#include "counters/units.h"
#include "ledger/words.h"
#include "program/command.h"
#include "program/from_options.h"
#include "program/intervals.h"
#include "program/output_file.h"
#include "program/privilege.h"
#include "program/process_selection.h"
#include "record_files.h"
#include "record_when.h"
#include "record_why.h"
#include "recording/recording.h"
#include "sources/causes/causes.h"
#include "sources/events_beside.h"
#include "sources/from_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_OUTPUT "run.camp"

static const char *const formats[] = { "text", "json", "csv", NULL };
enum { BY_NAME, BY_PROCESS };
static const char *const groupings[] = { "name", "process", NULL };

struct record {
    struct from_options from;
    struct from_facts facts;
    struct source *source;
    struct record_files files;
    struct record_when when;
    uint64_t interval_ns, count;
    const char *keep, *info;
    int format; /* the value of --format, for --info; -1 if not given */
    bool force, no_syscalls, containers, why;
    bool is_first; /* the next interval is the first one */
    int why_by;
    const char *why_of;
    uint32_t mode; /* permissions of the file that --force replaces, or 0 */
};

static int parse(struct record *record, int argc, char **argv, int *ret_first)
{
    const struct option_spec specs[] = {
        FROM_OPTIONS(&record->from),
        COMMON_OPTION(COMMON_OUTPUT, &record->files.output,
                      .help = "The file to write (run.camp)."),
        COMMON_OPTION(COMMON_FORCE, &record->force, .help = "Replace FILE if it exists."),
        COMMON_OPTION(COMMON_INTERVAL, &record->interval_ns),
        COMMON_OPTION(COMMON_COUNT, &record->count),
        { "rotate", 0, OPTION_DURATION, &record->files.rotate_ns, "TIME",
          "Start a new file after each TIME. A file of run.camp has its start time in UTC in its "
          "name, such as run-20261122T020000Z.camp. --from run.camp reads them all.",
          0.01, 366.0 * 86400, NULL },
        { "keep", 0, OPTION_TEXT, &record->keep, "LIMIT",
          "With --rotate: remove the oldest files when they ended longer ago than this (24h), when "
          "all files together are larger than this (2GB), or when there are more files than this "
          "(24files). camp also removes the oldest files when the disk is full.",
          0, 0, NULL },
        { "containers", 0, OPTION_FLAG, &record->containers, NULL,
          "For threads of this machine and groups of them: record the names of containers, pods "
          "and units of systemd with the rows, for --group container, pod or unit of camp top.",
          0, 0, NULL },
        { "why", 0, OPTION_FLAG, &record->why, NULL,
          "For threads of this machine and groups of them: record the causes of their waits, too, "
          "for camp why --from FILE. Needs microstates. With --from postgres: the sessions' time "
          "by wait event, too, and how long their waits lasted.",
          0, 0, NULL },
        { "why-of", 0, OPTION_TEXT, &record->why_of, "WHO",
          "With --why: a pid or the name of processes that must not be among the other processes. "
          "The sleeps of a pid are also divided by system call and object.",
          0, 0, NULL },
        { "why-by", 0, OPTION_CHOICE, &record->why_by, "WHAT",
          "With --why: divide causes by the name of processes or by process. At most 53 are told "
          "apart, besides that of --why-of. (Default: name)",
          0, 0, groupings },
        WHEN_OPTIONS(&record->when),
        COMMON_OPTION(COMMON_NO_SYSCALLS, &record->no_syscalls),
        { "info", 0, OPTION_TEXT, &record->info, "FILE",
          "Describe the recording FILE (for a rotated recording: run.camp, or its folder), and "
          "record nothing.",
          0, 0, NULL },
        COMMON_OPTION(COMMON_FORMAT, &record->format, .help = "With --info: text, json or csv.",
                      .choices = formats),
    };
    const struct option_table table = {
        .usage = "camp record [OPTIONS] [INTERVAL [COUNT]]",
        .about = "Records a source: an SQLite file, an interval at a time, without the rows that\n"
                 "say nothing new. --from FILE.camp reads it in every command that takes --from;\n"
                 "sqlite3 and docs/recording.md ask it anything else. Without --count it runs\n"
                 "until Ctrl-C or the end of the source.",
        .specs = specs,
        .count = sizeof specs / sizeof specs[0],
    };

    return options_parse(&table, argc, argv, ret_first);
}

/* Returns the source of --from; without it, that of the threads of this machine. */
static const struct from_source *source_of(const struct record *record)
{
    return from_source_find(record->from.from.text != NULL ? record->from.from.text : "threads");
}

/* Returns whether the rows are threads of this machine, or groups of them. */
static bool reads_threads(const struct record *record)
{
    const struct from_source *source = source_of(record);

    return source != NULL && source->opener == OPENS_THREADS;
}

static int resolve_containers(struct record *record)
{
    if (!record->containers)
        return OPTIONS_GO_ON;
    if (!reads_threads(record))
        return complain(STATUS_USAGE, "--containers goes with --from threads, processes, users, "
                                      "commands or cgroups");
    record->from.from.names_containers = true;
    return OPTIONS_GO_ON;
}

/* Sets the process or the name of --why-of. */
static int resolve_why_of(struct record *record)
{
    struct from *from = &record->from.from;
    const char *of = record->why_of;
    struct camp_process process;

    if (of == NULL)
        return OPTIONS_GO_ON;
    if (of[0] == '\0')
        return complain(STATUS_USAGE, "--why-of: the name of the process is empty");
    from->causes_pid = pid_or_name(of);
    if (from->causes_pid == NO_PID)
        return complain(STATUS_USAGE,
                        "--why-of '%s' is not a pid: give a number of at least 1, or a name", of);
    if (from->causes_pid == 0)
        from->causes_name = of;
    else if (camp_process_identify(NULL, from->causes_pid, &process, sizeof process, NULL) !=
             CAMP_OK)
        return complain_of_missing_process(from->causes_pid);
    return OPTIONS_GO_ON;
}

static int resolve_why(struct record *record)
{
    const struct from_source *source = source_of(record);
    struct from *from = &record->from.from;

    if (!record->why && (record->why_of != NULL || record->why_by != BY_NAME))
        return complain(STATUS_USAGE, "--%s goes with --why",
                        record->why_of != NULL ? "why-of" : "why-by");
    if (!record->why)
        return OPTIONS_GO_ON;
    if (source != NULL && source->opener == OPENS_POSTGRES) {
        from->lengths = true;
        return record->why_of == NULL && record->why_by == BY_NAME
                   ? OPTIONS_GO_ON
                   : complain(STATUS_USAGE, "--why-of and --why-by are for threads: sessions are "
                                            "divided by --group");
    }
    if (!reads_threads(record))
        return complain(
            STATUS_USAGE,
            "--why goes with --from threads, processes, users, commands, cgroups and postgres:; "
            "the causes in a recording are always copied");
    from->causes = true;
    from->states_options |= record->why_by == BY_PROCESS ? CAMP_STATES_BY_PROCESS : 0;
    return resolve_why_of(record);
}

/* Records the time of whole sessions by wait event beside them: with --why, or if a recording that
 * is copied has it. */
static int add_events(struct record *record)
{
    const struct camp_error error = { 0 };
    struct source *sessions = record->source;

    if (record->facts.has_events && record->from.group == NULL)
        source_set_division(sessions, SOURCE_DIVISION_BESIDE);
    if (!record->from.from.lengths || record->from.group != NULL)
        return OPTIONS_GO_ON;
    record->source = NULL;
    return events_beside_open(sessions, &record->source) == CAMP_OK
               ? OPTIONS_GO_ON
               : complain_of(CAMP_E_NOMEM, &error);
}

/* A row of a session would have the text of its last statement alone, as if all of its time
 * belonged to that. */
static int resolve_queries(const struct record *record)
{
    if (!record->from.from.queries || record->from.group != NULL ||
        !from_source_is_server(source_of(record)))
        return OPTIONS_GO_ON;
    return complain(STATUS_USAGE,
                    "--queries: a session runs many statements in an interval; add --group query, "
                    "which records the time of each, or --group last_statement");
}

static bool is_same_file(const char *left, const char *right)
{
    struct stat a, b;

    return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Removes an existing output file only with --force, and never the recording that is being read.
 * With --rotate, new files have new names, so no file is overwritten. */
static int resolve_output(struct record *record)
{
    const char *output = record->files.output, *text = record->from.from.text;
    struct stat status;

    if (text != NULL && (strcmp(text, output) == 0 || is_same_file(text, output)))
        return complain(STATUS_USAGE, "%s is what --from reads: give another --output", output);
    if (record->files.rotate_ns > 0 || lstat(output, &status) != 0)
        return OPTIONS_GO_ON;
    if (recorder_is_writing(output))
        return complain(STATUS_FAILURE,
                        "another camp record writes %s: stop it first, or give another --output",
                        output);
    if (!record->force)
        return complain(
            STATUS_FAILURE,
            "%s %s: --force replaces it, --output FILE.camp records to another file", output,
            S_ISLNK(status.st_mode) ? "is a link, which is not followed" : "already exists");
    if (S_ISREG(status.st_mode) && status.st_uid == geteuid())
        record->mode = status.st_mode & 0777;
    recording_remove(output);
    return OPTIONS_GO_ON;
}

static int read_options(struct record *record, int argc, char **argv)
{
    int first, status;

    *record = (struct record){ .format = -1 };
    from_options_init(&record->from);
    status = parse(record, argc, argv, &first);
    from_options_interval(&record->from, &record->interval_ns);
    if (status != OPTIONS_GO_ON)
        return status;
    if (record->info != NULL && record->files.output != NULL)
        return complain(STATUS_USAGE, "--info records nothing: it goes without --output");
    if (record->format >= 0 && record->info == NULL)
        return complain(STATUS_USAGE, "--format goes with --info");
    if (record->info != NULL) {
        const struct sandbox sandbox = { .kind = SANDBOX_FILE, .input = record->info };
        struct camp_error error = { 0 };
        int r;

        privilege_give_up(PRIVILEGE_NOTHING);
        r = sandbox_enter(&sandbox, &error);
        if (r != CAMP_OK)
            return complain_of(r, &error);
        return record_info(record->info, formats[record->format >= 0 ? record->format : 0]);
    }
    if (record->files.output == NULL)
        record->files.output = DEFAULT_OUTPUT;
    if (strcmp(name_in_path(record->files.output), ".camp") == 0)
        return complain(STATUS_USAGE, "--output %s: a name is missing before .camp",
                        record->files.output);
    if (strcmp(record->files.output + recording_stem_length(record->files.output), ".camp") != 0)
        return complain(STATUS_USAGE, "--output %s: the name of a recording ends in .camp",
                        record->files.output);
    if (record->force && record->files.rotate_ns > 0)
        return complain(STATUS_USAGE, "--force goes without --rotate: each file is a new one");
    if (record->no_syscalls)
        record->from.from.states_options |= CAMP_STATES_NO_SYSCALLS;
    status = resolve_containers(record);
    if (status == OPTIONS_GO_ON)
        status = resolve_why(record);
    if (status == OPTIONS_GO_ON)
        status = resolve_queries(record);
    if (status == OPTIONS_GO_ON)
        status = record_files_resolve_keep(&record->files, record->keep);
    if (status == OPTIONS_GO_ON)
        status = record_when_check(&record->when, record->from.from.text);
    if (status == OPTIONS_GO_ON && output_folder_check(record->files.output) != STATUS_OK)
        return STATUS_FAILURE;
    return status;
}

/* Says on a terminal what is being recorded, because nothing else is printed until the end. */
static void announce(const struct record *record)
{
    const struct record_files *files = &record->files;
    const size_t stem = recording_stem_length(files->output);

    if (!record->facts.live || !isatty(STDERR_FILENO))
        return;
    complain(STATUS_OK, "recording %s (%s) to %.*s%s.camp, an interval each %.9g s; Ctrl-C ends",
             record->facts.name, record->facts.tier, (int)stem, files->output,
             files->rotate_ns > 0 ? "-*" : "", (double)record->interval_ns / NS_PER_S);
}

static int record_interval(struct record *record, const struct frame *frame)
{
    const struct frame *beside = source_beside(record->source);
    struct camp_error error = { 0 };
    const struct causes *causes;
    const int r = source_causes(record->source, &causes, &error);
    int status;

    if (r == SOURCE_END) /* stopped */
        return OPTIONS_GO_ON;
    if (causes != NULL && causes->is_kernel)
        return complain(STATUS_FAILURE,
                        "--why-of '%s' is a kernel thread, and all kernel threads are one group",
                        record->why_of);
    if (causes != NULL && record->from.from.causes_name != NULL && record->is_first)
        record_why_check(causes, record->from.from.causes_name);
    record->is_first = false;
    status = r == CAMP_OK ? record_files_write(&record->files, frame, beside, causes)
                          : complain_of(r, &error);
    if (status == OPTIONS_GO_ON)
        record_when_interval(&record->when, frame, causes, &record->files);
    return status;
}

static int run(struct record *record)
{
    struct intervals intervals = { .length_ns = record->interval_ns, .count = record->count };
    int status = OPTIONS_GO_ON;

    announce(record);
    record->is_first = true;
    while (status == OPTIONS_GO_ON && next_interval(&intervals)) {
        struct camp_error error = { 0 };
        const struct frame *frame;
        int r;

        source_set_idle(record->source,
                        record->when.counts_idle ||
                                record_files_want_all(&record->files, intervals.deadline_ns)
                            ? IDLE_EACH
                            : IDLE_OMITTED);
        r = record->source->next(record->source, intervals.deadline_ns, &frame, &error);
        if (r == SOURCE_END)
            break;
        if (r == CAMP_OK)
            from_options_note(&record->from, frame);
        status = r == CAMP_OK ? record_interval(record, frame) : complain_of(r, &error);
    }
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}

/* Prints the path. For rotated files, also prints their number: "run-*.camp: 3 files in
 * /var/log". */
static void describe_files(const struct record_files *files)
{
    const char *slash = strrchr(files->output, '/');
    const char *name = name_in_path(files->output);
    char *folder, *whole, *stem;
    struct recording_set set;

    if (files->rotate_ns == 0) {
        print_name(files->output);
        printf(": ");
        return;
    }
    folder =
        slash != NULL ? strndup(files->output, (size_t)(slash - files->output) + 1) : strdup(".");
    whole = folder != NULL ? realpath(folder, NULL) : NULL;
    stem = strndup(name, recording_stem_length(name));
    print_name(stem != NULL ? stem : "");
    printf("-*.camp: %" PRIu64 " %s in ", files->count, noun_of(files->count, "file", "files"));
    print_name(whole != NULL ? whole : "its folder");
    if (recording_set_find_made(&set, files->output) == CAMP_OK && set.count != files->count)
        printf(" (%zu %s there now)", set.count, noun_of(set.count, "is", "are"));
    printf(", ");
    recording_set_release(&set);
    free(folder);
    free(whole);
    free(stem);
}

static int print_summary(struct record *record, int status)
{
    const struct recorder_counts counts = record_files_counts(&record->files);

    if (counts.ticks == 0)
        return status != STATUS_OK
                   ? status
                   : complain(STATUS_FAILURE, "nothing was recorded: there was no interval");
    describe_files(&record->files);
    printf("%" PRIu64 " %s, %" PRIu64 " %s (%" PRIu64 " stored), %.1f MB\n", counts.ticks,
           noun_of(counts.ticks, "interval", "intervals"), counts.rows,
           noun_of(counts.rows, "row", "rows"), counts.written, (double)counts.bytes / 1e6);
    return fflush(stdout) == 0 ? status : output_failed(errno);
}

int command_record(int argc, char **argv)
{
    struct record record;
    int status = read_options(&record, argc, argv);

    if (status == OPTIONS_GO_ON) {
        stop_on_signals();
        record.from.sandbox.output = record.files.output;
        status = record_when_open(&record.when);
    }
    if (status == OPTIONS_GO_ON)
        status = from_options_open(&record.from, &record.source, &record.facts);
    if (status == OPTIONS_GO_ON)
        status = add_events(&record);
    if (status == OPTIONS_GO_ON)
        status = record_when_parse(&record.when, record.source->describe(record.source),
                                   &record.facts, record.from.from.causes);
    if (status == OPTIONS_GO_ON)
        status = resolve_output(&record);
    if (status == OPTIONS_GO_ON) {
        record.files.about = (struct recorder_about){
            .source = record.facts.name,
            .kind = record.facts.kind,
            .tier = record.facts.tier,
            .note = record.facts.note,
            .mode = record.mode,
            .server_cpus = record.facts.server_cpus,
            .interval_ns = record.facts.live ? record.interval_ns : record.facts.interval_ns,
        };
        status = run(&record);
        progress_clear(&record.from.progress);
        record_files_close(&record.files);
        status = record_when_summary(&record.when, print_summary(&record, status));
    }
    source_close(record.source);
    record_when_close(&record.when);
    return status;
}
