/*
 * Disks and partitions, from kstats of the type KSTAT_TYPE_IO and the class "disk" or "partition"
 * (kstat_io(9S)).
 *
 * A driver keeps two queues: requests that wait for the device (w) and requests that the device has
 * (r). in_flight and queue are those of both. busy is the time with a request in the device, as
 * iostat(8) shows it (%b). A request that waits while the device has none is not in busy. Times by
 * direction are not counted: read_ns and write_ns are unknown. `reads` and `writes` have 32 bits.
 *
 * ZFS pools (module "zfs") have the class "disk", too. They are left out: their requests are
 * counted by the disks below them.
 *
 * A partition is called by its disk, a comma and a letter ("sd0,a"), and has the module and the
 * instance of its disk.
 */
#include "readers.h"

#include "../error.h"

#include <string.h>

/* Drivers of disks that have no device of their own: files, memory, and volumes of other disks. */
static bool is_without_device(const kstat_t *statistic)
{
    static const char *const modules[] = { "lofi", "md", "ramdisk" };

    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++)
        if (camp_kstat_text_is(statistic->ks_module, modules[i]))
            return true;
    return false;
}

/* Returns CAMP_DISK_WHOLE, CAMP_DISK_PARTITION, or 0 for another statistic. */
static int kind_of(const kstat_t *statistic)
{
    if (statistic->ks_type != KSTAT_TYPE_IO || camp_kstat_text_is(statistic->ks_module, "zfs"))
        return 0;
    if (camp_kstat_text_is(statistic->ks_class, "disk"))
        return CAMP_DISK_WHOLE;
    return camp_kstat_text_is(statistic->ks_class, "partition") ? CAMP_DISK_PARTITION : 0;
}

static int read_disk(kstat_ctl_t *control, kstat_t *statistic, struct camp_disk *ret,
                     struct camp_error *error)
{
    kstat_io_t io;
    int r = camp_kstat_read(control, statistic, error);

    if (r != CAMP_OK)
        return r;
    if (statistic->ks_data == NULL || statistic->ks_data_size < sizeof io)
        return camp_fail(error, CAMP_E_FORMAT, 0, "the kstat of a disk is too short; report it");
    memcpy(&io, statistic->ks_data, sizeof io);
    *ret = (struct camp_disk){
        .kind = kind_of(statistic),
        .known = CAMP_DISK_READS | CAMP_DISK_READ_BYTES | CAMP_DISK_WRITES |
                 CAMP_DISK_WRITTEN_BYTES | CAMP_DISK_IN_FLIGHT | CAMP_DISK_BUSY | CAMP_DISK_QUEUE,
        .time_ns = (uint64_t)statistic->ks_snaptime,
        .reads = io.reads,
        .read_bytes = io.nread,
        .writes = io.writes,
        .written_bytes = io.nwritten,
        .in_flight = (uint64_t)io.wcnt + io.rcnt,
        .busy_ns = (uint64_t)io.rtime,
        .queue_ns = (uint64_t)io.wlentime + (uint64_t)io.rlentime,
    };
    camp_kstat_copy_text(ret->name, sizeof ret->name, statistic->ks_name);
    return CAMP_OK;
}

static int add_disk(kstat_ctl_t *control, kstat_t *statistic, struct camp_output *output,
                    struct camp_error *error)
{
    struct camp_disk disk;
    int r = read_disk(control, statistic, &disk, error);

    if (r == CAMP_OK)
        camp_output_add(output, &disk, sizeof disk);
    return r == CAMP_E_GONE ? CAMP_OK : r; /* a disk may be removed meanwhile */
}

static bool is_same_device(const kstat_t *a, const kstat_t *b)
{
    return a->ks_instance == b->ks_instance &&
           strncmp(a->ks_module, b->ks_module, KSTAT_STRLEN) == 0;
}

static const kstat_t *disk_of(const kstat_ctl_t *control, const kstat_t *partition)
{
    for (const kstat_t *at = control->kc_chain; at != NULL; at = at->ks_next)
        if (kind_of(at) == CAMP_DISK_WHOLE && is_same_device(at, partition))
            return at;
    return NULL;
}

static int add_partitions_of(kstat_ctl_t *control, const kstat_t *disk, struct camp_output *output,
                             struct camp_error *error)
{
    int r = CAMP_OK;

    for (kstat_t *at = control->kc_chain; r == CAMP_OK && at != NULL; at = at->ks_next)
        if (kind_of(at) == CAMP_DISK_PARTITION && disk_of(control, at) == disk)
            r = add_disk(control, at, output, error);
    return r;
}

static bool is_wanted(const kstat_t *statistic, int wanted)
{
    const int kind = kind_of(statistic);

    if (wanted == CAMP_DISK_PHYSICAL)
        return kind == CAMP_DISK_WHOLE && !is_without_device(statistic);
    return wanted == CAMP_DISK_ANY ? kind == CAMP_DISK_WHOLE : kind == wanted;
}

int camp_disk_scan(kstat_ctl_t *control, int kind, struct camp_disk *disks, size_t size,
                   size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { disks, size, capacity, 0 };
    int r = CAMP_OK;

    for (kstat_t *at = control->kc_chain; r == CAMP_OK && at != NULL; at = at->ks_next) {
        if (!is_wanted(at, kind))
            continue;
        r = add_disk(control, at, &output, error);
        if (r == CAMP_OK && kind == CAMP_DISK_ANY)
            r = add_partitions_of(control, at, &output, error);
    }
    if (r == CAMP_OK && kind == CAMP_DISK_ANY)
        r = add_partitions_of(control, NULL, &output, error); /* those whose disk is not shown */
    return r < 0 ? r : camp_output_end(&output, "disks", ret_count, error);
}

static bool is_disk(const kstat_t *statistic)
{
    return kind_of(statistic) != 0;
}

static int read_any(kstat_ctl_t *control, kstat_t *statistic, void *ret, struct camp_error *error)
{
    return read_disk(control, statistic, ret, error);
}

int camp_disk_read(const struct camp_source *source, const char *name, struct camp_disk *ret,
                   size_t size, struct camp_error *error)
{
    static const struct kstat_kind disks = { "disk", is_disk, read_any };
    struct camp_disk disk;
    int r;

    if (camp_is_null(error, name, ret))
        return CAMP_E_INVALID;
    r = camp_kstat_read_named(&disks, source, name, &disk, error);
    if (r == CAMP_OK)
        camp_hand_out(ret, size, &disk, sizeof disk);
    return r;
}

int camp_disk_read_all(const struct camp_source *source, int kind, struct camp_disk *disks,
                       size_t size, size_t capacity, size_t *ret_count, struct camp_error *error)
{
    kstat_ctl_t *control;
    int r;

    if (camp_array_is_null(error, disks, capacity, ret_count) ||
        camp_is_outside(error, kind, CAMP_DISK_ANY, CAMP_DISK_PHYSICAL))
        return CAMP_E_INVALID;
    r = camp_kstats_open(source, &control, error);
    if (r != CAMP_OK)
        return r;
    r = camp_disk_scan(control, kind, disks, size, capacity, ret_count, error);
    camp_kstats_close(control);
    return r;
}
