#include "socket_peer.h"

#include "sources/source.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Parses "0100007F:1538", of the kernel's byte order: words of 32 bits. Returns false if it is no
 * address, or one without a port, as that of an unconnected socket. */
static bool parse_address(const char *text, char *ret, size_t size)
{
    const char *colon = strchr(text, ':');
    const int family = colon != NULL && colon - text == 32 ? AF_INET6 : AF_INET;
    char name[INET6_ADDRSTRLEN];
    uint32_t words[4] = { 0 };
    unsigned int port;

    if (colon == NULL || (colon - text != 8 && colon - text != 32) ||
        sscanf(colon, ":%4x", &port) != 1 || port == 0)
        return false;
    for (size_t i = 0; i < (family == AF_INET6 ? 4 : 1); i++) {
        if (sscanf(text + 8 * i, "%8" SCNx32, &words[i]) != 1)
            return false;
    }
    if (inet_ntop(family, words, name, sizeof name) == NULL)
        return false;
    snprintf(ret, size, family == AF_INET6 ? "to [%s]:%u" : "to %s:%u", name, port);
    return true;
}

/* Looks for a socket in a file such as /proc/PID/net/tcp. Returns whether it has the socket. */
static bool find_in_table(char *ret, size_t size, const char *path, uint64_t inode,
                          uint64_t until_ns)
{
    FILE *file = fopen(path, "re");
    char line[512], remote[64];
    unsigned long long number;
    bool found = false;

    for (uint32_t i = 0; file != NULL && !found && fgets(line, sizeof line, file) != NULL; i++) {
        if (sscanf(line, "%*s %*s %63s %*s %*s %*s %*s %*s %*s %llu", remote, &number) == 2 &&
            number == inode) {
            parse_address(remote, ret, size);
            found = true;
        }
        if (i % 256 == 255 && source_clock_ns(CLOCK_THREAD_CPUTIME_ID) > until_ns)
            break;
    }
    if (file != NULL)
        fclose(file);
    return found;
}

bool socket_address(char *ret, size_t size, int32_t pid, uint64_t inode, const char *folder,
                    uint64_t until_ns)
{
    static const char *const tables[] = { "tcp", "tcp6", "udp", "udp6" };
    char path[256];

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        snprintf(path, sizeof path, "%s/%" PRId32 "/net/%s", folder, pid, tables[i]);
        if (find_in_table(ret, size, path, inode, until_ns))
            return true;
    }
    return false;
}

/* Returns the inode number in an answer of unix_diag, or 0. */
static uint32_t parse_unix(const char *answer, size_t length)
{
    const struct nlmsghdr *head = (const struct nlmsghdr *)answer;
    size_t at = NLMSG_LENGTH(sizeof(struct unix_diag_msg)), end;

    if (length < sizeof *head || head->nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return 0;
    end = head->nlmsg_len < length ? head->nlmsg_len : length;
    while (at + sizeof(struct nlattr) + sizeof(uint32_t) <= end) {
        struct nlattr attribute;
        uint32_t peer;

        memcpy(&attribute, answer + at, sizeof attribute);
        if (attribute.nla_len < sizeof attribute)
            return 0;
        if (attribute.nla_type == UNIX_DIAG_PEER) {
            memcpy(&peer, answer + at + sizeof attribute, sizeof peer);
            return peer;
        }
        at += (size_t)NLA_ALIGN(attribute.nla_len);
    }
    return 0;
}

uint32_t socket_unix_peer(uint64_t inode)
{
    struct {
        struct nlmsghdr head;
        struct unix_diag_req request;
    } question = { .head = { .nlmsg_len = sizeof question,
                             .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                             .nlmsg_flags = NLM_F_REQUEST },
                   .request = { .sdiag_family = AF_UNIX,
                                .udiag_states = UINT32_MAX,
                                .udiag_ino = (uint32_t)inode,
                                .udiag_show = UDIAG_SHOW_PEER,
                                .udiag_cookie = { UINT32_MAX, UINT32_MAX } } };
    char answer[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
    const int link = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    ssize_t length = -1;

    if (link < 0 || inode > UINT32_MAX)
        goto out;
    /* The kernel has answered when send(2) returns. */
    if (send(link, &question, sizeof question, 0) == (ssize_t)sizeof question)
        length = recv(link, answer, sizeof answer, MSG_DONTWAIT);
out:
    if (link >= 0)
        close(link);
    return length > 0 ? parse_unix(answer, (size_t)length) : 0;
}
