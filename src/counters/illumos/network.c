/*
 * Network interfaces, from the kstats link:0:NAME of the class "net" (uts/common/io/mac and dls).
 *
 * These are the data links that dladm(8) shows, with the names that the administrator gave them.
 * Their drivers have statistics of the same class with other names, which are not read: each link
 * would be counted twice. The loopback interface is no data link, and its statistics have no bytes:
 * it is left out.
 *
 * Bytes and packets are taken from the 64-bit values only, because the 32-bit ones beside them wrap
 * after 4 GiB.
 */
#include "readers.h"

#include "../error.h"

#include <string.h>

static bool is_link(const kstat_t *statistic)
{
    return statistic->ks_instance == 0 && camp_kstat_is(statistic, "link", KSTAT_TYPE_NAMED) &&
           camp_kstat_text_is(statistic->ks_class, "net");
}

static int read_link(kstat_ctl_t *control, kstat_t *link, struct camp_network *ret,
                     struct camp_error *error)
{
    int r = camp_kstat_read(control, link, error);

    if (r != CAMP_OK)
        return r;
    memset(ret, 0, sizeof *ret);
    ret->time_ns = (uint64_t)link->ks_snaptime;
    camp_kstat_copy_text(ret->name, sizeof ret->name, link->ks_name);
    camp_kstat_number(link, "rbytes64", CAMP_NETWORK_RECEIVED_BYTES, &ret->received_bytes,
                      &ret->known);
    camp_kstat_number(link, "ipackets64", CAMP_NETWORK_RECEIVED_PACKETS, &ret->received_packets,
                      &ret->known);
    camp_kstat_number(link, "ierrors", CAMP_NETWORK_RECEIVED_ERRORS, &ret->received_errors,
                      &ret->known);
    camp_kstat_number(link, "norcvbuf", CAMP_NETWORK_RECEIVED_DROPS, &ret->received_drops,
                      &ret->known);
    camp_kstat_number(link, "obytes64", CAMP_NETWORK_SENT_BYTES, &ret->sent_bytes, &ret->known);
    camp_kstat_number(link, "opackets64", CAMP_NETWORK_SENT_PACKETS, &ret->sent_packets,
                      &ret->known);
    camp_kstat_number(link, "oerrors", CAMP_NETWORK_SENT_ERRORS, &ret->sent_errors, &ret->known);
    camp_kstat_number(link, "noxmtbuf", CAMP_NETWORK_SENT_DROPS, &ret->sent_drops, &ret->known);
    return CAMP_OK;
}

int camp_network_scan(kstat_ctl_t *control, struct camp_network *networks, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { networks, size, capacity, 0 };
    struct camp_network network;

    for (kstat_t *at = control->kc_chain; at != NULL; at = at->ks_next) {
        int r = is_link(at) ? read_link(control, at, &network, error) : CAMP_E_GONE;

        if (r == CAMP_E_GONE)
            continue; /* it is no link, or was removed meanwhile */
        if (r != CAMP_OK)
            return r;
        camp_output_add(&output, &network, sizeof network);
    }
    return camp_output_end(&output, "interfaces", ret_count, error);
}

static int read_any(kstat_ctl_t *control, kstat_t *statistic, void *ret, struct camp_error *error)
{
    return read_link(control, statistic, ret, error);
}

int camp_network_read(const struct camp_source *source, const char *name, struct camp_network *ret,
                      size_t size, struct camp_error *error)
{
    static const struct kstat_kind links = { "interface", is_link, read_any };
    struct camp_network network;
    int r;

    if (camp_is_null(error, name, ret))
        return CAMP_E_INVALID;
    r = camp_kstat_read_named(&links, source, name, &network, error);
    if (r == CAMP_OK)
        camp_hand_out(ret, size, &network, sizeof network);
    return r;
}

int camp_network_read_all(const struct camp_source *source, struct camp_network *networks,
                          size_t size, size_t capacity, size_t *ret_count, struct camp_error *error)
{
    kstat_ctl_t *control;
    int r;

    if (camp_array_is_null(error, networks, capacity, ret_count))
        return CAMP_E_INVALID;
    r = camp_kstats_open(source, &control, error);
    if (r != CAMP_OK)
        return r;
    r = camp_network_scan(control, networks, size, capacity, ret_count, error);
    camp_kstats_close(control);
    return r;
}
