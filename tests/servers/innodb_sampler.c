/*
 * innodb_sampler SOCKET HZ: samples the transactions of a MariaDB or MySQL server until its
 * standard input ends, as a witness of which statements wait for the lock of a row. Prints a line
 * for each transaction of a sample that waits: the time of the sample (s since 1970), 1, the first
 * two words of its statement, joined by '_', and the start of its text. Standard output must be a
 * file, because a full pipe would stop the samples.
 *
 * InnoDB's monitor is read (SHOW ENGINE INNODB STATUS), because it is never a copy of an earlier
 * moment, as INNODB_TRX is. A transaction that got the lock waits no longer, even before its thread
 * has a CPU.
 */
#include "sampler.h"

#include <mysql.h>
#include <stdlib.h>

#define TEXT_SIZE 60

/* Prints the statement of a transaction that waits. */
static void print_waiting(const struct timespec *now, const char *sql, size_t length)
{
    char text[TEXT_SIZE + 1];
    size_t first, second;

    snprintf(text, sizeof text, "%.*s", (int)(length < TEXT_SIZE ? length : TEXT_SIZE), sql);
    first = strcspn(text, " ");
    second = text[first] == ' ' ? strcspn(text + first + 1, " ") : 0;
    printf("%lld.%09ld 1 %.*s_%.*s %s\n", (long long)now->tv_sec, now->tv_nsec, (int)first, text,
           (int)second, text + first + (text[first] == ' '), text);
}

/* The section of transactions ends before FILE I/O. A transaction has a line with LOCK WAIT, later
 * one with the id of its session, and then its statement. The section before may have a deadlock of
 * the past. */
static bool print_transactions(const struct timespec *now, const char *status)
{
    const char *at = strstr(status, "\nTRANSACTIONS\n"), *end;
    bool waits = false, is_statement = false;

    if (at == NULL)
        return false;
    end = strstr(at, "\nFILE I/O\n");
    end = end != NULL ? end : at + strlen(at);
    for (at++; at < end; at += strcspn(at, "\n") + 1) {
        const size_t length = strcspn(at, "\n");

        if (is_statement)
            print_waiting(now, at, length);
        is_statement = false;
        if (strncmp(at, "---TRANSACTION", 14) == 0)
            waits = false;
        else if (strncmp(at, "LOCK WAIT", 9) == 0)
            waits = true;
        else if (waits && memmem(at, length, " thread id ", 11) != NULL) {
            is_statement = true;
            waits = false;
        }
    }
    return true;
}

static bool sample(void *mysql)
{
    struct timespec now;
    MYSQL_RES *result;
    MYSQL_ROW row;
    bool is_good;

    if (mysql_query(mysql, "show engine innodb status") != 0 ||
        (result = mysql_store_result(mysql)) == NULL) {
        fprintf(stderr, "innodb_sampler: %s\n", mysql_error(mysql));
        return false;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    row = mysql_fetch_row(result);
    is_good = row != NULL && row[2] != NULL && print_transactions(&now, row[2]);
    mysql_free_result(result);
    return is_good;
}

int main(int argc, char **argv)
{
    const long hz = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    MYSQL *mysql = mysql_init(NULL);
    bool is_good;

    if (hz <= 0 || mysql == NULL) {
        fprintf(stderr, "innodb_sampler SOCKET HZ: which server, and how often a second?\n");
        return 2;
    }
    is_good = mysql_real_connect(mysql, NULL, "root", "", NULL, 0, argv[1], 0) != NULL;
    if (!is_good)
        fprintf(stderr, "innodb_sampler: %s\n", mysql_error(mysql));
    is_good = is_good && sample_each(hz, sample, mysql);
    mysql_close(mysql);
    return is_good && fflush(stdout) == 0 ? 0 : 1;
}
