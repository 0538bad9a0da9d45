/*
 * Reads all of a session except living threads: exited threads from a ring, CPUs and losses from
 * memory shared with the kernel, and disk waits from a map.
 */
#include "counters/clock.h"
#include "counters/error.h"
#include "session.h"
#include "states.skel.h"

#include <bpf/bpf.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void tell_exit(struct camp_states *session, const struct camp_thread_states *last)
{
    struct known_thread *known =
        (last->flags & CAMP_THREAD_TOTAL) == 0 ? camp_session_find_known(session, last) : NULL;

    session->visitor->ended(session->visitor->context,
                            known != NULL ? camp_session_record(session, known) : NULL, last,
                            known != NULL ? known->note : 0);
    if (known == NULL)
        return;
    known->has_ended = true;
    if (!camp_session_read_again(session, known->tid))
        session->known_whole = false; /* The next snapshot reads all threads. */
}

/* libbpf calls this function for each record in the ring, and stops after a negative result. */
int camp_session_take_exit(void *context, void *record, size_t length)
{
    struct camp_states *session = context;

    if (length < sizeof(struct camp_thread_states) || !camp_session_is_sound(record))
        return -EBADMSG;
    if (session->visitor != NULL) {
        tell_exit(session, record);
        return 0;
    }
    camp_output_add(&session->taken, record, sizeof(struct camp_thread_states));
    return session->taken.count < session->taken.capacity ? 0 : -ENOSPC;
}

/* Passes a total on as if it were one exited thread. Its time_ns is now, and time_ns - begin_ns is
 * the sum of the times for which its threads were watched. */
static void hand_out_total(struct camp_states *session, const struct total_key *key,
                           struct camp_thread_states *total)
{
    const uint64_t elapsed = total->time_ns;

    total->flags = CAMP_THREAD_ENDED | CAMP_THREAD_TOTAL;
    total->parent = key->parent;
    memcpy(total->name, key->name, sizeof total->name);
    total->time_ns = now_ns(CLOCK_MONOTONIC);
    total->begin_ns = total->time_ns - elapsed;
    camp_session_take_exit(session, total, sizeof *total);
}

/* Passes on and deletes all totals of a generation. The kernel must have stopped adding to this
 * generation. */
static void take_generation(struct camp_states *session, uint32_t generation)
{
    const int map = bpf_map__fd(session->programs->maps.totals);
    struct total_key key, after;
    bool more = bpf_map_get_next_key(map, NULL, &key) == 0;

    while (more && session->taken.count < session->taken.capacity) {
        struct camp_thread_states total;

        more = bpf_map_get_next_key(map, &key, &after) == 0;
        if (key.generation == generation && bpf_map_lookup_elem(map, &key, &total) == 0) {
            hand_out_total(session, &key, &total);
            bpf_map_delete_elem(map, &key);
        }
        key = after;
    }
}

/* Reads the totals of the generation to which the kernel does not add, and then switches the
 * generations. An addition that a switch interrupts is complete by the next call, which reads the
 * other generation. So all totals are read two calls after the last addition. */
static void take_totals(struct camp_states *session)
{
    uint32_t *generation = &session->programs->bss->generation;
    uint64_t added_up = 0;

    for (size_t i = 0; i < session->cpu_count; i++)
        added_up += session->cpus[i].exits_added_up;
    if (added_up != session->added_up)
        session->totals_waiting = 2;
    session->added_up = added_up;
    if (session->totals_waiting == 0)
        return;
    take_generation(session, 1 - *generation);
    if (session->taken.count == session->taken.capacity)
        return;
    *generation = 1 - *generation;
    session->totals_waiting--;
}

static int read_ring(struct camp_states *session, struct camp_error *error)
{
    const int r = ring_buffer__consume(session->exits);

    if (r == -EBADMSG)
        return camp_session_fail_damaged(error);
    return r >= 0 || r == -ENOSPC || r == -EINTR
               ? CAMP_OK
               : camp_fail(error, CAMP_E_IO, -r, "the ring of ended threads cannot be read (%s)",
                           strerror(-r));
}

int camp_states_exits(struct camp_states *session, struct camp_thread_states *ret, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    int r;

    if (camp_is_null(error, session) || camp_array_is_null(error, ret, capacity, ret_count))
        return CAMP_E_INVALID;
    session->taken = (struct camp_output){ ret, size, capacity, 0 };
    r = capacity > 0 ? read_ring(session, error) : CAMP_OK;
    if (r != CAMP_OK)
        return r;
    if (session->taken.count < capacity)
        take_totals(session);
    *ret_count = session->taken.count;
    return CAMP_OK;
}

int camp_states_await_exits(struct camp_states *session, uint64_t timeout_ns, uint64_t *ret_left,
                            struct camp_error *error)
{
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    uint32_t *phases, phase;

    if (camp_is_null(error, session, ret_left))
        return CAMP_E_INVALID;
    phases = session->programs->bss->exiting;
    phase = session->programs->bss->exits_phase;
    __atomic_store_n(&session->programs->bss->exits_phase, 1 - phase, __ATOMIC_SEQ_CST);
    while ((*ret_left = __atomic_load_n(&phases[phase], __ATOMIC_SEQ_CST)) > 0 &&
           now_ns(CLOCK_MONOTONIC) - began_ns < timeout_ns)
        usleep(1000);
    return CAMP_OK;
}

int camp_session_tell_exits(struct camp_states *session, const struct camp_states_visitor *visitor,
                            size_t size, struct camp_states_visitor *ret, struct camp_error *error)
{
    int r;

    if (camp_is_null(error, session, visitor))
        return CAMP_E_INVALID;
    camp_hand_out(ret, sizeof *ret, visitor, size);
    if (ret->seen == NULL || ret->ended == NULL || ret->missed == NULL ||
        (ret->waited == NULL && ret->idle == NULL))
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "a function of the visitor is NULL: only waited or idle may be");
    session->visitor = ret;
    session->taken = (struct camp_output){ .capacity = SIZE_MAX };
    r = read_ring(session, error);
    if (r == CAMP_OK)
        take_totals(session);
    session->visitor = NULL;
    return r;
}

int camp_states_visit_exits(struct camp_states *session, const struct camp_states_visitor *visitor,
                            size_t size, struct camp_error *error)
{
    struct camp_states_visitor known = { 0 };

    return camp_session_tell_exits(session, visitor, size, &known, error);
}

static uint64_t open_interrupt_ns(const struct cpu_account *cpu, uint64_t now)
{
    uint64_t since = cpu->interrupt_since_ns;

    return since != 0 && now > since ? now - since : 0;
}

#define BUSY_TRIES 100
#define SLEEPING_TRIES 20

struct cpu_moment {
    uint64_t now_ns;
    uint64_t all_waits;
    struct cpu_account account;
};

/* Copies the account of a CPU, and repeats the copy if a switch or the end of an interrupt changed
 * the account meanwhile. After BUSY_TRIES copies this function sleeps between copies, because a
 * hypervisor may have stopped the CPU within a switch. The last copy is returned in any case. The
 * order of the loads is that of order.bpf.h. On arm64 the clock of the vDSO first loads a sequence
 * of its own, and reads the counter only when it has this value (ISB). So the fence before now_ns()
 * orders the copy before the reading of the counter. */
static struct cpu_moment moment_of(const volatile struct cpu_account *account,
                                   const volatile uint64_t *all_waits)
{
    struct cpu_moment moment;

    for (int i = 0; i < BUSY_TRIES + SLEEPING_TRIES; i++) {
        uint64_t sequence, interrupts;

        if (i >= BUSY_TRIES)
            usleep(1000);
        sequence = account->sequence;
        interrupts = account->irq_ns + account->softirq_ns;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        moment.account = *account;
        moment.all_waits = *all_waits;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        moment.now_ns = now_ns(CLOCK_MONOTONIC);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (sequence % 2 == 0 && sequence == account->sequence &&
            interrupts == account->irq_ns + account->softirq_ns)
            break;
    }
    return moment;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static struct camp_cpu_states cpu_states_of(int32_t number, const struct cpu_moment *moment,
                                            uint32_t known)
{
    const struct cpu_account *account = &moment->account;
    const uint64_t now = moment->now_ns;
    uint64_t open = open_interrupt_ns(account, now);
    uint64_t taken = account->irq_ns + account->softirq_ns + open - account->irq_before_ns;
    uint64_t interval = now > account->since_ns ? now - account->since_ns : 0;
    struct camp_cpu_states states = {
        .cpu = number,
        .running = account->running,
        .known = known,
        .begin_ns = account->begin_ns,
        .time_ns = now,
        .busy_ns = account->busy_ns,
        .idle_ns = account->idle_ns,
        .system_ns = account->system_ns,
        .irq_ns = account->irq_ns + open,
        .softirq_ns = account->softirq_ns,
        .switches = account->switches,
        .any_wait_ns = account->any_wait_ns,
        .own_wait_ns = account->own_wait_ns,
        .outside_ns = account->outside_ns,
        .outside_system_ns = account->outside_system_ns,
    };

    interval -= least(taken, interval);
    if (account->running != 0) {
        states.busy_ns += interval;
        if (account->running < 0)
            states.outside_ns += interval;
        return states;
    }
    states.idle_ns += interval;
    states.any_wait_ns += least(
        interval, waited_between(account->any_before, account->since_ns, moment->all_waits, now));
    states.own_wait_ns += least(
        interval, waited_between(account->own_before, account->since_ns, account->own_clock, now));
    return states;
}

int camp_states_cpus(struct camp_states *session, struct camp_cpu_states *ret, size_t size,
                     size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { ret, size, capacity, 0 };

    if (camp_is_null(error, session) || camp_array_is_null(error, ret, capacity, ret_count))
        return CAMP_E_INVALID;
    for (uint32_t i = 0; i < session->cpu_count; i++) {
        struct cpu_moment moment;
        struct camp_cpu_states states;

        if (session->cpus[i].begin_ns == 0)
            continue;
        moment = moment_of(&session->cpus[i], &session->programs->bss->disk_waits.clock);
        states = cpu_states_of((int32_t)i, &moment, session->knows.cpu);
        camp_output_add(&output, &states, sizeof states);
    }
    return camp_output_end(&output, "CPUs", ret_count, error);
}

int camp_states_losses(struct camp_states *session, struct camp_states_losses *ret, size_t size,
                       struct camp_error *error)
{
    struct camp_states_losses losses = { 0 };

    if (camp_is_null(error, session, ret))
        return CAMP_E_INVALID;
    losses.known = session->knows.losses;
    losses.lost = session->torn_copies;
    for (size_t i = 0; i < session->cpu_count; i++) {
        losses.switches += session->cpus[i].switches;
        losses.unseen += session->cpus[i].unseen;
        losses.lost += session->cpus[i].lost;
        losses.exits_lost += session->cpus[i].exits_lost;
        losses.exits_added_up += session->cpus[i].exits_added_up;
    }
    camp_hand_out(ret, size, &losses, sizeof losses);
    return CAMP_OK;
}

/* The minor number is the lowest 20 bits of the kernel's dev_t. */
static struct camp_disk_wait wait_of(const struct disk_wait_key *key, const struct disk_wait *wait)
{
    struct camp_disk_wait ret = {
        .tid = key->tid,
        .pid = wait->pid,
        .start_ns = key->start_ns,
        .major = key->device >> 20,
        .minor = key->device & 0xfffff,
        .known = key->device != 0 ? CAMP_DISK_WAIT_DEVICE : 0,
        .wait_ns = disk_waited_ns(wait->clock, now_ns(CLOCK_MONOTONIC)),
    };

    memcpy(ret.name, wait->name, sizeof ret.name);
    return ret;
}

int camp_states_disk_waits(struct camp_states *session, struct camp_disk_wait *ret, size_t size,
                           size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { ret, size, capacity, 0 };
    struct disk_wait_key key, *before = NULL;
    int map;

    if (camp_is_null(error, session) || camp_array_is_null(error, ret, capacity, ret_count))
        return CAMP_E_INVALID;
    if (!session->has_disks)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "this session counts no waits for disks: open it with CAMP_STATES_DISKS");
    map = bpf_map__fd(session->programs->maps.waits_of_disks);
    /* bpf_map_get_next_key() starts again at the first key if the kernel has removed the key
     * `before`. The limit prevents an endless loop. */
    for (; output.count < DISK_WAITS_MAX && bpf_map_get_next_key(map, before, &key) == 0;
         before = &key) {
        struct disk_wait wait;
        struct camp_disk_wait shown;

        if (bpf_map_lookup_elem(map, &key, &wait) != 0)
            continue; /* The kernel has removed the key. */
        shown = wait_of(&key, &wait);
        camp_output_add(&output, &shown, sizeof shown);
    }
    return camp_output_end(&output, "waits", ret_count, error);
}
