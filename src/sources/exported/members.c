#include "members.h"

#include "counters/error.h"
#include "sources/machine/process_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 1024
#define KEPT_LOOKS 2
#define NAME_MAXIMUM                                                                               \
    200 /* bytes of a group's name; of a longer one its end, which tells it apart */

int members_init(struct members *ret, enum group_key key, const struct workloads *rules,
                 struct camp_error *error)
{
    *ret = (struct members){ .key = key, .rules = rules };
    if (key == GROUP_CGROUP && !cgroup_paths_open(&ret->cgroups))
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "no cgroups of version 2 here: no cgroup2 file system is mounted");
    return CAMP_OK;
}

void members_release(struct members *members)
{
    free(members->slots);
    user_names_release(&members->users);
    cgroup_paths_release(&members->cgroups);
    *members = (struct members){ 0 };
}

void members_begin(struct members *members, bool forget)
{
    members->look++;
    if (!forget || members->slots == NULL)
        return;
    memset(members->slots, 0, members->slot_count * sizeof *members->slots);
    members->count = 0;
}

/* ------------------------------------------------------------------------------- Processes -- */

static struct member *slot_of(struct member *slots, size_t slot_count, int32_t pid)
{
    size_t at = (uint32_t)pid * UINT32_C(0x9e3779b1) & (slot_count - 1);

    while (slots[at].pid != 0 && slots[at].pid != pid)
        at = (at + 1) & (slot_count - 1);
    return &slots[at];
}

/* Without those that were not met lately; larger where it would be full all the same. */
static int make_room(struct members *members)
{
    size_t kept = 0, count = FIRST_SLOTS;
    struct member *slots;

    if (members->slots != NULL && 4 * members->count < 3 * members->slot_count)
        return CAMP_OK;
    for (size_t i = 0; i < members->slot_count; i++)
        kept += members->slots[i].pid != 0 && members->slots[i].look + KEPT_LOOKS > members->look;
    while (count < 2 * kept)
        count *= 2;
    slots = calloc(count, sizeof *slots);
    if (slots == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < members->slot_count; i++) {
        const struct member *old = &members->slots[i];

        if (old->pid != 0 && old->look + KEPT_LOOKS > members->look)
            *slot_of(slots, count, old->pid) = *old;
    }
    free(members->slots);
    members->slots = slots;
    members->slot_count = count;
    members->count = kept;
    return CAMP_OK;
}

/* NULL: no memory. One that is new has no `look`. */
static struct member *meet(struct members *members, int32_t pid)
{
    struct member *member;

    if (make_room(members) != CAMP_OK)
        return NULL;
    member = slot_of(members->slots, members->slot_count, pid);
    if (member->pid == 0) {
        *member = (struct member){ .pid = pid };
        members->count++;
    }
    return member;
}

/* --------------------------------------------------------------------------------- Finding -- */

static int find_number(struct standings *standings, uint64_t number, uint32_t *ret)
{
    const struct standing_key key = { .number = number };

    return standings_find(standings, &key, ret);
}

static int find_name(struct standings *standings, const struct camp_thread_states *thread,
                     uint32_t *ret)
{
    struct standing_key key = { 0 };

    memcpy(key.text, thread->name, sizeof thread->name);
    return standings_find(standings, &key, ret);
}

static int find_command(struct members *members, struct standings *standings,
                        const struct camp_thread_states *thread, uint32_t *ret)
{
    const bool is_first = thread->tid == thread->pid;
    struct member *member;
    int r;

    if (thread->pid == 0) /* many that ended */
        return find_name(standings, thread, ret);
    member = meet(members, thread->pid);
    if (member == NULL)
        return CAMP_E_NOMEM;
    if (is_first || member->look == 0) {
        r = find_name(standings, thread, &member->group);
        if (r != CAMP_OK)
            return r;
    }
    member->look = members->look;
    *ret = member->group;
    standings->groups[*ret].look = standings->looks;
    return CAMP_OK;
}

/* Another name, user or beginning: rules are asked again. */
static uint64_t print_of(const struct camp_thread_states *thread)
{
    uint64_t print = (thread->begin_ns ^ thread->uid) | 1;

    for (const char *byte = thread->name; *byte != '\0'; byte++)
        print = (print ^ (unsigned char)*byte) * UINT64_C(0x100000001b3);
    return print;
}

static int ask(struct members *members, struct standings *standings,
               const struct camp_thread_states *thread, uint32_t *ret)
{
    const bool has_line = (thread->flags & (CAMP_THREAD_KERNEL | CAMP_THREAD_ENDED)) == 0;
    struct standing_key key = { 0 };
    char line[PROCESS_LINE_SIZE] = "";
    const char *name;

    if (workloads_ask_lines(members->rules))
        process_line(thread->pid, has_line, thread->name, line);
    name = workloads_name(members->rules,
                          workloads_match(members->rules, thread->name,
                                          user_names_get(&members->users, thread->uid), line));
    snprintf(key.text, sizeof key.text, "%s", name);
    return standings_find(standings, &key, ret);
}

static int find_workload(struct members *members, struct standings *standings,
                         const struct camp_thread_states *thread, uint32_t *ret)
{
    const bool is_first = thread->tid == thread->pid;
    struct member *member;
    int r = CAMP_OK;

    if (thread->pid == 0)
        return ask(members, standings, thread, ret);
    member = meet(members, thread->pid);
    if (member == NULL)
        return CAMP_E_NOMEM;
    if (member->look == 0 || (is_first && member->print != print_of(thread)))
        r = ask(members, standings, thread, &member->group);
    if (r != CAMP_OK)
        return r;
    if (is_first)
        member->print = print_of(thread);
    member->look = members->look;
    *ret = member->group;
    standings->groups[*ret].look = standings->looks;
    return CAMP_OK;
}

int members_find(struct members *members, struct standings *standings,
                 const struct camp_thread_states *thread, uint32_t *ret)
{
    switch (members->key) {
    case GROUP_USER:
        return find_number(standings, thread->uid, ret);
    case GROUP_CGROUP:
        return find_number(standings, thread->cgroup, ret);
    case GROUP_NUMBER:
        return find_workload(members, standings, thread, ret);
    default:
        return find_command(members, standings, thread, ret);
    }
}

/* --------------------------------------------------------------------------------- Naming -- */

/* The paths of the cgroups that are shown, as cgroup_paths_know() takes them. */
static int know_cgroups(struct members *members, const struct standings *standings)
{
    static const struct schema none = { .name = "cgroups" };
    struct frame frame;
    int r = CAMP_OK;

    frame_init(&frame, &none);
    for (size_t i = 0; i < standings->count && r == CAMP_OK; i++) {
        struct entity *entity = standings->groups[i].shown != NULL ? frame_add(&frame) : NULL;

        if (entity != NULL)
            entity->cgroup = standings->groups[i].key.number;
        else if (standings->groups[i].shown != NULL)
            r = CAMP_E_NOMEM;
    }
    if (r == CAMP_OK)
        r = cgroup_paths_know(&members->cgroups, &frame);
    frame_release(&frame);
    return r;
}

static const char *own_name(struct members *members, const struct standing *group)
{
    if (members->key == GROUP_USER)
        return user_names_get(&members->users, (uint32_t)group->key.number);
    if (members->key == GROUP_CGROUP)
        return cgroup_paths_name(&members->cgroups, group->key.number);
    return group->key.text;
}

/* "other" is the name of the rest. */
static bool is_taken(const struct standings *standings, const char *name)
{
    if (strcmp(name, "other") == 0)
        return true;
    for (size_t i = 0; i < standings->count; i++) {
        if (standings->groups[i].name != NULL && strcmp(standings->groups[i].name, name) == 0)
            return true;
    }
    return false;
}

/* Two users of one name, a cgroup that was made anew, a command that is called "other". */
static char *unique_name(const struct standings *standings, const struct standing *group,
                         const char *own)
{
    const size_t length = strlen(own);
    const char *end = length > NAME_MAXIMUM ? own + length - NAME_MAXIMUM : own;
    char name[NAME_MAXIMUM + 48];

    snprintf(name, sizeof name, "%s%s", end != own ? "..." : "", end);
    for (uint64_t number = group->key.number; is_taken(standings, name); number++)
        snprintf(name, sizeof name, "%s%s (%" PRIu64 ")", end != own ? "..." : "", end, number);
    return strdup(name);
}

int members_name(struct members *members, struct standings *standings)
{
    bool known = false;

    for (size_t i = 0; i < standings->count; i++) {
        struct standing *group = &standings->groups[i];
        int r = CAMP_OK;

        if (group->shown == NULL || group->name != NULL)
            continue;
        if (members->key == GROUP_CGROUP && !known)
            r = know_cgroups(members, standings);
        known = true;
        group->name = r == CAMP_OK ? unique_name(standings, group, own_name(members, group)) : NULL;
        if (group->name == NULL)
            return CAMP_E_NOMEM;
    }
    return CAMP_OK;
}
