#include "ledger/session_rules.h"

#include "sources/sessions/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void parse(struct session_rules *rules, const char *text)
{
    struct rule_fault fault;
    const int r = session_rules_parse(rules, text, strlen(text), &fault);

    if (r != CAMP_OK)
        print_message("%zu: %s\n", fault.line, fault.message);
    assert_int_equal(r, CAMP_OK);
}

/* Returns the state and the column, such as "contention.row_lock", or "-" if no rule matches. */
static const char *find(const struct session_rules *rules, const char *class, const char *event,
                        const char *activity, const char *type)
{
    static char name[80];
    const struct session_kind kind = { { class, event, activity, type } };
    const size_t column = session_rules_match(rules, &kind);

    if (column == SIZE_MAX)
        return "-";
    snprintf(name, sizeof name, "%s.%s", session_state_names[rules->columns[column].state],
             rules->columns[column].name);
    return name;
}

static void the_first_session_rule_whose_expressions_match_the_whole_text_wins(void **state)
{
    struct session_rules rules;

    (void)state;
    parse(&rules, "# comment\n"
                  "wait       io    class=IO\r\n"
                  "contention row   class=Lock event=tuple|transactionid\n"
                  "\tcontention other class=Lock\n"
                  "idle       nap   event=PgSleep\n"
                  "contention row   class=LWLock event=Row.*\n");
    assert_int_equal(rules.count, 5);
    assert_int_equal(rules.column_count, 4);
    assert_string_equal(find(&rules, "IO", "DataFileRead", "active", "client"), "wait.io");
    assert_string_equal(find(&rules, "Lock", "tuple", "active", "client"), "contention.row");
    assert_string_equal(find(&rules, "Lock", "tuples", "active", "client"), "contention.other");
    assert_string_equal(find(&rules, "LWLock", "RowX", "active", "client"), "contention.row");
    assert_string_equal(find(&rules, "LWLock", "tuple", "active", "client"), "-");
    assert_string_equal(find(&rules, "xIO", "", "", ""), "-");
    assert_string_equal(find(&rules, "Timeout", "PgSleep", "", ""), "idle.nap");
    /* Columns are in the order of their states. */
    assert_string_equal(rules.columns[0].name, "row");
    assert_string_equal(rules.columns[0].rules,
                        "class=Lock event=tuple|transactionid; class=LWLock event=Row.*");
    assert_string_equal(rules.columns[2].name, "io");
    assert_string_equal(rules.columns[3].name, "nap");
    session_rules_release(&rules);
}

static void the_error_about_a_bad_session_rule_has_the_line_number(void **state)
{
    static const struct {
        const char *text, *message;
        size_t line;
    } cases[] = {
        { "idle a class=X\nsleep b class=Y",
          "sleep: a line starts with a state: cpu, run_queue, contention, wait or idle", 2 },
        { "idle", "idle: the name of a column must follow", 1 },
        { "idle a", "a: what must match is missing: class=REGEX, event=REGEX ...", 1 },
        { "idle A class=X", "A: a column's name has a-z, 0-9 and _, 39 at most", 1 },
        { "idle a_ class=X", "a_: a column's name has a-z, 0-9 and _, 39 at most", 1 },
        { "idle a class=", "class=: an expression must follow, without a blank", 1 },
        { "idle a klass=X",
          "klass=X: is not class=REGEX, event=REGEX, activity=REGEX or type=REGEX", 1 },
        { "idle a class=X class=Y",
          "class=Y: stands twice; a further rule may have the same COLUMN", 1 },
        { "idle a class=X\nwait a class=Y", "a: this column has another state further up", 2 },
        { "# nothing\n", "no rule in it: a line is STATE COLUMN class=REGEX ...", 0 },
        { "idle a class=(", "(: Unmatched ( or \\(", 1 },
    };
    struct session_rules rules;
    struct rule_fault fault;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(session_rules_parse(&rules, cases[i].text, strlen(cases[i].text), &fault),
                         CAMP_E_FORMAT);
        assert_string_equal(fault.message, cases[i].message);
        assert_int_equal(fault.line, cases[i].line);
        assert_int_equal(rules.count, 0);
    }
}

static void session_rules_with_too_many_columns_are_refused(void **state)
{
    char text[4096] = "", *at = text;
    struct session_rules rules;
    struct rule_fault fault;

    (void)state;
    for (int i = 0; i < SESSION_COLUMNS_MAXIMUM; i++)
        at += sprintf(at, "wait w%d event=e%d\n", i, i);
    parse(&rules, text);
    session_rules_release(&rules);
    sprintf(at, "wait one_more event=x\n");
    assert_int_equal(session_rules_parse(&rules, text, strlen(text), &fault), CAMP_E_FORMAT);
    assert_int_equal(fault.line, SESSION_COLUMNS_MAXIMUM + 1);
}

/* The cases are rows of the table of states in docs/sessions.md. */
static void postgres_wait_events_have_the_documented_states(void **state)
{
    static const struct {
        const char *class, *event, *activity, *type, *column;
    } cases[] = {
        { "Client", "ClientRead", "idle", "client_backend", "idle.client" },
        { "Client", "ClientRead", "idle_in_transaction", "client_backend", "idle.in_transaction" },
        { "Client", "ClientRead", "aborted", "client_backend", "idle.in_transaction" },
        { "Client", "ClientRead", "disabled", "client_backend", "idle.untracked" },
        { "Client", "ClientRead", "active", "client_backend", "wait.client_of_statement" },
        { "Client", "ClientWrite", "active", "client_backend", "wait.client_of_statement" },
        { "Client", "WalSenderMain", "active", "walsender", "wait.replication" },
        { "Lock", "transactionid", "active", "client_backend", "contention.row_lock" },
        { "Lock", "relation", "active", "client_backend", "contention.table_lock" },
        { "Lock", "advisory", "active", "client_backend", "contention.other_lock" },
        { "LWLock", "WALWrite", "active", "client_backend", "contention.wal_lwlock" },
        { "LWLock", "ProcArray", "active", "client_backend", "contention.other_lwlock" },
        { "LWLock", "BufferContent", "active", "client_backend", "contention.buffer_lwlock" },
        { "BufferPin", "BufferPin", "active", "client_backend", "contention.buffer_pin" },
        { "IPC", "ProcArrayGroupUpdate", "active", "client_backend", "contention.group_update" },
        { "IPC", "SyncRep", "active", "client_backend", "wait.replication" },
        { "IPC", "ExecuteGather", "active", "client_backend", "wait.parallel" },
        { "IPC", "BackupWaitWalArchive", "active", "client_backend", "wait.other_process" },
        { "Timeout", "SpinDelay", "active", "client_backend", "contention.spin_lock" },
        { "Timeout", "PgSleep", "active", "client_backend", "idle.asked_for" },
        { "Timeout", "BaseBackupThrottle", "active", "client_backend", "wait.timeout" },
        { "IO", "WALSync", "active", "client_backend", "wait.wal_write" },
        { "IO", "DataFileRead", "active", "client_backend", "wait.file_read" },
        { "IO", "DataFileExtend", "active", "client_backend", "wait.file_write" },
        { "Extension", "Extension", "active", "client_backend", "wait.extension" },
        { "Extension", "Extension", "none", "some_worker", "idle.background" },
        { "Activity", "WalWriterMain", "none", "walwriter", "idle.background" },
        { "none", "none", "active", "client_backend", "wait.without_event" },
        { "none", "none", "idle", "client_backend", "idle.client" },
        { "unknown", "0x0d000001", "active", "client_backend", "wait.unknown_event" },
    };
    struct session_rules rules;

    (void)state;
    parse(&rules, session_rules_postgres);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(
            find(&rules, cases[i].class, cases[i].event, cases[i].activity, cases[i].type),
            cases[i].column);
    session_rules_release(&rules);
}

/* The cases are rows of the table of states in docs/sessions.md. */
static void mariadb_wait_events_have_the_documented_states(void **state)
{
    static const struct {
        const char *class, *event, *activity, *type, *column;
    } cases[] = {
        /* wait classes that come from the operating system */
        { "poll", "none", "idle", "client", "idle.client" },
        { "poll", "none", "idle_in_transaction", "client", "idle.in_transaction" },
        { "poll", "none", "active", "client", "wait.client_of_statement" },
        { "socket", "Writing_to_net", "active", "client", "wait.client_of_statement" },
        { "futex", "row_lock", "active", "client", "contention.row_lock" },
        { "futex", "User_sleep", "active", "client", "idle.asked_for" },
        { "futex", "Waiting_for_table_metadata_lock", "active", "client",
          "contention.metadata_lock" },
        { "futex", "Waiting_for_table_level_lock", "active", "client", "contention.table_lock" },
        { "futex", "User_lock", "active", "client", "contention.user_lock" },
        { "futex", "Updating", "active", "client", "contention.other_futex" },
        { "futex", "none", "active", "client", "contention.other_futex" },
        { "disk", "Sending_data", "active", "client", "wait.disk" },
        { "asleep", "Commit", "active", "client", "wait.commit" },
        { "asleep", "row_lock", "active", "client", "contention.row_lock" },
        { "asleep", "Sending_data", "active", "client", "wait.asleep" },
        { "page_fault", "none", "active", "client", "wait.page_fault" },
        { "stopped", "none", "active", "client", "wait.asleep" },
        { "futex", "none", "active", "background", "idle.background" },
        { "disk", "none", "active", "background", "wait.disk" },
        /* wait classes that come from the instruments of MariaDB */
        { "idle", "none", "idle", "client", "idle.client" },
        { "synch", "cond/sql/Item_func_sleep::cond", "active", "client", "idle.asked_for" },
        { "synch", "cond/sql/MDL_context::COND_wait_status", "active", "client",
          "contention.metadata_lock" },
        { "synch", "mutex/innodb/lock_mutex", "active", "client", "contention.innodb_latch" },
        { "synch", "mutex/sql/MYSQL_BIN_LOG::LOCK_log", "active", "client",
          "contention.group_commit" },
        { "synch", "rwlock/sql/LOCK_grant", "active", "client", "contention.other_mutex" },
        { "io_file", "innodb/innodb_log_file", "active", "client", "wait.disk" },
        { "io_socket", "sql/client_connection", "active", "client", "wait.client_of_statement" },
        /* wait classes if only the process list is known */
        { "none", "none", "idle", "client", "idle.client" },
        { "none", "row_lock", "active", "client", "contention.row_lock" },
        { "none", "User_sleep", "active", "client", "idle.asked_for" },
        { "none", "Commit", "active", "client", "wait.commit" },
        { "none", "Writing_to_net", "active", "client", "wait.client_of_statement" },
        { "none", "Sending_data", "active", "client", "cpu.not_seen_to_wait" },
        { "none", "Slave_has_read_all_relay_log", "active", "background", "idle.background" },
    };
    struct session_rules rules;

    (void)state;
    parse(&rules, session_rules_mariadb);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(
            find(&rules, cases[i].class, cases[i].event, cases[i].activity, cases[i].type),
            cases[i].column);
    session_rules_release(&rules);
}

/* The cases are rows of the table of states in docs/sessions.md. Oracle has 14 wait classes. */
static void oracle_wait_events_have_the_documented_states(void **state)
{
    static const struct {
        const char *class, *event, *type, *column;
    } cases[] = {
        { "Idle", "SQL*Net_message_from_client", "user", "idle.client" },
        { "Idle", "rdbms_ipc_message", "background", "idle.background" },
        { "Idle", "PL/SQL_lock_timer", "user", "idle.other" },
        { "Scheduler", "resmgr:cpu_quantum", "user", "run_queue.resource_manager" },
        { "Application", "enq:_TX_-_row_lock_contention", "user", "contention.row_lock" },
        { "Concurrency", "enq:_TX_-_index_contention", "user", "contention.row_lock" },
        { "Application", "enq:_TM_-_contention", "user", "contention.table_lock" },
        { "Other", "enq:_CF_-_contention", "user", "contention.other_lock" },
        { "Other", "latch_free", "user", "contention.latch" },
        { "Concurrency", "latch:_shared_pool", "user", "contention.latch" },
        { "Concurrency", "buffer_busy_waits", "user", "contention.busy_buffer" },
        { "Cluster", "gc_buffer_busy_acquire", "user", "contention.busy_buffer" },
        { "Concurrency", "library_cache_lock", "user", "contention.concurrency" },
        { "Application", "SQL*Net_break/reset_to_client", "user", "contention.application" },
        { "Configuration", "log_buffer_space", "user", "contention.configuration" },
        { "Administrative", "Backup:_MML_write_backup_piece", "user", "contention.administrative" },
        { "User_I/O", "db_file_sequential_read", "user", "wait.user_io" },
        { "System_I/O", "log_file_parallel_write", "background", "wait.system_io" },
        { "Commit", "log_file_sync", "user", "wait.commit" },
        { "Network", "SQL*Net_more_data_to_client", "user", "wait.network" },
        { "Cluster", "gc_cr_request", "user", "wait.cluster" },
        { "Queueing", "Streams_AQ:_enqueue_blocked_on_low_memory", "user", "wait.queueing" },
        { "Other", "asynch_descriptor_resize", "user", "wait.unclassified" },
        { "none", "none", "user", "wait.unknown_class" },
    };
    struct session_rules rules;

    (void)state;
    parse(&rules, session_rules_oracle);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(find(&rules, cases[i].class, cases[i].event, "active", cases[i].type),
                            cases[i].column);
    session_rules_release(&rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_session_rule_whose_expressions_match_the_whole_text_wins),
        cmocka_unit_test(the_error_about_a_bad_session_rule_has_the_line_number),
        cmocka_unit_test(session_rules_with_too_many_columns_are_refused),
        cmocka_unit_test(postgres_wait_events_have_the_documented_states),
        cmocka_unit_test(mariadb_wait_events_have_the_documented_states),
        cmocka_unit_test(oracle_wait_events_have_the_documented_states),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
