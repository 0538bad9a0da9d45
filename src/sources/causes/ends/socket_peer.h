/* The other end of a socket, by its inode number: the address of its peer (/proc/PID/net/tcp and
 * its like), or the inode number of the other end of a Unix socket (unix_diag of sock_diag(7)). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the address of the peer of a TCP or UDP socket of a process, such as "to 10.0.0.7:5432";
 * "" if it has none. Returns whether the socket was found before the thread has used `until_ns` of
 * CPU time. Processes are in `folder` (/proc). */
bool socket_address(char *ret, size_t size, int32_t pid, uint64_t inode, const char *folder,
                    uint64_t until_ns);

/* Returns the inode number of the other end of a Unix socket of this network namespace, or 0. */
uint32_t socket_unix_peer(uint64_t inode);
