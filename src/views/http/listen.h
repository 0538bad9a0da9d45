/* Sockets to listen on: reachable from this computer or for this user only, or from outside if the
 * caller requests it. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>

/* Where to listen: a numeric address of either family, or localhost; or a Unix socket. */
struct listen_address {
    const char *path;    /* a Unix socket, which the caller unlinks at the end; NULL: a port */
    const char *address; /* "127.0.0.1" */
    uint16_t port;       /* 0: any free port */
};

/* Opens a socket. *ret_port: 0 for a Unix socket. *ret_is_loopback: the socket is reachable from
 * this computer only. A Unix socket has the mode 0600, and replaces one at which no program listens
 * any more. CAMP_E_INVALID: this is no address, or the path is too long; CAMP_E_IO: the port or
 * path is in use, or the address is not this computer's; CAMP_E_PERM: the port needs a privilege.
 */
int listen_at(const struct listen_address *at, uint16_t *ret_port, bool *ret_is_loopback,
              int *ret_socket, struct camp_error *error);

/* Checks an address without listening. CAMP_E_INVALID: this is no address; CAMP_E_IO: it is not
 * this computer's. */
int listen_check_address(const char *address, bool *ret_is_loopback, struct camp_error *error);
