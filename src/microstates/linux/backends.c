/*
 * The session of backends.h: loads and attaches the programs, and reads the accounts from memory
 * that it shares with the kernel. Nothing is pinned, so the programs and maps end with this
 * process.
 */
#include "../backends.h"
#include "backend_copy.h"
#include "backend_lengths.h"
#include "backends.skel.h"
#include "counters/clock.h"
#include "counters/error.h"
#include "events.h"
#include "refusal.h"
#include "relocations.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WHAT "wait events at switches"
#define WITHOUT "else sessions are sampled"

struct backends {
    struct backends_bpf *programs;
    struct backend_maps maps;
    struct lengths_reader lengths; /* all zero if lengths are not kept */
    /* [BACKENDS_MAX] the row of each slot in the last reading, and whether its task has ended */
    uint32_t rows[BACKENDS_MAX];
    bool ended[BACKENDS_MAX];
};

static void measure_throttled(struct backends_bpf *programs, bool has_clock)
{
    programs->rodata->measures_throttled = has_clock;
    bpf_program__set_autoload(programs->progs.on_wakeup_new, has_clock);
    bpf_program__set_autoload(programs->progs.on_migrate, has_clock);
    bpf_program__set_autoload(programs->progs.read_open_wait, has_clock);
}

static int find_types(struct backends_bpf *programs, const struct relocations *types,
                      struct camp_error *error)
{
    struct kernel_types *kernel = NULL;
    int r = camp_kernel_types_open(&kernel, error);

    if (r == CAMP_OK)
        r = camp_events_require(kernel, error);
    if (r == CAMP_OK) {
        camp_relocations_fill(types, kernel, bpf_object__btf(programs->obj));
        measure_throttled(programs, camp_events_have_throttled_clock(kernel));
    }
    camp_kernel_types_close(kernel);
    return r;
}

static void give_all(struct backend_slots *slots)
{
    for (uint32_t i = 0; i < BACKENDS_MAX; i++)
        slots->free[i] = i;
    slots->given = BACKENDS_MAX;
}

static int prepare(struct backends *backends, const struct backends_place *place,
                   struct relocations *types, struct camp_error *error)
{
    LIBBPF_OPTS(bpf_object_open_opts, options);
    struct backends_bpf *programs;

    camp_relocations_open(types, &options);
    programs = backends_bpf__open_opts(&options);
    backends->programs = programs;
    if (programs == NULL)
        return camp_fail(error, CAMP_E_NOMEM, errno, "no memory for the programs of " WHAT);
    give_all(&programs->bss->slots);
    lengths_give_all(&programs->bss->lengths_places);
    programs->rodata->by_statement = place->by_statement;
    programs->rodata->keeps_lengths = place->lengths;
    programs->rodata->by_blocker = place->by_blocker;
    programs->bss->reading = 1;
    if (!place->by_statement)
        bpf_map__set_max_entries(programs->maps.statements, 1);
    if (!place->lengths) {
        bpf_map__set_max_entries(programs->maps.lengths, 1);
        bpf_map__set_max_entries(programs->maps.lengths_index, 1);
    }
    if (!place->by_blocker) {
        bpf_map__set_max_entries(programs->maps.blocks, 1);
        bpf_program__set_autoload(programs->progs.on_waking, false);
        bpf_program__set_autoload(programs->progs.on_timer, false);
        bpf_program__set_autoload(programs->progs.on_timer_end, false);
    }
    return find_types(programs, types, error);
}

static int load(struct backends *backends, const struct backends_place *place,
                struct camp_error *error)
{
    struct relocations types;
    const int prepared = prepare(backends, place, &types, error);
    struct backends_bpf *programs = backends->programs;
    int r = prepared == CAMP_OK && programs != NULL ? backends_bpf__load(programs) : 0;

    camp_relocations_close(&types);
    if (prepared != CAMP_OK || programs == NULL)
        return prepared;
    if (r == 0 && programs->bss == NULL) /* libbpf could not map the variables of the programs */
        r = -ENOMEM;
    if (r == 0 && place->by_blocker) { /* before the start of a timer, so that each has its end */
        programs->links.on_timer_end = bpf_program__attach(programs->progs.on_timer_end);
        r = programs->links.on_timer_end == NULL ? -errno : 0;
    }
    if (r == 0)
        r = backends_bpf__attach(programs);
    return r == 0 ? CAMP_OK : camp_refused_programs(r, WHAT, WITHOUT, error);
}

/* Maps all elements of a map that the programs in the kernel write. */
static void *map_elements(const struct bpf_map *map)
{
    void *elements = mmap(NULL, (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map),
                          PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

    return elements != MAP_FAILED ? elements : NULL;
}

static int map_slots(struct backends *backends, const struct backends_place *place,
                     struct camp_error *error)
{
    const struct backends_bpf *programs = backends->programs;
    struct backend_lengths *lengths = NULL;

    backends->maps.slots = map_elements(programs->maps.accounts);
    if (place->by_statement)
        backends->maps.statements = map_elements(programs->maps.statements);
    if (place->lengths)
        lengths = map_elements(programs->maps.lengths);
    if (place->by_blocker)
        backends->maps.blocks = map_elements(programs->maps.blocks);
    if (programs->rodata->measures_throttled) {
        backends->maps.open_wait = &backends->programs->bss->open_wait_read;
        backends->maps.read_open_wait = bpf_program__fd(programs->progs.read_open_wait);
    }
    if (backends->maps.slots == NULL ||
        (place->by_statement && backends->maps.statements == NULL) ||
        (place->by_blocker && backends->maps.blocks == NULL) ||
        (place->lengths &&
         (lengths == NULL ||
          !lengths_reader_init(&backends->lengths, lengths, &programs->bss->lengths_places,
                               bpf_map__fd(programs->maps.lengths_index)))))
        return camp_fail(error, CAMP_E_NOMEM, errno, "no memory to map the accounts of backends");
    return CAMP_OK;
}

/* Makes the programs in the kernel watch the task with the tid `wanted`, or all existing children
 * of the parent if `wanted` is 0. Reading the iterator makes it visit all tasks. The iterator
 * writes no output, and read(2) returns 0 at its end. */
static int watch_existing(struct backends *backends, int32_t wanted, uint32_t *ret_found,
                          struct camp_error *error)
{
    int iterator = bpf_iter_create(bpf_link__fd(backends->programs->links.watch_existing));
    char nothing[64];
    ssize_t length;

    if (iterator < 0)
        return camp_fail_errno(error, errno, "the kernel's iterator of tasks");
    backends->programs->bss->wanted = wanted;
    backends->programs->bss->found_count = 0;
    do
        length = read(iterator, nothing, sizeof nothing);
    while (length > 0 || (length < 0 && (errno == EINTR || errno == EAGAIN)));
    close(iterator);
    *ret_found = backends->programs->bss->found_count;
    return CAMP_OK;
}

static int close_refused(struct backends *backends, int result, struct camp_error *error)
{
    const size_t needed =
        backends->programs != NULL ? camp_refusal_files_needed(backends->programs->obj) : 0;

    backends_close(backends);
    return camp_refused_by_limit(result, needed, WHAT, error);
}

int backends_open(struct backends **ret, const struct backends_place *place,
                  struct camp_error *error)
{
    struct backends *backends = calloc(1, sizeof *backends);
    libbpf_print_fn_t before;
    int r;

    if (backends == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a session");
    before = libbpf_set_print(NULL);
    r = load(backends, place, error);
    libbpf_set_print(before);
    if (r == CAMP_OK)
        r = map_slots(backends, place, error);
    if (r == CAMP_OK)
        r = backends_move(backends, place, error);
    if (r == CAMP_OK)
        *ret = backends;
    else
        r = close_refused(backends, r, error);
    return r;
}

/* Without a parent, the programs read nothing at the addresses for new tasks. So the parent is the
 * first member to be cleared, and the last one to be set. */
int backends_move(struct backends *backends, const struct backends_place *place,
                  struct camp_error *error)
{
    volatile struct backends_place *current = &backends->programs->bss->place;
    uint32_t children;

    __atomic_store_n(&current->parent, 0, __ATOMIC_SEQ_CST);
    current->activity_offset = place->activity_offset;
    current->event_pointer = place->event_pointer;
    current->activity_pointer = place->activity_pointer;
    current->pid_offset = place->pid_offset;
    current->numbers_offset = place->numbers_offset;
    current->application_offset = place->application_offset;
    current->statement_offset = place->statement_offset;
    __atomic_store_n(&current->parent, place->parent, __ATOMIC_SEQ_CST);
    return place->parent != 0 ? watch_existing(backends, 0, &children, error) : CAMP_OK;
}

int backends_watch(struct backends *backends, int32_t tid, struct camp_error *error)
{
    uint32_t found_count = 0;
    int r = tid <= 0 ? CAMP_OK : watch_existing(backends, tid, &found_count, error);

    if (r == CAMP_OK && found_count == 0)
        r = camp_fail(error, CAMP_E_GONE, ESRCH, "no task %d", tid);
    return r;
}

void backends_close(struct backends *backends)
{
    if (backends == NULL)
        return;
    if (backends->maps.slots != NULL)
        munmap(backends->maps.slots, BACKENDS_MAX * sizeof *backends->maps.slots);
    if (backends->maps.statements != NULL)
        munmap(backends->maps.statements, BACKENDS_MAX * sizeof *backends->maps.statements);
    if (backends->lengths.shared != NULL)
        munmap(backends->lengths.shared, BACKEND_LENGTHS_MAX * sizeof *backends->lengths.shared);
    lengths_reader_release(&backends->lengths);
    if (backends->maps.blocks != NULL)
        munmap(backends->maps.blocks, BACKENDS_MAX * sizeof *backends->maps.blocks);
    backends_bpf__destroy(backends->programs);
    free(backends);
}

/* Tells the kernel how much of the wait for a lock that has not ended is reported now. */
static void note_reported(struct backend_blocks *blocks, const struct backend_blocks *copy)
{
    if (copy->event == 0)
        return;
    __atomic_store_n(&blocks->reported_ns, copy->asleep_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&blocks->reported, copy->number, __ATOMIC_RELEASE);
}

/* Sets a slot to zero, and then gives it to the kernel for another task. */
static void give_back(struct backends *backends, uint32_t number)
{
    struct backend_slots *slots = &backends->programs->bss->slots;

    memset(&backends->maps.slots[number], 0, sizeof backends->maps.slots[number]);
    if (backends->maps.statements != NULL)
        memset(&backends->maps.statements[number], 0, sizeof backends->maps.statements[number]);
    if (backends->maps.blocks != NULL)
        memset(&backends->maps.blocks[number], 0, sizeof backends->maps.blocks[number]);
    slots->in_use[number] = 0;
    slots->free[slots->given % BACKENDS_MAX] = number;
    __atomic_store_n(&slots->given, slots->given + 1, __ATOMIC_RELEASE);
}

static size_t count_in_use(const volatile uint8_t *in_use)
{
    size_t count = 0;

    for (size_t i = 0; i < BACKENDS_MAX; i++)
        count += in_use[i];
    return count;
}

int backends_read(struct backends *backends, struct backend_account *accounts,
                  struct backend_statements *statements, struct backend_blocks *blocks,
                  size_t capacity, size_t *ret_count, struct camp_error *error)
{
    uint32_t *reading = &backends->programs->bss->reading;
    const volatile uint8_t *in_use = backends->programs->bss->slots.in_use;
    size_t there = count_in_use(in_use), count = 0;

    if (there > capacity) {
        *ret_count = there;
        return camp_fail(error, CAMP_E_SPACE, 0, "there are %zu backends, with space for %zu",
                         there, capacity);
    }
    memset(backends->rows, 0xff, sizeof backends->rows); /* BACKEND_LENGTHS_OTHER */
    /* before the first share is read, so that none is replaced unread */
    __atomic_store_n(reading, *reading + 1, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < BACKENDS_MAX && count < capacity; i++) {
        const struct backend_copy copy = {
            .account = &accounts[count],
            .statements =
                statements != NULL && backends->maps.statements != NULL ? &statements[count] : NULL,
            .blocks = blocks != NULL && backends->maps.blocks != NULL ? &blocks[count] : NULL,
        };
        bool is_whole;

        if (in_use[i] == 0)
            continue;
        is_whole = backend_copy_slot(&copy, &backends->maps, i);
        if (is_whole && copy.blocks != NULL)
            note_reported(&backends->maps.blocks[i], copy.blocks);
        backends->ended[i] = is_whole && (copy.account->flags & BACKEND_ENDED) != 0;
        copy.account->row = backends->rows[i] = (uint32_t)count;
        count += copy.account->pid != 0;
    }
    if (backends->lengths.shared != NULL)
        lengths_read(&backends->lengths, *reading, backends->rows, backends->ended);
    for (uint32_t i = 0; i < BACKENDS_MAX; i++) {
        if (backends->ended[i])
            give_back(backends, i);
        backends->ended[i] = false;
    }
    *ret_count = count;
    return CAMP_OK;
}

const struct backend_lengths_growth *backends_lengths(const struct backends *backends,
                                                      size_t *ret_count, uint64_t *ret_uncounted)
{
    *ret_count = backends->lengths.count;
    *ret_uncounted = backends->programs->bss->uncounted_lengths;
    return backends->lengths.growth;
}

bool backends_measure_throttled(const struct backends *backends)
{
    return backends->maps.open_wait != NULL;
}

void backends_losses(const struct backends *backends, struct backends_losses *ret)
{
    *ret = backends->programs->bss->losses;
}
