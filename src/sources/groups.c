/*
 * Adds up the threads of another source to processes, users, commands or cgroups. The exited
 * threads of a group form a separate row without an id, whose name ends in "(ended)". So the row of
 * the living threads has no time of exited threads.
 */
#include "groups.h"

#include "counters/error.h"
#include "ledger/words.h"
#include "sources/machine/cgroup_paths.h"
#include "sources/machine/user_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct groups_source {
    struct source source; /* must be the first member */
    struct source *threads;
    enum group_key key;
    struct user_names users;
    struct cgroup_paths cgroups;
    struct frame frame;
};

static const struct schema *describe(const struct source *base)
{
    const struct groups_source *source = (const struct groups_source *)base;

    return source->threads->describe(source->threads);
}

static void set_name(struct entity *entity, const char *name)
{
    copy_text(entity->name, sizeof entity->name, name, strlen(name));
}

static void name_row(struct groups_source *source, struct entity *row)
{
    char name[sizeof row->name];

    if ((row->flags & ENTITY_OUTSIDE) != 0) {
        set_name(row, "outside");
        row->id = 0;
        return;
    }
    if (source->key == GROUP_USER)
        set_name(row, user_names_get(&source->users, (uint32_t)row->id));
    else if (source->key == GROUP_CGROUP)
        set_name(row, cgroup_paths_name(&source->cgroups, (uint64_t)row->id));
    if ((row->flags & ENTITY_ENDED) != 0) {
        snprintf(name, sizeof name, "%.54s" ENTITY_ENDED_SUFFIX, row->name);
        set_name(row, name);
        row->id = 0;
    }
    if (source->key != GROUP_PROCESS) /* a new thread does not make its user or command new */
        row->flags &= ~(uint32_t)ENTITY_NEW;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct groups_source *source = (struct groups_source *)base;
    const struct frame *threads;
    int r = source->threads->next(source->threads, deadline_ns, &threads, error);

    if (r == CAMP_OK && source->key == GROUP_CGROUP)
        r = cgroup_paths_resolve(&source->cgroups, threads);
    if (r == CAMP_OK)
        r = group_frame(&source->frame, threads, &(struct grouping){ .key = source->key });
    for (size_t i = 0; r == CAMP_OK && i < source->frame.entity_count; i++)
        name_row(source, &source->frame.entities[i]);
    *ret_frame = &source->frame;
    return r;
}

static const struct frame *beside(const struct source *base)
{
    return source_beside(((const struct groups_source *)base)->threads);
}

static void close_groups(struct source *base)
{
    struct groups_source *source = (struct groups_source *)base;

    source_close(source->threads);
    user_names_release(&source->users);
    cgroup_paths_release(&source->cgroups);
    frame_release(&source->frame);
    free(source);
}

int groups_source_open(struct source *threads, enum group_key key, struct source **ret,
                       struct camp_error *error)
{
    struct groups_source *source = calloc(1, sizeof *source);

    if (source == NULL) {
        source_close(threads);
        return CAMP_E_NOMEM;
    }
    source->source = (struct source){ describe, next, close_groups, beside };
    source->threads = threads;
    source->key = key;
    frame_init(&source->frame, threads->describe(threads));
    if (key == GROUP_CGROUP && !cgroup_paths_open(&source->cgroups)) {
        close_groups(&source->source);
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "no cgroups of version 2 here: no cgroup2 file system is mounted");
    }
    *ret = &source->source;
    return CAMP_OK;
}
