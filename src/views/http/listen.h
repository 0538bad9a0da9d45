/* Sockets to listen on: that only this computer, or only this user, can reach; or, where it is said
 * so, others. */
#ifndef CAMP_VIEWS_HTTP_LISTEN_H
#define CAMP_VIEWS_HTTP_LISTEN_H

#include <camp/camp.h>

#include <stdbool.h>

/* On 127.0.0.1, or ::1; *port 0: any that is free, and becomes the one it is. CAMP_E_INVALID: the
 * port is taken. */
int listen_on_loopback(bool version_6, uint16_t *port, int *ret_socket, struct camp_error *error);

/* On a numeric address of either family, or localhost. *ret_is_loopback: only this computer reaches
 * it. CAMP_E_INVALID: it is no such address, is not this computer's, or the port is taken. */
int listen_on_address(const char *address, uint16_t *port, bool *ret_is_loopback, int *ret_socket,
                      struct camp_error *error);

/* Whether it could: CAMP_E_INVALID, with what is wrong, of what is no address or none of this
 * computer's. Nothing is opened. */
int listen_check_address(const char *address, bool *ret_is_loopback, struct camp_error *error);

/* A Unix socket that is the user's alone (0600). One that was left by a program that is gone is
 * replaced. The caller unlinks it at the end. CAMP_E_INVALID: somebody listens there already, it
 * is something else, the path is too long, or no socket can be made there. */
int listen_on_path(const char *path, int *ret_socket, struct camp_error *error);

#endif
