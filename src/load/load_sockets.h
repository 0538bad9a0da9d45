/* Two UDP sockets that are connected to each other, and to no other program. */
#pragma once

#include "load.h"

struct load_sockets {
    intptr_t sender, receiver; /* -1 if there is none */
    bool is_ipv6;
};

/* Fills *ret, or returns an error, such as CAMP_E_INVALID if the target is not an address of this
 * machine. */
int load_sockets_open(struct load_sockets *ret, const struct load_net_plan *plan,
                      struct camp_error *error);
void load_sockets_close(struct load_sockets *sockets);

/* Returns the number of sent bytes, or a negative CAMP_E_*. */
int64_t load_sockets_send(const struct load_sockets *sockets, const char *payload, size_t bytes,
                          struct camp_error *error);

/* Waits for a packet, for 20 ms at most. Returns its length, or -1. */
int64_t load_sockets_receive(const struct load_sockets *sockets, char *ret, size_t size);

/* Opens the network namespace `name`, a path or a name of `ip netns`. If `name` is NULL, *ret
 * becomes -1, which means the current namespace. Returns an exit status, after a message. */
int load_namespace_open(const char *name, int *ret);
