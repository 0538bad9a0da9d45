/*
 * Reads the stacks of long sleeps. programs/stacks.bpf.h has the theory.
 *
 * Each reading removes the sleeps that it returns, so that the space is for the next interval. The
 * stacks themselves stay until half of their space is used.
 */
#include "stacks_layout.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "culprits_layout.h"
#include "events.h"
#include "session.h"
#include "stacks.h"
#include "states.skel.h"

#include <bpf/bpf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct stacks {
    const struct other_stacks *others;        /* [GROUPS_MAX], written by the kernel */
    struct other_stacks reported[GROUPS_MAX]; /* the part of `others` of earlier readings */
    struct stack_key keys[STACK_KEYS_MAX];
    struct stack_sleeps sleeps[STACK_KEYS_MAX];
    uint64_t numbers[STACKS_MAX];
    struct stack_frames kernel, user; /* of the sleeps that are reported now */
};

void camp_stacks_prepare(struct camp_states *session, bool wanted)
{
    struct states_bpf *programs = session->programs;
    struct bpf_program *call = programs->progs.on_sys_exit_with_stacks;

    /* Without the events of system calls there are only stacks of the kernel. */
    bpf_program__set_autoload(call, wanted && bpf_program__autoload(programs->progs.on_sys_exit));
    if (bpf_program__autoload(call))
        bpf_program__set_autoload(programs->progs.on_sys_exit, false);
    bpf_program__set_autoload(programs->progs.on_wakeup, !wanted);
    bpf_program__set_autoload(programs->progs.on_wakeup_with_stacks, wanted);
    bpf_program__set_autoload(programs->progs.on_fault_with_stacks, wanted);
    bpf_program__set_autoattach(programs->progs.on_fault_with_stacks, false);
    bpf_map__set_autocreate(programs->maps.stacks, wanted);
    bpf_map__set_autocreate(programs->maps.sleeps_of_stacks, wanted);
    bpf_map__set_autocreate(programs->maps.sleeps_of_other_stacks, wanted);
    bpf_map__set_autocreate(programs->maps.stacks_read, wanted);
    bpf_map__set_autocreate(programs->maps.pending_stacks, wanted);
    session->has_stacks = wanted;
}

int camp_stacks_begin(struct camp_states *session, struct camp_error *error)
{
    struct states_bpf *programs = session->programs;
    struct stacks *stacks;
    void *others;

    if (!session->has_stacks)
        return CAMP_OK;
    stacks = calloc(1, sizeof *stacks);
    if (stacks == NULL)
        return camp_fail(error, CAMP_E_NOMEM, errno, "no memory for the stacks of sleeps");
    session->stacks = stacks;
    others = mmap(NULL, GROUPS_MAX * sizeof *stacks->others, PROT_READ, MAP_SHARED,
                  bpf_map__fd(programs->maps.sleeps_of_other_stacks), 0);
    if (others == MAP_FAILED)
        return camp_fail(error, CAMP_E_NOMEM, errno, "no memory to map the stacks of sleeps");
    stacks->others = others;
    programs->bss->stacks_from_ns = UINT64_MAX;
    return CAMP_OK;
}

int camp_stacks_attach(struct camp_states *session)
{
    struct states_bpf *programs = session->programs;

    if (!session->has_stacks)
        return 0;
    programs->links.on_fault_with_stacks =
        bpf_program__attach(programs->progs.on_fault_with_stacks);
    return programs->links.on_fault_with_stacks != NULL ? 0 : -errno;
}

void camp_stacks_end(struct camp_states *session)
{
    struct stacks *stacks = session->stacks;

    if (stacks != NULL && stacks->others != NULL)
        munmap((void *)stacks->others, GROUPS_MAX * sizeof *stacks->others);
    free(stacks);
    session->stacks = NULL;
}

static int fail_without(struct camp_error *error)
{
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "this session reads no stacks: open it with CAMP_STATES_STACKS");
}

int camp_states_stacks_from(struct camp_states *session, uint64_t least_ns, int watched_only,
                            struct camp_error *error)
{
    if (camp_is_null(error, session))
        return CAMP_E_INVALID;
    if (session->stacks == NULL)
        return fail_without(error);
    session->programs->bss->stacks_of_watched = watched_only != 0;
    __atomic_store_n(&session->programs->bss->stacks_from_ns, least_ns, __ATOMIC_SEQ_CST);
    return CAMP_OK;
}

/* Removes all sleeps from the map, and fills stacks->keys and stacks->sleeps with them. Returns
 * their number. */
static uint32_t take_sleeps(struct stacks *stacks, const struct bpf_map *map)
{
    uint32_t batch, total = 0;
    bool is_first = true;

    for (;;) {
        uint32_t count = STACK_KEYS_MAX - total;
        const int r = bpf_map_lookup_and_delete_batch(bpf_map__fd(map), is_first ? NULL : &batch,
                                                      &batch, &stacks->keys[total],
                                                      &stacks->sleeps[total], &count, NULL);

        if (r != 0 && errno != ENOENT)
            return total;
        total += count;
        if (r != 0 || count == 0 || total >= STACK_KEYS_MAX)
            return total;
        is_first = false;
    }
}

/* Sets *ret to a stack, without addresses if it is not there. Returns whether it was lost. */
static bool find_stack(struct stack_frames *ret, const struct bpf_map *map, uint64_t number)
{
    ret->count = 0;
    ret->pid = 0;
    if (number == STACK_NONE)
        return false;
    if (number == STACK_OTHER || bpf_map_lookup_elem(bpf_map__fd(map), &number, ret) != 0)
        return true;
    if (ret->count > CAMP_STACK_FRAMES)
        ret->count = CAMP_STACK_FRAMES;
    return false;
}

/* Makes space for new stacks, if half of it is used. A sleep that ends meanwhile may lose its
 * stack. */
static void remove_stacks(struct stacks *stacks, const struct bpf_map *map)
{
    const int descriptor = bpf_map__fd(map);
    uint64_t *before = NULL;
    uint32_t count = 0;

    while (count < STACKS_MAX &&
           bpf_map_get_next_key(descriptor, before, &stacks->numbers[count]) == 0)
        before = &stacks->numbers[count++];
    for (uint32_t i = 0; i < count && count > STACKS_MAX / 2; i++)
        (void)bpf_map_delete_elem(descriptor, &stacks->numbers[i]);
}

typedef void visitor(void *context, const struct camp_sleep_stack *stack);

static void visit_others(struct stacks *stacks, visitor *visit, void *context)
{
    for (uint32_t i = 0; i < GROUPS_MAX * CAMP_STATE_COUNT; i++) {
        const uint32_t group = i / CAMP_STATE_COUNT, state = i % CAMP_STATE_COUNT;
        const struct stack_sleeps now = stacks->others[group].of[state];
        struct stack_sleeps *before = &stacks->reported[group].of[state];
        const struct camp_sleep_stack stack = { .group = group,
                                                .state = state,
                                                .flags =
                                                    CAMP_STACK_KERNEL_LOST | CAMP_STACK_USER_LOST,
                                                .sleep_ns = now.slept_ns - before->slept_ns,
                                                .count = now.count - before->count };

        *before = now;
        if (stack.sleep_ns != 0)
            visit(context, &stack);
    }
}

static void visit_sleeps(struct camp_states *session, const struct stack_key *key,
                         const struct stack_sleeps *sleeps, visitor *visit, void *context)
{
    const struct bpf_map *map = session->programs->maps.stacks;
    struct stacks *stacks = session->stacks;
    struct camp_sleep_stack stack = { .group = key->group,
                                      .state = key->state,
                                      .sleep_ns = sleeps->slept_ns,
                                      .count = sleeps->count };

    /* All of them have moved to another stack. */
    if (sleeps->slept_ns == 0 || key->group >= GROUPS_MAX || key->state >= CAMP_STATE_COUNT)
        return;
    if (find_stack(&stacks->kernel, map, key->kernel))
        stack.flags |= CAMP_STACK_KERNEL_LOST;
    if (find_stack(&stacks->user, map, key->user))
        stack.flags |= CAMP_STACK_USER_LOST;
    stack.kernel = stacks->kernel.addresses;
    stack.kernel_count = stacks->kernel.count;
    stack.user = stacks->user.addresses;
    stack.user_count = stacks->user.count;
    stack.pid = stacks->user.pid;
    visit(context, &stack);
}

int camp_states_visit_stacks(struct camp_states *session, visitor *visit, void *context,
                             struct camp_error *error)
{
    const struct states_bpf *programs;
    uint32_t count;

    if (camp_is_null(error, session, visit))
        return CAMP_E_INVALID;
    if (session->stacks == NULL)
        return fail_without(error);
    programs = session->programs;
    __atomic_store_n(&programs->bss->stacks_since_ns, now_ns(CLOCK_MONOTONIC), __ATOMIC_SEQ_CST);
    count = take_sleeps(session->stacks, programs->maps.sleeps_of_stacks);
    for (uint32_t i = 0; i < count; i++)
        visit_sleeps(session, &session->stacks->keys[i], &session->stacks->sleeps[i], visit,
                     context);
    visit_others(session->stacks, visit, context);
    remove_stacks(session->stacks, programs->maps.stacks);
    return CAMP_OK;
}
