#include "from.h"

#include "beside.h"
#include "counters/error.h"
#include "groups.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------ This machine -- */

static int open_threads(const struct from *from, struct source **ret, struct from_facts *facts,
                        struct camp_error *error)
{
    facts->tier = "bpf";
    facts->live = true;
    return threads_source_open(from->states_options, from->stop, ret, error);
}

static int open_groups(const struct from *from, enum group_key key, struct source **ret,
                       struct from_facts *facts, struct camp_error *error)
{
    struct source *threads;
    int r = open_threads(from, &threads, facts, error);

    return r == CAMP_OK ? groups_source_open(threads, key, ret, error) : r;
}

static int open_processes(const struct from *from, struct source **ret, struct from_facts *facts,
                          struct camp_error *error)
{
    return open_groups(from, GROUP_PROCESS, ret, facts, error);
}

static int open_users(const struct from *from, struct source **ret, struct from_facts *facts,
                      struct camp_error *error)
{
    return open_groups(from, GROUP_USER, ret, facts, error);
}

static int open_commands(const struct from *from, struct source **ret, struct from_facts *facts,
                         struct camp_error *error)
{
    return open_groups(from, GROUP_NAME, ret, facts, error);
}

static int open_cgroups(const struct from *from, struct source **ret, struct from_facts *facts,
                        struct camp_error *error)
{
    return open_groups(from, GROUP_CGROUP, ret, facts, error);
}

/* Measured where it is permitted; otherwise as the system's own accounting has it. */
static int open_cpus(const struct from *from, struct source **ret, struct from_facts *facts,
                     struct camp_error *error)
{
    struct source *threads;
    int r = open_threads(from, &threads, facts, error);

    if (r == CAMP_OK)
        return beside_source_open(threads, ret);
    snprintf(facts->note, sizeof facts->note, "Sampled by the system, not measured: %.200s",
             error->message);
    facts->tier = "proc";
    return cpus_source_open(NULL, from->stop, ret, error);
}

/* The names of --from. */
static const struct kind {
    const char *name;
    int (*open)(const struct from *from, struct source **ret, struct from_facts *facts,
                struct camp_error *error);
} kinds[] = {
    { "threads", open_threads },   { "processes", open_processes }, { "users", open_users },
    { "commands", open_commands }, { "cgroups", open_cgroups },     { "cpus", open_cpus },
};

/* -------------------------------------------------------------------------------- Files -- */

/* The part of a path behind its last slash. */
static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

int from_open(const struct from *from, struct source **ret, struct from_facts *ret_facts,
              struct camp_error *error)
{
    const char *text = from->text != NULL ? from->text : kinds[0].name;

    *ret_facts = (struct from_facts){ 0 };
    snprintf(ret_facts->name, sizeof ret_facts->name, "%s", file_name(text));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(text, kinds[i].name) == 0)
            return kinds[i].open(from, ret, ret_facts, error);
    }
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "there is no source '%.100s'; it takes threads, processes, users, commands, "
                     "cgroups or cpus",
                     text);
}
