/*
 * camp view shows the page in the browser of this computer, live from a source or from a recording.
 * The main thread reads the source, and the server has a thread of its own.
 */
#include "commands/report/page_options.h"
#include "counters/clock.h"
#include "program/command.h"
#include "sources/from_list.h"
#include "views/page/server.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIVE_BYTES ((size_t)64 << 20) /* the limit for kept frames without --history */
/* The limit for kept frames of a finite source, or with --history. */
#define WHOLE_BYTES ((size_t)1 << 30)
/* The time between two checks for a stop, after the end of the source. */
#define PAUSE_NS (NS_PER_S / 5)
#define TUNNEL_PORT 8080 /* an example port for an ssh tunnel to a socket */

static const char *const hosts[] = { "127.0.0.1", "localhost", "::1", NULL };

struct view_command {
    struct page_options page;
    uint64_t port;
    const char *host, *socket, *history;
    bool demo;
    struct listen_address place;
    struct history_limits limits;
    struct server *server;
};

static const struct option_rule option_rules[] = { { "socket", NULL, "port", NULL }, { 0 } };

static int parse(struct view_command *view, int argc, char **argv, int *ret_first)
{
    const struct option_spec specs[] = {
        PAGE_OPTIONS(&view->page),
        { "demo", 0, OPTION_FLAG, &view->demo, NULL,
          "Show the sample data that comes with camp, the same as --from demo.", 0, 0, NULL },
        COMMON_OPTION(COMMON_PORT, &view->port,
                      .help = "The port to listen at; 0, the default: any free port."),
        COMMON_OPTION(COMMON_SOCKET, &view->socket,
                      .help = "Listen at a Unix socket that only you can open, instead of a port; "
                              "for ssh -L."),
        { "history", 0, OPTION_TEXT, &view->history, "KEPT",
          "Keep this much of the past for pages that are opened later: a time (10m, 2h) or a "
          "number of intervals. (Default: 64 MB; all of a file, up to 1 GB.)",
          0, 0, NULL },
        { "why", 0, OPTION_FLAG, &view->page.why, NULL,
          "Also measure the causes of waits (camp why), so that the page can show why threads of "
          "this machine waited. Needs CAP_BPF and CAP_PERFMON. A recording of camp record --why "
          "shows its causes without it.",
          0, 0, NULL },
    };
    const struct option_table table = {
        .usage = "camp view [OPTIONS] [INTERVAL]",
        .about = "Serves the page to the browser of this computer: each entity as a dot between\n"
                 "the corners of a triangle (Barry3) or tetrahedron, over time, as a table. It\n"
                 "prints the address with its token, and runs until Ctrl-C. On another computer,\n"
                 "ssh -L PORT:127.0.0.1:PORT brings the port to yours.",
        .specs = specs,
        .count = sizeof specs / sizeof specs[0],
        .rules = option_rules,
    };

    return options_parse(&table, argc, argv, ret_first);
}

/* Parses --history: "600" is a number of intervals, and "10m" is a time. */
static bool parse_history(const char *text, struct history_limits *ret)
{
    char *end;

    errno = 0;
    ret->frames = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0)
        return ret->frames > 0;
    ret->frames = 0;
    return parse_duration(text, &ret->time_ns) && ret->time_ns > 0;
}

/* --host has two meanings: the address to listen at, or the host of a fleet whose groups are
 * shown. For a fleet, a name that is not a local address is the name of a host. */
static int resolve_host(struct view_command *view)
{
    struct from *from = &view->page.from.from;
    size_t at = 0;

    view->host = from->host;
    if (view->host == NULL)
        return OPTIONS_GO_ON;
    while (hosts[at] != NULL && strcmp(hosts[at], view->host) != 0)
        at++;
    if (hosts[at] == NULL && from->text != NULL && from_is_fleet(from->text))
        return OPTIONS_GO_ON;
    from->host = NULL;
    if (hosts[at] == NULL)
        return complain(STATUS_USAGE,
                        "--host %s: it is for this computer alone, 127.0.0.1, localhost or ::1; "
                        "from another one use ssh -L, see docs/view.md",
                        view->host);
    if (view->socket != NULL)
        return complain(STATUS_USAGE, "--socket goes without --host");
    view->place.address = hosts[at];
    return OPTIONS_GO_ON;
}

/* --why is of the threads of this machine. A recording that has causes shows them anyway. */
static int check_why(const struct view_command *view)
{
    const char *from = view->page.from.from.text;
    const struct from_source *source;
    struct camp_error error = { 0 };

    if (!view->page.why || from == NULL || from_source_of(from, &source, &error) != CAMP_OK ||
        source->opener < OPENS_CHECK || source->opener == OPENS_RECORDING)
        return OPTIONS_GO_ON;
    return complain(STATUS_USAGE,
                    "--why is of the threads of this machine: it goes with --from threads, "
                    "processes, users, commands, cgroups or cpus, not with --from %s",
                    from_shown(from).text);
}

static int read_options(struct view_command *view, int argc, char **argv)
{
    int first, status;

    *view = (struct view_command){ .place.address = "127.0.0.1" };
    page_options_init(&view->page);
    status = parse(view, argc, argv, &first);
    if (status == OPTIONS_GO_ON && view->demo && view->page.from.from.text != NULL)
        return complain(STATUS_USAGE,
                        "--demo is the same as --from demo: give either --demo or --from %s",
                        from_shown(view->page.from.from.text).text);
    if (view->demo)
        view->page.from.from.text = "demo";
    if (status == OPTIONS_GO_ON)
        status = resolve_host(view);
    if (status != OPTIONS_GO_ON)
        return status;
    if (view->history != NULL && !parse_history(view->history, &view->limits))
        return complain(STATUS_USAGE,
                        "--history %s: takes a time such as 10m, or a number of "
                        "intervals",
                        view->history);
    view->place.path = view->socket;
    view->place.port = (uint16_t)view->port;
    return check_why(view);
}

/* Prints the address. Over ssh, or with a socket, also prints how to reach the page. */
static int print_address(const struct view_command *view)
{
    const struct http_place *at = server_at(view->server);
    const char *own = strchr(view->place.address, ':') != NULL ? "[::1]" : "127.0.0.1";

    printf("http://%s:%d/#%s\n", view->socket != NULL ? "localhost" : own,
           view->socket != NULL ? TUNNEL_PORT : at->port, at->token);
    if (view->socket != NULL) {
        printf("through the socket: ssh -N -L %d:", TUNNEL_PORT);
        print_name(view->socket);
        printf(" %s\n", view->page.host);
    } else if (getenv("SSH_CONNECTION") != NULL) {
        printf("from your own computer: ssh -N -L %u:%s:%u %s\n", at->port, own, at->port,
               view->page.host);
    }
    return fflush(stdout) == 0 ? OPTIONS_GO_ON : output_failed(errno);
}

static int open_server(struct view_command *view)
{
    struct camp_error error = { 0 };
    int r;

    view->limits.bytes = view->page.facts.live && view->history == NULL ? LIVE_BYTES : WHOLE_BYTES;
    r = server_open(&view->place, view->page.schema, &view->page.stream, &view->limits,
                    &view->server, &error);
    return r == CAMP_OK ? print_address(view) : complain_of(r, &error);
}

static int read_source(struct view_command *view)
{
    const struct frame *frame;
    int status;

    while (next_interval(&view->page.intervals)) {
        status = page_next(&view->page, &frame);
        if (status != OPTIONS_GO_ON || frame == NULL)
            return status;
        if (!stop_requested && server_frame(view->server, frame, page_cpus(&view->page, frame),
                                            page_causes(&view->page)) != CAMP_OK)
            return complain(STATUS_FAILURE, "no memory for more intervals; --history says how "
                                            "many are kept");
    }
    return OPTIONS_GO_ON;
}

/* Serves the page until a stop is requested, even after the end of the source. */
static int serve(struct view_command *view)
{
    int status = read_source(view);
    const char *reason = stop_requested            ? "camp view was stopped"
                         : status != OPTIONS_GO_ON ? "the source failed"
                         : view->page.facts.live   ? "the source ended"
                                                   : "this is all there is";

    if (server_end(view->server, reason) != CAMP_OK)
        return status == OPTIONS_GO_ON ? complain(STATUS_FAILURE, "no memory") : status;
    while (!stop_requested)
        sleep_until(now_ns(CLOCK_MONOTONIC) + PAUSE_NS);
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}

int command_view(int argc, char **argv)
{
    struct view_command view;
    int status = read_options(&view, argc, argv);

    if (status != OPTIONS_GO_ON)
        return status;
    stop_on_signals();
    view.page.from.sandbox.serves = true;
    view.page.from.sandbox.socket = view.socket;
    status = page_open(&view.page);
    if (status == OPTIONS_GO_ON) {
        source_set_idle(view.page.source, IDLE_OMITTED); /* The stream keeps their last rows. */
        status = open_server(&view);
    }
    if (status == OPTIONS_GO_ON)
        status = serve(&view);
    server_close(view.server);
    page_close(&view.page);
    return status;
}
