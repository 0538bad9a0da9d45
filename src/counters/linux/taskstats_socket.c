#define _GNU_SOURCE 1 /* for recvmmsg() */

#include "taskstats_socket.h"

#include "../error.h"
#include "netlink_message.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Connects the socket to the kernel, so that other senders cannot reach it. */
int camp_taskstats_connect(int *ret_descriptor, struct camp_error *error)
{
    const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
    int system_error;

    if (descriptor < 0 && (errno == EPROTONOSUPPORT || errno == EAFNOSUPPORT))
        return camp_fail(error, CAMP_E_NOTSUP, errno,
                         "this kernel has no generic netlink, so no taskstats");
    if (descriptor < 0)
        return camp_fail_errno(error, errno, "a netlink socket");
    if (connect(descriptor, (const struct sockaddr *)&kernel, sizeof kernel) < 0) {
        system_error = errno;
        close(descriptor);
        return camp_fail_errno(error, system_error, "a netlink socket");
    }
    *ret_descriptor = descriptor;
    return CAMP_OK;
}

struct nlmsghdr *camp_taskstats_begin(void *buffer, uint16_t type, uint8_t command,
                                      uint32_t sequence)
{
    const struct genlmsghdr header = { .cmd = command, .version = TASKSTATS_GENL_VERSION };
    struct nlmsghdr *message = camp_netlink_start(buffer, type, 0, &header, sizeof header);

    message->nlmsg_seq = sequence;
    return message;
}

int camp_taskstats_send(int descriptor, const void *bytes, size_t length, struct camp_error *error)
{
    ssize_t sent;

    do
        sent = send(descriptor, bytes, length, 0);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? camp_fail_errno(error, errno, "asking taskstats") : CAMP_OK;
}

ssize_t camp_taskstats_receive(int descriptor, void *buffer, size_t capacity, int flags)
{
    ssize_t got;

    do
        got = recv(descriptor, buffer, capacity, MSG_DONTWAIT | flags);
    while (got < 0 && errno == EINTR);
    return got;
}

int camp_taskstats_receive_many(int descriptor, char *buffer, size_t message_size, size_t count,
                                size_t *lengths)
{
    struct mmsghdr headers[MESSAGES_AT_ONCE];
    struct iovec parts[MESSAGES_AT_ONCE];
    int got;

    memset(headers, 0, sizeof headers[0] * count);
    for (size_t i = 0; i < count; i++) {
        parts[i] = (struct iovec){ buffer + i * message_size, message_size };
        headers[i].msg_hdr.msg_iov = &parts[i];
        headers[i].msg_hdr.msg_iovlen = 1;
    }
    do
        got = recvmmsg(descriptor, headers, (unsigned)count, MSG_DONTWAIT, NULL);
    while (got < 0 && errno == EINTR);
    for (int i = 0; i < got; i++)
        lengths[i] = headers[i].msg_len;
    return got;
}
