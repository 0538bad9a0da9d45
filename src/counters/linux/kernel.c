/*
 * What the running kernel counts, and how.
 *
 * A fact is read from the running kernel (a file, a clock, a netlink answer) or from its
 * configuration (/boot/config-RELEASE or /lib/modules/RELEASE/config). If neither shows it, the
 * fact is unknown. /proc/config.gz is not read, because it would need a decompressor.
 *
 * Sources: Documentation/admin-guide/kernel-parameters.txt, kernel/time/Kconfig, init/Kconfig.
 * /sys/devices/system/cpu/nohz_full exists if the kernel has NO_HZ_FULL (drivers/base/cpu.c), which
 * selects VIRT_CPU_ACCOUNTING_GEN and NO_HZ_COMMON. Since Linux 6.1, /proc/pressure/irq exists if
 * the kernel has IRQ_TIME_ACCOUNTING (kernel/sched/psi.c). Only root can read /proc/timer_list.
 * Only the release shows how idle periods shorter than a tick are counted: Linux 7.2 has the change
 * "tick/sched: Account tickless idle cputime only when tick is stopped".
 */
#include "kernel_text.h"

#include "../error.h"
#include "../units.h"
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

struct reading {
    const struct camp_source *source;
    struct camp_kernel *kernel;
    struct kernel_config config;
    char buffer[LINES_BUFFER_SIZE];
    struct cursor text;
};

static void know(struct reading *reading, uint32_t field, int32_t *fact, int32_t value)
{
    *fact = value;
    reading->kernel->known |= field;
}

static void know_answer(struct reading *reading, uint32_t field, int32_t *fact, int answer)
{
    if (answer != ANSWER_UNKNOWN)
        know(reading, field, fact, answer);
}

/* Reads up to sizeof reading->buffer bytes of a file into reading->text. Returns 0 or an errno. */
static int read_short(struct reading *reading, const char *root, const char *name)
{
    struct camp_error error = { 0 };
    char path[PATH_SIZE];
    size_t length = 0;

    if (camp_path(path, root, &error, "%s", name) < 0)
        return ENAMETOOLONG;
    if (camp_read_file_once(path, reading->buffer, sizeof reading->buffer, &length, &error) < 0)
        return error.system_error != 0 ? error.system_error : EIO;
    reading->text = cursor_of(reading->buffer, length);
    return 0;
}

static int read_proc(struct reading *reading, const char *name)
{
    return read_short(reading, camp_proc(reading->source), name);
}

static int read_sys(struct reading *reading, const char *name)
{
    return read_short(reading, camp_sys(reading->source), name);
}

/* Calls take() for each line of an open file, until take() returns false. Returns false if the file
 * could not be read. */
static bool each_line(struct reading *reading, int descriptor, const char *path,
                      bool (*take)(struct reading *, struct cursor line))
{
    struct camp_lines lines;
    struct cursor line;
    int more;

    camp_lines_start(&lines, descriptor, path, reading->buffer, sizeof reading->buffer,
                     LINES_UNTIL_EMPTY);
    while ((more = camp_lines_next(&lines, &line, NULL)) > 0 && take(reading, line))
        continue;
    return more >= 0;
}

static bool each_line_of_proc(struct reading *reading, const char *name,
                              bool (*take)(struct reading *, struct cursor line))
{
    char path[PATH_SIZE];
    int descriptor = camp_open_proc(reading->source, name, path, NULL);
    bool whole;

    if (descriptor < 0)
        return false;
    whole = each_line(reading, descriptor, path, take);
    close(descriptor);
    return whole;
}

static void read_word(struct reading *reading, const char *name, char *ret, size_t capacity)
{
    struct cursor line;

    if (read_proc(reading, name) == 0 && text_line(&reading->text, &line))
        camp_text_copy(ret, capacity, line);
}

static void read_name(struct reading *reading)
{
    struct camp_kernel *kernel = reading->kernel;
    struct utsname name;

    if (reading->source != NULL) {
        read_word(reading, "sys/kernel/osrelease", kernel->release, sizeof kernel->release);
        read_word(reading, "sys/kernel/arch", kernel->machine, sizeof kernel->machine);
    } else if (uname(&name) == 0) {
        camp_text_copy(kernel->release, sizeof kernel->release,
                       cursor_of(name.release, strlen(name.release)));
        camp_text_copy(kernel->machine, sizeof kernel->machine,
                       cursor_of(name.machine, strlen(name.machine)));
    }
}

static bool take_config(struct reading *reading, struct cursor line)
{
    camp_kernel_config_line(&reading->config, line);
    return true;
}

static int open_config(const char *release, char *path)
{
    int descriptor;

    snprintf(path, PATH_SIZE, "/boot/config-%s", release);
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0)
        return descriptor;
    snprintf(path, PATH_SIZE, "/lib/modules/%s/config", release);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void read_config(struct reading *reading)
{
    char path[PATH_SIZE];
    int descriptor = reading->source == NULL ? open_config(reading->kernel->release, path) : -1;

    if (descriptor < 0)
        return;
    (void)each_line(reading, descriptor, path, take_config);
    close(descriptor);
}

/* The kernel updates CLOCK_MONOTONIC_COARSE at each tick, so its resolution is the length of a
 * tick. */
static void read_tick(struct reading *reading)
{
    struct timespec resolution;
    long user_hz = sysconf(_SC_CLK_TCK);
    uint64_t ns;

    reading->kernel->user_hz = user_hz > 0 ? (uint32_t)user_hz : 0;
    if (reading->source != NULL || clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) != 0)
        return;
    ns = ns_of_timespec(resolution);
    if (ns == 0 || ns > NS_PER_S)
        return;
    reading->kernel->tick_hz = (uint32_t)((NS_PER_S + ns / 2) / ns);
    reading->kernel->known |= CAMP_KERNEL_TICK;
}

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* If the configuration is unknown, a kernel without NO_HZ_FULL is assumed to sample at ticks.
 * Exceptions are s390, where accounting is native, and POWER, where it may be native. */
static int accounting_of(const struct reading *reading, bool has_nohz_full)
{
    const struct kernel_config *config = &reading->config;
    const char *machine = reading->kernel->machine;

    if (config->native_accounting == ANSWER_YES || has_prefix(machine, "s390"))
        return CAMP_ACCOUNTING_NATIVE;
    if (config->gen_accounting == ANSWER_YES || has_nohz_full)
        return CAMP_ACCOUNTING_GEN;
    if (config->tick_accounting == ANSWER_YES)
        return CAMP_ACCOUNTING_TICK;
    if (machine[0] == '\0' || has_prefix(machine, "ppc"))
        return CAMP_ACCOUNTING_UNKNOWN;
    return CAMP_ACCOUNTING_TICK;
}

static void read_accounting(struct reading *reading)
{
    struct camp_kernel *kernel = reading->kernel;
    int missing = read_sys(reading, "devices/system/cpu/nohz_full");
    bool listed = missing == 0 && camp_kernel_cpu_list(reading->text, kernel->measured_cpus,
                                                       sizeof kernel->measured_cpus);

    if (missing != 0 && missing != ENOENT)
        return;
    kernel->accounting = accounting_of(reading, listed);
    if (kernel->accounting != CAMP_ACCOUNTING_UNKNOWN)
        kernel->known |= CAMP_KERNEL_ACCOUNTING;
    if (kernel->accounting == CAMP_ACCOUNTING_TICK)
        kernel->measured_cpus[0] = '\0';
    if (listed)
        know(reading, CAMP_KERNEL_TICKLESS_IDLE, &kernel->tickless_idle, 1);
    if (kernel->accounting != CAMP_ACCOUNTING_NATIVE &&
        reading->config.user_tracking_forced != ANSWER_YES)
        return;
    if (read_sys(reading, "devices/system/cpu/possible") != 0 ||
        !camp_kernel_cpu_list(reading->text, kernel->measured_cpus, sizeof kernel->measured_cpus))
        kernel->measured_cpus[0] = '\0';
}

static bool take_timer_list(struct reading *reading, struct cursor line)
{
    int answer = camp_kernel_tickless_line(line);

    know_answer(reading, CAMP_KERNEL_TICKLESS_IDLE, &reading->kernel->tickless_idle, answer);
    return answer != ANSWER_YES;
}

/* Reads the configuration, then the timer list, then the command line; each overrides the result of
 * those before it. Must be called after read_accounting(), which may set tickless_idle, too. */
static void read_tickless_idle(struct reading *reading)
{
    int32_t *fact = &reading->kernel->tickless_idle;

    know_answer(reading, CAMP_KERNEL_TICKLESS_IDLE, fact, reading->config.tickless);
    (void)each_line_of_proc(reading, "timer_list", take_timer_list);
    if (read_proc(reading, "cmdline") == 0 && camp_kernel_has_word(reading->text, "nohz=off"))
        know(reading, CAMP_KERNEL_TICKLESS_IDLE, fact, 0);
}

/* Linux 7.0 and 7.1 were not tested. */
static void read_short_idle(struct reading *reading)
{
    struct camp_kernel *kernel = reading->kernel;
    const char *release = kernel->release;
    const bool is_old = camp_kernel_at_least(release, 0, 0) && !camp_kernel_at_least(release, 7, 0);

    if (kernel->accounting == CAMP_ACCOUNTING_NATIVE || is_old)
        know(reading, CAMP_KERNEL_SHORT_IDLE, &kernel->short_idle_sampled, 0);
    else if (kernel->accounting != CAMP_ACCOUNTING_UNKNOWN && camp_kernel_at_least(release, 7, 2))
        know(reading, CAMP_KERNEL_SHORT_IDLE, &kernel->short_idle_sampled, 1);
}

/* Takes a line of /proc/cpuinfo. In a virtual machine, the line "flags" of an x86 CPU has the word
 * "hypervisor". Without the word there is no steal time. If there is no line "flags", as on other
 * CPUs, `steal` is unknown. */
static bool take_flags(struct reading *reading, struct cursor line)
{
    struct cursor word;

    if (!camp_text_word(&line, &word) || cursor_left(&word) != 5 || !text_prefix(&word, "flags"))
        return true;
    if (!camp_kernel_has_word(line, "hypervisor"))
        know(reading, CAMP_KERNEL_STEAL, &reading->kernel->steal, 0);
    return false;
}

#define STEAL_COLUMN 8 /* position of steal in the "cpu" line of /proc/stat, counted from 1 */

static void read_steal(struct reading *reading)
{
    uint64_t value = 0;
    int column = 0;

    if (read_proc(reading, "stat") != 0 || !text_prefix(&reading->text, "cpu "))
        return;
    while (column < STEAL_COLUMN && text_u64(&reading->text, &value))
        column++;
    if (column == STEAL_COLUMN && value > 0)
        know(reading, CAMP_KERNEL_STEAL, &reading->kernel->steal, 1);
    else
        (void)each_line_of_proc(reading, "cpuinfo", take_flags);
}

/* Returns ANSWER_YES if the file can be read, ANSWER_NO if it does not exist or is switched off,
 * and ANSWER_UNKNOWN after another error, such as a missing permission. */
static int answers(struct reading *reading, const char *name)
{
    int missing = read_proc(reading, name);

    if (missing == 0)
        return ANSWER_YES;
    return missing == ENOENT || missing == EOPNOTSUPP ? ANSWER_NO : ANSWER_UNKNOWN;
}

static void read_pressure(struct reading *reading)
{
    struct camp_kernel *kernel = reading->kernel;
    int pressure = answers(reading, "pressure/cpu");
    int interrupts = answers(reading, "pressure/irq");

    know_answer(reading, CAMP_KERNEL_PSI, &kernel->psi, pressure);
    if (reading->config.irq_time != ANSWER_UNKNOWN)
        know(reading, CAMP_KERNEL_IRQ_TIME, &kernel->irq_time, reading->config.irq_time);
    else if (interrupts == ANSWER_YES || (pressure == ANSWER_YES && interrupts == ANSWER_NO &&
                                          camp_kernel_at_least(kernel->release, 6, 1)))
        know(reading, CAMP_KERNEL_IRQ_TIME, &kernel->irq_time, interrupts);
}

/* This process has run, so if its schedstat shows 0 runs, the kernel does not count runs. Such a
 * kernel is older than Linux 5.14, and has neither SCHEDSTATS nor delay accounting. */
static void read_schedstat(struct reading *reading)
{
    struct camp_kernel *kernel = reading->kernel;
    int own = answers(reading, "self/schedstat");
    uint64_t run_ns, delay_ns, runs;

    if (own == ANSWER_NO)
        know(reading, CAMP_KERNEL_SCHED_INFO, &kernel->sched_info, 0);
    else if (own == ANSWER_YES && text_u64(&reading->text, &run_ns) &&
             text_u64(&reading->text, &delay_ns) && text_u64(&reading->text, &runs))
        know(reading, CAMP_KERNEL_SCHED_INFO, &kernel->sched_info, runs > 0);
    know_answer(reading, CAMP_KERNEL_SCHEDSTATS, &kernel->schedstats,
                answers(reading, "schedstat"));
}

static void read_taskstats(struct reading *reading)
{
    struct camp_kernel *kernel = reading->kernel;
    struct camp_taskstats session;
    int result;

    if (reading->source == NULL) {
        result = camp_taskstats_open(&session, NULL);
        if (result == CAMP_OK)
            camp_taskstats_close(&session);
        if (result == CAMP_OK || result == CAMP_E_PERM || result == CAMP_E_NOTSUP)
            know(reading, CAMP_KERNEL_TASKSTATS, &kernel->taskstats, result != CAMP_E_NOTSUP);
    } else {
        know_answer(reading, CAMP_KERNEL_TASKSTATS, &kernel->taskstats, reading->config.taskstats);
    }
}

/* Since Linux 5.14 a sysctl switches delay accounting on or off. In earlier kernels it is on,
 * unless they were booted with nodelayacct. */
static void read_delay_accounting(struct reading *reading)
{
    struct camp_kernel *kernel = reading->kernel;
    uint64_t on;

    if (read_proc(reading, "sys/kernel/task_delayacct") == 0) {
        if (text_u64(&reading->text, &on))
            know(reading, CAMP_KERNEL_DELAY_ACCOUNTING, &kernel->delay_accounting, on != 0);
        if (reading->source != NULL)
            know(reading, CAMP_KERNEL_TASKSTATS, &kernel->taskstats, 1);
    } else if (read_proc(reading, "cmdline") == 0 &&
               camp_kernel_has_word(reading->text, "nodelayacct")) {
        know(reading, CAMP_KERNEL_DELAY_ACCOUNTING, &kernel->delay_accounting, 0);
    } else {
        know_answer(reading, CAMP_KERNEL_DELAY_ACCOUNTING, &kernel->delay_accounting,
                    reading->config.delay_accounting);
    }
}

static void read_btf(struct reading *reading)
{
    char path[PATH_SIZE];

    if (camp_path(path, camp_sys(reading->source), NULL, "kernel") < 0 || access(path, F_OK) != 0 ||
        camp_path(path, camp_sys(reading->source), NULL, "kernel/btf/vmlinux") < 0)
        return;
    know(reading, CAMP_KERNEL_BTF, &reading->kernel->btf, access(path, F_OK) == 0);
}

static bool take_mount(struct reading *reading, struct cursor line)
{
    reading->kernel->cgroup_version |= camp_kernel_cgroup_of_mount(line);
    return true;
}

static bool take_status(struct reading *reading, struct cursor line)
{
    if (!camp_kernel_capabilities_line(line, &reading->kernel->capabilities))
        return true;
    reading->kernel->known |= CAMP_KERNEL_CAPABILITIES;
    return false;
}

int camp_kernel_read(const struct camp_source *source, struct camp_kernel *ret, size_t size,
                     struct camp_error *error)
{
    struct camp_kernel kernel = { 0 };
    struct reading reading = { .source = source,
                               .kernel = &kernel,
                               .config = KERNEL_CONFIG_UNKNOWN };

    if (ret == NULL || size == 0)
        return camp_fail(error, CAMP_E_INVALID, 0, "no space for the answer: pass a struct");
    read_name(&reading);
    read_config(&reading);
    read_tick(&reading);
    read_accounting(&reading);
    read_tickless_idle(&reading);
    read_short_idle(&reading);
    read_steal(&reading);
    read_pressure(&reading);
    read_schedstat(&reading);
    read_taskstats(&reading);
    read_delay_accounting(&reading);
    read_btf(&reading);
    if (each_line_of_proc(&reading, "self/mountinfo", take_mount))
        kernel.known |= CAMP_KERNEL_CGROUP;
    else
        kernel.cgroup_version = 0;
    (void)each_line_of_proc(&reading, "self/status", take_status);
    /* camp_counter_provenance() must not read a member that an older caller's struct lacks. */
    if (size < offsetof(struct camp_kernel, short_idle_sampled) + sizeof kernel.short_idle_sampled)
        kernel.known &= ~(uint32_t)CAMP_KERNEL_SHORT_IDLE;
    camp_hand_out(ret, size, &kernel, sizeof kernel);
    return CAMP_OK;
}
