/*
 * Classifies failures by the numbers of the server (mysqld_error.h) and of the library (errmsg.h),
 * because messages are in the language of the server.
 */
#include "counters/error.h"
#include "ledger/array.h"
#include "mariadb_client.h"
#include "sources/remote/remote_text.h"

#include <errmsg.h>
#include <mysqld_error.h>

#define MESSAGE_SIZE 1024 /* twice MYSQL_ERRMSG_SIZE */

static const struct advice {
    unsigned number;
    int code;
    bool may_pass;
    const char *text;
} advices[] = {
    { ER_ACCESS_DENIED_ERROR, CAMP_E_PERM, false,
      "give user=, and its password in ~/.my.cnf or MARIADB_PWD" },
    { ER_ACCESS_DENIED_NO_PASSWORD_ERROR, CAMP_E_PERM, false,
      "this user is authenticated by its system account: run as that one, or give user=" },
    { ER_DBACCESS_DENIED_ERROR, CAMP_E_PERM, false, "give no database=, or one it may use" },
    { ER_ACCOUNT_HAS_BEEN_LOCKED, CAMP_E_PERM, false, "give another user=" },
    { ER_MUST_CHANGE_PASSWORD_LOGIN, CAMP_E_PERM, false, "set it anew by the mariadb client" },
    { ER_HOST_NOT_PRIVILEGED, CAMP_E_PERM, false, "create the user for this host" },
    { ER_HOST_IS_BLOCKED, CAMP_E_PERM, false, "unblock it by FLUSH HOSTS" },
    { ER_TABLEACCESS_DENIED_ERROR, CAMP_E_PERM, false,
      "see docs/sessions.md for the rights it needs" },
    { ER_SPECIFIC_ACCESS_DENIED_ERROR, CAMP_E_PERM, false,
      "see docs/sessions.md for the rights it needs" },
    { ER_BAD_DB_ERROR, CAMP_E_GONE, false, "give another database=, or none" },
    { ER_CON_COUNT_ERROR, CAMP_E_NOMEM, true, "close some, or raise max_connections" },
    { ER_TOO_MANY_USER_CONNECTIONS, CAMP_E_NOMEM, true,
      "close some, or raise its MAX_USER_CONNECTIONS" },
    { ER_USER_LIMIT_REACHED, CAMP_E_NOMEM, true, "close some, or raise the limit" },
    { ER_SERVER_SHUTDOWN, CAMP_E_GONE, true, "connecting again" },
    { ER_CONNECTION_KILLED, CAMP_E_GONE, true, "connecting again" },
    { ER_STATEMENT_TIMEOUT, CAMP_E_IO, true, "the server is overloaded" },
    { CR_CONNECTION_ERROR, CAMP_E_GONE, true,
      "is the server running, and is socket= (or host=) right?" },
    { CR_CONN_HOST_ERROR, CAMP_E_GONE, true,
      "is the server running, and are host= and port= right?" },
    { CR_UNKNOWN_HOST, CAMP_E_GONE, true, "is host= right?" },
    { CR_SERVER_GONE_ERROR, CAMP_E_GONE, true, "connecting again" },
    { CR_SERVER_LOST, CAMP_E_GONE, true, "connecting again" },
    { CR_SERVER_LOST_EXTENDED, CAMP_E_GONE, true, "connecting again" },
    { CR_PLUGIN_NOT_ALLOWED, CAMP_E_PERM, false,
      "camp uses no method of login that sends the password or asks for it; a server of MySQL is "
      "mysql:CONNINFO (docs/sessions.md)" },
    { CR_SSL_CONNECTION_ERROR, CAMP_E_PERM, false,
      "camp uses a password at another machine only through TLS with a verified certificate: see "
      "ssl-ca and verify=no in docs/sessions.md" },
    { CR_OUT_OF_MEMORY, CAMP_E_NOMEM, true, "try again later" },
    { 0, CAMP_E_GONE, true, "is it stopped, or overloaded?" },
};

static const struct advice *advice_of(unsigned number)
{
    static const struct advice other = { 0, CAMP_E_IO, true, "see the server's log" };

    for (size_t i = 0; i < ARRAY_COUNT(advices); i++) {
        if (advices[i].number == number)
            return &advices[i];
    }
    return &other;
}

int mariadb_failure_report(unsigned number, const char *text, bool *ret_may_pass,
                           struct camp_error *error)
{
    const struct advice *advice = advice_of(number);
    char line[MESSAGE_SIZE];

    *ret_may_pass = advice->may_pass;
    remote_text_line(text, line, sizeof line);
    return camp_fail(error, advice->code, 0, "MariaDB: %s; %s", line, advice->text);
}
