/*
 * Verifies the counts of the loopback interface by UDP packets that a load sends to itself. Other
 * programs use this interface, too: if they added more than NOISE, the trial is repeated.
 *
 * Wine reports the loopback interface of the host. Windows may not count packets that stay in the
 * machine: then the rows are not tested.
 */
#include "verify_trials.h"

#undef gethostname /* declared by winsock2.h */
#include <winsock2.h>
#include <ws2ipdef.h>

#include <iphlpapi.h>

#include <math.h>

#define PACKETS 2000u
#define PAYLOAD 512u
#define ROUNDS 5
#define NOISE 0.1
#define TYPE_OF_LOOPBACK 24 /* IF_TYPE_SOFTWARE_LOOPBACK */

/* Copies the alias of the loopback interface, which is its name in the library. */
static bool find_loopback(char ret[CAMP_NETWORK_NAME_SIZE])
{
    MIB_IF_TABLE2 *table;
    bool found = false;

    if (GetIfTable2(&table) != NO_ERROR)
        return false;
    for (ULONG i = 0; i < table->NumEntries && !found; i++)
        found = table->Table[i].Type == TYPE_OF_LOOPBACK &&
                WideCharToMultiByte(CP_UTF8, 0, table->Table[i].Alias, -1, ret,
                                    CAMP_NETWORK_NAME_SIZE, NULL, NULL) > 0;
    FreeMibTable(table);
    return found;
}

struct round {
    struct load_net_truth truth;
    double sent_packets, sent_bytes, received_packets, received_bytes;
};

static int run_round(const char *name, struct round *ret, struct camp_error *library,
                     struct camp_error *error)
{
    const struct load_net_plan plan = {
        .packets = PACKETS, .bytes = PAYLOAD, .sender_namespace = -1, .receiver_namespace = -1
    };
    struct camp_network before, after;
    int r;

    if (camp_network_read(NULL, name, &before, sizeof before, library) != CAMP_OK)
        return CAMP_OK;
    r = load_net(&plan, &ret->truth, error);
    if (camp_network_read(NULL, name, &after, sizeof after, library) != CAMP_OK)
        return r;
    ret->sent_packets = (double)(after.sent_packets - before.sent_packets);
    ret->sent_bytes = (double)(after.sent_bytes - before.sent_bytes);
    ret->received_packets = (double)(after.received_packets - before.received_packets);
    ret->received_bytes = (double)(after.received_bytes - before.received_bytes);
    return r;
}

static void judge(struct verification *verification, const char *row, double expected,
                  double reported)
{
    if (reported == 0 && !is_wine())
        not_tested(verification, row, "Windows does not count packets of its loopback interface");
    else if (reported > expected * (1 + NOISE) && reported < expected * (2 - NOISE))
        interfered(verification, row, "other programs used the interface");
    else
        decide_between(verification, row, expected, reported, 0, expected * NOISE);
}

/* The round with the fewest foreign packets counts. */
void verify_network(struct verification *verification)
{
    char name[CAMP_NETWORK_NAME_SIZE];
    struct round quietest = { .sent_packets = ANY };
    struct camp_error error = { 0 }, library = { 0 };
    int r = CAMP_OK;

    if (!find_loopback(name)) {
        trial_succeeded(verification, CAMP_E_GONE,
                        &(struct camp_error){ .message = "there is no loopback interface" }, NULL);
        return;
    }
    for (int i = 0; i < ROUNDS && r == CAMP_OK && library.code == CAMP_OK; i++) {
        struct round round = { .sent_packets = ANY };

        r = run_round(name, &round, &library, &error);
        if (round.sent_packets < quietest.sent_packets)
            quietest = round;
    }
    if (!trial_succeeded(verification, r, &error, &library))
        return;
    judge(verification, "net-sent-packets", (double)quietest.truth.sent_packets,
          quietest.sent_packets);
    judge(verification, "net-sent-bytes", (double)quietest.truth.interface_bytes,
          quietest.sent_bytes);
    judge(verification, "net-received-packets", (double)quietest.truth.sent_packets,
          quietest.received_packets);
    judge(verification, "net-received-bytes", (double)quietest.truth.interface_bytes,
          quietest.received_bytes);
}
