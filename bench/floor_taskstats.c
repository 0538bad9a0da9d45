/*
 * The floor of taskstats sends BATCH requests with one send(2) and receives the replies with
 * recvmmsg(2). The replies are not parsed. The socket stays open, like the socket of libcamp.
 */
#include "floor_taskstats.h"
#include "subject.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLY_SIZE 2048

struct request {
    struct nlmsghdr header;
    struct genlmsghdr generic;
    struct nlattr attribute;
    uint32_t pid;
};

static int descriptor = -1;
static struct request requests[BATCH];
static char replies[BATCH][REPLY_SIZE];

/* Asks the kernel for the netlink family id of TASKSTATS. Returns 0 if there is none. */
static uint16_t family_id(void)
{
    struct {
        struct nlmsghdr header;
        struct genlmsghdr generic;
        struct nlattr attribute;
        char name[12];
    } request = { .header = { .nlmsg_len = sizeof request,
                              .nlmsg_type = GENL_ID_CTRL,
                              .nlmsg_flags = NLM_F_REQUEST },
                  .generic = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 },
                  .attribute = { .nla_len = sizeof(struct nlattr) + sizeof TASKSTATS_GENL_NAME,
                                 .nla_type = CTRL_ATTR_FAMILY_NAME },
                  .name = TASKSTATS_GENL_NAME };
    char *reply = replies[0];
    ssize_t length;

    if (send(descriptor, &request, sizeof request, 0) < 0)
        return 0;
    length = recv(descriptor, reply, REPLY_SIZE, 0);
    for (ssize_t at = NLMSG_HDRLEN + GENL_HDRLEN; at + (ssize_t)sizeof(struct nlattr) <= length;) {
        const struct nlattr *attribute = (const void *)(reply + at);

        if (attribute->nla_type == CTRL_ATTR_FAMILY_ID)
            return *(const uint16_t *)(const void *)(attribute + 1);
        if (attribute->nla_len < sizeof(struct nlattr))
            break;
        at += NLA_ALIGN(attribute->nla_len);
    }
    return 0;
}

int floor_taskstats_open(void)
{
    uint16_t family;

    descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
    if (descriptor < 0)
        return -1;
    family = family_id();
    if (family == 0)
        return -1;
    for (size_t i = 0; i < BATCH; i++) {
        requests[i] = (struct request){
            .header = { .nlmsg_len = sizeof *requests,
                        .nlmsg_type = family,
                        .nlmsg_flags = NLM_F_REQUEST },
            .generic = { .cmd = TASKSTATS_CMD_GET, .version = TASKSTATS_GENL_VERSION },
            .attribute = { .nla_len = sizeof(struct nlattr) + sizeof(uint32_t),
                           .nla_type = TASKSTATS_CMD_ATTR_TGID },
            .pid = (uint32_t)subject.batch[i],
        };
    }
    return 0;
}

void floor_taskstats_close(void)
{
    if (descriptor >= 0)
        close(descriptor);
    descriptor = -1;
}

int floor_taskstats(void)
{
    static struct mmsghdr messages[BATCH];
    static struct iovec vectors[BATCH];
    size_t seen = 0;

    if (send(descriptor, requests, sizeof requests, 0) < 0)
        return -1;
    for (size_t i = 0; i < BATCH; i++) {
        vectors[i] = (struct iovec){ replies[i], REPLY_SIZE };
        messages[i].msg_hdr = (struct msghdr){ .msg_iov = &vectors[i], .msg_iovlen = 1 };
    }
    while (seen < BATCH) {
        int count = recvmmsg(descriptor, messages, BATCH - (unsigned)seen, MSG_DONTWAIT, NULL);

        if (count <= 0)
            return -1;
        seen += (size_t)count;
    }
    return 0;
}
