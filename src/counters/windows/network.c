/*
 * Network interfaces, by GetIfTable2(), whose counters have 64 bits.
 *
 * The table also has the filters between a driver and its protocols (packet schedulers, firewalls),
 * which count the same packets again. They are left out. The name is the alias, which the user may
 * change; the system keeps it unique.
 */
#include "shared.h"

#include "../platform.h"

#include <ws2ipdef.h>
#include <ws2tcpip.h>

#include <iphlpapi.h>

#include <string.h>

/* Wine counts all packets of the host as unicast, and its multicast packets once more. */
static uint64_t received_packets_of(const MIB_IF_ROW2 *row)
{
    return camp_is_imitation() ? row->InUcastPkts : row->InUcastPkts + row->InNUcastPkts;
}

static void fill(const MIB_IF_ROW2 *row, uint64_t time_ns, struct camp_network *ret)
{
    *ret = (struct camp_network){
        .known = CAMP_NETWORK_ALL,
        .time_ns = time_ns,
        .received_bytes = row->InOctets,
        .received_packets = received_packets_of(row),
        .received_errors = row->InErrors,
        .received_drops = row->InDiscards,
        .sent_bytes = row->OutOctets,
        .sent_packets = row->OutUcastPkts + row->OutNUcastPkts,
        .sent_errors = row->OutErrors,
        .sent_drops = row->OutDiscards,
    };
    camp_utf8_of(row->Alias, wcsnlen(row->Alias, sizeof row->Alias / sizeof row->Alias[0]),
                 ret->name, sizeof ret->name);
}

static int open_table(MIB_IF_TABLE2 **ret, uint64_t *ret_time_ns, struct camp_error *error)
{
    ULONG failure = GetIfTable2(ret);

    *ret_time_ns = camp_now_ns();
    return failure == NO_ERROR ? CAMP_OK : camp_fail_windows(error, failure, "GetIfTable2");
}

static bool is_filter(const MIB_IF_ROW2 *row)
{
    return row->InterfaceAndOperStatusFlags.FilterInterface;
}

static int scan(struct camp_network *networks, size_t size, size_t capacity, size_t *ret_count,
                struct camp_error *error)
{
    struct camp_output output = { networks, size, capacity, 0 };
    struct camp_network network;
    MIB_IF_TABLE2 *table;
    uint64_t time_ns;
    int r = open_table(&table, &time_ns, error);

    if (r < 0)
        return r;
    for (ULONG i = 0; i < table->NumEntries; i++) {
        if (is_filter(&table->Table[i]))
            continue;
        fill(&table->Table[i], time_ns, &network);
        camp_output_add(&output, &network, sizeof network);
    }
    FreeMibTable(table);
    return camp_output_end(&output, "interfaces", ret_count, error);
}

static int find(const char *name, struct camp_network *ret, struct camp_error *error)
{
    MIB_IF_TABLE2 *table;
    uint64_t time_ns;
    int r = open_table(&table, &time_ns, error);

    if (r < 0)
        return r;
    r = CAMP_E_GONE;
    for (ULONG i = 0; r != CAMP_OK && i < table->NumEntries; i++) {
        fill(&table->Table[i], time_ns, ret);
        if (!is_filter(&table->Table[i]) && strcmp(ret->name, name) == 0)
            r = CAMP_OK;
    }
    FreeMibTable(table);
    return r == CAMP_OK ? r
                        : camp_fail(error, r, 0, "there is no interface %s; list them again", name);
}

int camp_network_read(const struct camp_source *source, const char *name, struct camp_network *ret,
                      size_t size, struct camp_error *error)
{
    struct camp_network network;
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, name, ret))
        return CAMP_E_INVALID;
    if (name[0] == '\0')
        return camp_fail(error, CAMP_E_INVALID, 0, "'': no interface can have this name");
    r = find(name, &network, error);
    if (r == CAMP_OK)
        camp_hand_out(ret, size, &network, sizeof network);
    return r;
}

int camp_network_read_all(const struct camp_source *source, struct camp_network *networks,
                          size_t size, size_t capacity, size_t *ret_count, struct camp_error *error)
{
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_array_is_null(error, networks, capacity, ret_count))
        return CAMP_E_INVALID;
    return scan(networks, size, capacity, ret_count, error);
}
