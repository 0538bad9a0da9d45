#include "postgres_roll.h"

#include "counters/units.h"
#include "ledger/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESS_NEAR_US 2000000

const char *const postgres_label_names[POSTGRES_LABELS] = { "user", "database", "application",
                                                            "client", "query" };

/* Its place, or that where it would stand. */
static size_t place_of(const struct postgres_roll *roll, int32_t pid, int64_t start_us)
{
    size_t low = 0, high = roll->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct postgres_who *who = &roll->of[middle];

        if (who->pid < pid || (who->pid == pid && who->start_us < start_us))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct postgres_who *postgres_roll_find(const struct postgres_roll *roll, int32_t pid,
                                        int64_t start_us)
{
    const size_t place = place_of(roll, pid, start_us);

    return place < roll->count && roll->of[place].pid == pid && roll->of[place].start_us == start_us
               ? &roll->of[place]
               : NULL;
}

/* /proc has it in 1/100 s. */
static bool is_task_of(const struct postgres_who *who, uint64_t start_ns)
{
    const int64_t units = (int64_t)(start_ns / proc_time_unit_ns());

    return llabs((int64_t)who->task.start - units) <= 1;
}

struct postgres_who *postgres_roll_find_process(const struct postgres_roll *roll, int32_t pid,
                                                uint64_t start_ns, int64_t start_us)
{
    int64_t nearest_us = PROCESS_NEAR_US;
    struct postgres_who *ret = NULL;

    for (size_t i = place_of(roll, pid, INT64_MIN); i < roll->count && roll->of[i].pid == pid;
         i++) {
        const int64_t distance_us = llabs(roll->of[i].start_us - start_us);

        if (roll->of[i].has_task && is_task_of(&roll->of[i], start_ns))
            return &roll->of[i];
        if (roll->of[i].has_task || distance_us > nearest_us)
            continue;
        nearest_us = distance_us;
        ret = &roll->of[i];
    }
    return ret;
}

bool postgres_who_is_client(const struct postgres_who *who)
{
    return strcmp(who->type, "client_backend") == 0 || strcmp(who->type, "parallel_worker") == 0 ||
           strcmp(who->type, "walsender") == 0;
}

static struct postgres_who *add(struct postgres_roll *roll, size_t place)
{
    if (!ARRAY_RESERVE(roll->of, roll->capacity, roll->count + 1))
        return NULL;
    memmove(&roll->of[place + 1], &roll->of[place], (roll->count - place) * sizeof *roll->of);
    roll->count++;
    return &roll->of[place];
}

/* "bob@shop"; of the server's own "walwriter". */
static void set_name(struct postgres_who *who, const struct postgres_session *session)
{
    if (session->user[0] == '\0' && session->database[0] == '\0')
        snprintf(who->name, sizeof who->name, "%s", who->type);
    else
        snprintf(who->name, sizeof who->name, "%.30s%s%.30s", session->user,
                 session->database[0] != '\0' ? "@" : "", session->database);
}

static void take_labels(struct postgres_who *who, const struct postgres_session *session)
{
    char number[24] = "";
    const char *query = session->query[0] != '\0' ? session->query : number;

    if (session->query_id != 0)
        snprintf(number, sizeof number, "%" PRId64, session->query_id);
    who->labels =
        labels_intern((const char *const[]){ session->user, session->database, session->application,
                                             session->client, query },
                      POSTGRES_LABELS);
}

static int take_session(struct postgres_roll *roll, const struct postgres_look *look,
                        const struct postgres_session *session)
{
    const size_t place = place_of(roll, session->pid, session->start_us);
    struct postgres_who *who = postgres_roll_find(roll, session->pid, session->start_us);

    if (who == NULL) {
        who = add(roll, place);
        if (who == NULL)
            return CAMP_E_NOMEM;
        *who = (struct postgres_who){ .pid = session->pid,
                                      .start_us = session->start_us,
                                      .began_ns = postgres_session_began_ns(look, session) };
        snprintf(who->type, sizeof who->type, "%s", session->kind.texts[SESSION_TYPE]);
        snprintf(who->name, sizeof who->name, "%s", who->type); /* until a look has names */
        who->has_task =
            roll->is_local && proc_clock_find(session->pid, &who->task, NULL) == CAMP_OK;
        if (who->has_task && roll->looks == 1) /* what it did before is not ours to tell */
            proc_clock_read(&who->task, &who->clock, NULL);
    }
    who->leader_pid = session->leader_pid;
    who->seen = roll->looks;
    if (look->is_whole) {
        set_name(who, session);
        take_labels(who, session);
    }
    return CAMP_OK;
}

int postgres_roll_take(struct postgres_roll *roll, const struct postgres_look *look)
{
    roll->looks++;
    roll->look_ns = postgres_look_ns(look);
    if (look->own_pid != roll->own_pids[0]) {
        roll->own_pids[1] = roll->own_pids[0];
        roll->own_pids[0] = look->own_pid;
    }
    for (size_t i = 0; i < look->count; i++) {
        const int r = take_session(roll, look, &look->sessions[i]);

        if (r != CAMP_OK)
            return r;
    }
    return CAMP_OK;
}

void postgres_roll_forget(struct postgres_roll *roll, uint64_t since)
{
    size_t kept = 0;

    for (size_t i = 0; i < roll->count; i++) {
        if (roll->of[i].seen >= since)
            roll->of[kept++] = roll->of[i];
    }
    roll->count = kept;
}

void postgres_roll_release(struct postgres_roll *roll)
{
    free(roll->of);
    *roll = (struct postgres_roll){ 0 };
}
