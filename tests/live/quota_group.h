/* A cgroup with a quota of CPU time, of version 1 or 2, and the kernel's count of its throttled
 * time. */
#pragma once

#include "states_session.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PERIOD_US 100000
#define QUOTA_US 30000

/* A cgroup. In version 1 the files have other names and units. */
struct quota {
    char folder[200];
    bool is_first; /* version 1 */
};

static inline bool write_file(const struct quota *quota, const char *name, const char *text)
{
    char path[300];
    FILE *file;
    bool good;

    snprintf(path, sizeof path, "%s/%s", quota->folder, name);
    file = fopen(path, "we");
    if (file == NULL)
        return false;
    good = fputs(text, file) >= 0;
    return fclose(file) == 0 && good;
}

static inline bool write_number(const struct quota *quota, const char *name, int number)
{
    char text[20];

    snprintf(text, sizeof text, "%d", number);
    return write_file(quota, name, text);
}

/* Makes a cgroup with a quota, and with the greatest weight, so that it uses up its quota on a busy
 * machine. Returns false if the machine has no such cgroup, or refuses it. */
static inline bool make_quota(struct quota *ret)
{
    static const char *const tops[] = { "/sys/fs/cgroup/cpu", "/sys/fs/cgroup" };
    char limit[40];

    snprintf(limit, sizeof limit, "%d %d", QUOTA_US, PERIOD_US);
    for (size_t i = 0; i < 2; i++) {
        struct quota quota = { .is_first = i == 0 };

        if (i == 1) {
            snprintf(quota.folder, sizeof quota.folder, "%s", tops[i]);
            (void)write_file(&quota, "cgroup.subtree_control", "+cpu");
        }
        snprintf(quota.folder, sizeof quota.folder, "%s/camp-quota-%d", tops[i], getpid());
        if (mkdir(quota.folder, 0755) != 0)
            continue;
        *ret = quota;
        if (quota.is_first
                ? write_number(&quota, "cpu.cfs_period_us", PERIOD_US) &&
                      write_number(&quota, "cpu.cfs_quota_us", QUOTA_US) &&
                      write_number(&quota, "cpu.shares", 1 << 18)
                : write_file(&quota, "cpu.max", limit) && write_number(&quota, "cpu.weight", 10000))
            return true;
        rmdir(quota.folder);
    }
    return false;
}

static inline uint64_t throttled_ns(const struct quota *quota)
{
    char path[300], name[40];
    uint64_t value, ret = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/cpu.stat", quota->folder);
    file = fopen(path, "re");
    assert_non_null(file);
    while (fscanf(file, "%39s %" SCNu64, name, &value) == 2) {
        if (strcmp(name, quota->is_first ? "throttled_time" : "throttled_usec") == 0)
            ret = quota->is_first ? value : value * 1000;
    }
    fclose(file);
    return ret;
}

/* Returns whether the kernel can tell throttled time from time in the run queue. */
static inline bool has_throttled_clock(void)
{
    struct camp_states_event events[64];
    size_t count;

    assert_int_equal(camp_states_events(events, sizeof events[0], 64, &count, NULL), CAMP_OK);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(events[i].name, "throttled clock") == 0)
            return events[i].present != 0;
    }
    return false;
}

/* What a child does: it uses up a quota on one CPU until a time (CLOCK_MONOTONIC). */
struct limited {
    struct quota quota;
    uint64_t until_ns;
    size_t cpu;
};

static inline void use_up_quota(void *truth)
{
    const struct limited *limited = truth;

    stay_on(limited->cpu);
    if (!write_number(&limited->quota, "cgroup.procs", getpid()))
        _exit(1);
    while (now_ns(CLOCK_MONOTONIC) < limited->until_ns)
        continue;
}
