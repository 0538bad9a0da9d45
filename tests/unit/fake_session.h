/*
 * A session of microstates without a kernel: these functions replace those of libbpf by which
 * snapshot.c and read.c get the bytes that the programs in the kernel wrote.
 */
#pragma once

#include "microstates/linux/session.h"
#include "states.skel.h"

#include <bpf/bpf.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FAKE_KEYS_MOST 8
#define FAKE_CPUS 2000

/* The keys and values of a map in the kernel. */
struct fake_map {
    size_t key_size, value_size, count;
    char keys[FAKE_KEYS_MOST][sizeof(struct total_key)];
    char values[FAKE_KEYS_MOST][sizeof(struct camp_thread_states)];
};

/* The maps have the "descriptors" 0 and 1. */
static struct fake_map fake_maps[2] = {
    { .key_size = sizeof(struct total_key), .value_size = sizeof(struct camp_thread_states) },
    { .key_size = sizeof(struct disk_wait_key), .value_size = sizeof(struct disk_wait) },
};
#define FAKE_TOTALS (&fake_maps[0])
#define FAKE_DISK_WAITS (&fake_maps[1])

static const void *fake_snapshot; /* what the iterator of threads writes */
static size_t fake_snapshot_length;

struct fake_exit {
    const void *record;
    size_t length;
};

static struct fake_exit fake_exits[64]; /* in the ring */
static size_t fake_exit_count;
static struct camp_states *fake_consumer;

static struct states_bpf__bss fake_bss;
static struct states_bpf fake_programs;
static struct cpu_account fake_cpus[FAKE_CPUS];

int bpf_link__fd(const struct bpf_link *link)
{
    (void)link;
    return 0;
}

int bpf_map__fd(const struct bpf_map *map)
{
    return (int)((const struct fake_map *)(const void *)map - fake_maps);
}

int bpf_iter_create(int link)
{
    const int descriptor = memfd_create("snapshot", MFD_CLOEXEC);

    (void)link;
    if (descriptor < 0 ||
        write(descriptor, fake_snapshot, fake_snapshot_length) != (ssize_t)fake_snapshot_length)
        abort();
    lseek(descriptor, 0, SEEK_SET);
    return descriptor;
}

/* As in libbpf, a record is consumed even if its function fails. */
int ring_buffer__consume(struct ring_buffer *ring)
{
    int r = 0;

    (void)ring;
    for (size_t i = 0; i < fake_exit_count && r >= 0; i++) {
        void *record = malloc(fake_exits[i].length + 1); /* a sanitizer sees reads past the end */

        if (record == NULL)
            abort();
        memcpy(record, fake_exits[i].record, fake_exits[i].length);
        r = camp_session_take_exit(fake_consumer, record, fake_exits[i].length);
        free(record);
        if (r < 0 || i + 1 == fake_exit_count) {
            fake_exit_count -= i + 1;
            memmove(fake_exits, fake_exits + i + 1, fake_exit_count * sizeof *fake_exits);
            break;
        }
    }
    return r;
}

static size_t fake_index(const struct fake_map *map, const void *key)
{
    size_t i = 0;

    while (i < map->count && memcmp(map->keys[i], key, map->key_size) != 0)
        i++;
    return i;
}

/* As in the kernel, the first key follows a key that is not in the map. */
int bpf_map_get_next_key(int descriptor, const void *key, void *next)
{
    const struct fake_map *map = &fake_maps[descriptor];
    const size_t found = key != NULL ? fake_index(map, key) : map->count;
    const size_t at = found < map->count ? found + 1 : 0;

    if (at >= map->count)
        return -1;
    memcpy(next, map->keys[at], map->key_size);
    return 0;
}

int bpf_map_lookup_elem(int descriptor, const void *key, void *value)
{
    const struct fake_map *map = &fake_maps[descriptor];
    const size_t at = fake_index(map, key);

    if (at == map->count)
        return -1;
    memcpy(value, map->values[at], map->value_size);
    return 0;
}

int bpf_map_delete_elem(int descriptor, const void *key)
{
    struct fake_map *map = &fake_maps[descriptor];
    const size_t at = fake_index(map, key);

    if (at == map->count)
        return -1;
    map->count--;
    memmove(map->keys[at], map->keys[at + 1], (map->count - at) * sizeof map->keys[0]);
    memmove(map->values[at], map->values[at + 1], (map->count - at) * sizeof map->values[0]);
    return 0;
}

/* The session must be released by release_fake_session(). */
static inline void open_fake_session(struct camp_states *ret)
{
    memset(fake_cpus, 0, sizeof fake_cpus);
    fake_programs.maps.totals = (struct bpf_map *)(void *)FAKE_TOTALS;
    fake_programs.maps.waits_of_disks = (struct bpf_map *)(void *)FAKE_DISK_WAITS;
    fake_programs.bss = &fake_bss;
    fake_maps[0].count = fake_maps[1].count = fake_exit_count = fake_snapshot_length = 0;
    *ret = (struct camp_states){
        .programs = &fake_programs, .cpus = fake_cpus, .cpu_count = FAKE_CPUS, .has_disks = true
    };
    fake_consumer = ret;
}

static inline void release_fake_session(struct camp_states *session)
{
    free(session->known);
    free(session->records);
}
