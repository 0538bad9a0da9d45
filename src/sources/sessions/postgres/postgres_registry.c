#include "postgres_registry.h"

#include "counters/clock.h"
#include "ledger/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest difference between the server's and the kernel's start time of a session: NEAR_US in
 * either direction, BEFORE_NS if the server's time is earlier, BEHIND_NS if it is later. */
#define NEAR_US 2000000
#define BEFORE_NS (2 * (int64_t)NS_PER_S)
#define BEHIND_NS (10 * (int64_t)NS_PER_S)

const char *const postgres_label_names[POSTGRES_LABELS] = { "user",
                                                            "database",
                                                            "application",
                                                            "client",
                                                            "last_statement",
                                                            "backend_type",
                                                            "leader",
                                                            SESSION_LABELS_OF_BLOCKERS,
                                                            SOURCE_LABEL_WAIT_EVENT };
const char *const postgres_label_names_by_statement[POSTGRES_LABELS] = { "user",
                                                                         "database",
                                                                         "application",
                                                                         "client",
                                                                         "query",
                                                                         "backend_type",
                                                                         "leader",
                                                                         SESSION_LABELS_OF_BLOCKERS,
                                                                         SOURCE_LABEL_WAIT_EVENT };

static int compare(const void *key, const void *element)
{
    const struct postgres_process *left = key, *right = element;

    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    return left->start_us < right->start_us ? -1 : left->start_us > right->start_us;
}

/* True if the process is in camp's pid namespace. A process of another namespace has several pids
 * in NSpid (proc_pid_status(5)). */
static bool is_of_our_namespace(int32_t pid)
{
    char path[32], line[256];
    bool is_ours = false;
    FILE *status;

    snprintf(path, sizeof path, "/proc/%d/status", pid);
    status = fopen(path, "re");
    if (status == NULL)
        return false;
    while (fgets(line, sizeof line, status) != NULL) {
        int first, second;

        if (strncmp(line, "NSpid:", 6) == 0)
            is_ours = sscanf(line + 6, "%d %d", &first, &second) == 1 && first == pid;
    }
    fclose(status);
    return is_ours;
}

/* The server's start time of a backend is later than the kernel's: a backend reads the clock only
 * when it runs, which may be late on a busy machine. Another process with the same pid and nearly
 * the same start time is very unlikely. */
bool postgres_is_process(int32_t pid, int64_t start_us)
{
    struct camp_process process;
    int64_t began_ns, apart_ns;

    if (pid <= 0 || camp_process_identify(NULL, pid, &process, sizeof process, NULL) != CAMP_OK)
        return false;
    began_ns = (int64_t)now_ns(CLOCK_REALTIME) - (int64_t)now_ns(CLOCK_BOOTTIME) +
               (int64_t)(process.start * proc_time_unit_ns());
    apart_ns = start_us * (int64_t)NS_PER_US - began_ns;
    return apart_ns >= -BEFORE_NS && apart_ns <= BEHIND_NS && is_of_our_namespace(pid);
}

static size_t position_of(const struct postgres_registry *registry, int32_t pid, int64_t start_us)
{
    const struct postgres_process wanted = { .pid = pid, .start_us = start_us };

    return ARRAY_POSITION(&wanted, registry->processes, registry->count, compare);
}

struct postgres_process *postgres_registry_find(const struct postgres_registry *registry,
                                                int32_t pid, int64_t start_us)
{
    const size_t position = position_of(registry, pid, start_us);

    return position < registry->count && registry->processes[position].pid == pid &&
                   registry->processes[position].start_us == start_us
               ? &registry->processes[position]
               : NULL;
}

int64_t postgres_start_us(uint64_t boot_ns)
{
    return (int64_t)((now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME) + boot_ns) / NS_PER_US);
}

const struct postgres_process *postgres_registry_newest(const struct postgres_registry *registry,
                                                        int32_t pid)
{
    const size_t end = position_of(registry, pid, INT64_MAX);

    return end > 0 && registry->processes[end - 1].pid == pid ? &registry->processes[end - 1]
                                                              : NULL;
}

/* /proc reports start times in units of 1/100 s; rounding may cause a difference of one unit. */
static bool is_task_of(const struct postgres_process *process, uint64_t start_ns)
{
    const int64_t units = (int64_t)(start_ns / proc_time_unit_ns());

    return llabs((int64_t)process->task.start - units) <= 1;
}

struct postgres_process *postgres_registry_find_process(const struct postgres_registry *registry,
                                                        int32_t pid, uint64_t start_ns,
                                                        int64_t start_us)
{
    int64_t nearest_us = NEAR_US;
    struct postgres_process *ret = NULL;

    for (size_t i = position_of(registry, pid, INT64_MIN);
         i < registry->count && registry->processes[i].pid == pid; i++) {
        const int64_t distance_us = llabs(registry->processes[i].start_us - start_us);

        if (registry->processes[i].has_task && is_task_of(&registry->processes[i], start_ns))
            return &registry->processes[i];
        if (registry->processes[i].has_task || distance_us > nearest_us)
            continue;
        nearest_us = distance_us;
        ret = &registry->processes[i];
    }
    return ret;
}

bool postgres_process_is_client(const struct postgres_process *process)
{
    return strcmp(process->type, "client_backend") == 0 ||
           strcmp(process->type, "parallel_worker") == 0 || strcmp(process->type, "walsender") == 0;
}

static void set_name(struct postgres_process *process, const struct postgres_session *session)
{
    if (session->user[0] == '\0' && session->database[0] == '\0')
        snprintf(process->name, sizeof process->name, "%s", process->type);
    else /* An autovacuum worker has a database and no user. */
        snprintf(process->name, sizeof process->name, "%.30s%s%.30s",
                 session->user[0] != '\0' ? session->user : process->type,
                 session->database[0] != '\0' ? "@" : "", session->database);
}

static void set_labels(struct postgres_process *process, const struct postgres_session *session)
{
    char number[24] = "", leader[16] = "";
    const char *query = session->query[0] != '\0' ? session->query : number;

    if (session->query_id != 0)
        snprintf(number, sizeof number, "%" PRId64, session->query_id);
    if (session->leader_pid != 0)
        snprintf(leader, sizeof leader, "%" PRId32, session->leader_pid);
    process->labels =
        labels_intern((const char *const[]){ session->user, session->database, session->application,
                                             session->client, query, process->type, leader },
                      POSTGRES_LABELS_OF_SESSION);
}

static void set_activity(struct postgres_process *process, const struct postgres_snapshot *snapshot,
                         const struct postgres_session *session)
{
    const int64_t age_us = snapshot->server_us - session->changed_us;

    snprintf(process->activity, sizeof process->activity, "%.23s",
             session->kind.texts[SESSION_ACTIVITY]);
    process->activity_ns =
        session->changed_us != 0 && age_us > 0 ? (uint64_t)age_us * NS_PER_US : 0;
}

static int update_session(struct postgres_registry *registry,
                          const struct postgres_snapshot *snapshot,
                          const struct postgres_session *session)
{
    const size_t position = position_of(registry, session->pid, session->start_us);
    struct postgres_process *process =
        postgres_registry_find(registry, session->pid, session->start_us);

    if (process == NULL) {
        if (!ARRAY_INSERT(registry->processes, registry->count, registry->capacity, position))
            return CAMP_E_NOMEM;
        process = &registry->processes[position];
        *process =
            (struct postgres_process){ .pid = session->pid,
                                       .start_us = session->start_us,
                                       .start_ns = postgres_session_start_ns(snapshot, session) };
        snprintf(process->type, sizeof process->type, "%s", session->kind.texts[SESSION_TYPE]);
        snprintf(process->name, sizeof process->name, "%s", process->type);
        process->has_task =
            registry->is_local && proc_clock_find(session->pid, &process->task, NULL) == CAMP_OK;
        /* CPU time before the first snapshot is in no interval, so the clock is read now. */
        if (process->has_task && registry->snapshots == 1)
            proc_clock_read(&process->task, &process->clock, NULL);
    }
    process->leader_pid = session->leader_pid;
    process->statement = postgres_session_statement(session);
    process->last_snapshot = registry->snapshots;
    if (snapshot->is_whole) {
        set_name(process, session);
        set_labels(process, session);
        set_activity(process, snapshot, session);
    }
    return CAMP_OK;
}

int postgres_registry_update(struct postgres_registry *registry,
                             const struct postgres_snapshot *snapshot)
{
    registry->snapshots++;
    registry->snapshot_ns = postgres_snapshot_ns(snapshot);
    if (snapshot->own_pid != registry->own_pids[0]) {
        registry->own_pids[1] = registry->own_pids[0];
        registry->own_pids[0] = snapshot->own_pid;
    }
    for (size_t i = 0; i < snapshot->count; i++) {
        const int r = update_session(registry, snapshot, &snapshot->sessions[i]);

        if (r != CAMP_OK)
            return r;
    }
    return CAMP_OK;
}

int postgres_registry_add_names(struct postgres_registry *registry,
                                const struct postgres_numbers *numbers,
                                const struct postgres_session *session)
{
    int r = CAMP_OK;

    if (numbers->database != 0 && session->database[0] != '\0')
        r = postgres_names_add(&registry->databases, numbers->database, session->database);
    if (r == CAMP_OK && numbers->user != 0 && session->user[0] != '\0')
        r = postgres_names_add(&registry->users, numbers->user, session->user);
    return r;
}

void postgres_registry_name(const struct postgres_registry *registry,
                            const struct postgres_numbers *numbers, const char *application,
                            struct postgres_process *ret)
{
    char user[POSTGRES_NUMBER_SIZE], database[POSTGRES_NUMBER_SIZE];
    const struct postgres_session session = {
        .user = postgres_names_find(&registry->users, numbers->user, user),
        .database = postgres_names_find(&registry->databases, numbers->database, database),
        .application = application,
        .client = "",
        .query = "",
    };

    set_name(ret, &session);
    set_labels(ret, &session);
}

void postgres_registry_forget(struct postgres_registry *registry, uint64_t since)
{
    size_t kept = 0;

    for (size_t i = 0; i < registry->count; i++) {
        if (registry->processes[i].last_snapshot >= since)
            registry->processes[kept++] = registry->processes[i];
    }
    registry->count = kept;
}

void postgres_registry_release(struct postgres_registry *registry)
{
    free(registry->processes);
    postgres_names_release(&registry->databases);
    postgres_names_release(&registry->users);
    *registry = (struct postgres_registry){ 0 };
}
