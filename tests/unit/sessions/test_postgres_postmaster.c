/* Whether a server on this machine accepts connections. This program, started again with a few
 * arguments, takes the place of the postmaster, and starts processes that are named as those of a
 * server. */
#include "counters/clock.h"
#include "sources/sessions/postgres/server/postgres_postmaster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Processes of a test: the postmaster, its backend, and its WAL writer or 0. */
struct server {
    pid_t pids[3];
};

enum { POSTMASTER, BACKEND, WRITER };

/* Starts this program again as `title`. A process of a server ends with its parent. */
static pid_t start(const char *title, const char *argument, int output)
{
    const pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(output, STDOUT_FILENO);
    execl("/proc/self/exe", title, argument, (char *)NULL);
    _exit(1);
}

/* The postmaster: starts its processes, and writes their pids. With "starting" it has no WAL
 * writer, as a server that starts or shuts down. */
static int run_postmaster(const char *argument)
{
    const bool is_starting = strcmp(argument, "starting") == 0;
    const pid_t pids[] = {
        start("postgres: camp shop [local] idle", "child", STDERR_FILENO),
        is_starting ? 0 : start("postgres: main: walwriter ", "child", STDERR_FILENO),
    };

    if (write(STDOUT_FILENO, pids, sizeof pids) != sizeof pids)
        return 1;
    for (;;)
        pause();
}

static bool has_title(pid_t pid, const char *title)
{
    char path[64], text[256] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    file = fopen(path, "re");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) < sizeof text);
    fclose(file);
    return strncmp(text, title, strlen(title)) == 0;
}

/* The arguments of the postmaster have the pid of this test, because the test may run twice at the
 * same time. */
static struct server start_server(const char *argument)
{
    struct server server;
    char title[64];
    int ends[2];

    snprintf(title, sizeof title, "postgres-of-%d", getpid());
    assert_int_equal(pipe(ends), 0);
    server.pids[POSTMASTER] = start(title, argument, ends[1]);
    assert_int_equal(read(ends[0], &server.pids[BACKEND], 2 * sizeof server.pids[0]),
                     2 * sizeof server.pids[0]);
    close(ends[0]);
    close(ends[1]);
    for (int i = BACKEND; i <= WRITER; i++)
        while (server.pids[i] != 0 && !has_title(server.pids[i], "postgres: "))
            usleep(1000);
    return server;
}

/* Ends the server, whose other processes end with the postmaster. */
static void end_server(const struct server *server)
{
    kill(server->pids[POSTMASTER], SIGKILL);
    waitpid(server->pids[POSTMASTER], NULL, 0);
}

/* Returns the last answer of `count` calls. */
static bool may_accept(struct postgres_postmaster *postmaster, int count)
{
    bool ret = false;

    for (int i = 0; i < count; i++) {
        usleep(POSTMASTER_PERIOD_NS / 1000);
        ret = postgres_postmaster_may_accept(postmaster);
    }
    return ret;
}

static void a_server_with_a_wal_writer_accepts_connections(void **state)
{
    const struct server server = start_server("running");
    struct postgres_postmaster postmaster;

    (void)state;
    postgres_postmaster_remember(&postmaster, server.pids[BACKEND]);
    assert_true(postmaster.is_known);
    assert_false(may_accept(&postmaster, 1)); /* This WAL writer may be about to end. */
    assert_true(may_accept(&postmaster, 2));
    end_server(&server);
}

static void a_server_that_shuts_down_does_not_accept_connections(void **state)
{
    const struct server server = start_server("running");
    struct postgres_postmaster postmaster;

    (void)state;
    postgres_postmaster_remember(&postmaster, server.pids[BACKEND]);
    kill(server.pids[WRITER], SIGKILL);
    assert_false(may_accept(&postmaster, 4));
    end_server(&server);
}

static void a_server_is_found_again_after_a_restart_by_its_arguments(void **state)
{
    struct server server = start_server("running");
    struct postgres_postmaster postmaster;

    (void)state;
    postgres_postmaster_remember(&postmaster, server.pids[BACKEND]);
    end_server(&server);
    server = start_server("running");
    assert_false(may_accept(&postmaster, 1));
    assert_true(may_accept(&postmaster, 2));
    kill(server.pids[WRITER], SIGKILL);
    assert_false(may_accept(&postmaster, 4));
    end_server(&server);
}

static void a_connection_is_tried_where_no_server_runs(void **state)
{
    const struct server server = start_server("running");
    struct postgres_postmaster postmaster;

    (void)state;
    postgres_postmaster_remember(&postmaster, server.pids[BACKEND]);
    end_server(&server);
    assert_true(may_accept(&postmaster, 1));
}

static void a_connection_is_tried_where_the_server_is_unknown(void **state)
{
    const struct server starting = start_server("starting");
    struct postgres_postmaster postmaster;

    (void)state;
    for (int i = 0; i < 2; i++) {
        /* The server is on another machine, or is a standby without a WAL writer. */
        postgres_postmaster_remember(&postmaster, i == 0 ? 0 : starting.pids[BACKEND]);
        assert_false(postmaster.is_known);
        assert_true(may_accept(&postmaster, 1));
    }
    end_server(&starting);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_with_a_wal_writer_accepts_connections),
        cmocka_unit_test(a_server_that_shuts_down_does_not_accept_connections),
        cmocka_unit_test(a_server_is_found_again_after_a_restart_by_its_arguments),
        cmocka_unit_test(a_connection_is_tried_where_no_server_runs),
        cmocka_unit_test(a_connection_is_tried_where_the_server_is_unknown),
    };

    if (count > 1 && strcmp(arguments[1], "child") == 0)
        for (;;)
            pause();
    if (count > 1)
        return run_postmaster(arguments[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
