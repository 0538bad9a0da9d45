#include "cause_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct camp_states_group *cause_group_find(const struct causes *causes, uint32_t number)
{
    for (size_t i = 0; i < causes->group_count; i++) {
        if (causes->groups[i].number == number)
            return &causes->groups[i];
    }
    return NULL;
}

void cause_group_name(char ret[CAUSE_NAME_SIZE], const struct camp_states_group *group)
{
    static const char *const fixed[] = { [CAMP_GROUP_OTHER] = "other processes",
                                         [CAMP_GROUP_KERNEL] = "kernel threads",
                                         [CAMP_GROUP_OUTSIDE] = "outside of this container" };

    if (group->kind <= CAMP_GROUP_OUTSIDE)
        snprintf(ret, CAUSE_NAME_SIZE, "%s", fixed[group->kind]);
    else if (group->kind == CAMP_GROUP_PROCESS && group->name[0] == '\0')
        snprintf(ret, CAUSE_NAME_SIZE, "process %d", group->pid);
    else if (group->kind == CAMP_GROUP_PROCESS)
        snprintf(ret, CAUSE_NAME_SIZE, "%s (%d)", group->name, group->pid);
    else
        snprintf(ret, CAUSE_NAME_SIZE, "%s", group->name);
}

void cause_state_title(char ret[CAUSE_STATE_SIZE], uint32_t state)
{
    snprintf(ret, CAUSE_STATE_SIZE, "%s", camp_state_name((int)state));
    for (char *at = strchr(ret, '_'); at != NULL; at = strchr(at, '_'))
        *at = ' ';
}

static const struct kind {
    const char *key, *queue, *sleep;
} kinds[CAUSE_KIND_COUNT] = {
    [CAMP_CAUSE_GROUP] = { "group", "another had the CPU", "woken by" },
    [CAMP_CAUSE_IDLE] = { "idle_cpu", "the CPU was idle: wake-up latency", "the CPU was idle" },
    [CAMP_CAUSE_INTERRUPTS] = { "interrupts", "interrupts had the CPU", "interrupts" },
    [CAMP_CAUSE_REAL_TIME] = { "real_time", "real-time threads had the CPU", "real-time threads" },
    [CAMP_CAUSE_TIMER] = { "timer", "timer", "woken by a timer" },
    [CAMP_CAUSE_DEVICE] = { "device", "device", "woken by a device" },
    [CAMP_CAUSE_SIGNAL] = { "signal", "signal", "woken by a signal" },
    [CAMP_CAUSE_OTHER_INTERRUPT] = { "other_interrupt", "other interrupt",
                                     "woken by another interrupt" },
    [CAMP_CAUSE_UNKNOWN] = { "unknown", "cannot be attributed", "cannot be attributed" },
    [CAUSE_NOT_ENDED] = { "not_ended", "still waits", "nothing has woken it yet" },
    [CAUSE_QUOTA] = { "quota", "its own quota", "its own quota" },
};

const char *cause_kind_name(uint32_t state, uint32_t kind)
{
    if (kind >= CAUSE_KIND_COUNT)
        return "";
    return state == CAMP_STATE_RUN_QUEUE ? kinds[kind].queue : kinds[kind].sleep;
}

const char *cause_kind_key(uint32_t kind)
{
    return kind < CAUSE_KIND_COUNT ? kinds[kind].key : "";
}

uint32_t cause_kind_find(const char *key)
{
    uint32_t kind = 0;

    while (kind < CAUSE_KIND_COUNT && strcmp(kinds[kind].key, key) != 0)
        kind++;
    return kind;
}

/* Reads the first line of a file. Returns false if there is none. */
static bool read_line(const char *path, char *ret, size_t size)
{
    FILE *file = fopen(path, "re");
    bool done;

    if (file == NULL)
        return false;
    done = fgets(ret, (int)size, file) != NULL;
    fclose(file);
    if (done)
        ret[strcspn(ret, "\n")] = '\0';
    return done && ret[0] != '\0';
}

static void device_name(char ret[CAUSE_NAME_SIZE], uint32_t interrupt, const char *folder)
{
    char path[256], actions[CAUSE_NAME_SIZE / 2];

    snprintf(path, sizeof path, "%s/%" PRIu32 "/actions", folder, interrupt);
    if (read_line(path, actions, sizeof actions))
        snprintf(ret, CAUSE_NAME_SIZE, "%s (irq %" PRIu32 ")", actions, interrupt);
    else
        snprintf(ret, CAUSE_NAME_SIZE, "irq %" PRIu32, interrupt);
}

static void recorded_name(char ret[CAUSE_NAME_SIZE], const struct causes *causes,
                          uint32_t interrupt)
{
    snprintf(ret, CAUSE_NAME_SIZE, "irq %" PRIu32, interrupt);
    for (size_t i = 0; i < causes->device_count; i++) {
        if (causes->devices[i].number == interrupt)
            memcpy(ret, causes->devices[i].name, CAUSE_NAME_SIZE);
    }
}

void cause_who(char ret[CAUSE_NAME_SIZE], const struct causes *causes, uint32_t kind, uint32_t id,
               const char *folder)
{
    const struct camp_states_group *group =
        kind == CAMP_CAUSE_GROUP && causes != NULL ? cause_group_find(causes, id) : NULL;

    ret[0] = '\0';
    if (kind == CAMP_CAUSE_DEVICE && causes != NULL && causes->is_recorded)
        recorded_name(ret, causes, id);
    else if (kind == CAMP_CAUSE_DEVICE)
        device_name(ret, id, folder);
    else if (group != NULL && group->kind == CAMP_GROUP_CGROUP && id < CAUSE_GROUPS)
        snprintf(ret, CAUSE_NAME_SIZE, "%s", causes->cgroups[id]);
    else if (group != NULL)
        cause_group_name(ret, group);
}

void cause_phrase(char ret[CAUSE_NAME_SIZE], const struct causes *causes, uint32_t kind,
                  uint32_t id, const char *folder)
{
    static const char *const names[CAUSE_KIND_COUNT] = {
        [CAMP_CAUSE_GROUP] = "an unnamed process",
        [CAMP_CAUSE_IDLE] = "an idle CPU",
        [CAMP_CAUSE_INTERRUPTS] = "interrupts",
        [CAMP_CAUSE_REAL_TIME] = "real-time threads",
        [CAMP_CAUSE_TIMER] = "a timer",
        [CAMP_CAUSE_SIGNAL] = "a signal",
        [CAMP_CAUSE_OTHER_INTERRUPT] = "an interrupt",
        [CAMP_CAUSE_UNKNOWN] = "an unknown cause",
        [CAUSE_NOT_ENDED] = "nothing yet",
        [CAUSE_QUOTA] = "its own quota",
    };

    cause_who(ret, causes, kind, id, folder);
    if (ret[0] == '\0' && kind < CAUSE_KIND_COUNT && names[kind] != NULL)
        snprintf(ret, CAUSE_NAME_SIZE, "%s", names[kind]);
}
