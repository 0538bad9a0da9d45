/* The metrics of the machine except those of CPUs and tasks: memory, pressure, disks, networks. A
 * metric that cannot be read is absent. */
#include "exported_inside.h"

#include "ledger/array.h"

#include <camp/system.h>

#include <string.h>

static void read_system(struct exported *exported)
{
    static const struct {
        uint32_t bit;
        enum exported_family family;
        size_t at; /* the series of the family */
        size_t offset;
    } all[] = {
        { CAMP_SYSTEM_CONTEXT_SWITCHES, SWITCHES, 0,
          offsetof(struct camp_system, context_switches) },
        { CAMP_SYSTEM_FORKS, FORKS, 0, offsetof(struct camp_system, forks) },
        { CAMP_SYSTEM_INTERRUPTS, INTERRUPTS, 0, offsetof(struct camp_system, interrupts) },
        { CAMP_SYSTEM_BOOT_TIME, BOOT_TIME, 0, offsetof(struct camp_system, boot_time_ns) },
        { CAMP_SYSTEM_RUNNING, RUN_QUEUE, 0, offsetof(struct camp_system, running) },
        { CAMP_SYSTEM_BLOCKED, BLOCKED, 0, offsetof(struct camp_system, blocked) },
        { CAMP_SYSTEM_CPU_SOME, PRESSURE, 0, offsetof(struct camp_system, cpu_some_ns) },
        { CAMP_SYSTEM_MEMORY_SOME, PRESSURE, 1, offsetof(struct camp_system, memory_some_ns) },
        { CAMP_SYSTEM_MEMORY_FULL, PRESSURE, 2, offsetof(struct camp_system, memory_full_ns) },
        { CAMP_SYSTEM_IO_SOME, PRESSURE, 3, offsetof(struct camp_system, io_some_ns) },
        { CAMP_SYSTEM_IO_FULL, PRESSURE, 4, offsetof(struct camp_system, io_full_ns) },
    };
    struct camp_system system;
    uint32_t wanted = 0;

    for (size_t i = 0; i < ARRAY_COUNT(all); i++)
        wanted |= all[i].bit;
    if (camp_system_read(NULL, wanted, &system, sizeof system, NULL) != CAMP_OK)
        return;
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        uint64_t value;

        memcpy(&value, (const char *)&system + all[i].offset, sizeof value);
        if ((system.known & all[i].bit) != 0)
            exported_set(exported, all[i].family, all[i].at, value);
    }
}

static void set_memory(struct exported *exported, const struct camp_memory *memory)
{
    const struct {
        uint32_t bit;
        enum exported_family family;
        size_t at;
        uint64_t bytes;
    } all[] = {
        { CAMP_MEMORY_TOTAL, MEMORY, 0, memory->total_bytes },
        { CAMP_MEMORY_FREE, MEMORY, 1, memory->free_bytes },
        { CAMP_MEMORY_AVAILABLE, MEMORY, 2, memory->available_bytes },
        { CAMP_MEMORY_BUFFERS, MEMORY, 3, memory->buffers_bytes },
        { CAMP_MEMORY_CACHED, MEMORY, 4, memory->cached_bytes },
        { CAMP_MEMORY_SWAP_TOTAL, SWAP, 0, memory->swap_total_bytes },
        { CAMP_MEMORY_SWAP_FREE, SWAP, 1, memory->swap_free_bytes },
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if ((memory->known & all[i].bit) != 0)
            exported_set(exported, all[i].family, all[i].at, all[i].bytes);
    }
}

/* Returns whether a block device is only memory, or lies on top of other disks, which count the
 * same I/O. */
static bool is_layer(const char *name)
{
    static const char *const prefixes[] = { "dm-", "md", "loop", "ram", "zram" };

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return false;
}

/* Each family from `first` to `last` has two series, such as "read" and "written". Sets them
 * all. */
static void set_pairs(struct exported *exported, const struct device_sums *sums,
                      enum exported_family first, enum exported_family last)
{
    for (size_t i = 0; first + i <= last; i++) {
        exported_set(exported, first + (enum exported_family)i, 0, sums->sums[2 * i]);
        exported_set(exported, first + (enum exported_family)i, 1, sums->sums[2 * i + 1]);
    }
}

static int list_disks(struct exported *exported, size_t *ret_count)
{
    for (;;) {
        const int r = camp_disk_read_all(NULL, CAMP_DISK_WHOLE, exported->disk_list,
                                         sizeof *exported->disk_list, exported->disk_capacity,
                                         ret_count, NULL);

        if (r != CAMP_E_SPACE)
            return r;
        if (!ARRAY_RESERVE(exported->disk_list, exported->disk_capacity, *ret_count))
            return CAMP_E_NOMEM;
    }
}

static void read_disks(struct exported *exported)
{
    struct device_sums *sums = &exported->disks;
    size_t count;
    int r = list_disks(exported, &count);

    if (r != CAMP_OK)
        return;
    device_sums_start(sums);
    for (size_t i = 0; i < count && r == CAMP_OK; i++) {
        const struct camp_disk *disk = &exported->disk_list[i];
        const uint64_t values[DEVICE_COUNTERS] = { disk->read_bytes, disk->written_bytes,
                                                   disk->reads,      disk->writes,
                                                   disk->read_ns,    disk->write_ns,
                                                   disk->busy_ns };

        if (!is_layer(disk->name))
            r = device_sums_add(sums, disk->name, values);
    }
    device_sums_finish(sums);
    set_pairs(exported, sums, DISK_BYTES, DISK_REQUEST_TIME);
    exported_set(exported, DISK_BUSY, 0, sums->sums[6]);
}

static int list_networks(struct exported *exported, size_t *ret_count)
{
    for (;;) {
        const int r =
            camp_network_read_all(NULL, exported->network_list, sizeof *exported->network_list,
                                  exported->network_capacity, ret_count, NULL);

        if (r != CAMP_E_SPACE)
            return r;
        if (!ARRAY_RESERVE(exported->network_list, exported->network_capacity, *ret_count))
            return CAMP_E_NOMEM;
    }
}

static void read_networks(struct exported *exported)
{
    struct device_sums *sums = &exported->networks;
    size_t count;
    int r = list_networks(exported, &count);

    if (r != CAMP_OK)
        return;
    device_sums_start(sums);
    for (size_t i = 0; i < count && r == CAMP_OK; i++) {
        const struct camp_network *network = &exported->network_list[i];
        const uint64_t values[DEVICE_COUNTERS] = { network->received_bytes,   network->sent_bytes,
                                                   network->received_packets, network->sent_packets,
                                                   network->received_errors,  network->sent_errors,
                                                   network->received_drops,   network->sent_drops };

        if (strcmp(network->name, "lo") != 0)
            r = device_sums_add(sums, network->name, values);
    }
    device_sums_finish(sums);
    set_pairs(exported, sums, NETWORK_BYTES, NETWORK_DROPS);
}

void exported_host_read(struct exported *exported)
{
    struct camp_memory memory;

    read_system(exported);
    if (camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, NULL) == CAMP_OK)
        set_memory(exported, &memory);
    read_disks(exported);
    read_networks(exported);
}
