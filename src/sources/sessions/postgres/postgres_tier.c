/* Opens the tiers of the PostgreSQL source. */
#include "counters/error.h"
#include "postgres_inside.h"

#include <strings.h>

const struct postgres_tier_facts postgres_tiers[POSTGRES_TIERS] = {
    [POSTGRES_BPF] = { "bpf", CAMP_MEASURED },
    [POSTGRES_MEMORY] = { "schedstat+memory", CAMP_SCALED },
    [POSTGRES_GATED] = { "schedstat+SQL", CAMP_SCALED },
    [POSTGRES_SQL] = { "SQL", CAMP_SAMPLED },
};

int postgres_find_postmaster(const struct postgres_source *source, int32_t *ret,
                             struct camp_error *error)
{
    const struct postgres_snapshot *snapshot = source->sampler.snapshot;
    struct camp_process process;
    struct camp_task task;
    int r = snapshot != NULL
                ? camp_process_identify(NULL, snapshot->own_pid, &process, sizeof process, error)
                : camp_fail(error, CAMP_E_GONE, 0, "the server does not answer");

    if (r == CAMP_OK)
        r = camp_process_read(NULL, &process, CAMP_TASK_START, &task, sizeof task, error);
    if (r == CAMP_OK)
        *ret = task.parent;
    return r;
}

/* camp's own backend has the id of the statement that asked for the last snapshot. */
static int find_statement(struct postgres_source *source, struct camp_error *error)
{
    const struct postgres_snapshot *snapshot = source->sampler.snapshot;
    unsigned char entry[POSTGRES_ENTRY_SIZE];
    int r = postgres_layout_read_entry(&source->layout, snapshot->own_pid, entry, error);

    return r == CAMP_OK ? postgres_layout_find_statement(&source->layout, entry,
                                                         snapshot->own_query_id, error)
                        : r;
}

static int find_layout(struct postgres_source *source, struct camp_error *error)
{
    int32_t postmaster;
    int r = postgres_find_postmaster(source, &postmaster, error);

    if (r == CAMP_OK && source->sampler.snapshot->own_is_untracked)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "track_activities is off, so the server's memory does not have the states "
                         "of sessions: set track_activities = on");
    if (r == CAMP_OK)
        r = postgres_layout_find(&source->layout, postmaster, error);
    if (r == CAMP_OK)
        r = postgres_layout_probe(&source->layout, &source->registry.databases,
                                  &source->registry.users, source->conninfo, source->stop, error);
    if (r == CAMP_OK && source->by_statement)
        r = find_statement(source, error);
    if (r == CAMP_OK)
        postgres_memory_samples_open(source);
    return r;
}

static int open_backends(struct postgres_source *source, struct camp_error *error)
{
    const struct backends_place place = {
        .parent = source->layout.pid,
        .activity_offset = source->layout.activity_offset,
        .event_pointer = source->layout.event_pointer,
        .activity_pointer = source->layout.entry_pointer,
        .pid_offset = source->layout.pid_offset,
        .numbers_offset = source->layout.numbers_offset,
        .application_offset = source->layout.application_offset,
        .statement_offset = source->layout.statement_offset,
    };
    int r;

    if (source->backends == NULL) {
        *error = source->refusal;
        return error->code;
    }
    r = backends_move(source->backends, &place, error);
    if (r == CAMP_OK)
        r = backend_accounts_read(&source->accounts, source->backends, error);
    /* camp's own connection has a backend, so at least one account must be there. */
    if (r == CAMP_OK && source->accounts.count == 0)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "the kernel knows the server's processes by other numbers: run camp "
                         "outside of the server's container");
    return r;
}

void postgres_tier_close(struct postgres_source *source)
{
    postgres_memory_samples_close(source);
    if (source->tier != POSTGRES_BPF)
        return;
    backend_accounts_release(&source->accounts);
}

static int open_tier(struct postgres_source *source, enum postgres_tier tier,
                     struct camp_error *error)
{
    int r = CAMP_OK;

    postgres_tier_close(source);
    source->tier = tier;
    if (tier != POSTGRES_SQL && !source->registry.is_local)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "the server runs on another machine, or in another container");
    if (tier <= POSTGRES_MEMORY)
        r = find_layout(source, error);
    if (r == CAMP_OK && tier == POSTGRES_BPF)
        r = open_backends(source, error);
    return r;
}

int postgres_tier_open(struct postgres_source *source, enum postgres_tier first,
                       enum postgres_tier last, struct camp_error *error)
{
    struct camp_error failure = { 0 };
    int r = CAMP_E_NOTSUP;

    for (int tier = (int)first; r != CAMP_OK && tier <= (int)last; tier++) {
        r = open_tier(source, (enum postgres_tier)tier, &failure);
        if (r != CAMP_OK && error->message[0] == '\0')
            *error = failure;
    }
    return r;
}

void postgres_tier_close_backends(struct postgres_source *source)
{
    backends_close(source->backends);
    source->backends = NULL;
}

int postgres_tier_parse(const char *text, enum postgres_tier *ret_first,
                        enum postgres_tier *ret_last, struct camp_error *error)
{
    *ret_first = POSTGRES_BPF;
    *ret_last = POSTGRES_SQL;
    if (text == NULL)
        return CAMP_OK;
    for (int i = 0; i < POSTGRES_TIERS; i++) {
        if (strcasecmp(text, postgres_tiers[i].name) == 0) {
            *ret_first = *ret_last = (enum postgres_tier)i;
            return CAMP_OK;
        }
    }
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "--tier %s: the tiers of PostgreSQL are bpf, schedstat+memory, "
                     "schedstat+SQL and SQL",
                     text);
}

void postgres_tier_follow_restart(struct postgres_source *source)
{
    struct camp_error error = { 0 };
    int32_t postmaster;

    if (source->sampler.snapshot == NULL || source->sampler.connection == source->connection ||
        source->tier > POSTGRES_MEMORY)
        return;
    if ((postgres_find_postmaster(source, &postmaster, &error) == CAMP_OK &&
         postmaster == source->layout.pid) ||
        open_tier(source, source->tier, &error) == CAMP_OK)
        source->connection = source->sampler.connection;
    else
        snprintf(source->note, sizeof source->note, "after the server's restart: %s",
                 error.message);
}
