#include "receive_limit.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>

static _Thread_local struct receive_limit *watched;

bool receive_limit_is_effective(void)
{
    return dlsym(RTLD_DEFAULT, "recv") == (void *)recv;
}

void receive_limit_watch(struct receive_limit *limit)
{
    watched = limit;
}

/* The linker exports this function (src/meson.build), so that libraries that are loaded later find
 * it before the function of the C library. */
__attribute__((used, visibility("default"))) ssize_t recv(int fd, void *buffer, size_t size,
                                                          int flags)
{
    struct receive_limit *limit = watched;
    uint64_t left;
    ssize_t received;

    if (limit == NULL)
        return recvfrom(fd, buffer, size, flags, NULL, NULL);
    left = limit->allowed > limit->received ? limit->allowed - limit->received : 0;
    if (left == 0) {
        limit->is_reached = true;
        errno = EAGAIN;
        return -1;
    }
    received = recvfrom(fd, buffer, size < left ? size : (size_t)left, flags, NULL, NULL);
    if (received > 0)
        limit->received += (uint64_t)received;
    return received;
}
