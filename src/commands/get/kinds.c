#include "kinds.h"

#include "extras.h"

#include <stdio.h>
#include <string.h>

#define COUNTERS_IN(type) sizeof(struct type), offsetof(struct type, time_ns), 0
#define DEVICES_IN(type)                                                                           \
    sizeof(struct type), offsetof(struct type, time_ns), offsetof(struct type, name)

const struct kind_words kinds[KIND_COUNT] = {
    { CAMP_KIND_CPU, "cpus", "cpu.*", "cpu.ID", "cpu alone is the total", COUNTERS_IN(camp_cpu),
      .has_total = true },
    { CAMP_KIND_MEMORY, NULL, "memory", "memory", "physical, and swap", COUNTERS_IN(camp_memory),
      .is_one = true },
    { CAMP_KIND_NETWORK, "networks", "network.*", "network.NAME", "interfaces",
      DEVICES_IN(camp_network) },
    { CAMP_KIND_DISK, "disks", "disk.*", "disk.NAME", "whole disks", DEVICES_IN(camp_disk) },
    { CAMP_KIND_PARTITION, "partitions", "partition.*", "partition.NAME", "within their disks",
      DEVICES_IN(camp_disk) },
    { CAMP_KIND_PROCESS, "processes", "process.*", "process.PID", "with all their threads",
      COUNTERS_IN(camp_task) },
    { CAMP_KIND_THREAD, "threads", "thread.*.*", "thread.PID.TID", "each by itself",
      COUNTERS_IN(camp_task) },
    { CAMP_KIND_KERNEL, NULL, "kernel", "kernel", "what it counts, and how",
      sizeof(struct camp_kernel), NO_TIME, 0, .is_one = true },
    { CAMP_KIND_SYSTEM, NULL, "system", "system", "all CPUs and processes together",
      COUNTERS_IN(camp_system), .is_one = true },
};

const struct kind_words *kind_words(enum camp_kind kind)
{
    size_t i = 0;

    while (i + 1 < KIND_COUNT && kinds[i].kind != kind)
        i++;
    return &kinds[i];
}

static bool is_word(const char *word, const char *text, size_t length)
{
    return word != NULL && strlen(word) == length && memcmp(word, text, length) == 0;
}

const struct kind_words *kind_by_name(const char *name, size_t length)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (is_word(camp_kind_name(kinds[i].kind), name, length) ||
            is_word(kinds[i].plural, name, length))
            return &kinds[i];
    }
    return NULL;
}

static const struct camp_counter *find(const struct counters *counters, uint32_t wanted,
                                       const char *name)
{
    for (size_t i = 0; i < counters->count; i++) {
        if ((counters->items[i].kinds & wanted) != 0 && strcmp(counters->items[i].name, name) == 0)
            return &counters->items[i];
    }
    return NULL;
}

/* Makes a share, such as run_delay_percent, refer to the time from which it is computed:
 * run_delay_ns. */
static void place_share(const struct counters *counters, struct camp_counter *share)
{
    const char *end = strstr(share->name, "_percent");
    const struct camp_counter *time;
    char name[CAMP_NAME_SIZE];

    snprintf(name, sizeof name, "%.*s_ns", (int)(end - share->name), share->name);
    time = find(counters, share->kinds, name);
    share->record = time->record;
    share->offset = time->offset;
    share->known = time->known;
    share->wrap_unit_ns = time->wrap_unit_ns;
}

static void load(struct counters *ret)
{
    struct camp_counter rows[2 * COUNTERS_MAX];
    size_t count = 0;

    camp_catalogue_read(rows, sizeof rows[0], sizeof rows / sizeof rows[0], &count, NULL);
    for (size_t i = 0; i < count && ret->count < COUNTERS_MAX; i++) {
        if (rows[i].kinds != 0)
            ret->items[ret->count++] = rows[i];
    }
    for (size_t i = 0; i < ret->count; i++) {
        struct camp_counter *counter = &ret->items[i];

        if (counter->nature == CAMP_NATURE_SHARE && !counter_is_utilisation(counter))
            place_share(ret, counter);
    }
}

const struct counters *all_counters(void)
{
    static struct counters counters;

    if (counters.count == 0)
        load(&counters);
    return &counters;
}

const struct camp_counter *counter_by_name(enum camp_kind kind, const char *name)
{
    return find(all_counters(), kind, name);
}

bool counter_is_utilisation(const struct camp_counter *counter)
{
    return counter->record == CAMP_RECORD_UTILISATION;
}

bool counter_is_cpu_count(const struct camp_counter *counter)
{
    return counter->record == CAMP_RECORD_NONE && strcmp(counter->name, "count") == 0;
}

bool counter_lacks_total(const struct camp_counter *counter)
{
    return extra_of(counter) == EXTRA_FREQUENCY;
}

const void *counter_place(const struct camp_counter *counter, const struct reading *reading)
{
    switch (counter->record) {
    case CAMP_RECORD_NONE:
        return &reading->cpu_count;
    case CAMP_RECORD_TASKSTAT:
        return (const char *)&reading->taskstat + counter->offset;
    case CAMP_RECORD_UTILISATION:
        return (const char *)&reading->utilisation + counter->offset;
    case CAMP_RECORD_LINUX:
        return (const char *)&reading->of_linux + counter->offset;
    default: /* All members of the union have the address of `cpu`. */
        return (const char *)&reading->cpu + counter->offset;
    }
}

static uint32_t known_of(const struct camp_counter *counter, const struct reading *reading)
{
    switch (counter->record) {
    case CAMP_RECORD_CPU:
        return reading->cpu.known;
    case CAMP_RECORD_MEMORY:
        return reading->memory.known;
    case CAMP_RECORD_NETWORK:
        return reading->network.known;
    case CAMP_RECORD_DISK:
        return reading->disk.known;
    case CAMP_RECORD_TASK:
        return reading->task.known;
    case CAMP_RECORD_KERNEL:
        return reading->kernel.known;
    case CAMP_RECORD_LINUX:
        return reading->of_linux.known;
    case CAMP_RECORD_SYSTEM:
        return reading->system.known;
    case CAMP_RECORD_UTILISATION:
        return reading->utilisation.known;
    default:
        return 0;
    }
}

bool counter_is_known(const struct camp_counter *counter, const struct reading *reading)
{
    if (reading->result < 0)
        return false;
    if (counter->record == CAMP_RECORD_TASKSTAT)
        return reading->taskstat_known != 0;
    return counter->known == 0 || (known_of(counter, reading) & counter->known) != 0;
}

int counter_rate(const struct camp_counter *counter, uint64_t before, uint64_t now,
                 uint64_t elapsed_ns, double *ret_per_second)
{
    uint64_t unit = counter->wrap_unit_ns;
    int result;

    if (unit == 0 || before / unit > UINT32_MAX || now / unit > UINT32_MAX)
        return camp_rate(before, now, 64, elapsed_ns, ret_per_second);
    result = camp_rate(before / unit, now / unit, 32, elapsed_ns, ret_per_second);
    if (result >= 0)
        *ret_per_second *= (double)unit;
    return result;
}
