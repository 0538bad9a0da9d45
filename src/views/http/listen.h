/* Sockets to listen on: reachable from this computer or by this user only, or if requested from
 * outside. */
#ifndef CAMP_VIEWS_HTTP_LISTEN_H
#define CAMP_VIEWS_HTTP_LISTEN_H

#include <camp/camp.h>

#include <stdbool.h>

/* On 127.0.0.1, or ::1; *port 0: any free one, which is then set. CAMP_E_INVALID: the port is in
 * use. */
int listen_on_loopback(bool version_6, uint16_t *port, int *ret_socket, struct camp_error *error);

/* On a numeric address of either family, or localhost. *ret_is_loopback: reachable from this
 * computer only. CAMP_E_INVALID: not an address, not this computer's, or the port is in use. */
int listen_on_address(const char *address, uint16_t *port, bool *ret_is_loopback, int *ret_socket,
                      struct camp_error *error);

/* Checks an address without opening it: CAMP_E_INVALID, with the reason, if it is none or not this
 * computer's. */
int listen_check_address(const char *address, bool *ret_is_loopback, struct camp_error *error);

/* A Unix socket for this user only (0600). A socket left by an exited program is replaced. The
 * caller unlinks it at the end. CAMP_E_INVALID: another program listens there, it is not a socket,
 * the path is too long, or a socket cannot be created there. */
int listen_on_path(const char *path, int *ret_socket, struct camp_error *error);

#endif
