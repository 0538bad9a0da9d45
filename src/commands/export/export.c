/*
 * camp export serves metrics about where the time of this computer, or of the sessions of a
 * database, goes, for Prometheus and compatible programs. It makes a new page of metrics for each
 * request.
 */
#include "counters/clock.h"
#include "export_options.h"
#include "export_sessions.h"
#include "metrics/exported.h"
#include "metrics/exporter_server.h"
#include "program/command.h"
#include "program/privilege.h"
#include "program/sandbox.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NOTES_NS ((uint64_t)60 * NS_PER_S) /* the least time between two notes about groups */

struct export
{
    struct export_options options;
    pthread_mutex_t lock; /* protects the following members, which the server's thread also uses */
    struct exported *exported;
    char note[256];   /* the last reported note about groups */
    uint64_t note_ns; /* when it was reported; 0: never */
};

static int open_sessions(struct export *export)
{
    struct export_sessions sessions = {
        .from = export->options.from,
        .group = export_options_group(&export->options),
        .groups = (size_t) export->options.groups,
        .new_groups = (size_t) export->options.new_groups,
    };
    const char *tier, *note;
    int status;

    sessions.from.tier = export_options_tier(&export->options);
    status = export_sessions_open(&sessions, &export->exported);
    if (status != OPTIONS_GO_ON)
        return status;
    tier = exported_tier(export->exported, &note);
    if (note[0] != '\0')
        complain(STATUS_OK, "tier %s: %s", tier, note);
    return OPTIONS_GO_ON;
}

static int open_exported(struct export *export)
{
    const struct exported_options options = {
        .group = export_options_group_key(&export->options),
        .label = export_options_label(&export->options),
        .rules = &export->options.workloads.rules,
        .groups = (size_t) export->options.groups,
        .new_groups = (size_t) export->options.new_groups,
        .tier = export_options_tier(&export->options),
        .why = export->options.why,
        .hides_names = export->options.hides_names,
    };
    const struct sandbox sandbox = { .kind = SANDBOX_MACHINE,
                                     .workload_file = export->options.workload_file,
                                     .serves = !export->options.once,
                                     .containers =
                                         export_options_group_key(&export->options) == GROUP_LABEL,
                                     .socket = export->options.socket };
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
 * may start some, so a new number alone is not reported, and a log gets at most one line in a
 * minute. */
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
        export->options.format > 0 ? EXPOSITION_OPENMETRICS : EXPOSITION_PROMETHEUS;
    const struct scrapes none = { 0 };
    struct camp_error error = { 0 };
    struct bytes page = { 0 };
    int r, status = STATUS_OK;

    sleep_until(now_ns(CLOCK_MONOTONIC) + export->options.interval_ns);
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
    struct top_workloads rules, before = export->options.workloads;

    if (export->options.workload_file == NULL ||
        top_workloads_read(&rules, export->options.workload_file) != OPTIONS_GO_ON)
        return;
    pthread_mutex_lock(&export->lock);
    export->options.workloads = rules;
    exported_set_rules(export->exported, &export->options.workloads.rules);
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
    const bool version_6 = strchr(export->options.host, ':') != NULL;

    if (export->options.socket != NULL) {
        printf("unix:");
        print_name(export->options.socket);
        printf("\n");
    } else {
        printf("http://%s%s%s:%u/metrics\n", version_6 ? "[" : "", export->options.host,
               version_6 ? "]" : "", exporter_server_port(server));
    }
    return fflush(stdout) == 0 ? OPTIONS_GO_ON : output_failed(errno);
}

static int serve(struct export *export)
{
    struct exporter_place place = {
        .at = { export->options.socket, export->options.host, (uint16_t) export->options.port },
        .subject =
            export->options.from.text != NULL ? "the sessions of a database" : "this computer",
    };
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
    struct export export = { .lock = PTHREAD_MUTEX_INITIALIZER };
    int status = export_options_read(&export.options, argc, argv);

    if (status == OPTIONS_GO_ON) {
        if (export.options.once)
            stop_on_signals();
        status = export.options.from.text != NULL ? open_sessions(&export) : open_exported(&export);
    }
    if (status == OPTIONS_GO_ON)
        status = export.options.once ? print_page(&export) : serve(&export);
    exported_close(export.exported);
    top_workloads_release(&export.options.workloads);
    return status;
}
