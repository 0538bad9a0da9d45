#include "mariadb_guard.h"

#include "sources/remote/remote.h"

#include <errmsg.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* These methods never send the password. libmariadb looks for the name of a method in this text.
 * The methods of MySQL (caching_sha2_password, sha256_password) are missing: they send the password
 * through a Unix socket, and encrypt it with any key that the server sends. */
#define METHODS "mysql_native_password,client_ed25519,parsec,auth_gssapi_client"
#define METHODS_OF_MYSQL METHODS ",caching_sha2_password"
#define GREETING_VERSION 5 /* where the version of the server is in its greeting */

static _Thread_local struct mariadb_guard *watched;

static bool has_password(const struct mariadb_guard *guard)
{
    const char *password = guard->mysql->options.password;

    if (password == NULL)
        password = getenv("MYSQL_PWD");
    return password != NULL && password[0] != '\0';
}

static bool is_unix(int fd)
{
    struct sockaddr address = { 0 };
    socklen_t size = sizeof address;

    return getsockname(fd, &address, &size) == 0 && address.sa_family == AF_UNIX;
}

/* The connection to another machine cannot succeed at once, so libmariadb waits for it, and this
 * function is called before the login. By then the option file is read. Compressed bytes could
 * become any amount of memory, so they are not asked for. */
void mariadb_guard_connecting(struct mariadb_guard *guard)
{
    const int fd = (int)libmariadb.mysql_get_socket(guard->mysql);
    const my_bool yes = 1;

    guard->mysql->options.compress = 0;
    if (remote_is_local(fd) && (!guard->is_mysql || is_unix(fd)))
        return;
    errno = 0;
    libmariadb.mysql_options(guard->mysql, MYSQL_OPT_SSL_ENFORCE, &yes);
    if (guard->verifies && has_password(guard) && !remote_is_local(fd))
        libmariadb.mysql_options(guard->mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
    if (errno == ENOMEM) {
        guard->lacks_memory = true;
        shutdown((int)libmariadb.mysql_get_socket(guard->mysql), SHUT_RDWR);
    }
}

/* Returns whether the first packet of a server, which may be cut, offers TLS: a header of 4 bytes,
 * the version of the protocol and, with a NUL, that of the server, the id of the connection, 9
 * bytes, and the capabilities. */
static bool offers_tls(const unsigned char *bytes, size_t length)
{
    const unsigned char *end = length > GREETING_VERSION ? memchr(bytes + GREETING_VERSION, '\0',
                                                                  length - GREETING_VERSION)
                                                         : NULL;
    const size_t at = end != NULL ? (size_t)(end - bytes) + 1 + 4 + 9 : length;

    return at + 2 <= length && (((unsigned)bytes[at] | (unsigned)bytes[at + 1] << 8) & CLIENT_SSL);
}

/* The server has greeted, and libmariadb has not chosen a method yet. Without TLS it would still
 * send a password that the server asks for, because TLS was asked for. */
static void permit_mysql(struct mariadb_guard *guard, const unsigned char *bytes, size_t length)
{
    const int fd = (int)libmariadb.mysql_get_socket(guard->mysql);

    guard->is_greeted = true;
    if (!guard->is_mysql)
        return;
    mariadb_guard_connecting(guard); /* libmariadb need not have waited before */
    if (is_unix(fd) || (offers_tls(bytes, length) && (remote_is_local(fd) || guard->verifies)))
        libmariadb.mysql_optionsv(guard->mysql, MARIADB_OPT_RESTRICTED_AUTH, METHODS_OF_MYSQL);
}

/* libmariadb stores the columns of an answer, and skips reports of progress, in loops without a
 * limit, and it does not return before there is nothing more to read. This is the only place where
 * camp can end such a loop. */
static void count_received(int is_sent, MYSQL *mysql, const unsigned char *bytes, size_t length)
{
    struct mariadb_guard *guard = watched;

    if (is_sent || guard == NULL || guard->mysql != mysql || length == (size_t)-1)
        return;
    if (!guard->is_greeted)
        permit_mysql(guard, bytes, length);
    guard->received += length;
    if (guard->received <= MARIADB_GUARD_BYTES)
        return;
    guard->is_exceeded = true;
    shutdown((int)libmariadb.mysql_get_socket(mysql), SHUT_RDWR);
}

static void register_callback(void)
{
    libmariadb.ma_pvio_register_callback(1, count_received);
}

static int refuse_file(void **file, const char *name, void *data)
{
    (void)name;
    (void)data;
    *file = NULL;
    return 1;
}

static int read_no_file(void *file, char *buffer, unsigned size)
{
    (void)file;
    (void)buffer;
    (void)size;
    return -1;
}

static void close_no_file(void *file)
{
    (void)file;
}

static int describe_refusal(void *file, char *text, unsigned size)
{
    (void)file;
    snprintf(text, size, "the server asks for a file of this machine (LOCAL INFILE)");
    return CR_UNKNOWN_ERROR;
}

void mariadb_guard_begin(struct mariadb_guard *guard)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const unsigned no = 0;

    pthread_once(&once, register_callback);
    libmariadb.mysql_options(guard->mysql, MYSQL_OPT_LOCAL_INFILE, &no);
    libmariadb.mysql_set_local_infile_handler(guard->mysql, refuse_file, read_no_file,
                                              close_no_file, describe_refusal, NULL);
    libmariadb.mysql_optionsv(guard->mysql, MARIADB_OPT_RESTRICTED_AUTH, METHODS);
    guard->is_exceeded = guard->lacks_memory = guard->is_greeted = false;
    mariadb_guard_expect(guard);
}

void mariadb_guard_expect(struct mariadb_guard *guard)
{
    guard->received = 0;
}

void mariadb_guard_watch(struct mariadb_guard *guard)
{
    watched = guard;
}
