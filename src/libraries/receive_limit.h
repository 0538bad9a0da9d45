/*
 * A limit for the bytes that a client library receives. libpq stores whatever a server sends, and
 * has no limit of its own: a message of 2 GB, or parameters without end.
 *
 * The program defines recv(2) itself, for itself and for all libraries. libpq receives all bytes of
 * a server through recv(), also those of TLS. A thread names the limit that its calls of recv()
 * obey; without one, recv() is that of the C library.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct receive_limit {
    uint64_t received; /* bytes so far */
    uint64_t allowed;  /* recv() returns no byte beyond this number: it fails with EAGAIN */
    bool is_reached;   /* recv() has failed for this reason; the owner may reset it */
};

/* Returns whether libraries find this program's recv(). In a Python process they do not: there the
 * recv() of the C library comes first, and nothing is limited. */
bool receive_limit_is_effective(void);

/* The calls of recv() of this thread obey `limit` from now on; NULL means no limit. */
void receive_limit_watch(struct receive_limit *limit);
