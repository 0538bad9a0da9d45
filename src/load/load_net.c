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
 * (IP_PMTUDISC_DO, IP_DONTFRAGMENT), so an interface counts each packet once. The interface lo
 * counts the payload, the UDP header (8 bytes) and the IP header (20 bytes, or 40 bytes for IPv6).
 * Ethernet and veth interfaces count 14 bytes more.
 */
#include "load_command.h"

#include "counters/error.h"
#include "load_sockets.h"
#include "load_tools.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define PACKETS_MAX 1000000000ull
#define PAYLOAD_MAX 65507u
#define DEFAULT_PACKETS 10000
#define WINDOW 64u
#define PATIENCE_NS NS_PER_S
#define ROUND_NS (200u * NS_PER_US)
#define UDP_HEADER_BYTES 8u
#define IP_HEADER_BYTES 20u
#define IP6_HEADER_BYTES 40u

struct net_run {
    const struct load_net_plan *plan;
    struct load_net_truth *truth;
    struct load_sockets sockets;
    uint64_t deadline_ns; /* 0 if the plan has no duration */
    sem_t space;          /* number of packets that may still be sent before another arrives */
    _Atomic uint64_t received_packets, received_bytes;
    atomic_bool over;
};

static void *receive(void *argument)
{
    struct net_run *run = argument;
    char payload[PAYLOAD_MAX];

    while (!atomic_load(&run->over)) {
        int64_t length = load_sockets_receive(&run->sockets, payload, sizeof payload);

        if (length < 0)
            continue; /* no packet for 20 ms, or a signal */
        atomic_fetch_add(&run->received_bytes, (uint64_t)length);
        atomic_fetch_add(&run->received_packets, 1);
        sem_post(&run->space);
    }
    return NULL;
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

    if (load_semaphore_wait(&run->space, now_ns(CLOCK_MONOTONIC) + PATIENCE_NS) || stop_requested)
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
        const int64_t sent =
            load_sockets_send(&run->sockets, payload, (size_t)run->plan->bytes, error);

        if (sent < 0)
            return stop_requested ? CAMP_OK : (int)sent;
        run->truth->sent_packets++;
        run->truth->sent_bytes += (uint64_t)sent;
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
        uint64_t now;

        if (!sleep_until(now_ns(CLOCK_MONOTONIC) + ROUND_NS))
            return;
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
        UDP_HEADER_BYTES + (run->sockets.is_ipv6 ? IP6_HEADER_BYTES : IP_HEADER_BYTES);
    truth->interface_bytes = truth->sent_bytes + truth->sent_packets * truth->header_bytes;
    return r;
}

int load_net(const void *wanted, void *ret_truth, struct camp_error *error)
{
    const struct load_net_plan *plan = wanted;
    struct load_net_truth *ret = ret_truth;
    struct net_run run = { .plan = plan, .truth = ret };
    int r;

    memset(ret, 0, sizeof *ret);
    if ((plan->packets < 1 && plan->duration_ns == 0) || plan->packets > PACKETS_MAX ||
        plan->bytes > PAYLOAD_MAX)
        return camp_fail(error, CAMP_E_INVALID, 0, "1 to %llu packets of 0 to %u bytes",
                         PACKETS_MAX, PAYLOAD_MAX);
    r = load_sockets_open(&run.sockets, plan, error);
    if (r != CAMP_OK)
        return r;
    sem_init(&run.space, 0, 0);
    r = send_and_receive(&run, error);
    load_sockets_close(&run.sockets);
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
          "The sender's network namespace: a name of `ip netns`, or a path (Linux).", 0, 0, NULL },
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
    r = load_namespace_open(from, &plan.sender_namespace);
    if (r == STATUS_OK)
        r = load_namespace_open(to, &plan.receiver_namespace);
    return r == STATUS_OK ? load_run(&command) : r;
}
