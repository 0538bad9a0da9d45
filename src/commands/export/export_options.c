#include "export_options.h"

#include "counters/clock.h"
#include "export_sessions.h"
#include "program/command.h"
#include "program/from_options.h"
#include "sources/machine/hidden.h"
#include "views/http/listen.h"

#include <string.h>

#define PORT 12267
#define GROUPS 20
#define GROUPS_MAXIMUM_SHOWN 1000
#define NEW_GROUPS 20
#define NEW_GROUPS_MAXIMUM 3600

/* Indices into group_names. Those from GROUP_OF_SESSIONS on are only for sessions. */
enum { GROUP_CONTAINER = 3, GROUP_POD, GROUP_UNIT, GROUP_WORKLOAD };
#define GROUP_OF_SESSIONS (GROUP_WORKLOAD + 1)
static const char *const group_names[] = { "command", "user",     "cgroup",       "container",
                                           "pod",     "unit",     "workload",     "application",
                                           "client",  "database", "backend_type", "wait_event",
                                           NULL };
static const enum group_key group_keys[] = { GROUP_NAME,  GROUP_USER,  GROUP_CGROUP, GROUP_LABEL,
                                             GROUP_LABEL, GROUP_LABEL, GROUP_NUMBER };
/* Whether /proc would hide names of this group from other users where it is mounted with hidepid.
 * Names of containers are from files that only root may read, and units in containers have them. */
static const bool group_is_private[] = { true, true, false, true, true, true, false };
enum { TIER_AUTO, TIER_BPF }; /* indices into tiers */
static const char *const tiers[] = { "auto",
                                     "bpf",
                                     "taskstats",
                                     "schedstat",
                                     "schedstat+SQL",
                                     "schedstat+memory",
                                     "SQL",
                                     "performance_schema",
                                     NULL };
static const char *const addresses[] = { "127.0.0.1", "::1", "localhost", "0.0.0.0", NULL };
static const char *const formats[] = { "prometheus", "openmetrics", NULL };

static const struct option_rule option_rules[] = {
    { "socket", NULL, "host, port, allow-remote",
      "--socket is for this computer alone: it goes without --host, --port and --allow-remote" },
    { "once", NULL, "host, port, socket, allow-remote",
      "--once serves nothing: it goes without --host, --port, --socket and --allow-remote" },
    { "format", "once", NULL,
      "--format goes with --once; of a server, each request says which format it takes" },
    { "interval", "once", NULL,
      "--interval goes with --once; of a server, each request says when a page is made" },
    { "from", NULL, "workload, why",
      "--from exports the sessions of a database: --workload and --why are about processes" },
    { "rules", "from", NULL, "--rules goes with --from" },
    { "background", "from", NULL, "--background goes with --from" },
    { 0 },
};

static int parse(struct export_options *options, int argc, char **argv, int *ret_first)
{
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_FROM, &options->texts,
                      .help =
                          "Export the sessions of a database instead of this computer: "
                          "postgres:CONNINFO or mariadb:CONNINFO (docs/sessions.md). Repeat the "
                          "option for more servers.",
                      .choices = export_session_words),
        FROM_RULES_OPTIONS(options),
        COMMON_OPTION(COMMON_GROUP, &options->group, .type = OPTION_CHOICE,
                      .help = "What a group is: command (the default: processes of one name), "
                              "user, cgroup, container, pod, unit (of systemd) or "
                              "workload. Of sessions: application (the default of postgres:), user "
                              "(of mariadb:), database, client or backend_type.",
                      .choices = group_names),
        COMMON_OPTION(COMMON_WORKLOAD, &options->workload_file,
                      .help = "A group is a workload, by the rules in FILE (camp top --help); "
                              "processes that match no rule are in groupname=\"(unmatched)\". "
                              "After SIGHUP camp reads FILE again."),
        { "groups", 0, OPTION_COUNT, &options->groups, "N",
          "Report the N groups that use the most (20); the others are summed as "
          "groupname=\"other\". Where /proc hides processes (hidepid), an address shows names of "
          "commands and users only with this option.",
          0, GROUPS_MAXIMUM_SHOWN, NULL },
        { "new-groups", 0, OPTION_COUNT, &options->new_groups, "N",
          "At most N groups in each hour take the place of others (20), so that a database gets "
          "few series even if names change all the time; more are in groupname=\"other\".",
          0, NEW_GROUPS_MAXIMUM, NULL },
        COMMON_OPTION(
            COMMON_TIER, &options->tier, .type = OPTION_CHOICE,
            .help =
                "auto (the default: the best available tier, which the metrics name), or one tier "
                "without a fallback: bpf (states of threads; needs CAP_BPF and CAP_PERFMON), "
                "taskstats (CPU time, measured and sampled; needs CAP_NET_ADMIN), or schedstat "
                "(measured CPU time). Of sessions: those of docs/sessions.md.",
            .choices = tiers),
        { "why", 0, OPTION_FLAG, &options->why, NULL,
          "Also report how long waits lasted (histograms) and what caused them, by the names of "
          "processes: camp why for Prometheus. Needs tier bpf; docs/export.md has the number of "
          "series, and docs/why.md the cost.",
          0, 0, NULL },
        COMMON_OPTION(COMMON_HOST, &options->host, .argument = "ADDRESS",
                      .help = "The address to listen at: 127.0.0.1 (the default), ::1 or "
                              "localhost. Any other address needs --allow-remote, too.",
                      .choices = addresses),
        COMMON_OPTION(COMMON_PORT, &options->port, .help = "The port (12267); 0: any free port."),
        COMMON_OPTION(COMMON_SOCKET, &options->socket),
        { "allow-remote", 0, OPTION_FLAG, &options->allow_remote, NULL,
          "Listen at an address that other computers can reach. They can read all metrics without "
          "a password, and unencrypted. docs/export.md has a proxy with both.",
          0, 0, NULL },
        { "once", 0, OPTION_FLAG, &options->once, NULL,
          "Print one page about one interval to standard output, and serve nothing.", 0, 0, NULL },
        COMMON_OPTION(COMMON_INTERVAL, &options->interval_ns,
                      .help = "With --once: the length of the measured interval (1s)."),
        COMMON_OPTION(COMMON_FORMAT, &options->format,
                      .help = "With --once: prometheus (0.0.4, the default) or openmetrics "
                              "(1.0.0).",
                      .choices = formats),
    };
    const struct option_table table = {
        .usage = "camp export [OPTIONS] [INTERVAL]",
        .about = "Metrics of this computer for Prometheus (text 0.0.4, OpenMetrics 1.0.0) at\n"
                 "http://127.0.0.1:12267/metrics: CPU time measured beside sampled, the states of\n"
                 "all threads and of the groups that use the most, what it costs, what it could\n"
                 "not see. A page is made when it is asked for; nothing is read in between. With\n"
                 "--from, of a database: the states of its sessions, which are sampled all the\n"
                 "time, its oldest transaction, its longest blocker. It runs until it is stopped.\n"
                 "docs/export.md has each metric.",
        .specs = specs,
        .count = sizeof specs / sizeof specs[0],
        .rules = option_rules,
    };

    return options_parse(&table, argc, argv, ret_first);
}

static int resolve_host(const struct export_options *options)
{
    struct camp_error error = { 0 };
    bool loopback = false;
    const int r = listen_check_address(options->host, &loopback, &error);

    if (r != CAMP_OK)
        return complain_of(r, &error);
    if (loopback || options->allow_remote)
        return OPTIONS_GO_ON;
    return complain(STATUS_USAGE,
                    "--host %s: other computers reach this address, and could read what is private "
                    "here; give --allow-remote as well if they may, or put a proxy that asks for a "
                    "password before it (docs/export.md)",
                    options->host);
}

static int resolve_place(struct export_options *options)
{
    int status = OPTIONS_GO_ON;

    if (options->host != NULL)
        status = resolve_host(options);
    else
        options->host = "127.0.0.1";
    if (options->port == UINT64_MAX)
        options->port = PORT;
    if (options->interval_ns == 0)
        options->interval_ns = NS_PER_S;
    return status;
}

static int resolve_group(struct export_options *options)
{
    if (options->workload_file != NULL) {
        if (options->group >= 0 && options->group != GROUP_WORKLOAD)
            return complain(STATUS_USAGE, "--workload goes with --group workload");
        options->group = GROUP_WORKLOAD;
        return top_workloads_read(&options->workloads, options->workload_file);
    }
    if (options->group == GROUP_WORKLOAD)
        return complain(STATUS_USAGE,
                        "--group workload takes --workload FILE; camp top --help shows what is in "
                        "it");
    if (options->group >= GROUP_OF_SESSIONS)
        return complain(STATUS_USAGE,
                        "--group %s goes with --from: a group of processes is command, user, "
                        "cgroup, container, pod, unit or workload",
                        group_names[options->group]);
    if (options->group < 0)
        options->group = 0;
    return OPTIONS_GO_ON;
}

/* Each local user can read the metrics at an address. So no process is named there that /proc hides
 * from other users, unless the caller asks for groups. The names of cgroups are not hidden, and
 * those of workloads come from the caller's file; but --why names processes. */
static void resolve_groups(struct export_options *options)
{
    if (options->groups != UINT64_MAX) {
        options->hides_names = options->groups == 0;
        return;
    }
    options->groups = GROUPS;
    if (options->socket != NULL || options->once ||
        (!group_is_private[options->group] && !options->why) || !hidden_from_others())
        return;
    options->hides_names = true;
    if (group_is_private[options->group])
        options->groups = 0;
    complain(
        STATUS_OK,
        "no command, user, container or unit is named: /proc hides processes of other users (it is "
        "mounted with hidepid), and each local user can read these metrics; "
        "--groups 20 names them to all, and --socket serves one user");
}

int export_options_read(struct export_options *options, int argc, char **argv)
{
    int first, status;

    *options = (struct export_options){ .port = UINT64_MAX,
                                        .groups = UINT64_MAX,
                                        .new_groups = NEW_GROUPS,
                                        .group = -1,
                                        .format = -1 };
    options->texts.first = &options->from.text;
    status = parse(options, argc, argv, &first);
    options->from.more = options->texts.more;
    options->from.more_count = options->texts.count;
    if (status == OPTIONS_GO_ON)
        status = resolve_place(options);
    if (options->from.text != NULL && options->groups == UINT64_MAX)
        options->groups = GROUPS;
    if (options->from.text != NULL)
        return status;
    if (status == OPTIONS_GO_ON)
        status = resolve_group(options);
    if (status == OPTIONS_GO_ON)
        resolve_groups(options);
    if (status == OPTIONS_GO_ON && options->why && options->tier > TIER_BPF)
        return complain(STATUS_USAGE, "--why needs the states of threads: it goes with --tier bpf");
    return status;
}

const char *export_options_tier(const struct export_options *options)
{
    return options->tier > TIER_AUTO ? tiers[options->tier] : NULL;
}

const char *export_options_group(const struct export_options *options)
{
    return options->group >= 0 ? group_names[options->group] : NULL;
}

enum group_key export_options_group_key(const struct export_options *options)
{
    return group_keys[options->group];
}

enum container_label export_options_label(const struct export_options *options)
{
    return options->group == GROUP_POD    ? LABEL_POD
           : options->group == GROUP_UNIT ? LABEL_UNIT
                                          : LABEL_CONTAINER;
}
