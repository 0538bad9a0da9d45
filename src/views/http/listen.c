#include "listen.h"

#include "counters/error.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define OWNER_ONLY 0177 /* umask for a socket that only its owner may use */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un path;
};

static socklen_t loopback_of(union address *ret, bool version_6, uint16_t port)
{
    memset(ret, 0, sizeof *ret);
    if (version_6) {
        ret->v6.sin6_family = AF_INET6;
        ret->v6.sin6_addr = in6addr_loopback;
        ret->v6.sin6_port = htons(port);
        return sizeof ret->v6;
    }
    ret->v4.sin_family = AF_INET;
    ret->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ret->v4.sin_port = htons(port);
    return sizeof ret->v4;
}

static int fail_with(int listener, const char *what, struct camp_error *error)
{
    const int system_error = errno;

    if (listener >= 0)
        close(listener);
    return camp_fail_errno(error, system_error, what);
}

static int fail_to_bind(int listener, uint16_t port, struct camp_error *error)
{
    const int system_error = errno;

    close(listener);
    switch (system_error) {
    case EADDRINUSE:
        return camp_fail(error, CAMP_E_IO, system_error,
                         "another program uses port %u (ss -ltnp 'sport = %u' names it); --port 0 "
                         "takes any free port",
                         port, port);
    case EACCES:
        return camp_fail(error, CAMP_E_PERM, system_error,
                         "port %u needs a privilege on this machine; give a port above 1023", port);
    case EADDRNOTAVAIL:
        return camp_fail(error, CAMP_E_IO, system_error,
                         "this is not an address of this computer; `ip address` lists them");
    default:
        return camp_fail_errno(error, system_error, "bind");
    }
}

static int listen_on(union address *address, socklen_t size, uint16_t *port, int *ret_socket,
                     struct camp_error *error)
{
    const int yes = 1;
    int listener = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (listener < 0)
        return fail_with(listener, "socket", error);
    /* SO_REUSEADDR makes a port available while old connections to it are still closing. */
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, &address->any, size) != 0)
        return fail_to_bind(listener, *port, error);
    if (listen(listener, SOMAXCONN) != 0)
        return errno == EADDRINUSE ? fail_to_bind(listener, *port, error)
                                   : fail_with(listener, "listen", error);
    if (getsockname(listener, &address->any, &size) != 0)
        return fail_with(listener, "getsockname", error);
    *port =
        ntohs(address->any.sa_family == AF_INET6 ? address->v6.sin6_port : address->v4.sin_port);
    *ret_socket = listener;
    return CAMP_OK;
}

/* Returns the size of the address, or 0 if the text is not an address. */
static socklen_t parse_address(const char *text, uint16_t port, union address *ret)
{
    socklen_t size = loopback_of(ret, false, port);

    if (strcmp(text, "localhost") == 0 || inet_pton(AF_INET, text, &ret->v4.sin_addr) == 1)
        return size;
    size = loopback_of(ret, true, port);
    return inet_pton(AF_INET6, text, &ret->v6.sin6_addr) == 1 ? size : 0;
}

static bool is_loopback(const union address *address)
{
    if (address->any.sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
    return ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

static int fail_to_parse(const char *text, struct camp_error *error)
{
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "'%s' is not an address; give one such as 127.0.0.1, ::1 or 0.0.0.0", text);
}

int listen_check_address(const char *text, bool *ret_is_loopback, struct camp_error *error)
{
    union address address;
    const socklen_t size = parse_address(text, 0, &address);
    int bound, failed, system_error;

    if (size == 0)
        return fail_to_parse(text, error);
    *ret_is_loopback = is_loopback(&address);
    bound = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    failed = bound < 0 || bind(bound, &address.any, size) != 0;
    system_error = errno;
    if (bound >= 0)
        close(bound);
    return failed ? camp_fail(error, CAMP_E_IO, system_error,
                              "%s: %s; give an address of this computer (`ip address` lists them)",
                              text, strerror(system_error))
                  : CAMP_OK;
}

static bool somebody_listens(const union address *address)
{
    const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool connected;

    if (probe < 0)
        /* It is unknown whether a program listens, so the path is kept. */
        return true;
    connected = connect(probe, &address->any, sizeof address->path) == 0 || errno == EAGAIN;
    close(probe);
    return connected;
}

/* Removes an old socket at the path. Fails if something else is there, or if a program listens at
 * the socket. */
static int clear_path(const union address *address, struct camp_error *error)
{
    const char *path = address->path.sun_path;
    struct stat there;

    if (lstat(path, &there) != 0)
        return CAMP_OK; /* there is no such path, or bind() will report the problem */
    if (!S_ISSOCK(there.st_mode))
        return camp_fail(error, CAMP_E_IO, EEXIST,
                         "%s exists and is not a socket; give another path", path);
    if (somebody_listens(address))
        return camp_fail(error, CAMP_E_IO, EADDRINUSE,
                         "another program listens at %s; give another path", path);
    return unlink(path) == 0 ? CAMP_OK : camp_fail_errno(error, errno, path);
}

static int fail_to_make(int listener, const char *path, struct camp_error *error)
{
    const int system_error = errno;

    close(listener);
    return camp_fail(error, CAMP_E_IO, system_error,
                     "%s: %s; a socket needs an existing folder that you may write to", path,
                     strerror(system_error));
}

static int listen_on_path(const char *path, int *ret_socket, struct camp_error *error)
{
    union address address = { .path.sun_family = AF_UNIX };
    int listener, failed, r;
    mode_t before;

    if (path[0] == '\0' || strlen(path) >= sizeof address.path.sun_path)
        return camp_fail(error, CAMP_E_INVALID, ENAMETOOLONG,
                         "%s: the path of a socket must have 1 to %zu bytes, this one has %zu",
                         path, sizeof address.path.sun_path - 1, strlen(path));
    strcpy(address.path.sun_path, path);
    r = clear_path(&address, error);
    if (r != CAMP_OK)
        return r;
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0)
        return fail_with(listener, "socket", error);
    before = umask(OWNER_ONLY);
    failed = bind(listener, &address.any, sizeof address.path);
    umask(before);
    if (failed != 0 || listen(listener, SOMAXCONN) != 0)
        return fail_to_make(listener, path, error);
    *ret_socket = listener;
    return CAMP_OK;
}

int listen_at(const struct listen_address *at, uint16_t *ret_port, bool *ret_is_loopback,
              int *ret_socket, struct camp_error *error)
{
    union address address;
    socklen_t size;

    *ret_port = 0;
    *ret_is_loopback = true;
    if (at->path != NULL)
        return listen_on_path(at->path, ret_socket, error);
    size = parse_address(at->address, at->port, &address);
    if (size == 0)
        return fail_to_parse(at->address, error);
    *ret_port = at->port;
    *ret_is_loopback = is_loopback(&address);
    return listen_on(&address, size, ret_port, ret_socket, error);
}
