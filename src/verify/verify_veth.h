/* A veth pair between two new network namespaces: a private network with two ends. */
#pragma once

#include <camp/camp.h>

#define VETH_NEAR "camp-near"
#define VETH_FAR "camp-far"
#define VETH_FAR_ADDRESS "192.0.2.2" /* TEST-NET-1 (RFC 5737) */

struct veth {
    int near_namespace, far_namespace; /* open */
};

/* Moves the calling process, which must have one thread and be disposable, to the near namespace.
 * Without CAP_SYS_ADMIN it creates a user namespace, where permitted. The pair carries no other
 * packets: there is no IPv6, and both neighbours are configured. */
int veth_make(struct veth *ret, struct camp_error *error);

/* Moves the calling thread to one of the two namespaces. */
int veth_enter(int namespace, struct camp_error *error);
