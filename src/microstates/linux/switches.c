/*
 * The session of switches.h: loads and attaches the programs, and copies the rings from memory that
 * it shares with the kernel. Nothing is pinned, so the programs and the rings end with this
 * process.
 *
 * An event is copied between two readings of its number. If the kernel overwrites the event
 * meanwhile, the number changes (order.bpf.h has the order of the kernel's stores).
 */
#include "../switches.h"
#include "counters/clock.h"
#include "counters/error.h"
#include "events.h"
#include "refusal.h"
#include "relocations.h"
#include "switches.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WHAT "rings of switches"
#define WITHOUT "record without --when"

#define EVENTS_LEAST 256u /* of one CPU */

struct switches {
    struct switches_bpf *programs;
    uint32_t cpu_count;
    uint32_t size;                    /* events of one CPU's ring, a power of two */
    const struct switch_head *heads;  /* [cpu_count] */
    const struct switch_event *rings; /* [cpu_count x size] */
};

/* Gets the highest number of a CPU that is online, plus 1. */
static int count_cpus(uint32_t *ret, struct camp_error *error)
{
    size_t count, listed;
    int32_t *ids = NULL;
    int r = camp_cpu_count(NULL, &count, error);

    if (r == CAMP_OK) {
        ids = calloc(count, sizeof *ids);
        r = ids == NULL ? camp_fail(error, CAMP_E_NOMEM, 0, "no memory for " WHAT)
                        : camp_cpu_list(NULL, ids, count, &listed, error);
    }
    if (r == CAMP_OK)
        *ret = listed > 0 ? (uint32_t)ids[listed - 1] + 1 : 1;
    free(ids);
    return r;
}

static uint32_t events_within(uint64_t bytes, uint32_t cpu_count)
{
    const uint64_t most = bytes / sizeof(struct switch_event) / cpu_count;
    uint32_t size = EVENTS_LEAST;

    while (size * UINT64_C(2) <= most)
        size *= 2;
    return size;
}

static int find_types(struct switches_bpf *programs, const struct relocations *types,
                      struct camp_error *error)
{
    struct kernel_types *kernel = NULL;
    int r = camp_kernel_types_open(&kernel, error);

    if (r == CAMP_OK)
        r = camp_events_require(kernel, error);
    if (r == CAMP_OK && !camp_events_have_tracepoint(kernel, "sched_waking"))
        r = camp_fail(error, CAMP_E_NOTSUP, 0,
                      "this kernel has no event sched_waking, which " WHAT " need; " WITHOUT);
    if (r == CAMP_OK)
        camp_relocations_fill(types, kernel, bpf_object__btf(programs->obj));
    camp_kernel_types_close(kernel);
    return r;
}

static int prepare(struct switches *switches, struct relocations *types, struct camp_error *error)
{
    LIBBPF_OPTS(bpf_object_open_opts, options);
    struct switches_bpf *programs;

    camp_relocations_open(types, &options);
    programs = switches_bpf__open_opts(&options);
    switches->programs = programs;
    if (programs == NULL)
        return camp_fail(error, CAMP_E_NOMEM, errno, "no memory for the programs of " WHAT);
    programs->rodata->ring_mask = switches->size - 1;
    bpf_map__set_max_entries(programs->maps.heads, switches->cpu_count);
    bpf_map__set_max_entries(programs->maps.events, switches->cpu_count * switches->size);
    return find_types(programs, types, error);
}

static int load(struct switches *switches, struct camp_error *error)
{
    struct relocations types;
    const int prepared = prepare(switches, &types, error);
    struct switches_bpf *programs = switches->programs;
    int r = prepared == CAMP_OK && programs != NULL ? switches_bpf__load(programs) : 0;

    camp_relocations_close(&types);
    if (prepared != CAMP_OK || programs == NULL)
        return prepared;
    if (r == 0 && programs->bss == NULL) /* libbpf could not map the variables of the programs */
        r = -ENOMEM;
    if (r == 0)
        r = switches_bpf__attach(programs);
    return r == 0 ? CAMP_OK : camp_refused_programs(r, WHAT, WITHOUT, error);
}

static size_t heads_size(const struct switches *switches)
{
    return switches->cpu_count * sizeof *switches->heads;
}

uint64_t switches_size(const struct switches *switches)
{
    return (uint64_t)switches->cpu_count * switches->size * sizeof *switches->rings;
}

static const void *map(const struct bpf_map *map, size_t size)
{
    const void *memory = mmap(NULL, size, PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);

    return memory != MAP_FAILED ? memory : NULL;
}

static int map_rings(struct switches *switches, struct camp_error *error)
{
    switches->heads = map(switches->programs->maps.heads, heads_size(switches));
    switches->rings = map(switches->programs->maps.events, switches_size(switches));
    return switches->heads != NULL && switches->rings != NULL
               ? CAMP_OK
               : camp_fail(error, CAMP_E_NOMEM, errno, "no memory to map " WHAT);
}

static int close_refused(struct switches *switches, int result, struct camp_error *error)
{
    const size_t needed =
        switches->programs != NULL ? camp_refusal_files_needed(switches->programs->obj) : 0;

    switches_close(switches);
    return camp_refused_by_limit(result, needed, WHAT, error);
}

int switches_open(struct switches **ret, uint64_t bytes, struct camp_error *error)
{
    struct switches *switches;
    libbpf_print_fn_t before;
    int r;

    if (bytes < SWITCHES_BYTES_LEAST || bytes > SWITCHES_BYTES_MOST)
        return camp_fail(error, CAMP_E_INVALID, 0, WHAT " have 256 kB to 1 GB");
    switches = calloc(1, sizeof *switches);
    if (switches == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for " WHAT);
    r = count_cpus(&switches->cpu_count, error);
    if (r == CAMP_OK) {
        switches->size = events_within(bytes, switches->cpu_count);
        before = libbpf_set_print(NULL);
        r = load(switches, error);
        libbpf_set_print(before);
    }
    if (r == CAMP_OK)
        r = map_rings(switches, error);
    if (r == CAMP_OK)
        *ret = switches;
    else
        r = close_refused(switches, r, error);
    return r;
}

void switches_close(struct switches *switches)
{
    if (switches == NULL)
        return;
    if (switches->heads != NULL)
        munmap((void *)switches->heads, heads_size(switches));
    if (switches->rings != NULL)
        munmap((void *)switches->rings, switches_size(switches));
    switches_bpf__destroy(switches->programs);
    free(switches);
}

/* How often an event that is being written is read. Its writer needs less than a microsecond,
 * unless a hypervisor has stopped its CPU. */
#define TRIES 1000

/* Copies the event with this number. Returns false if another event is in its place. */
static bool copy_event(struct switch_event *ret, const struct switch_event *event, uint64_t number)
{
    const volatile uint64_t *sequence = &event->sequence;

    for (int i = 0; i < TRIES; i++) {
        if (*sequence > number)
            return false;
        if (*sequence != number)
            continue;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        memcpy(ret, event, sizeof *ret);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        return *sequence == number;
    }
    return false;
}

/* An interrupt may take a later time and an earlier place than what it interrupted. So few events
 * are out of order, and none by much. */
static void sort_by_time(struct switch_event *events, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct switch_event event = events[i];
        size_t at = i;

        for (; at > 0 && events[at - 1].time_ns > event.time_ns; at--)
            events[at] = events[at - 1];
        events[at] = event;
    }
}

static size_t copy_ring(const struct switches *switches, uint32_t cpu, struct switch_event *ret,
                        uint64_t *overwritten)
{
    const struct switch_event *ring = &switches->rings[(size_t)cpu * switches->size];
    const uint64_t end = __atomic_load_n(&switches->heads[cpu].count, __ATOMIC_ACQUIRE);
    size_t count = 0;

    for (uint64_t n = end > switches->size ? end - switches->size : 0; n < end; n++) {
        const bool copied = copy_event(&ret[count], &ring[n & (switches->size - 1)], n + 1);

        count += copied;
        *overwritten += !copied;
    }
    sort_by_time(ret, count);
    return count;
}

/* Adds how often the kernel left the program out because it was running on the same CPU. Returns
 * false if the kernel does not report it. */
static bool add_misses(const struct bpf_program *program, uint64_t *sum)
{
    struct bpf_prog_info info = { 0 };
    uint32_t size = sizeof info;

    if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) != 0 ||
        size < offsetof(struct bpf_prog_info, recursion_misses) + sizeof info.recursion_misses)
        return false;
    *sum += info.recursion_misses;
    return true;
}

/* Reads the clocks within a short time: the shortest of some attempts, because an interrupt may
 * come between two clocks. */
static void read_clocks(struct switches_copy *ret)
{
    uint64_t shortest = UINT64_MAX;

    for (int i = 0; i < 8; i++) {
        const uint64_t before = now_ns(CLOCK_MONOTONIC), boot = now_ns(CLOCK_BOOTTIME),
                       real = now_ns(CLOCK_REALTIME), after = now_ns(CLOCK_MONOTONIC);

        if (after - before >= shortest)
            continue;
        shortest = after - before;
        ret->monotonic_ns = before + shortest / 2;
        ret->boot_ns = boot;
        ret->real_ns = (int64_t)real;
    }
}

int switches_read(const struct switches *switches, struct switches_copy *ret,
                  struct camp_error *error)
{
    const struct switches_bpf *programs = switches->programs;
    struct switches_copy copy = { .cpu_count = switches->cpu_count };

    copy.events = malloc(switches_size(switches));
    copy.cpus = calloc(copy.cpu_count, sizeof *copy.cpus);
    if (copy.events == NULL || copy.cpus == NULL) {
        switches_copy_release(&copy);
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory to copy " WHAT);
    }
    for (uint32_t i = 0; i < switches->cpu_count; i++) {
        struct switch_event *events = &copy.events[(size_t)i * switches->size];

        copy.cpus[i].cpu = i;
        copy.cpus[i].events = events;
        copy.cpus[i].count = copy_ring(switches, i, events, &copy.overwritten);
    }
    copy.lost = programs->bss->without_ring;
    copy.lost_is_known = add_misses(programs->progs.on_switch, &copy.lost) &&
                         add_misses(programs->progs.on_waking, &copy.lost) &&
                         add_misses(programs->progs.on_new, &copy.lost);
    read_clocks(&copy);
    *ret = copy;
    return CAMP_OK;
}
