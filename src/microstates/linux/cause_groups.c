/*
 * The groups of the ledger of causes: what the session watches, and which numbers are free again.
 * programs/groups.bpf.h has the theory.
 */
#include "counters/error.h"
#include "culprits_layout.h"
#include "session.h"
#include "states.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Returns the set of the groups that the session watches. */
static uint64_t *subjects(struct camp_states *session)
{
    return &session->programs->bss->subject_groups;
}

/* Adds a group, unless it exists, and sets *ret to its number. */
static int add_group(struct camp_states *session, const struct group_key *key, uint32_t *ret,
                     struct camp_error *error)
{
    struct states_bpf__bss *bss = session->programs->bss;
    const int map = bpf_map__fd(session->programs->maps.groups);

    if (bpf_map_lookup_elem(map, key, ret) == 0)
        return CAMP_OK;
    if (session->watched_count >= GROUPS_WATCHED)
        return camp_fail(
            error, CAMP_E_SPACE, 0,
            "%u processes, names and cgroups are watched already: open another session",
            GROUPS_WATCHED);
    *ret = GROUPS_NAMED + session->watched_count++;
    bss->group_names[*ret] = *key;
    if (bpf_map_update_elem(map, key, ret, BPF_NOEXIST) != 0 &&
        bpf_map_lookup_elem(map, key, ret) != 0) /* A program may have added it meanwhile. */
        return camp_fail(error, CAMP_E_IO, errno, "the kernel adds no group of causes (%s)",
                         strerror(errno));
    return CAMP_OK;
}

/* Each thread finds its group again at its next event. */
static void find_groups_again(struct camp_states *session)
{
    uint32_t *version = &session->programs->bss->groups_version;

    if (__atomic_add_fetch(version, 1, __ATOMIC_SEQ_CST) == 0)
        *version = 1;
}

/* Each thread finds its group again at its next event. With groups by need, what causes the waits
 * of group `number` gets groups of its own from then on. */
static void watch_group(struct camp_states *session, uint32_t number)
{
    __atomic_fetch_or(subjects(session), UINT64_C(1) << number, __ATOMIC_SEQ_CST);
    find_groups_again(session);
}

int camp_states_watch_process(struct camp_states *session, int32_t pid, struct camp_error *error)
{
    const struct group_key key = { .pid = pid };
    uint32_t number = 0;
    int r;

    if (camp_is_null(error, session))
        return CAMP_E_INVALID;
    if (session->queues == NULL)
        return camp_fail_without_causes(error);
    if (pid < 1)
        return camp_fail(error, CAMP_E_INVALID, 0, "pid is %d: pass the pid of a process", pid);
    r = add_group(session, &key, &number, error);
    if (r == CAMP_OK) {
        __atomic_fetch_or(&session->programs->bss->watched_groups, UINT64_C(1) << number,
                          __ATOMIC_SEQ_CST);
        watch_group(session, number);
    }
    return r;
}

int camp_states_watch_name(struct camp_states *session, const char *name, struct camp_error *error)
{
    struct group_key key = { 0 };
    uint32_t number = 0;
    int r;

    if (camp_is_null(error, session, name))
        return CAMP_E_INVALID;
    if (session->queues == NULL)
        return camp_fail_without_causes(error);
    strncpy(key.name, name, sizeof key.name - 1);
    r = add_group(session, &key, &number, error);
    if (r == CAMP_OK)
        watch_group(session, number);
    return r;
}

int camp_states_watch_cgroup(struct camp_states *session, uint64_t cgroup, struct camp_error *error)
{
    const struct group_key key = { .cgroup = cgroup };
    uint32_t number = 0;
    int r;

    if (camp_is_null(error, session))
        return CAMP_E_INVALID;
    if (session->queues == NULL)
        return camp_fail_without_causes(error);
    if (cgroup == 0)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "the cgroup is 0: pass the inode number of its directory");
    r = add_group(session, &key, &number, error);
    if (r != CAMP_OK)
        return r;
    if (bpf_map_update_elem(bpf_map__fd(session->programs->maps.watched_cgroups), &cgroup, &number,
                            BPF_ANY) != 0)
        return camp_fail(error, CAMP_E_IO, errno, "the kernel watches no cgroup (%s)",
                         strerror(errno));
    session->programs->bss->watches_cgroups = 1;
    watch_group(session, number);
    return CAMP_OK;
}

int camp_states_group_of_cgroup(struct camp_states *session, uint64_t cgroup, uint32_t *ret,
                                struct camp_error *error)
{
    uint32_t number;

    if (camp_is_null(error, session, ret))
        return CAMP_E_INVALID;
    if (session->queues == NULL)
        return camp_fail_without_causes(error);
    if (bpf_map_lookup_elem(bpf_map__fd(session->programs->maps.watched_cgroups), &cgroup,
                            &number) != 0)
        return camp_fail(error, CAMP_E_GONE, 0,
                         "no thread in cgroup %" PRIu64 " ran as one of a watched cgroup", cgroup);
    *ret = number;
    return CAMP_OK;
}

/* Returns the key of a group in the map. A program adds the name of a process to its copy. */
static struct group_key key_of(const struct camp_states *session, uint32_t number)
{
    const struct group_key *named = &session->programs->bss->group_names[number];
    struct group_key key = { .pid = named->pid, .cgroup = named->cgroup };

    if (named->pid == 0 && named->cgroup == 0)
        memcpy(key.name, named->name, sizeof key.name);
    return key;
}

/* Returns whether a number is that of a group. A number without a group may have the key of the
 * group that had it before. */
static bool is_used(const struct camp_states *session, uint32_t number)
{
    const struct group_key key = key_of(session, number);
    uint32_t found;

    return number < GROUP_FIRST ||
           (bpf_map_lookup_elem(bpf_map__fd(session->programs->maps.groups), &key, &found) == 0 &&
            found == number);
}

int camp_states_release_group(struct camp_states *session, uint32_t number,
                              struct camp_error *error)
{
    struct group_key key;

    if (camp_is_null(error, session))
        return CAMP_E_INVALID;
    if (session->queues == NULL)
        return camp_fail_without_causes(error);
    if (number < GROUP_FIRST || number >= GROUPS_NAMED || !is_used(session, number) ||
        (*subjects(session) >> number & 1) != 0)
        return camp_fail(error, CAMP_E_INVALID, 0, "group %" PRIu32 " is none that came by itself",
                         number);
    key = key_of(session, number);
    if (bpf_map_delete_elem(bpf_map__fd(session->programs->maps.groups), &key) != 0)
        return camp_fail(error, CAMP_E_IO, errno, "the kernel removes no group of causes (%s)",
                         strerror(errno));
    session->released_groups |= UINT64_C(1) << number;
    find_groups_again(session);
    return CAMP_OK;
}

/* Returns whether a thread waits for a CPU, or has one, since it found the group. */
static bool has_threads_at_cpus(const struct camp_states *session, uint32_t group)
{
    for (uint32_t i = 0; i < session->cpu_count; i++) {
        const volatile struct queue_account *queue = &session->queues[i];

        if ((queue->waits[group] & QUEUE_MASK) != 0 || queue->running == 1 + group ||
            queue->waker == 1 + group)
            return true;
    }
    return false;
}

void camp_causes_free_groups(struct camp_states *session, uint64_t released)
{
    for (uint32_t i = GROUP_FIRST; i < GROUPS_NAMED; i++) {
        const uint64_t bit = UINT64_C(1) << i;

        if ((released & bit) == 0 || has_threads_at_cpus(session, i))
            continue;
        session->released_groups &= ~bit;
        __atomic_fetch_or(&session->programs->bss->free_groups, bit, __ATOMIC_SEQ_CST);
    }
}

int camp_states_groups(struct camp_states *session, struct camp_states_group *ret, size_t size,
                       size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { ret, size, capacity, 0 };

    if (camp_is_null(error, session) || camp_array_is_null(error, ret, capacity, ret_count))
        return CAMP_E_INVALID;
    if (session->queues == NULL)
        return camp_fail_without_causes(error);
    for (uint32_t i = 0; i < GROUPS_NAMED + session->watched_count; i++) {
        const struct group_key *key = &session->programs->bss->group_names[i];
        struct camp_states_group group = {
            .number = i,
            .kind = i == GROUP_OTHER     ? CAMP_GROUP_OTHER
                    : i == GROUP_KERNEL  ? CAMP_GROUP_KERNEL
                    : i == GROUP_OUTSIDE ? CAMP_GROUP_OUTSIDE
                    : key->pid != 0      ? CAMP_GROUP_PROCESS
                    : key->cgroup != 0   ? CAMP_GROUP_CGROUP
                                         : CAMP_GROUP_NAME,
            .pid = key->pid,
            .cgroup = key->cgroup,
        };

        if (!is_used(session, i))
            continue;
        memcpy(group.name, key->name, sizeof group.name);
        group.name[sizeof group.name - 1] = '\0';
        camp_output_add(&output, &group, sizeof group);
    }
    return camp_output_end(&output, "groups", ret_count, error);
}
