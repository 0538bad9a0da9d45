/* Makes a pair of veth interfaces, each in its own new network namespace. */
#pragma once

#include <camp/camp.h>

#define VETH_NEAR "camp-near"
#define VETH_FAR "camp-far"
#define VETH_FAR_ADDRESS "192.0.2.2" /* an address of TEST-NET-1 (RFC 5737) */

struct veth {
    int near_namespace, far_namespace; /* file descriptors */
};

/* Makes the pair, and moves the calling process to the near namespace. The process must have one
 * thread, and cannot go back. If the user is not root, the process also moves to a new user
 * namespace, which may not be permitted. No other packets use the pair, because IPv6 is off and
 * both neighbours are configured. */
int veth_make(struct veth *ret, struct camp_error *error);

/* Moves the calling thread to one of the two namespaces. */
int veth_enter(int namespace, struct camp_error *error);
