/*
 * What this kernel offers to programs that measure. A fact comes from the running kernel (a file, a
 * netlink answer) or from its configuration; see kernel.c.
 */
#include "kernel_files.h"

#include "../error.h"

#include <camp/linux.h>

#include <unistd.h>

struct reading {
    struct camp_linux *facts;
    struct kernel_files files;
};

static void know(struct reading *reading, uint32_t field, int32_t *fact, int32_t value)
{
    *fact = value;
    reading->facts->known |= field;
}

static void know_answer(struct reading *reading, uint32_t field, int32_t *fact, int answer)
{
    if (answer != ANSWER_UNKNOWN)
        know(reading, field, fact, answer);
}

/* This process has run, so if its schedstat shows 0 runs, the kernel does not count runs. Such a
 * kernel is older than Linux 5.14, and has neither SCHEDSTATS nor delay accounting. */
static void read_schedstat(struct reading *reading)
{
    struct camp_linux *facts = reading->facts;
    int own = camp_kernel_answers(&reading->files, "self/schedstat");
    uint64_t run_ns, delay_ns, runs;

    if (own == ANSWER_NO)
        know(reading, CAMP_LINUX_SCHED_INFO, &facts->sched_info, 0);
    else if (own == ANSWER_YES && text_u64(&reading->files.text, &run_ns) &&
             text_u64(&reading->files.text, &delay_ns) && text_u64(&reading->files.text, &runs))
        know(reading, CAMP_LINUX_SCHED_INFO, &facts->sched_info, runs > 0);
    know_answer(reading, CAMP_LINUX_SCHEDSTATS, &facts->schedstats,
                camp_kernel_answers(&reading->files, "schedstat"));
}

static void read_taskstats(struct reading *reading)
{
    struct camp_linux *facts = reading->facts;
    struct camp_taskstats session;
    int result;

    if (reading->files.source == NULL) {
        result = camp_taskstats_open(&session, NULL);
        if (result == CAMP_OK)
            camp_taskstats_close(&session);
        if (result == CAMP_OK || result == CAMP_E_PERM || result == CAMP_E_NOTSUP)
            know(reading, CAMP_LINUX_TASKSTATS, &facts->taskstats, result != CAMP_E_NOTSUP);
    } else {
        know_answer(reading, CAMP_LINUX_TASKSTATS, &facts->taskstats,
                    reading->files.config.taskstats);
    }
}

/* Since Linux 5.14 a sysctl switches delay accounting on or off. In earlier kernels it is on,
 * unless they were booted with nodelayacct. */
static void read_delay_accounting(struct reading *reading)
{
    struct camp_linux *facts = reading->facts;
    uint64_t on;

    if (camp_kernel_read_proc(&reading->files, "sys/kernel/task_delayacct") == 0) {
        if (text_u64(&reading->files.text, &on))
            know(reading, CAMP_LINUX_DELAY_ACCOUNTING, &facts->delay_accounting, on != 0);
        if (reading->files.source != NULL)
            know(reading, CAMP_LINUX_TASKSTATS, &facts->taskstats, 1);
    } else if (camp_kernel_read_proc(&reading->files, "cmdline") == 0 &&
               camp_kernel_has_word(reading->files.text, "nodelayacct")) {
        know(reading, CAMP_LINUX_DELAY_ACCOUNTING, &facts->delay_accounting, 0);
    } else {
        know_answer(reading, CAMP_LINUX_DELAY_ACCOUNTING, &facts->delay_accounting,
                    reading->files.config.delay_accounting);
    }
}

static void read_btf(struct reading *reading)
{
    char path[PATH_SIZE];

    if (camp_path(path, camp_sys(reading->files.source), NULL, "kernel") < 0 ||
        access(path, F_OK) != 0 ||
        camp_path(path, camp_sys(reading->files.source), NULL, "kernel/btf/vmlinux") < 0)
        return;
    know(reading, CAMP_LINUX_BTF, &reading->facts->btf, access(path, F_OK) == 0);
}

static bool take_mount(void *context, struct cursor line)
{
    struct reading *reading = context;

    reading->facts->cgroup_version |= camp_kernel_cgroup_of_mount(line);
    return true;
}

static bool take_status(void *context, struct cursor line)
{
    struct reading *reading = context;

    if (!camp_kernel_capabilities_line(line, &reading->facts->capabilities))
        return true;
    reading->facts->known |= CAMP_LINUX_CAPABILITIES;
    return false;
}

int camp_linux_read(const struct camp_source *source, struct camp_linux *ret, size_t size,
                    struct camp_error *error)
{
    struct camp_linux facts = { 0 };
    struct reading reading = { .facts = &facts };
    const long user_hz = sysconf(_SC_CLK_TCK);

    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    camp_kernel_files_open(&reading.files, source);
    if (user_hz > 0) {
        facts.user_hz = (uint32_t)user_hz;
        facts.known |= CAMP_LINUX_USER_HZ;
    }
    read_schedstat(&reading);
    read_taskstats(&reading);
    read_delay_accounting(&reading);
    read_btf(&reading);
    know_answer(&reading, CAMP_LINUX_PSI, &facts.psi,
                camp_kernel_answers(&reading.files, "pressure/cpu"));
    if (camp_kernel_each_line(&reading.files, "self/mountinfo", take_mount, &reading))
        facts.known |= CAMP_LINUX_CGROUP;
    else
        facts.cgroup_version = 0;
    (void)camp_kernel_each_line(&reading.files, "self/status", take_status, &reading);
    camp_hand_out(ret, size, &facts, sizeof facts);
    return CAMP_OK;
}
