/* A veth pair between two network namespaces of its own: a private network of two. */
#pragma once

#include <camp/camp.h>

#define VETH_NEAR "camp-near"
#define VETH_FAR "camp-far"
#define VETH_FAR_ADDRESS "192.0.2.2" /* TEST-NET-1 (RFC 5737) */

struct veth {
    int near_namespace, far_namespace; /* open */
};

/* Moves the calling process, which must have one thread and be disposable, to the near namespace.
 * Without CAP_SYS_ADMIN by a user namespace, where permitted. The pair carries no other packets: no
 * IPv6, and both neighbours are configured. */
int veth_make(struct veth *ret, struct camp_error *error);

/* Moves the calling thread to one of them. */
int veth_enter(int namespace, struct camp_error *error);
