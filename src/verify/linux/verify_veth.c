/*
 * Creates the veth pair with rtnetlink(7). RTM_NEWLINK of kind "veth" creates both ends, the second
 * end in the other namespace (drivers/net/veth.c). Each end gets an address and a permanent
 * neighbour, so that there is no ARP. IPv6 is disabled before the interfaces exist, because IPv6
 * would send packets to find routers and neighbours. The pair vanishes with the namespaces, when
 * their last process exits.
 */
#include "verify_veth.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "counters/linux/netlink_message.h"
#include "program/command.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* <net/if.h> declares this function, but conflicts with <linux/if.h>. */
extern unsigned int if_nametoindex(const char *name);

#define HARDWARE_BYTES 6
#define MESSAGE_SIZE 1024
#define CARRIER_PATIENCE_NS (3ull * NS_PER_S)

struct end {
    const char *name;
    const char *address;
    unsigned char hardware[HARDWARE_BYTES]; /* Ethernet address, locally administered */
};

static const struct end near_end = { VETH_NEAR, "192.0.2.1", { 2, 0, 0, 0, 0, 1 } };
static const struct end far_end = { VETH_FAR, VETH_FAR_ADDRESS, { 2, 0, 0, 0, 0, 2 } };

static bool write_file(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);

    if (file >= 0)
        close(file);
    return written;
}

/* Moves the calling process to a new network namespace, and returns its file descriptor. */
static int new_namespace(struct camp_error *error)
{
    int namespace;

    if (unshare(CLONE_NEWNET) != 0)
        return camp_fail(error, CAMP_E_PERM, errno,
                         "network namespaces need CAP_SYS_ADMIN, or user namespaces");
    /* The file is missing if the kernel has no IPv6. */
    if (!write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1") && errno != ENOENT)
        return camp_fail(error, CAMP_E_PERM, errno, "IPv6 cannot be switched off for a test");
    namespace = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    return namespace >= 0 ? namespace : camp_fail_errno(error, errno, "/proc/self/ns/net");
}

int veth_enter(int namespace, struct camp_error *error)
{
    return setns(namespace, CLONE_NEWNET) == 0
               ? CAMP_OK
               : camp_fail_errno(error, errno, "a network namespace");
}

/* Sends a request, and returns the error number of its acknowledgement, 0 for success. */
static int ask_kernel(const struct nlmsghdr *request)
{
    const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
    const int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    _Alignas(8) char memory[8192];
    const struct nlmsghdr *answer = (const void *)memory;
    struct nlmsgerr acknowledgement;
    ssize_t length = -1;
    int failed;

    if (descriptor < 0)
        return errno;
    if (connect(descriptor, (const struct sockaddr *)&kernel, sizeof kernel) == 0 &&
        send(descriptor, request, request->nlmsg_len, 0) >= 0)
        length = recv(descriptor, memory, sizeof memory, 0);
    failed = errno;
    close(descriptor);
    if (length < 0)
        return failed;
    if ((size_t)length < NLMSG_HDRLEN + sizeof acknowledgement || answer->nlmsg_type != NLMSG_ERROR)
        return EPROTO;
    memcpy(&acknowledgement, camp_netlink_payload(answer), sizeof acknowledgement);
    return -acknowledgement.error;
}

static int request_kernel(struct nlmsghdr *request, struct camp_error *error)
{
    int failed;

    request->nlmsg_flags |= NLM_F_ACK;
    request->nlmsg_seq = 1;
    failed = ask_kernel(request);
    if (failed == 0)
        return CAMP_OK;
    return camp_fail(error, failed == EOPNOTSUPP ? CAMP_E_NOTSUP : CAMP_E_PERM, failed,
                     "a veth pair cannot be made here: %s", strerror(failed));
}

static int make_pair(int far_namespace, struct camp_error *error)
{
    static const struct ifinfomsg any = { .ifi_family = AF_UNSPEC };
    _Alignas(8) char memory[MESSAGE_SIZE];
    struct nlmsghdr *message =
        camp_netlink_start(memory, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &any, sizeof any);
    struct nlattr *info, *data, *peer;

    camp_netlink_put_text(message, IFLA_IFNAME, near_end.name);
    camp_netlink_put(message, IFLA_ADDRESS, near_end.hardware, HARDWARE_BYTES);
    info = camp_netlink_open(message, IFLA_LINKINFO);
    camp_netlink_put_text(message, IFLA_INFO_KIND, "veth");
    data = camp_netlink_open(message, IFLA_INFO_DATA);
    peer = camp_netlink_open(message, VETH_INFO_PEER);
    camp_netlink_append(message, &any, sizeof any);
    camp_netlink_put_text(message, IFLA_IFNAME, far_end.name);
    camp_netlink_put(message, IFLA_ADDRESS, far_end.hardware, HARDWARE_BYTES);
    camp_netlink_put_u32(message, IFLA_NET_NS_FD, (uint32_t)far_namespace);
    camp_netlink_close(message, peer);
    camp_netlink_close(message, data);
    camp_netlink_close(message, info);
    return request_kernel(message, error);
}

static int add_address(unsigned index, const char *text, struct camp_error *error)
{
    const struct ifaddrmsg header = { .ifa_family = AF_INET,
                                      .ifa_prefixlen = 30,
                                      .ifa_index = index };
    _Alignas(8) char memory[MESSAGE_SIZE];
    struct nlmsghdr *message =
        camp_netlink_start(memory, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &header, sizeof header);
    in_addr_t address = inet_addr(text);

    camp_netlink_put_u32(message, IFA_LOCAL, address);
    camp_netlink_put_u32(message, IFA_ADDRESS, address);
    return request_kernel(message, error);
}

static int bring_up(unsigned index, struct camp_error *error)
{
    const struct ifinfomsg header = {
        .ifi_family = AF_UNSPEC, .ifi_index = (int)index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP
    };
    _Alignas(8) char memory[MESSAGE_SIZE];

    return request_kernel(camp_netlink_start(memory, RTM_NEWLINK, 0, &header, sizeof header),
                          error);
}

static int add_neighbour(unsigned index, const struct end *other, struct camp_error *error)
{
    const struct ndmsg header = { .ndm_family = AF_INET,
                                  .ndm_ifindex = (int)index,
                                  .ndm_state = NUD_PERMANENT };
    _Alignas(8) char memory[MESSAGE_SIZE];
    struct nlmsghdr *message = camp_netlink_start(
        memory, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, &header, sizeof header);

    camp_netlink_put_u32(message, NDA_DST, inet_addr(other->address));
    camp_netlink_put(message, NDA_LLADDR, other->hardware, HARDWARE_BYTES);
    return request_kernel(message, error);
}

static int set_up_end(const struct end *end, const struct end *other, struct camp_error *error)
{
    unsigned index = if_nametoindex(end->name);
    int r = add_address(index, end->address, error);

    if (r == CAMP_OK)
        r = bring_up(index, error);
    return r == CAMP_OK ? add_neighbour(index, other, error) : r;
}

/* An end passes packets only after the kernel noticed that the other end is up. */
static int wait_for_carrier(const struct end *end, struct camp_error *error)
{
    uint64_t until = now_ns(CLOCK_MONOTONIC) + CARRIER_PATIENCE_NS;
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = { .ifr_flags = 0 };

    strcpy(request.ifr_name, end->name);
    while (descriptor >= 0 && now_ns(CLOCK_MONOTONIC) < until) {
        if (ioctl(descriptor, SIOCGIFFLAGS, &request) != 0 || (request.ifr_flags & IFF_RUNNING))
            break;
        sleep_until(now_ns(CLOCK_MONOTONIC) + NS_PER_MS);
    }
    if (descriptor >= 0)
        close(descriptor);
    return (request.ifr_flags & IFF_RUNNING) != 0
               ? CAMP_OK
               : camp_fail(error, CAMP_E_IO, 0, "a veth pair did not come up");
}

int veth_make(struct veth *ret, struct camp_error *error)
{
    struct veth made = { -1, -1 };
    int r;

    if (geteuid() != 0 && unshare(CLONE_NEWUSER) != 0)
        return camp_fail(error, CAMP_E_PERM, errno,
                         "network namespaces need CAP_SYS_ADMIN, or user namespaces");
    made.far_namespace = new_namespace(error);
    if (made.far_namespace < 0)
        return made.far_namespace;
    made.near_namespace = new_namespace(error);
    if (made.near_namespace < 0)
        return made.near_namespace;
    r = make_pair(made.far_namespace, error);
    if (r == CAMP_OK)
        r = set_up_end(&near_end, &far_end, error);
    if (r == CAMP_OK)
        r = veth_enter(made.far_namespace, error);
    if (r == CAMP_OK)
        r = set_up_end(&far_end, &near_end, error);
    if (r == CAMP_OK)
        r = wait_for_carrier(&far_end, error);
    if (r == CAMP_OK)
        r = veth_enter(made.near_namespace, error);
    if (r == CAMP_OK)
        r = wait_for_carrier(&near_end, error);
    *ret = made;
    return r;
}
