/* Sockets that a server listens on. A Unix socket can be reached only by this user. A port can be
 * reached only from this computer, unless the caller requests another address. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>

/* Where to listen: at a Unix socket, or at a port of a numeric IPv4 or IPv6 address or of
 * localhost. */
struct listen_address {
    const char *path; /* a Unix socket, which the caller unlinks at the end; NULL for a port */
    const char *address;
    uint16_t port; /* 0 means any free port */
};

/*
 * Opens a socket and listens on it. *ret_port is 0 for a Unix socket. *ret_is_loopback is set if
 * the socket can be reached from this computer only. A Unix socket has the mode 0600, and replaces
 * an old socket at which no program listens any more.
 *
 * Returns CAMP_OK, or CAMP_E_INVALID if the address is not valid or the path is too long, CAMP_E_IO
 * if the port or path is in use or the address does not belong to this computer, or CAMP_E_PERM if
 * the port needs a privilege.
 */
int listen_at(const struct listen_address *at, uint16_t *ret_port, bool *ret_is_loopback,
              int *ret_socket, struct camp_error *error);

/* Checks an address without listening. Returns CAMP_OK, CAMP_E_INVALID if the text is not an
 * address, or CAMP_E_IO if the address does not belong to this computer. */
int listen_check_address(const char *address, bool *ret_is_loopback, struct camp_error *error);
