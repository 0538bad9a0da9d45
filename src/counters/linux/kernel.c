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
#include "kernel_files.h"

#include "../clock.h"
#include "../error.h"
#include "../platform.h"

#include <errno.h>
#include <string.h>

struct reading {
    struct camp_kernel *kernel;
    struct kernel_files files;
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

/* The kernel updates CLOCK_MONOTONIC_COARSE at each tick, so its resolution is the length of a
 * tick. */
static void read_tick(struct reading *reading)
{
    struct timespec resolution;
    uint64_t ns;

    if (reading->files.source != NULL || clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) != 0)
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
    const struct kernel_config *config = &reading->files.config;
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
    int missing = camp_kernel_read_sys(&reading->files, "devices/system/cpu/nohz_full");
    bool listed = missing == 0 && camp_kernel_cpu_list(reading->files.text, kernel->measured_cpus,
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
        reading->files.config.user_tracking_forced != ANSWER_YES)
        return;
    if (camp_kernel_read_sys(&reading->files, "devices/system/cpu/possible") != 0 ||
        !camp_kernel_cpu_list(reading->files.text, kernel->measured_cpus,
                              sizeof kernel->measured_cpus))
        kernel->measured_cpus[0] = '\0';
}

static bool take_timer_list(void *context, struct cursor line)
{
    struct reading *reading = context;
    int answer = camp_kernel_tickless_line(line);

    know_answer(reading, CAMP_KERNEL_TICKLESS_IDLE, &reading->kernel->tickless_idle, answer);
    return answer != ANSWER_YES;
}

/* Reads the configuration, then the timer list, then the command line; each overrides the result of
 * those before it. Must be called after read_accounting(), which may set tickless_idle, too. */
static void read_tickless_idle(struct reading *reading)
{
    int32_t *fact = &reading->kernel->tickless_idle;

    know_answer(reading, CAMP_KERNEL_TICKLESS_IDLE, fact, reading->files.config.tickless);
    (void)camp_kernel_each_line(&reading->files, "timer_list", take_timer_list, reading);
    if (camp_kernel_read_proc(&reading->files, "cmdline") == 0 &&
        camp_kernel_has_word(reading->files.text, "nohz=off"))
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
static bool take_flags(void *context, struct cursor line)
{
    struct reading *reading = context;
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

    if (camp_kernel_read_proc(&reading->files, "stat") != 0 ||
        !text_prefix(&reading->files.text, "cpu "))
        return;
    while (column < STEAL_COLUMN && text_u64(&reading->files.text, &value))
        column++;
    if (column == STEAL_COLUMN && value > 0)
        know(reading, CAMP_KERNEL_STEAL, &reading->kernel->steal, 1);
    else
        (void)camp_kernel_each_line(&reading->files, "cpuinfo", take_flags, reading);
}

static void read_irq_time(struct reading *reading)
{
    struct camp_kernel *kernel = reading->kernel;
    const int interrupts = camp_kernel_answers(&reading->files, "pressure/irq");

    if (reading->files.config.irq_time != ANSWER_UNKNOWN)
        know(reading, CAMP_KERNEL_IRQ_TIME, &kernel->irq_time, reading->files.config.irq_time);
    else if (interrupts == ANSWER_YES ||
             (interrupts == ANSWER_NO && camp_kernel_at_least(kernel->release, 6, 1) &&
              camp_kernel_answers(&reading->files, "pressure/cpu") == ANSWER_YES))
        know(reading, CAMP_KERNEL_IRQ_TIME, &kernel->irq_time, interrupts);
}

int camp_kernel_read(const struct camp_source *source, struct camp_kernel *ret, size_t size,
                     struct camp_error *error)
{
    struct camp_kernel kernel = { .system = "Linux" };
    struct reading reading = { .kernel = &kernel };

    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    camp_kernel_files_open(&reading.files, source);
    memcpy(kernel.release, reading.files.release, sizeof kernel.release);
    memcpy(kernel.machine, reading.files.machine, sizeof kernel.machine);
    know(&reading, CAMP_KERNEL_IMITATION, &kernel.imitation, 0);
    read_tick(&reading);
    read_accounting(&reading);
    read_tickless_idle(&reading);
    read_short_idle(&reading);
    read_steal(&reading);
    read_irq_time(&reading);
    camp_hand_out(ret, size, &kernel, sizeof kernel);
    return CAMP_OK;
}
