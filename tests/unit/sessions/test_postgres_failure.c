/* Failures of PostgreSQL, parsed from libpq's texts as recorded with real servers. */
#include "sources/sessions/postgres/postgres_failure.h"

#include "../tree.h"

#include <string.h>

static void assert_reported(const char *text, int code, bool may_pass, const char *message)
{
    struct postgres_failure failure;
    struct camp_error error;

    postgres_failure_of_text(text, &failure);
    assert_int_equal(postgres_failure_report(&failure, &error), code);
    assert_string_equal(error.message, message);
    assert_int_equal(postgres_failure_may_pass(&failure), may_pass);
}

static void a_refusal_by_the_server_is_reported_with_its_cause_and_advice(void **state)
{
    (void)state;
    assert_reported(
        "connection to server on socket \"/run/.s.PGSQL.5432\" failed: FATAL:  28000: role "
        "\"locked_out\" is not permitted to log in\nLOCATION:  InitializeSessionUserId, "
        "miscinit.c:821\n",
        CAMP_E_PERM, false,
        "PostgreSQL: role \"locked_out\" is not permitted to log in; give user=; see "
        "docs/sessions.md for its rights");
    assert_reported(
        "connection to server at \"h\" (10.0.0.1), port 5432 failed: FATAL:  28P01: password "
        "authentication failed for user \"secret\"\nLOCATION:  auth_failed, auth.c:334\n",
        CAMP_E_PERM, false,
        "PostgreSQL: password authentication failed for user \"secret\"; set PGPASSWORD, or "
        "write it into ~/.pgpass");
    assert_reported(
        "connection to server at \"h\", port 1 failed: FATAL:  53300: too many connections "
        "for role \"camp\"\n",
        CAMP_E_NOMEM, true,
        "PostgreSQL: too many connections for role \"camp\"; close some, or raise the limit");
}

static void a_failure_is_recognised_by_its_sqlstate_in_every_language(void **state)
{
    (void)state;
    assert_reported(
        "Verbindung zum Server auf Socket »/run/.s.PGSQL.5432« fehlgeschlagen: FATAL:  3D000: "
        "Datenbank »x« existiert nicht\n",
        CAMP_E_GONE, false, "PostgreSQL: Datenbank »x« existiert nicht; give dbname=");
}

static void a_failure_to_reach_a_server_is_recognised_by_errno(void **state)
{
    (void)state;
    assert_reported(
        "connection to server on socket \"/run/.s.PGSQL.5432\" failed: No such file or "
        "directory\n\tIs the server running locally?\n",
        CAMP_E_GONE, true,
        "PostgreSQL: No such file or directory; is the server running, and is host= its "
        "socket's folder? (tried to connect on socket \"/run/.s.PGSQL.5432\")");
    assert_reported(
        "connection to server at \"127.0.0.1\", port 1 failed: Connection refused\n", CAMP_E_GONE,
        true,
        "PostgreSQL: Connection refused; is the server running, and are host= and port= "
        "right? (tried to connect at \"127.0.0.1\", port 1)");
    assert_reported(
        "could not translate host name \"x\" to address: Name or service not known\n", CAMP_E_GONE,
        true,
        "PostgreSQL: could not translate host name \"x\" to address: Name or service not "
        "known; is host= right?");
    assert_reported("service file \"/x\" not found\n", CAMP_E_GONE, true,
                    "PostgreSQL: service file \"/x\" not found; see ~/.pg_service.conf");
    assert_reported("definition of service \"x\" not found\n", CAMP_E_GONE, true,
                    "PostgreSQL: definition of service \"x\" not found; see ~/.pg_service.conf");
}

static void of_several_hosts_the_failure_of_the_last_one_is_reported(void **state)
{
    (void)state;
    assert_reported(
        "connection to server at \"a\", port 1 failed: Connection refused\n\tIs it?\n"
        "connection to server at \"b\", port 1 failed: FATAL:  57P03: the database system is "
        "starting up\nLOCATION:  x\n",
        CAMP_E_GONE, true, "PostgreSQL: the database system is starting up; try again in a moment");
    assert_reported(
        "connection to server at \"a\", port 1 failed: FATAL:  57P03: the database system is "
        "starting up\nLOCATION:  x\n"
        "connection to server at \"b\", port 1 failed: Connection refused\n\tIs it?\n",
        CAMP_E_GONE, true,
        "PostgreSQL: Connection refused; is the server running, and are host= and port= "
        "right? (tried to connect at \"b\", port 1)");
}

static void a_message_of_a_server_becomes_one_line_without_control_characters(void **state)
{
    (void)state;
    assert_reported("x: FATAL:  XX000: a\033[2J\x07 b\r\nc", CAMP_E_IO, true,
                    "PostgreSQL: a?[2J? b?; see the server's log");
    assert_reported("", CAMP_E_IO, true, "PostgreSQL: it gives no reason");
}

static void a_failure_that_camp_finds_itself_is_lasting(void **state)
{
    const struct postgres_failure unprotected = { POSTGRES_UNPROTECTED, "no TLS", "" };
    const struct postgres_failure wrong = { POSTGRES_WRONG, "other columns", "" };
    struct camp_error error;

    (void)state;
    assert_int_equal(postgres_failure_report(&unprotected, &error), CAMP_E_PERM);
    assert_string_equal(error.message,
                        "PostgreSQL: no TLS; a password goes to another machine only "
                        "through TLS: see docs/sessions.md");
    assert_false(postgres_failure_may_pass(&unprotected));
    assert_int_equal(postgres_failure_report(&wrong, &error), CAMP_E_FORMAT);
    assert_false(postgres_failure_may_pass(&wrong));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refusal_by_the_server_is_reported_with_its_cause_and_advice),
        cmocka_unit_test(a_failure_is_recognised_by_its_sqlstate_in_every_language),
        cmocka_unit_test(a_failure_to_reach_a_server_is_recognised_by_errno),
        cmocka_unit_test(of_several_hosts_the_failure_of_the_last_one_is_reported),
        cmocka_unit_test(a_message_of_a_server_becomes_one_line_without_control_characters),
        cmocka_unit_test(a_failure_that_camp_finds_itself_is_lasting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
