#include "why_inflicted.h"

#include "counters/units.h"

#include <stdio.h>
#include <stdlib.h>

#define DEVICES "/sys/kernel/irq"

const struct field why_inflicted_fields[WHY_INFLICTED_FIELDS] = {
    { "who", "who waited for a CPU behind it", "" },
    { "pid", NULL, "of the process; null: the group is a name" },
    { "wait_ns", NULL, "while a thread of the subject had the CPU" },
    { NULL, "ms", "", 11, 3 },
};

struct victim {
    uint32_t group;
    uint64_t wait_ns;
};

static int compare_victims(const void *a, const void *b)
{
    const struct victim *left = a, *right = b;

    return left->wait_ns < right->wait_ns ? 1 : left->wait_ns > right->wait_ns ? -1 : 0;
}

uint64_t why_inflicted_sum_ns(const struct why_interval *interval)
{
    return interval->subject < CAUSE_GROUPS
               ? why_inflicted_ns(interval->causes, interval->subject, WHY_ALL)
               : 0;
}

static void add_victim(struct document *document, size_t table, const struct causes *causes,
                       const struct victim *victim)
{
    const struct camp_states_group *group = cause_group_find(causes, victim->group);
    char name[CAUSE_NAME_SIZE];

    cause_who(name, causes, CAMP_CAUSE_GROUP, victim->group, DEVICES);
    DOCUMENT_ADD(document, table,
                 ((const struct cell[WHY_INFLICTED_FIELDS]){
                     cell_text(name[0] != '\0' ? document_text(document, "%s", name) : NULL),
                     group != NULL && group->pid != 0 ? cell_integer(group->pid) : cell_unknown(),
                     cell_natural(victim->wait_ns),
                     cell_real((double)victim->wait_ns / NS_PER_MS),
                 }));
}

void why_inflicted_rows(struct document *document, size_t table,
                        const struct why_interval *interval)
{
    struct victim victims[CAUSE_GROUPS];

    if (interval->subject >= CAUSE_GROUPS)
        return;
    for (uint32_t i = 0; i < CAUSE_GROUPS; i++)
        victims[i] = (struct victim){ i, why_inflicted_ns(interval->causes, interval->subject, i) };
    qsort(victims, CAUSE_GROUPS, sizeof victims[0], compare_victims);
    for (size_t i = 0; i < CAUSE_GROUPS && victims[i].wait_ns > 0; i++) {
        if (interval->most != 0 && i >= interval->most)
            break;
        add_victim(document, table, interval->causes, &victims[i]);
    }
}

bool why_inflicted_text(char ret[WHY_SENTENCE_SIZE], const struct why_interval *interval)
{
    const double seconds =
        (double)(interval->causes->end_ns - interval->causes->start_ns) / NS_PER_S;
    const double sum_ms = (double)why_inflicted_sum_ns(interval) / NS_PER_MS;

    if (sum_ms <= 0 || seconds <= 0)
        return false;
    snprintf(ret, WHY_SENTENCE_SIZE, "others waited %.3f ms in all, %.1f ms a second", sum_ms,
             sum_ms / seconds);
    return true;
}
