/* What a source of causes watches: a process, a name or a cgroup, and its sleeps that have not
 * ended. */
#include "causes_inside.h"

#include <stdio.h>
#include <string.h>

#define PROCESSES "/proc"

uint32_t causes_find_subject(const struct causes_source *source)
{
    const struct named_process *watched = &source->groups.watched;

    for (size_t i = 0; i < source->causes.group_count; i++) {
        const struct camp_states_group *group = &source->causes.groups[i];

        if ((group->kind == CAMP_GROUP_PROCESS && watched->pid != 0 &&
             group->pid == watched->pid) ||
            (group->kind == CAMP_GROUP_NAME && watched->name[0] != '\0' &&
             strcmp(group->name, watched->name) == 0) ||
            (group->kind == CAMP_GROUP_CGROUP && source->cgroups.watched != 0 &&
             group->cgroup == source->cgroups.watched))
            return group->number;
    }
    return CAUSE_GROUPS;
}

void causes_note_sleep(struct causes_source *source, const struct camp_thread_states *thread,
                       uint32_t group, const struct open_sleep *sleep)
{
    const bool is_subject =
        (source->reads_open_sleeps || source->names_open_sleeps) && group == source->subject;
    const bool is_lock = source->names_open_sleeps && sleep->state == CAMP_STATE_LOCK;
    struct open_sleep noted = *sleep;

    if ((!is_subject && !is_lock) || sleep->most_ns == 0 || !causes_is_wait(sleep->state) ||
        sleep->state == CAMP_STATE_RUN_QUEUE || sleep->state == CAMP_STATE_THROTTLED ||
        (thread->flags & (CAMP_THREAD_ENDED | CAMP_THREAD_KERNEL)) != 0)
        return;
    noted.group = group;
    open_sleeps_note(&source->open_sleeps, &noted);
}

/* The waited() of struct thread_user. */
static int waited_through(void *context, const struct camp_states_wait *wait, uint32_t group)
{
    struct causes_source *source = context;

    causes_note_sleep(source, wait->thread, group,
                      &(struct open_sleep){ .pid = wait->thread->pid,
                                            .tid = wait->thread->tid,
                                            .state = wait->state,
                                            .is_whole = true,
                                            .most_ns = wait->elapsed_ns });
    return causes_waited(source, group, wait->state, 1, wait->elapsed_ns);
}

bool causes_find_open_calls(struct causes_source *source)
{
    if (source->names_open_sleeps)
        return !source->open_sleeps.failed &&
               open_facts_fill(&source->causes, &source->open_sleeps, source->subject,
                               &source->objects, PROCESSES);
    return !source->open_sleeps.failed &&
           (!source->reads_open_sleeps ||
            open_sleeps_calls(&source->open_sleeps, &source->causes, source->subject,
                              source->groups.watched.pid, PROCESSES, &source->causes.open_calls));
}

/* Visits each idle thread, because those of the watched group are shown one by one. */
static void read_open_sleeps(struct causes_source *source)
{
    source->reads_open_sleeps = source->reads_threads;
    source->registry.user.waited = source->reads_threads ? waited_through : NULL;
}

int causes_watch_process(struct causes_source *source, int32_t pid, struct camp_error *error)
{
    read_open_sleeps(source);
    source->groups.watched.pid = pid;
    return camp_states_watch_process(source->session, pid, error);
}

int causes_watch_name(struct causes_source *source, const char *name, struct camp_error *error)
{
    read_open_sleeps(source);
    snprintf(source->groups.watched.name, sizeof source->groups.watched.name, "%s", name);
    return camp_states_watch_name(source->session, name, error);
}

int causes_watch_cgroup(struct causes_source *source, const char *folder, uint64_t id,
                        const char *name, struct camp_error *error)
{
    read_open_sleeps(source);
    return cause_cgroups_watch(&source->cgroups, source->session, folder, id, name, error);
}

bool causes_name_cgroups(struct causes_source *source, const char *mount)
{
    source->cgroups.paths.mount = strdup(mount);
    return source->cgroups.paths.mount != NULL;
}

int causes_stacks_from(struct causes_source *source, uint64_t least_ns, bool watched_only,
                       struct camp_error *error)
{
    source->has_stacks = true;
    return camp_states_stacks_from(source->session, least_ns, watched_only, error);
}
