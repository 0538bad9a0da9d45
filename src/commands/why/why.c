/*
 * camp why shows why the threads of a process, of all processes with one name, of a cgroup, or of
 * the machine waited: each state divided by its causes, and each cause by the group or the device
 * that caused it.
 */
#include "counters/clock.h"
#include "counters/error.h"
#include "ledger/blockers/blocker_tree.h"
#include "program/command.h"
#include "program/intervals.h"
#include "program/privilege.h"
#include "program/process_selection.h"
#include "program/suggestion.h"
#include "views/view.h"
#include "why_cgroup.h"
#include "why_record.h"
#include "why_recorded.h"
#include "why_sessions.h"
#include "why_stacks.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define TEXT_ROWS 8
#define NO_CGROUPS "a recording has no causes by cgroup: give a process or a name"
#define NO_STACKS "a recording has no stacks: leave out --from to see those of this machine"

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_FOLDED, FORMAT_PPROF };
static const char *const formats[] = { "text", "json", "csv", "folded", "pprof", NULL };
enum { BY_NAME, BY_PROCESS, BY_CGROUP };
static const char *const groupings[] = { "name", "process", "cgroup", NULL };

static const struct option_rule rules[] = {
    { "by", NULL, "from", "--by goes without --from: a recording has the groups of --why-by" },
    { "cgroup", NULL, "from", NO_CGROUPS },
    { "container", NULL, "from", NO_CGROUPS },
    { "pod", NULL, "from", NO_CGROUPS },
    { "unit", NULL, "from", NO_CGROUPS },
    { "stacks", NULL, "from", NO_STACKS },
    { "format folded", NULL, "from", NO_STACKS },
    { "format pprof", NULL, "from", NO_STACKS },
    { "stacks-above", "stacks, format folded, format pprof", NULL,
      "--stacks-above goes with --stacks, --format folded or --format pprof" },
    { "no-syscalls", NULL, "from", NULL },
    { "tier", "from", NULL, NULL },
    { "detail", "from", NULL, NULL },
    { "queries", "from", NULL, NULL },
    { "rules", "from", NULL, NULL },
    { "background", "from", NULL, NULL },
    { "begin", "from", NULL, NULL },
    { "end", "from", NULL, NULL },
    { "speed", "from", NULL, NULL },
    { 0 },
};

struct why {
    uint64_t interval_ns, count, top;
    int format, table, by;
    bool no_syscalls, verbose, has_stacks, shows_literals;
    uint64_t stacks_from_ns;
    const char *subject; /* NULL: all threads */
    int32_t pid;         /* of the subject, or 0 */
    struct camp_process process;
    struct why_cgroup cgroup; /* the subject, unless it is empty */
    struct from_options from;
    struct causes_source *source;
    struct why_recorded recorded; /* with --from */
    struct why_record record;
    struct why_stacks stacks;
    const struct view *view;
    struct view_options view_options;
};

static int parse(struct why *why, int argc, char **argv, int *ret_first)
{
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_FROM, &why->from.texts,
                      .help = "A recording of camp record --why: the causes in all of it or, with "
                              "INTERVAL, in parts of this length. Or postgres:CONNINFO, "
                              "mariadb:CONNINFO or a recording of their sessions: who blocks whom "
                              "(docs/sessions.md).",
                      .choices = from_session_words()),
        FROM_SESSION_OPTIONS(&why->from),
        FROM_PART_OPTIONS(&why->from, "a recording"),
        COMMON_OPTION(COMMON_INTERVAL, &why->interval_ns),
        COMMON_OPTION(COMMON_COUNT, &why->count),
        COMMON_OPTION(COMMON_FORMAT, &why->format,
                      .help = "text, json (one object a line, camp.why/1) or csv; or the stacks of "
                              "all intervals, at the end: folded (for flamegraph.pl, in ns) or "
                              "pprof (a profile for pprof).",
                      .choices = formats),
        COLOR_OPTION,
        { "by", 0, OPTION_CHOICE, &why->by, "WHAT",
          "Divide causes by the name of processes, by process or by cgroup. At most 53 of them are "
          "told apart, besides the operand: those that cause its waits. (Default: name)",
          0, 0, groupings },
        { "cgroup", 0, OPTION_TEXT, &why->cgroup.path, "PATH",
          "Why the threads in a cgroup, and in those in it, waited: its path in its hierarchy, or "
          "that of its directory. The same as an operand that starts with a slash." },
        { "container", 0, OPTION_TEXT, &why->cgroup.labels[LABEL_CONTAINER], "NAME",
          "Why the threads of a container waited (docs/containers.md has the names)." },
        { "pod", 0, OPTION_TEXT, &why->cgroup.labels[LABEL_POD], "NAME",
          "Why the threads of a pod waited." },
        { "unit", 0, OPTION_TEXT, &why->cgroup.labels[LABEL_UNIT], "NAME",
          "Why the threads of a unit of systemd waited." },
        { "stacks", 0, OPTION_FLAG, &why->has_stacks, NULL,
          "Show the stacks of long sleeps, those with the most time first. The formats folded and "
          "pprof have them without this option, too.",
          0, 0, NULL },
        { "stacks-above", 0, OPTION_DURATION, &why->stacks_from_ns, "TIME",
          "With stacks: read those of sleeps of at least TIME; shorter ones are 'no stack'. "
          "(Default: 1ms)",
          0, 3600, NULL },
        COMMON_OPTION(
            COMMON_TOP, &why->top,
            .help =
                "Show at most N stacks, and N groups or devices of each cause, those "
                "with the most time first; 0: all. (Default: 8 in text, all in other formats.)"),
        COMMON_OPTION(COMMON_TABLE, &why->table,
                      .help = "The table that csv writes: tree, calls, stacks, inflicted, chain, "
                              "losses or summary; of database sessions tree, waits or summary.",
                      .choices = why_table_names),
        COMMON_OPTION(COMMON_NO_SYSCALLS, &why->no_syscalls),
        COMMON_OPTION(COMMON_VERBOSE, &why->verbose),
    };
    const struct option_table table = {
        .usage = "camp why [OPTIONS] [PID | NAME | /CGROUP] [INTERVAL [COUNT]]",
        .about = "Why a process, all processes with a name, a cgroup, or all threads waited: each\n"
                 "state divided by what caused it, in percent that add up to 100. Time in the run\n"
                 "queue is divided by what ran meanwhile, a sleep by what ended it. The\n"
                 "first operand is always the process, the name or the cgroup. Needs CAP_BPF and\n"
                 "CAP_PERFMON, but not for a recording. Without --count it runs until Ctrl-C.\n"
                 "With --from of a database the operand is a pid, an application or a name of\n"
                 "sessions: in trees, which session waited for which, and for how long.",
        .specs = specs,
        .count = sizeof specs / sizeof specs[0],
        .rules = rules,
    };

    return options_parse(&table, argc, argv, ret_first);
}

/* Sets why->pid if the subject is a number, and finds the process. */
static int find_process(struct why *why)
{
    why->pid = why->subject != NULL ? pid_or_name(why->subject) : 0;
    if (why->pid == 0)
        return OPTIONS_GO_ON;
    if (why->pid == NO_PID)
        return complain(STATUS_USAGE, "'%s' is not a pid: give a number of at least 1, or a name",
                        why->subject);
    if (why->from.from.text != NULL)
        return OPTIONS_GO_ON;
    if (camp_process_identify(NULL, why->pid, &why->process, sizeof why->process, NULL) != CAMP_OK)
        return complain_of_missing_process(why->pid);
    return OPTIONS_GO_ON;
}

/* Returns whether the output is the stacks of all intervals. */
static bool is_of_stacks(const struct why *why)
{
    return why->format == FORMAT_FOLDED || why->format == FORMAT_PPROF;
}

static int read_options(struct why *why, int argc, char **argv)
{
    int first, status;

    *why = (struct why){ .top = UINT64_MAX, .table = -1, .stacks_from_ns = NS_PER_MS };
    from_options_init(&why->from);
    status = parse(why, argc, argv, &first);
    if (status != OPTIONS_GO_ON)
        return status;
    if (argc - first > 1)
        return complain(STATUS_USAGE, "'%s' is one operand too many: give one process or name",
                        argv[first + 1]);
    why->subject = first < argc ? argv[first] : NULL;
    if (why->subject != NULL && why->subject[0] == '\0')
        return complain(STATUS_USAGE, "the name of the process is empty");
    if (why->top == UINT64_MAX)
        why->top = why->format == FORMAT_TEXT ? TEXT_ROWS : 0;
    why->stacks.adds_up = is_of_stacks(why);
    why->has_stacks |= is_of_stacks(why);
    if (why->format == FORMAT_PPROF && isatty(STDOUT_FILENO))
        return complain(STATUS_USAGE, "a profile for pprof is not text: add '> FILE'");
    why->view = view_by_name(formats[is_of_stacks(why) ? FORMAT_TEXT : why->format]);
    why->view_options = view_options_of(stdout);
    why->view_options.table = why->table >= 0 ? why_table_names[why->table] : NULL;
    if (why->from.from.text == NULL)
        status = why_cgroup_find(&why->cgroup, why->subject);
    if (status == OPTIONS_GO_ON && why->cgroup.name[0] != '\0')
        why->subject = why->cgroup.name;
    return status == OPTIONS_GO_ON ? find_process(why) : status;
}

static int open_source(struct why *why)
{
    const uint32_t options = (why->by == BY_PROCESS ? CAMP_STATES_BY_PROCESS : 0) |
                             (why->subject != NULL ? CAMP_STATES_GROUPS_BY_NEED : 0) |
                             why_cgroup_options(&why->cgroup, why->by == BY_CGROUP) |
                             (why->no_syscalls ? CAMP_STATES_NO_SYSCALLS : 0) |
                             (why->verbose ? CAMP_STATES_VERBOSE : 0) |
                             (why->has_stacks ? CAMP_STATES_STACKS : 0);
    struct camp_error error = { 0 };
    int r = causes_open(options, &stop_requested, &why->source, &error);

    if (r == CAMP_OK && why->pid != 0)
        r = causes_watch_process(why->source, why->pid, &error);
    else if (r == CAMP_OK && why->subject != NULL && why->cgroup.name[0] == '\0')
        r = causes_watch_name(why->source, why->subject, &error);
    if (r == CAMP_OK && (why->cgroup.name[0] != '\0' || why->by == BY_CGROUP))
        r = why_cgroup_watch(&why->cgroup, why->source, &error);
    if (r == CAMP_OK && why->has_stacks)
        r = causes_stacks_from(why->source, why->stacks_from_ns, why->subject != NULL, &error);
    if (r == CAMP_OK && why->has_stacks && why->pid != 0 &&
        !why_stacks_watch(&why->stacks, why->pid))
        r = camp_fail(&error, CAMP_E_NOMEM, 0, "no memory for the names of functions");
    if (r == CAMP_OK)
        privilege_give_up(PRIVILEGE_MAPS);
    return r == CAMP_OK ? OPTIONS_GO_ON : complain_of(r, &error);
}

/* Returns the number of the subject's group, or WHY_ALL. */
static uint32_t find_subject(const struct why *why, const struct causes *causes)
{
    if (why->cgroup.name[0] == '\0')
        return why_find_subject(causes, why->subject, why->pid);
    for (size_t i = 0; i < causes->group_count; i++) {
        if (causes->groups[i].kind == CAMP_GROUP_CGROUP &&
            causes->groups[i].cgroup == why->cgroup.folder.id)
            return causes->groups[i].number;
    }
    return WHY_ALL;
}

static bool has_ended(const struct why *why)
{
    return why->pid != 0 && process_has_ended(&why->process);
}

#define PROCESSES_MOST 32768 /* that a misspelled name is compared with */

/* Finds the name of a process that is nearest to `wanted`. Returns false if none is near. */
static bool find_near_name(char ret[CAMP_NAME_SIZE], const char *wanted)
{
    struct camp_process_usage *all = calloc(PROCESSES_MOST, sizeof *all);
    struct suggestion nearest = { .word = wanted };
    size_t count = 0;

    ret[0] = '\0';
    if (all == NULL || camp_process_read_all(NULL, CAMP_TASK_NAME, all, sizeof *all, PROCESSES_MOST,
                                             &count, NULL) != CAMP_OK)
        count = 0;
    for (size_t i = 0; i < count; i++) {
        suggestion_offer(&nearest, all[i].task.name);
        if (strcasecmp(all[i].task.name, wanted) == 0)
            snprintf(ret, CAMP_NAME_SIZE, "%s", all[i].task.name);
    }
    if (ret[0] == '\0' && nearest.best != NULL)
        snprintf(ret, CAMP_NAME_SIZE, "%s", nearest.best);
    free(all);
    return ret[0] != '\0';
}

static int complain_of_no_name(const char *subject)
{
    const int32_t process = process_of_thread_named(subject);
    char near[CAMP_NAME_SIZE];
    uint64_t ns;

    if (process > 0)
        return complain_of_thread_name(subject, process);
    if (parse_duration(subject, &ns))
        return complain(STATUS_FAILURE,
                        "no process has the name %s: the first operand is the process; for an "
                        "interval of all threads give -i %s",
                        subject, subject);
    if (find_near_name(near, subject))
        return complain(STATUS_FAILURE, "no process has the name %s: did you mean '%s'?", subject,
                        near);
    return complain(STATUS_FAILURE, "no process has the name %s", subject);
}

/* A process that has ended has no time in the intervals after its end. */
static int complain_of_nothing(const struct why *why, const struct causes *causes, uint64_t number)
{
    if (why->cgroup.name[0] != '\0')
        return complain(STATUS_FAILURE, "no thread is in the cgroup %s", why->cgroup.folder.path);
    if (causes->is_kernel)
        return complain(STATUS_FAILURE,
                        "'%s' is a kernel thread, and all kernel threads are one group: give a "
                        "process, or no operand to see what kernel threads cause%s%s",
                        why->subject, why->pid != 0 ? "; for an interval give -i " : "",
                        why->pid != 0 ? why->subject : "");
    if (why->pid == 0)
        return complain_of_no_name(why->subject);
    if (!has_ended(why))
        return complain_of_unseen_process(why->pid);
    return number > 0
               ? OPTIONS_GO_ON
               : complain(STATUS_FAILURE, "process %d ended before the first interval", why->pid);
}

static int show(struct why *why, const struct causes *causes, uint64_t number)
{
    struct why_interval interval = { .causes = causes,
                                     .subject = find_subject(why, causes),
                                     .most = (size_t)why->top,
                                     .width = why->view_options.width };
    char time[TIME_TEXT_SIZE], name[CAUSE_NAME_SIZE] = "all threads";
    struct camp_error error = { 0 };
    int r;

    time_text(time, sizeof time, causes->wall_clock_ns);
    interval.time = time;
    if (interval.subject != WHY_ALL)
        cause_who(name, causes, CAMP_CAUSE_GROUP, interval.subject, "");
    interval.name = name;
    if (why->has_stacks && !why_stacks_fill(&why->stacks, causes, interval.subject))
        return complain(STATUS_FAILURE, "no memory for stacks");
    interval.stacks = why->has_stacks ? &why->stacks.interval : NULL;
    interval.kernel_is_hidden = why_stacks_hide_kernel(&why->stacks);
    r = why_record_fill(&why->record, &interval);
    if (r != CAMP_OK)
        return complain_of(r, &error);
    /* Processes with the name may come later, and come back. */
    if (why->from.from.text == NULL && why->subject != NULL && why->record.tree.total_ns == 0 &&
        (number == 0 || why->pid != 0))
        return complain_of_nothing(why, causes, number);
    if (is_of_stacks(why))
        return OPTIONS_GO_ON;
    return show_document(&why->record.document, why->view, &why->view_options, number);
}

static int show_part(void *context, const struct causes *causes, uint64_t number)
{
    return show(context, causes, number);
}

/* Refuses the table that only sessions have. */
static int refuse_waits(const struct why *why)
{
    if (why->table < 0 || strcmp(why_table_names[why->table], "waits") != 0)
        return OPTIONS_GO_ON;
    return complain(STATUS_USAGE, "--table waits: only sessions of a database have it: give --from "
                                  "postgres:CONNINFO or a recording of sessions");
}

static int run_recorded(struct why *why)
{
    const struct why_parts parts = { .subject = why->subject,
                                     .pid = why->pid,
                                     .length_ns = why->interval_ns,
                                     .count = why->count,
                                     .context = why,
                                     .show = show_part };

    return why_recorded_show(&why->recorded, &why->from, &parts);
}

/* Returns whether the source has sessions, and no causes of waits of threads. */
static bool has_sessions(const struct why *why)
{
    const struct source *source = why->recorded.source;
    const struct from_facts *facts = &why->recorded.facts;

    return source != NULL && !facts->has_causes &&
           (facts->live || strcmp(facts->kind, "sessions") == 0 ||
            blocker_tree_is_known(source->describe(source)));
}

static int run_sessions(struct why *why)
{
    const struct why_sessions sessions = { .from = &why->from,
                                           .source = why->recorded.source,
                                           .facts = &why->recorded.facts,
                                           .subject = why->subject,
                                           .pid = why->pid,
                                           .interval_ns = why->interval_ns,
                                           .count = why->count,
                                           .shows_literals = why->shows_literals,
                                           .most = (size_t)why->top,
                                           .view = why->view,
                                           .view_options = &why->view_options };

    if (why->table >= 0 && strcmp(why_table_names[why->table], "tree") != 0 &&
        strcmp(why_table_names[why->table], "waits") != 0 &&
        strcmp(why_table_names[why->table], "summary") != 0)
        return complain(STATUS_USAGE,
                        "--table %s: sessions have the tables tree, waits and summary",
                        why_table_names[why->table]);
    return why_sessions_show(&sessions);
}

/* Opens --from. Of a database, texts of statements are asked for, and shown without their literals,
 * and the lengths of waits where they can be measured. */
static int open_from(struct why *why)
{
    why->shows_literals = why->from.from.queries;
    why->from.from.queries |= why_sessions_is_database(why->from.from.text);
    why->from.from.lengths = why->from.from.lengths_if_known = true;
    return why_recorded_open(&why->recorded, &why->from);
}

static int run_intervals(struct why *why)
{
    struct intervals intervals = { .length_ns = why->interval_ns > 0 ? why->interval_ns : NS_PER_S,
                                   .count = why->count };
    int status = OPTIONS_GO_ON;

    while (status == OPTIONS_GO_ON && next_interval(&intervals)) {
        struct camp_error error = { 0 };
        const struct causes *causes;
        const int r = causes_next(why->source, intervals.deadline_ns, &causes, &error);

        status = r == CAMP_OK ? show(why, causes, intervals.started - 1) : complain_of(r, &error);
        if (!has_ended(why))
            continue;
        if (status == OPTIONS_GO_ON)
            complain(STATUS_OK, "process %d has ended", why->pid);
        break;
    }
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}

int command_why(int argc, char **argv)
{
    struct why why;
    int status = read_options(&why, argc, argv);

    if (status == OPTIONS_GO_ON) {
        stop_on_signals();
        status = why.from.from.text != NULL ? open_from(&why) : open_source(&why);
    }
    if (status == OPTIONS_GO_ON && has_sessions(&why))
        status = run_sessions(&why);
    else if (status == OPTIONS_GO_ON && (status = refuse_waits(&why)) == OPTIONS_GO_ON)
        status = why.from.from.text != NULL ? run_recorded(&why) : run_intervals(&why);
    if (status == STATUS_OK && is_of_stacks(&why))
        status = why_stacks_write(&why.stacks, why.format == FORMAT_PPROF);
    causes_close(why.source);
    why_cgroup_release(&why.cgroup);
    why_recorded_close(&why.recorded);
    why_record_release(&why.record);
    why_stacks_release(&why.stacks);
    return status;
}
