/* The statements for Oracle. Tests run them on views of the same shape in SQLite, PostgreSQL and
 * MariaDB. So columns are identified by position, and '' counts as NULL. */
#include "oracle_snapshot.h"

#include "sources/field.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#define SESSIONS                                                                                   \
    "select s.sid, s.\"SERIAL#\", s.username, s.status, s.state, s.event, s.wait_class, "          \
    "s.wait_time_micro, p.spid, s.logon_time, s.program, s.machine, s.module, s.type "             \
    "from v$session s left outer join v$process p on p.addr = s.paddr"
/* Waits are grouped by event, too, because the rules need the event: the class Other has both
 * latches and enqueues. */
static const char waits_text[] =
    "select e.sid, e.wait_class, e.event, sum(e.time_waited_micro) us, sum(e.total_waits) n "
    "from v$session_event e group by e.sid, e.wait_class, e.event";
static const char model_text[] = "select t.sid, t.stat_name, t.value from v$sess_time_model t "
                                 "where t.stat_name in ('DB time','DB CPU','background cpu time')";
static const char instance_text[] = "select i.host_name from v$instance i";

void oracle_text_copy(const struct row *row, size_t column, char *ret, size_t size)
{
    ret[0] = '\0';
    if (column < row->count)
        field_copy(row->fields[column], ret, size);
}

/* Returns true if the server has the host name of this machine. If camp may not read v$instance,
 * the server counts as remote. */
static bool runs_here(struct odbc_connection *connection)
{
    struct odbc_statement *statement = NULL;
    char host[ORACLE_NAME_SIZE] = "", own[ORACLE_NAME_SIZE] = "";
    struct row row;

    if (odbc_statement_open(connection, instance_text, ODBC_ANSWER_S, &statement, NULL) ==
            CAMP_OK &&
        odbc_statement_execute(statement, NULL) == CAMP_OK &&
        odbc_statement_next(statement, &row, NULL) == CAMP_OK)
        oracle_text_copy(&row, 0, host, sizeof host);
    odbc_statement_close(statement);
    gethostname(own, sizeof own - 1);
    host[strcspn(host, ".")] = own[strcspn(own, ".")] = '\0';
    return host[0] != '\0' && strcasecmp(host, own) == 0;
}

int oracle_statements_open(struct oracle_statements *ret, struct odbc_connection *connection,
                           bool background, struct camp_error *error)
{
    int r;

    *ret = (struct oracle_statements){ 0 };
    r = odbc_statement_open(connection, background ? SESSIONS : SESSIONS " where s.type = 'USER'",
                            ODBC_ANSWER_S, &ret->sessions, error);
    if (r == CAMP_OK)
        r = odbc_statement_open(connection, waits_text, ODBC_ANSWER_S, &ret->waits, error);
    if (r == CAMP_OK)
        r = odbc_statement_open(connection, model_text, ODBC_ANSWER_S, &ret->model, error);
    if (r == CAMP_OK)
        ret->is_local = runs_here(connection);
    return r;
}

void oracle_statements_close(struct oracle_statements *statements)
{
    odbc_statement_close(statements->sessions);
    odbc_statement_close(statements->waits);
    odbc_statement_close(statements->model);
    *statements = (struct oracle_statements){ 0 };
}
