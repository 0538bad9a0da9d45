/*
 * camp export serves metrics about where the time of this computer goes, for Prometheus and
 * compatible programs. It makes a new page of metrics for each request.
 */
#include "counters/clock.h"
#include "metrics/exported.h"
#include "metrics/exporter_server.h"
#include "program/command.h"
#include "program/privilege.h"
#include "program/sandbox.h"
#include "sources/machine/hidden.h"
#include "top/top_workloads.h"
#include "views/http/listen.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define PORT 12267
#define GROUPS 20
#define GROUPS_MAXIMUM_SHOWN 1000
#define NEW_GROUPS 20
#define NEW_GROUPS_MAXIMUM 3600
#define NOTES_NS ((uint64_t)60 * NS_PER_S) /* the least time between two notes about groups */

enum { GROUP_CONTAINER = 3, GROUP_POD, GROUP_UNIT, GROUP_WORKLOAD }; /* indices into group_names */
static const char *const group_names[] = { "command", "user", "cgroup",   "container",
                                           "pod",     "unit", "workload", NULL };
static const enum group_key group_keys[] = { GROUP_NAME,  GROUP_USER,  GROUP_CGROUP, GROUP_LABEL,
                                             GROUP_LABEL, GROUP_LABEL, GROUP_NUMBER };
/* Whether /proc would hide names of this group from other users where it is mounted with hidepid.
 * Names of containers are from files that only root may read, and units in containers have them. */
static const bool group_is_private[] = { true, true, false, true, true, true, false };
enum { TIER_AUTO, TIER_BPF }; /* indices into tiers */
static const char *const tiers[] = { "auto", "bpf", "taskstats", "schedstat", NULL };
static const char *const addresses[] = { "127.0.0.1", "::1", "localhost", "0.0.0.0", NULL };
static const char *const formats[] = { "prometheus", "openmetrics", NULL };

struct export
{
    const char *host, *socket, *workload_file;
    uint64_t port, groups, new_groups, interval_ns;
    int group, format; /* -1 if not given */
    int tier;          /* index into tiers */
    bool allow_remote, once, why;
    bool hides_names; /* /proc hides the names of processes, and --why may not show them */
    struct top_workloads workloads;
    pthread_mutex_t lock; /* protects the following members, which the server's thread also uses */
    struct exported *exported;
    char note[256];   /* the last reported note about groups */
    uint64_t note_ns; /* when it was reported; 0: never */
};

static const struct option_rule option_rules[] = {
    { "socket", NULL, "host, port, allow-remote",
      "--socket is for this computer alone: it goes without --host, --port and --allow-remote" },
    { "once", NULL, "host, port, socket, allow-remote",
      "--once serves nothing: it goes without --host, --port, --socket and --allow-remote" },
    { "format", "once", NULL,
      "--format goes with --once; of a server, each request says which format it takes" },
    { "interval", "once", NULL,
      "--interval goes with --once; of a server, each request says when a page is made" },
    { 0 },
};

static int parse(struct export *export, int argc, char **argv, int *ret_first)
{
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_GROUP, &export->group, .type = OPTION_CHOICE,
                      .help = "What a group is: command (the default: processes of one name), "
                              "user, cgroup (version 2), container, pod, unit (of systemd) or "
                              "workload.",
                      .choices = group_names),
        COMMON_OPTION(COMMON_WORKLOAD, &export->workload_file,
                      .help = "A group is a workload, by the rules in FILE (camp top --help); "
                              "processes that match no rule are in groupname=\"(unmatched)\". "
                              "After SIGHUP camp reads FILE again."),
        { "groups", 0, OPTION_COUNT, &export->groups, "N",
          "Report the N groups that use the most (20); the others are summed as "
          "groupname=\"other\". Where /proc hides processes (hidepid), an address shows names of "
          "commands and users only with this option.",
          0, GROUPS_MAXIMUM_SHOWN, NULL },
        { "new-groups", 0, OPTION_COUNT, &export->new_groups, "N",
          "At most N groups in each hour take the place of others (20), so that a database gets "
          "few series even if names change all the time; more are in groupname=\"other\".",
          0, NEW_GROUPS_MAXIMUM, NULL },
        COMMON_OPTION(
            COMMON_TIER, &export->tier, .type = OPTION_CHOICE,
            .help =
                "auto (the default: the best available tier, which the metrics name), or one tier "
                "without a fallback: bpf (states of threads; needs CAP_BPF and CAP_PERFMON), "
                "taskstats (CPU time, measured and sampled; needs CAP_NET_ADMIN), or schedstat "
                "(measured CPU time).",
            .choices = tiers),
        { "why", 0, OPTION_FLAG, &export->why, NULL,
          "Also report how long waits lasted (histograms) and what caused them, by the names of "
          "processes: camp why for Prometheus. Needs tier bpf; docs/export.md has the number of "
          "series, and docs/why.md the cost.",
          0, 0, NULL },
        COMMON_OPTION(COMMON_HOST, &export->host, .argument = "ADDRESS",
                      .help = "The address to listen at: 127.0.0.1 (the default), ::1 or "
                              "localhost. Any other address needs --allow-remote, too.",
                      .choices = addresses),
        COMMON_OPTION(COMMON_PORT, &export->port, .help = "The port (12267); 0: any free port."),
        COMMON_OPTION(COMMON_SOCKET, &export->socket),
        { "allow-remote", 0, OPTION_FLAG, &export->allow_remote, NULL,
          "Listen at an address that other computers can reach. They can read all metrics without "
          "a password, and unencrypted. docs/export.md has a proxy with both.",
          0, 0, NULL },
        { "once", 0, OPTION_FLAG, &export->once, NULL,
          "Print one page about one interval to standard output, and serve nothing.", 0, 0, NULL },
        COMMON_OPTION(COMMON_INTERVAL, &export->interval_ns,
                      .help = "With --once: the length of the measured interval (1s)."),
        COMMON_OPTION(COMMON_FORMAT, &export->format,
                      .help = "With --once: prometheus (0.0.4, the default) or openmetrics "
                              "(1.0.0).",
                      .choices = formats),
    };
    const struct option_table table = {
        .usage = "camp export [OPTIONS] [INTERVAL]",
        .about = "Metrics of this computer for Prometheus (text 0.0.4, OpenMetrics 1.0.0) at\n"
                 "http://127.0.0.1:12267/metrics: CPU time measured beside sampled, the states of\n"
                 "all threads and of the groups that use the most, what it costs, what it could\n"
                 "not see. A page is made when it is asked for; nothing is read in between. It\n"
                 "runs until it is stopped. docs/export.md has each metric.",
        .specs = specs,
        .count = sizeof specs / sizeof specs[0],
        .rules = option_rules,
    };

    return options_parse(&table, argc, argv, ret_first);
}

static int resolve_host(const struct export *export)
{
    struct camp_error error = { 0 };
    bool loopback = false;
    const int r = listen_check_address(export->host, &loopback, &error);

    if (r != CAMP_OK)
        return complain_of(r, &error);
    if (loopback || export->allow_remote)
        return OPTIONS_GO_ON;
    return complain(STATUS_USAGE,
                    "--host %s: other computers reach this address, and could read what is private "
                    "here; give --allow-remote as well if they may, or put a proxy that asks for a "
                    "password before it (docs/export.md)",
                    export->host);
}

static int resolve_place(struct export *export)
{
    int status = OPTIONS_GO_ON;

    if (export->host != NULL)
        status = resolve_host(export);
    else
        export->host = "127.0.0.1";
    if (export->port == UINT64_MAX)
        export->port = PORT;
    if (export->interval_ns == 0)
        export->interval_ns = NS_PER_S;
    return status;
}

static int resolve_group(struct export *export)
{
    if (export->workload_file != NULL) {
        if (export->group >= 0 && export->group != GROUP_WORKLOAD)
            return complain(STATUS_USAGE, "--workload goes with --group workload");
        export->group = GROUP_WORKLOAD;
        return top_workloads_read(&export->workloads, export->workload_file);
    }
    if (export->group == GROUP_WORKLOAD)
        return complain(STATUS_USAGE,
                        "--group workload takes --workload FILE; camp top --help shows what is in "
                        "it");
    if (export->group < 0)
        export->group = 0;
    return OPTIONS_GO_ON;
}

/* Each local user can read the metrics at an address. So no process is named there that /proc hides
 * from other users, unless the caller asks for groups. The names of cgroups are not hidden, and
 * those of workloads come from the caller's file; but --why names processes. */
static void resolve_groups(struct export *export)
{
    if (export->groups != UINT64_MAX) {
        export->hides_names = export->groups == 0;
        return;
    }
    export->groups = GROUPS;
    if (export->socket != NULL || export->once ||
        (!group_is_private[export->group] && !export->why) || !hidden_from_others())
        return;
    export->hides_names = true;
    if (group_is_private[export->group])
        export->groups = 0;
    complain(
        STATUS_OK,
        "no command, user, container or unit is named: /proc hides processes of other users (it is "
        "mounted with hidepid), and each local user can read these metrics; "
        "--groups 20 names them to all, and --socket serves one user");
}

static int read_options(struct export *export, int argc, char **argv)
{
    int first, status;

    *export = (struct export){ .lock = PTHREAD_MUTEX_INITIALIZER,
                               .port = UINT64_MAX,
                               .groups = UINT64_MAX,
                               .new_groups = NEW_GROUPS,
                               .group = -1,
                               .format = -1 };
    status = parse(export, argc, argv, &first);
    if (status == OPTIONS_GO_ON)
        status = resolve_place(export);
    if (status == OPTIONS_GO_ON)
        status = resolve_group(export);
    if (status == OPTIONS_GO_ON)
        resolve_groups(export);
    if (status == OPTIONS_GO_ON && export->why && export->tier > TIER_BPF)
        return complain(STATUS_USAGE, "--why needs the states of threads: it goes with --tier bpf");
    return status;
}

static int open_exported(struct export *export)
{
    const struct exported_options options = {
        .group = group_keys[export->group],
        .label = export->group == GROUP_POD    ? LABEL_POD
                 : export->group == GROUP_UNIT ? LABEL_UNIT
                                               : LABEL_CONTAINER,
        .rules = &export->workloads.rules,
        .groups = (size_t) export->groups,
        .new_groups = (size_t) export->new_groups,
        .tier = export->tier > TIER_AUTO ? tiers[export->tier] : NULL,
        .why = export->why,
        .hides_names = export->hides_names,
    };
    const struct sandbox sandbox = { .kind = SANDBOX_MACHINE,
                                     .workload_file = export->workload_file,
                                     .serves = !export->once,
                                     .containers = group_keys[export->group] == GROUP_LABEL,
                                     .socket = export->socket };
    struct camp_error error = { 0 };
    const char *note;
    int r = exported_open(&options, &export->exported, &error);

    if (r != CAMP_OK)
        return complain_of(r, &error);
    privilege_give_up(privilege_use_of(exported_tier(export->exported, &note)));
    r = sandbox_enter(&sandbox, &error);
    if (r != CAMP_OK)
        return complain_of(r, &error);
    if (strcmp(exported_tier(export->exported, &note), "bpf") != 0 && note[0] != '\0')
        complain(STATUS_OK, "tier %s, so states of threads are absent: %s",
                 exported_tier(export->exported, &note), note);
    return OPTIONS_GO_ON;
}

static bool is_same_without_digits(const char *left, const char *right)
{
    static const char digits[] = "0123456789";

    for (;; left++, right++) {
        left += strspn(left, digits);
        right += strspn(right, digits);
        if (*left != *right || *left == '\0')
            return *left == *right;
    }
}

/* Reports what could not be named when there is a new reason. Containers come and go, and any user
 * may start some, so their number alone is no news, and a log gets at most one line in a minute. */
static void report_note(struct export *export)
{
    const char *note = exported_group_note(export->exported);
    const uint64_t now = now_ns(CLOCK_MONOTONIC);

    if (note[0] == '\0' || is_same_without_digits(export->note, note) ||
        (export->note_ns > 0 && now - export->note_ns < NOTES_NS))
        return;
    snprintf(export->note, sizeof export->note, "%s", note);
    export->note_ns = now;
    complain(STATUS_OK, "%s", note);
}

static int make_page(void *context, enum exposition_format format, const struct scrapes *scrapes,
                     struct bytes *ret, struct camp_error *error)
{
    struct export *export = context;
    const struct metric_family *families;
    size_t count;
    int r;

    pthread_mutex_lock(&export->lock);
    r = exported_read(export->exported, scrapes, &families, &count, error);
    if (r == CAMP_OK)
        report_note(export);
    if (r == CAMP_OK)
        exposition_write(ret, format, families, count);
    pthread_mutex_unlock(&export->lock);
    return r;
}

static int print_page(struct export *export)
{
    const enum exposition_format format =
        export->format > 0 ? EXPOSITION_OPENMETRICS : EXPOSITION_PROMETHEUS;
    const struct scrapes none = { 0 };
    struct camp_error error = { 0 };
    struct bytes page = { 0 };
    int r, status = STATUS_OK;

    sleep_until(now_ns(CLOCK_MONOTONIC) + export->interval_ns);
    r = make_page(export, format, &none, &page, &error);
    if (r != CAMP_OK)
        status = complain_of(r, &error);
    else if (page.failed)
        status = complain(STATUS_FAILURE, "out of memory");
    else if (fwrite(page.data, 1, page.size, stdout) != page.size || fflush(stdout) != 0)
        status = output_failed(errno);
    bytes_release(&page);
    return status;
}

/* Reads the rules from the file again. If that fails, the old rules stay in use. */
static void read_rules_again(struct export *export)
{
    struct top_workloads rules, before = export->workloads;

    if (export->workload_file == NULL ||
        top_workloads_read(&rules, export->workload_file) != OPTIONS_GO_ON)
        return;
    pthread_mutex_lock(&export->lock);
    export->workloads = rules;
    exported_set_rules(export->exported, &export->workloads.rules);
    pthread_mutex_unlock(&export->lock);
    top_workloads_release(&before);
}

/* Blocks the signals before the server starts. A blocked signal stays pending until sigwait()
 * takes it, so no signal is lost. */
static void hold_signals(sigset_t *ret)
{
    sigemptyset(ret);
    sigaddset(ret, SIGINT);
    sigaddset(ret, SIGTERM);
    sigaddset(ret, SIGHUP);
    pthread_sigmask(SIG_BLOCK, ret, NULL);
}

static int print_address(const struct export *export, const struct exporter_server *server)
{
    const bool version_6 = strchr(export->host, ':') != NULL;

    if (export->socket != NULL) {
        printf("unix:");
        print_name(export->socket);
        printf("\n");
    } else {
        printf("http://%s%s%s:%u/metrics\n", version_6 ? "[" : "", export->host,
               version_6 ? "]" : "", exporter_server_port(server));
    }
    return fflush(stdout) == 0 ? OPTIONS_GO_ON : output_failed(errno);
}

static int serve(struct export *export)
{
    struct exporter_place place = { { export->socket, export->host, (uint16_t) export->port },
                                    NULL };
    struct exporter_server *server = NULL;
    struct camp_error error = { 0 };
    const char *note;
    sigset_t signals;
    int r, number, status = STATUS_OK;

    hold_signals(&signals);
    place.tier = exported_tier(export->exported, &note);
    r = exporter_server_open(&place, make_page, export, &server, &error);
    if (r != CAMP_OK)
        return complain_of(r, &error);
    status = print_address(export, server);
    while (status == OPTIONS_GO_ON) {
        if (sigwait(&signals, &number) == 0 && number == SIGHUP)
            read_rules_again(export);
        else
            status = STATUS_OK;
    }
    exporter_server_close(server);
    return status;
}

int command_export(int argc, char **argv)
{
    struct export export;
    int status = read_options(&export, argc, argv);

    if (status == OPTIONS_GO_ON) {
        if (export.once)
            stop_on_signals();
        status = open_exported(&export);
    }
    if (status == OPTIONS_GO_ON)
        status = export.once ? print_page(&export) : serve(&export);
    exported_close(export.exported);
    top_workloads_release(&export.workloads);
    return status;
}
