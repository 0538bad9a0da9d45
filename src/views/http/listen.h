/* Sockets to listen on: reachable from this computer or by this user only, or if requested from
 * outside. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>

/* A numeric address of either family, or localhost; or a Unix socket. */
struct listen_address {
    const char *path;    /* of a Unix socket, which the caller unlinks at the end; NULL: a port */
    const char *address; /* "127.0.0.1" */
    uint16_t port;       /* 0: any free port */
};

/* *ret_port: 0 of a Unix socket, which only its user can open (0600) and which replaces one that no
 * program listens at any more. *ret_is_loopback: only this computer reaches it. CAMP_E_INVALID: it
 * is no such address, or the path is too long; CAMP_E_IO: port or path are in use, or it is not
 * this computer's address; CAMP_E_PERM: the port needs a privilege. */
int listen_at(const struct listen_address *at, uint16_t *ret_port, bool *ret_is_loopback,
              int *ret_socket, struct camp_error *error);

/* Checks an address without opening it: CAMP_E_INVALID, with the reason, if it is none or not this
 * computer's. */
int listen_check_address(const char *address, bool *ret_is_loopback, struct camp_error *error);
