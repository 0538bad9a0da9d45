/* Sockets in network namespaces. */
#include "load/load_sockets.h"

#include "counters/error.h"
#include "program/command.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

struct connection {
    const char *target_text;
    struct sockaddr_storage target;
    socklen_t target_size;
    int sender, receiver;
};

/* Returns the index of an interface by its name or by the index itself, or 0. */
static unsigned interface_index(const char *text)
{
    const unsigned index = if_nametoindex(text);
    char *end;
    unsigned long number;

    if (index != 0 || text[0] < '0' || text[0] > '9')
        return index;
    errno = 0;
    number = strtoul(text, &end, 10);
    return *end == '\0' && errno == 0 && number <= UINT_MAX ? (unsigned)number : 0;
}

/* An address of one link has an interface after it: "fe80::1%eth0" or "fe80::1%2". */
static bool read_ip6(const char *text, struct sockaddr_in6 *ret)
{
    char address[INET6_ADDRSTRLEN];
    const size_t length = strcspn(text, "%");

    if (length >= sizeof address)
        return false;
    memcpy(address, text, length);
    address[length] = '\0';
    ret->sin6_family = AF_INET6;
    ret->sin6_scope_id = text[length] == '%' ? interface_index(text + length + 1) : 0;
    return inet_pton(AF_INET6, address, &ret->sin6_addr) == 1 &&
           (text[length] == '\0' || ret->sin6_scope_id != 0);
}

/* Not getaddrinfo(), which can look up names, too: a static program would load libraries for it. */
static int read_target(struct connection *run, struct camp_error *error)
{
    const char *text = run->target_text;
    struct sockaddr_in *ip = (struct sockaddr_in *)&run->target;

    run->target_size = sizeof *ip;
    if (inet_pton(AF_INET, text, &ip->sin_addr) == 1) {
        ip->sin_family = AF_INET;
        return CAMP_OK;
    }
    run->target_size = sizeof(struct sockaddr_in6);
    if (read_ip6(text, (struct sockaddr_in6 *)&run->target))
        return CAMP_OK;
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "'%s' is not an IPv4 or IPv6 address such as 127.0.0.1", text);
}

/* Returns false for a wildcard, broadcast or multicast address: bind(2) accepts these, but packets
 * to them could reach other programs. */
static bool is_one_address(const struct sockaddr_storage *address)
{
    const struct sockaddr_in *ip = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *ip6 = (const struct sockaddr_in6 *)address;

    if (address->ss_family == AF_INET)
        return !IN_MULTICAST(ntohl(ip->sin_addr.s_addr)) && ip->sin_addr.s_addr != INADDR_ANY &&
               ip->sin_addr.s_addr != INADDR_BROADCAST;
    return !IN6_IS_ADDR_MULTICAST(&ip6->sin6_addr) && !IN6_IS_ADDR_UNSPECIFIED(&ip6->sin6_addr);
}

/* Creates a socket in a namespace (-1: the current one). The socket stays in the namespace, but the
 * thread returns to its own namespace. */
static int socket_in(int namespace, int family, struct camp_error *error)
{
    int home = -1, created = -1, failed;

    if (namespace < 0) {
        created = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        return created >= 0 ? created : camp_fail_errno(error, errno, "a UDP socket");
    }
    home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (home < 0)
        return camp_fail_errno(error, errno, "/proc/thread-self/ns/net");
    if (setns(namespace, CLONE_NEWNET) == 0) {
        created = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        failed = errno;
        if (setns(home, CLONE_NEWNET) != 0 && created >= 0) {
            failed = errno;
            close(created);
            created = -1;
        }
    } else {
        failed = errno;
    }
    close(home);
    return created >= 0 ? created : camp_fail_errno(error, failed, "a network namespace");
}

/* Sets options of the socket, so that sending fails if a packet would have to pass a gateway or be
 * fragmented. */
static int restrain(int sender, int family)
{
    int on = 1, one = 1, whole = IP_PMTUDISC_DO, whole6 = IPV6_PMTUDISC_DO;

    if (setsockopt(sender, SOL_SOCKET, SO_DONTROUTE, &on, sizeof on) != 0)
        return -1;
    if (family == AF_INET)
        return setsockopt(sender, IPPROTO_IP, IP_TTL, &one, sizeof one) != 0 ||
                       setsockopt(sender, IPPROTO_IP, IP_MTU_DISCOVER, &whole, sizeof whole) != 0
                   ? -1
                   : 0;
    return setsockopt(sender, IPPROTO_IPV6, IPV6_UNICAST_HOPS, &one, sizeof one) != 0 ||
                   setsockopt(sender, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &whole6, sizeof whole6) != 0
               ? -1
               : 0;
}

static int refused(struct camp_error *error, const struct connection *run, int failed)
{
    return camp_fail(error, CAMP_E_INVALID, failed,
                     "%s is not an address of this machine (or of the receiver's namespace): "
                     "packets go to nobody else",
                     run->target_text);
}

static int connect_ends(struct connection *run, struct camp_error *error)
{
    struct sockaddr_storage from;
    socklen_t from_size = sizeof from;
    struct timeval patience = { .tv_usec = 20000 };

    if (bind(run->receiver, (struct sockaddr *)&run->target, run->target_size) != 0)
        return errno == EADDRNOTAVAIL || errno == EINVAL
                   ? refused(error, run, errno)
                   : camp_fail_errno(error, errno, "the receiver's address");
    if (getsockname(run->receiver, (struct sockaddr *)&run->target, &run->target_size) != 0 ||
        restrain(run->sender, run->target.ss_family) != 0)
        return camp_fail_errno(error, errno, "the sockets' options");
    if (connect(run->sender, (struct sockaddr *)&run->target, run->target_size) != 0)
        return errno == EACCES || errno == ENETUNREACH || errno == EHOSTUNREACH
                   ? refused(error, run, errno)
                   : camp_fail_errno(error, errno, "the way to the receiver");
    if (getsockname(run->sender, (struct sockaddr *)&from, &from_size) != 0 ||
        connect(run->receiver, (struct sockaddr *)&from, from_size) != 0 ||
        setsockopt(run->receiver, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0)
        return camp_fail_errno(error, errno, "the way back to the sender");
    return CAMP_OK;
}

int load_sockets_open(struct load_sockets *ret, const struct load_net_plan *plan,
                      struct camp_error *error)
{
    struct connection run = { .target_text = plan->target != NULL ? plan->target : "127.0.0.1",
                              .sender = -1,
                              .receiver = -1 };
    int r = read_target(&run, error);

    if (r != CAMP_OK)
        return r;
    if (!is_one_address(&run.target))
        return refused(error, &run, 0);
    r = run.sender = socket_in(plan->sender_namespace, run.target.ss_family, error);
    if (r >= 0)
        r = run.receiver = socket_in(plan->receiver_namespace, run.target.ss_family, error);
    if (r >= 0)
        r = connect_ends(&run, error);
    *ret = (struct load_sockets){ run.sender, run.receiver, run.target.ss_family == AF_INET6 };
    if (r != CAMP_OK)
        load_sockets_close(ret);
    return r;
}

void load_sockets_close(struct load_sockets *sockets)
{
    if (sockets->sender >= 0)
        close((int)sockets->sender);
    if (sockets->receiver >= 0)
        close((int)sockets->receiver);
}

int64_t load_sockets_send(const struct load_sockets *sockets, const char *payload, size_t bytes,
                          struct camp_error *error)
{
    ssize_t sent;

    do
        sent = send((int)sockets->sender, payload, bytes, 0);
    while (sent < 0 && errno == EINTR && !stop_requested);
    if (sent >= 0)
        return sent;
    if (errno == EMSGSIZE)
        return camp_fail(error, CAMP_E_INVALID, errno,
                         "%llu bytes do not fit in one packet of that interface; give fewer bytes",
                         (unsigned long long)bytes);
    return camp_fail_errno(error, errno, "sending a packet");
}

int64_t load_sockets_receive(const struct load_sockets *sockets, char *ret, size_t size)
{
    return recv((int)sockets->receiver, ret, size, 0);
}

int load_namespace_open(const char *name, int *ret)
{
    char path[PATH_MAX];

    *ret = -1;
    if (name == NULL)
        return STATUS_OK;
    snprintf(path, sizeof path, "%s%s", strchr(name, '/') == NULL ? "/run/netns/" : "", name);
    *ret = open(path, O_RDONLY | O_CLOEXEC);
    if (*ret >= 0)
        return STATUS_OK;
    return complain(STATUS_FAILURE, "%s: %s; give a name from `ip netns list`, or /proc/PID/ns/net",
                    path, strerror(errno));
}
