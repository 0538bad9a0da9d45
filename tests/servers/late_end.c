/*
 * A library for LD_PRELOAD: it lets each connection of camp to a PostgreSQL server end 0.3 s after
 * camp has closed it, as on a busy machine. The server receives the message Terminate late.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define LATE_US 300000
#define IS_OF_CAMP "application_name\0camp" /* in the first message of a client */
#define TERMINATE 'X'

static bool is_of_camp; /* in each backend, which is a process of its own */

EXPORT ssize_t recv(int socket, void *buffer, size_t size, int flags);

EXPORT ssize_t recv(int socket, void *buffer, size_t size, int flags)
{
    const ssize_t received = syscall(SYS_recvfrom, socket, buffer, size, flags, NULL, NULL);

    if (received <= 0)
        return received;
    if (memmem(buffer, (size_t)received, IS_OF_CAMP, sizeof IS_OF_CAMP) != NULL)
        is_of_camp = true;
    if (is_of_camp && *(const char *)buffer == TERMINATE)
        usleep(LATE_US);
    return received;
}
