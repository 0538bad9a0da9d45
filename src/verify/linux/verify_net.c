/*
 * Verifies network counters like the paper on CAMP (LISA '07): with PACKETS packets of UDP that
 * have a payload of 32 bytes. The packets go over a veth pair between two new namespaces, where
 * nothing else sends. There each packet has 74 bytes: 14 of Ethernet, 20 of IP, 8 of UDP, 32 of
 * payload. One end must receive exactly what the other end sent.
 *
 * Without permission for namespaces, the packets go over lo. lo counts 60 bytes for each packet,
 * because it has no Ethernet header. Other processes may use lo too. If lo has traffic in the time
 * before the load, the rows are not judged.
 */
#include "verify_trials.h"

#include "counters/clock.h"
#include "load/load.h"
#include "program/command.h"
#include "verify_subject.h"
#include "verify_veth.h"

#include <stdio.h>
#include <time.h>

#define PACKETS 10000u
#define PAYLOAD_BYTES 32u
#define IDLE_NS (50u * NS_PER_MS)

struct net_answer {
    struct load_net_truth truth;
    bool pair; /* The packets went over a veth pair, not over lo. */
    char why_not[CAMP_ERROR_SIZE];
    struct camp_network sender_before, sender_after, receiver_before, receiver_after;
    struct camp_network idle; /* counters of lo, read IDLE_NS before the load */
    struct camp_error library;
};

static void read_interface(struct net_answer *answer, const char *name, struct camp_network *ret)
{
    if (answer->library.code == CAMP_OK)
        camp_network_read(NULL, name, ret, sizeof *ret, &answer->library);
}

/* Sends packets until one arrives: an interface that has just come up still drops packets
 * (linkwatch_do_dev()). */
static void warm_up(const struct load_net_plan *plan)
{
    struct load_net_plan one = *plan;
    struct load_net_truth truth;

    one.packets = 1;
    for (int i = 0; i < 3 && load_net(&one, &truth, NULL) != CAMP_OK; i++)
        continue;
}

static int send_over_pair(const struct veth *veth, struct net_answer *answer,
                          struct camp_error *error)
{
    const struct load_net_plan plan = { .packets = PACKETS,
                                        .bytes = PAYLOAD_BYTES,
                                        .target = VETH_FAR_ADDRESS,
                                        .sender_namespace = veth->near_namespace,
                                        .receiver_namespace = veth->far_namespace };
    int r;

    warm_up(&plan);
    r = veth_enter(veth->far_namespace, error);
    if (r == CAMP_OK) {
        read_interface(answer, VETH_FAR, &answer->receiver_before);
        r = veth_enter(veth->near_namespace, error);
    }
    if (r == CAMP_OK) {
        read_interface(answer, VETH_NEAR, &answer->sender_before);
        r = load_net(&plan, &answer->truth, error);
    }
    if (r == CAMP_OK) {
        read_interface(answer, VETH_NEAR, &answer->sender_after);
        r = veth_enter(veth->far_namespace, error);
    }
    if (r == CAMP_OK)
        read_interface(answer, VETH_FAR, &answer->receiver_after);
    return r;
}

static int act_pair(const void *plan, void *truth, struct camp_error *error)
{
    struct net_answer *answer = truth;
    struct veth veth;
    int r = veth_make(&veth, error);

    (void)plan;
    answer->pair = r == CAMP_OK;
    if (r == CAMP_OK)
        return send_over_pair(&veth, answer, error);
    snprintf(answer->why_not, sizeof answer->why_not, "%s", error->message);
    return CAMP_OK;
}

static int act_loopback(const void *plan, void *truth, struct camp_error *error)
{
    static const struct load_net_plan load = {
        .packets = PACKETS, .bytes = PAYLOAD_BYTES, .sender_namespace = -1, .receiver_namespace = -1
    };
    struct net_answer *answer = truth;
    int r;

    (void)plan;
    read_interface(answer, "lo", &answer->idle);
    sleep_until(now_ns(CLOCK_MONOTONIC) + IDLE_NS);
    read_interface(answer, "lo", &answer->sender_before);
    r = load_net(&load, &answer->truth, error);
    read_interface(answer, "lo", &answer->sender_after);
    answer->receiver_before = answer->sender_before;
    answer->receiver_after = answer->sender_after;
    return r;
}

static void judge_end(struct verification *verification, const struct net_answer *answer,
                      const char *rows[2], uint64_t packets, uint64_t bytes)
{
    const double sent = (double)answer->truth.sent_packets;
    const double packet_bytes = PAYLOAD_BYTES + (double)answer->truth.header_bytes +
                                (answer->pair ? LOAD_NET_ETHERNET_BYTES : 0);

    for (int i = 0; i < 2; i++)
        if (!answer->pair && answer->sender_before.sent_packets != answer->idle.sent_packets)
            interfered(verification, rows[i], "others use lo");
        else if (!answer->pair)
            remark(verification, rows[i], "over lo: %s", answer->why_not);
    decide(verification, rows[0], sent, (double)packets, 0);
    decide(verification, rows[1], packet_bytes * sent, (double)bytes, 0);
}

/* Runs the act in a new process, because the act may move to other namespaces. */
static int run_one(load_function *act, struct net_answer *ret, struct camp_error *error)
{
    struct subject subject = { 0 };
    int r = subject_open(&subject, act, NULL, sizeof *ret, error);

    if (r == CAMP_OK)
        r = subject_do(&subject, error);
    if (r == CAMP_OK)
        *ret = *(const struct net_answer *)subject_truth(&subject);
    subject_end(&subject);
    return r;
}

void verify_network(struct verification *verification)
{
    struct net_answer answer = { .pair = false };
    const struct camp_network *a = &answer.sender_before, *b = &answer.sender_after;
    const struct camp_network *c = &answer.receiver_before, *d = &answer.receiver_after;
    char why_not[CAMP_ERROR_SIZE] = "";
    struct camp_error error = { 0 };
    int r = run_one(act_pair, &answer, &error);

    if (r == CAMP_OK && !answer.pair) {
        snprintf(why_not, sizeof why_not, "%s", answer.why_not);
        r = run_one(act_loopback, &answer, &error);
        snprintf(answer.why_not, sizeof answer.why_not, "%s", why_not);
    }
    if (!trial_succeeded(verification, r, &error, &answer.library))
        return;
    judge_end(verification, &answer, (const char *[]){ "net-sent-packets", "net-sent-bytes" },
              b->sent_packets - a->sent_packets, b->sent_bytes - a->sent_bytes);
    judge_end(verification, &answer,
              (const char *[]){ "net-received-packets", "net-received-bytes" },
              d->received_packets - c->received_packets, d->received_bytes - c->received_bytes);
}
