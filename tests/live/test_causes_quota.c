/* Tests the causes of waits of processes whose cgroup has a quota of CPU time: throttled time has
 * no culprit. It is checked against the kernel's own count in the file cpu.stat. */
#include "causes_session.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

#define RUN_NS 2400000000u
#define READ_NS 1200000000u /* from then on the causes are not read before the end */
#define PERIOD_US 100000
#define QUOTA_US 30000

/* A cgroup. In version 1 the files have other names and units. */
struct quota {
    char folder[200];
    bool is_first; /* version 1 */
};

static bool write_file(const struct quota *quota, const char *name, const char *text)
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

static bool write_number(const struct quota *quota, const char *name, int number)
{
    char text[20];

    snprintf(text, sizeof text, "%d", number);
    return write_file(quota, name, text);
}

/* Makes a cgroup with a quota, and with the greatest weight, so that it uses up its quota on a busy
 * machine. Returns false if the machine has no such cgroup, or refuses it. */
static bool make_quota(struct quota *ret)
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
        snprintf(quota.folder, sizeof quota.folder, "%s/camp-why-%d", tops[i], getpid());
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

static uint64_t throttled_ns(const struct quota *quota)
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

struct limited {
    struct quota quota;
    uint64_t until_ns;
    size_t cpu;
};

static void use_up_quota(void *truth)
{
    const struct limited *limited = truth;

    stay_on(limited->cpu);
    if (!write_number(&limited->quota, "cgroup.procs", getpid()))
        _exit(1);
    while (now_ns(CLOCK_MONOTONIC) < limited->until_ns)
        continue;
}

/* Asserts that no cause of a wait for a CPU is less than before. */
static void assert_none_fell(const struct causes *before, const struct causes *now)
{
    for (size_t i = 0; i < before->count; i++) {
        const struct camp_wait_cause *cause = &before->of[i];

        if (cause->state == CAMP_STATE_RUN_QUEUE)
            assert_at_least("cause",
                            cause_ns(now, cause->group, cause->state, cause->kind, cause->id),
                            cause->wait_ns, 0);
    }
}

static bool has_throttled_clock(void)
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

/* Both are on one CPU, so each is throttled for as long as the cgroup is: from when it has used up
 * its quota, or from its next switch on, until the next period. */
static void throttled_time_has_no_culprit_and_no_cause_falls(void **state)
{
    struct camp_states *session = open_states_or_skip(CAMP_STATES_CULPRITS);
    struct limited *limited = shared_memory(sizeof *limited);
    struct threads ended = { 0 };
    struct camp_thread_states last[2];
    struct causes before, causes;
    uint64_t throttled;
    pid_t children[2];

    (void)state;
    if (!make_quota(&limited->quota)) {
        print_message("skipped, not passed: no cgroup with a quota of CPU time can be made: %s\n",
                      strerror(errno));
        close_states(session);
        skip();
    }
    limited->until_ns = now_ns(CLOCK_MONOTONIC) + RUN_NS;
    limited->cpu = last_cpu();
    for (size_t i = 0; i < 2; i++)
        children[i] = start_named(session, i, use_up_quota, limited);
    before = read_causes(session);
    while (now_ns(CLOCK_MONOTONIC) + READ_NS < limited->until_ns) {
        usleep(37000); /* often within a throttled time */
        causes = read_causes(session);
        assert_none_fell(&before, &causes);
        free(before.of);
        before = causes;
    }
    for (size_t i = 0; i < 2; i++)
        reap_well(children[i]);
    throttled = throttled_ns(&limited->quota);
    for (size_t i = 0; i < 2; i++)
        last[i] = last_of(session, &ended, children[i]);
    causes = read_causes(session);
    for (size_t i = 0; i < 2; i++) {
        const uint64_t own = last[i].state_ns[CAMP_STATE_THROTTLED];
        const uint32_t group = group_of_name(&causes, last[i].name);

        print_causes(&causes, group);
        /* The sleep in which it joins the cgroup may last over a reading, and has no cause then. */
        assert_int_equal(all_causes_ns(&causes, group, CAMP_STATE_RUN_QUEUE),
                         last[i].state_ns[CAMP_STATE_RUN_QUEUE]);
        print_message("throttled %.3f ms (cpu.stat %.3f)\n", (double)own / 1e6,
                      (double)throttled / 1e6);
        if (has_throttled_clock())
            assert_near("throttled", own, throttled, throttled / 10 + tolerance_of(&last[i]));
    }
    assert_none_fell(&before, &causes);
    rmdir(limited->quota.folder);
    munmap(limited, sizeof *limited);
    free(before.of);
    free(causes.of);
    free(ended.of);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(throttled_time_has_no_culprit_and_no_cause_falls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
