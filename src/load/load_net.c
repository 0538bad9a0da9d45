/*
 * UDP packets of known number and size.
 *
 * No packet reaches another program. The receiver is a thread of the load, and its socket binds the
 * target address, which must therefore belong to this machine, or to a network namespace that the
 * caller opened (with a veth pair). In addition, the sender uses no gateway (SO_DONTROUTE), has a
 * hop limit of 1, and sends the second packet only after the first has arrived. The sockets of
 * sender and receiver are connected to each other, so packets of other programs are not counted.
 *
 * At most WINDOW + 1 packets are under way, so no buffer overflows. Packets are never fragmented
 * (IP_PMTUDISC_DO), so an interface counts each packet once. The interface lo counts the payload,
 * the UDP header (8 bytes) and the IP header (20 bytes, or 40 bytes for IPv6). Ethernet and veth
 * interfaces count 14 bytes more.
 */
#include "load_command.h"

#include "counters/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PACKETS_MAX 1000000000ull
#define PAYLOAD_MAX 65507u
#define DEFAULT_PACKETS 10000
#define WINDOW 64u
#define PATIENCE_NS NS_PER_S
#define UDP_HEADER_BYTES 8u
#define IP_HEADER_BYTES 20u
#define IP6_HEADER_BYTES 40u

struct net_run {
    const struct load_net_plan *plan;
    struct load_net_truth *truth;
    int sender, receiver;
    struct sockaddr_storage target;
    socklen_t target_size;
    uint64_t deadline_ns; /* 0 if the plan has no duration */
    sem_t space;          /* number of packets that may still be sent before another arrives */
    _Atomic uint64_t received_packets, received_bytes;
    atomic_bool over;
};

static int read_target(struct net_run *run, struct camp_error *error)
{
    const char *text = run->plan->target != NULL ? run->plan->target : "127.0.0.1";
    struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_DGRAM };
    struct addrinfo *found;
    const int failed = getaddrinfo(text, NULL, &hints, &found);

    if (failed == EAI_MEMORY)
        return CAMP_E_NOMEM;
    if (failed != 0)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "'%s' is not an IPv4 or IPv6 address such as 127.0.0.1", text);
    memcpy(&run->target, found->ai_addr, found->ai_addrlen);
    run->target_size = found->ai_addrlen;
    freeaddrinfo(found);
    return CAMP_OK;
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

static int refused(struct camp_error *error, const struct net_run *run, int failed)
{
    return camp_fail(error, CAMP_E_INVALID, failed,
                     "%s is not an address of this machine (or of the receiver's namespace): "
                     "packets go to nobody else",
                     run->plan->target != NULL ? run->plan->target : "127.0.0.1");
}

static int connect_ends(struct net_run *run, struct camp_error *error)
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

static void *receive(void *argument)
{
    struct net_run *run = argument;
    char payload[PAYLOAD_MAX];

    while (!atomic_load(&run->over)) {
        ssize_t length = recv(run->receiver, payload, sizeof payload, 0);

        if (length < 0)
            continue; /* no packet for 20 ms, or a signal */
        atomic_fetch_add(&run->received_bytes, (uint64_t)length);
        atomic_fetch_add(&run->received_packets, 1);
        sem_post(&run->space);
    }
    return NULL;
}

/* Waits until the next packet may be sent. Returns false after a second, or if a stop is requested.
 */
static bool wait_for_space(struct net_run *run)
{
    uint64_t until = now_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    struct timespec time = { .tv_sec = (time_t)(until / NS_PER_S),
                             .tv_nsec = (long)(until % NS_PER_S) };

    while (sem_clockwait(&run->space, CLOCK_MONOTONIC, &time) != 0)
        if (errno != EINTR || stop_requested)
            return false;
    return true;
}

static int send_one(struct net_run *run, const char *payload, struct camp_error *error)
{
    ssize_t sent;

    do
        sent = send(run->sender, payload, (size_t)run->plan->bytes, 0);
    while (sent < 0 && errno == EINTR && !stop_requested);
    if (sent >= 0) {
        run->truth->sent_packets++;
        run->truth->sent_bytes += (uint64_t)sent;
        return CAMP_OK;
    }
    if (errno == EMSGSIZE)
        return camp_fail(error, CAMP_E_INVALID, errno,
                         "%llu bytes do not fit in one packet of that interface; give fewer bytes",
                         (unsigned long long)run->plan->bytes);
    return errno == EINTR ? CAMP_OK : camp_fail_errno(error, errno, "sending a packet");
}

static void post_space(struct net_run *run, unsigned packets)
{
    while (packets-- > 0)
        sem_post(&run->space);
}

/* Waits until the next packet may be sent. After a second, the packets under way count as lost.
 * Returns CAMP_E_IO if no packet has arrived since the previous loss. */
static int make_space(struct net_run *run, uint64_t *arrived_before, struct camp_error *error)
{
    uint64_t arrived;

    if (wait_for_space(run) || stop_requested)
        return CAMP_OK;
    arrived = atomic_load(&run->received_packets);
    if (arrived == *arrived_before)
        return camp_fail(error, CAMP_E_IO, 0,
                         "packets do not arrive (%llu have): are the interfaces up?",
                         (unsigned long long)arrived);
    *arrived_before = arrived;
    post_space(run, WINDOW - 1);
    return CAMP_OK;
}

static bool has_more(const struct net_run *run)
{
    return run->deadline_ns != 0 ? now_ns(CLOCK_MONOTONIC) < run->deadline_ns
                                 : run->truth->sent_packets < run->plan->packets;
}

static int send_all(struct net_run *run, struct camp_error *error)
{
    char payload[PAYLOAD_MAX];
    uint64_t arrived_before = 0;
    int r;

    memset(payload, 'c', sizeof payload);
    while (has_more(run) && !stop_requested) {
        r = send_one(run, payload, error);
        if (r == CAMP_OK)
            r = make_space(run, &arrived_before, error);
        if (r != CAMP_OK)
            return r;
        /* The first packet has arrived, so from now on many packets may be under way. */
        if (run->truth->sent_packets == 1)
            post_space(run, WINDOW);
    }
    return CAMP_OK;
}

/* Waits until all packets have arrived, or until none has arrived for a second. */
static void wait_for_rest(struct net_run *run)
{
    uint64_t seen = atomic_load(&run->received_packets), since = now_ns(CLOCK_MONOTONIC);

    while (seen < run->truth->sent_packets && now_ns(CLOCK_MONOTONIC) - since < PATIENCE_NS) {
        struct timespec moment = { .tv_nsec = 200000 };
        uint64_t now;

        nanosleep(&moment, NULL);
        now = atomic_load(&run->received_packets);
        if (now != seen)
            since = now_ns(CLOCK_MONOTONIC);
        seen = now;
    }
}

static int send_and_receive(struct net_run *run, struct camp_error *error)
{
    struct load_net_truth *truth = run->truth;
    uint64_t start_ns = now_ns(CLOCK_MONOTONIC);
    pthread_t thread;
    int r = pthread_create(&thread, NULL, receive, run);

    if (r != 0)
        return camp_fail(error, CAMP_E_NOMEM, r, "no thread for the receiver; try again later");
    if (run->plan->duration_ns > 0)
        run->deadline_ns = start_ns + run->plan->duration_ns;
    r = send_all(run, error);
    wait_for_rest(run);
    atomic_store(&run->over, true);
    pthread_join(thread, NULL);
    truth->wall_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    truth->received_packets = atomic_load(&run->received_packets);
    truth->received_bytes = atomic_load(&run->received_bytes);
    truth->lost_packets = truth->sent_packets - truth->received_packets;
    truth->header_bytes =
        UDP_HEADER_BYTES + (run->target.ss_family == AF_INET ? IP_HEADER_BYTES : IP6_HEADER_BYTES);
    truth->interface_bytes = truth->sent_bytes + truth->sent_packets * truth->header_bytes;
    return r;
}

int load_net(const void *wanted, void *ret_truth, struct camp_error *error)
{
    const struct load_net_plan *plan = wanted;
    struct load_net_truth *ret = ret_truth;
    struct net_run run = { .plan = plan, .truth = ret, .sender = -1, .receiver = -1 };
    int r;

    memset(ret, 0, sizeof *ret);
    if ((plan->packets < 1 && plan->duration_ns == 0) || plan->packets > PACKETS_MAX ||
        plan->bytes > PAYLOAD_MAX)
        return camp_fail(error, CAMP_E_INVALID, 0, "1 to %llu packets of 0 to %u bytes",
                         PACKETS_MAX, PAYLOAD_MAX);
    r = read_target(&run, error);
    if (r != CAMP_OK)
        return r;
    if (!is_one_address(&run.target))
        return refused(error, &run, 0);
    sem_init(&run.space, 0, 0);
    r = run.sender = socket_in(plan->sender_namespace, run.target.ss_family, error);
    if (r < 0)
        goto out;
    r = run.receiver = socket_in(plan->receiver_namespace, run.target.ss_family, error);
    if (r < 0)
        goto out;
    r = connect_ends(&run, error);
    if (r == CAMP_OK)
        r = send_and_receive(&run, error);
out:
    if (run.sender >= 0)
        close(run.sender);
    if (run.receiver >= 0)
        close(run.receiver);
    sem_destroy(&run.space);
    return r;
}

#define TRUTH(member, ...) FACT(struct load_net_truth, member, __VA_ARGS__)

static const struct fact facts[] = {
    TRUTH(sent_packets, "packets sent", "send() calls that succeeded"),
    TRUTH(received_packets, "packets received", "by the load's own receiver"),
    TRUTH(lost_packets, "packets lost", "sent, not received within a second"),
    TRUTH(sent_bytes, "payload sent", "without headers"),
    TRUTH(received_bytes, "payload received", "without headers"),
    TRUTH(header_bytes, "headers of each packet", "IP and UDP: what lo counts beside payload"),
    TRUTH(interface_bytes, "as lo counts it, sent", "sent_bytes + sent_packets x header_bytes"),
    TRUTH(wall_ns, "wall time", "from the first packet to the last"),
};

static void remark(const void *wanted, const void *ret_truth, char ret[REMARK_SIZE])
{
    const struct load_net_truth *truth = ret_truth;

    (void)wanted;
    if (truth->lost_packets > 0)
        snprintf(ret, REMARK_SIZE, "%llu packets did not arrive",
                 (unsigned long long)truth->lost_packets);
}

/* Opens the network namespace `name`, a path or a name of `ip netns`. If `name` is NULL, *ret
 * becomes -1, which means the current namespace. */
static int open_namespace(const char *name, int *ret)
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

int load_net_command(int argc, char **argv)
{
    struct load_net_plan plan = { .bytes = 32, .target = "127.0.0.1" };
    const char *from = NULL, *to = NULL;
    const struct option_spec specs[] = {
        { "packets", 0, OPTION_COUNT, &plan.packets, "N", "The number of packets (10000).", 1, 1e9,
          NULL },
        COMMON_OPTION(COMMON_BYTES, &plan.bytes, .help = "The payload of each packet (32).",
                      .minimum = 0, .maximum = 65507),
        { "target", 0, OPTION_TEXT, &plan.target, "ADDRESS",
          "An address of this machine, or of the receiver's namespace (127.0.0.1).", 0, 0, NULL },
        LOAD_DURATION_OF("Send packets for this time, instead of a number of --packets."),
        { "from-namespace", 0, OPTION_TEXT, &from, "NAME",
          "The sender's network namespace: a name of `ip netns`, or a path.", 0, 0, NULL },
        { "to-namespace", 0, OPTION_TEXT, &to, "NAME",
          "The receiver's network namespace, likewise.", 0, 0, NULL },
        LOAD_FORMAT,
    };
    struct load_net_truth truth;
    const struct load_command command = { "net", load_net,           &plan, &truth,
                                          facts, ARRAY_COUNT(facts), remark };
    int r = load_parse("Sends UDP packets to itself, and counts the packets that arrive. It sends\n"
                       "nothing to other machines: the target must be an address of this one.",
                       specs, ARRAY_COUNT(specs), argc, argv);

    if (r != OPTIONS_GO_ON)
        return r;
    if (plan.packets != 0 && plan.duration_ns != 0)
        return complain(STATUS_USAGE,
                        "--packets and --duration both set the end of the load: give one of them");
    if (plan.packets == 0)
        plan.packets = DEFAULT_PACKETS;
    r = open_namespace(from, &plan.sender_namespace);
    if (r == STATUS_OK)
        r = open_namespace(to, &plan.receiver_namespace);
    return r == STATUS_OK ? load_run(&command) : r;
}
