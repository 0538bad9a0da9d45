/*
 * The facts of camp doctor: what this kernel counts, with an explanation of each number. For an
 * unknown fact, camp doctor shows where the fact would be read.
 */
#include "doctor_linux.h"

#include "build_parts.h"

#include "program/capability.h"
#include "program/linux/system_call_filter.h"
#include "program/sandbox.h"

#include <camp/catalogue.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 96

/* Returns why a file cannot be read, as words that come before the path: "no user may read". NULL
 * if permissions are not the reason. */
static const char *hindrance(const struct examined *found, const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    int system_error = errno;
    struct stat file;
    bool seen = stat(path, &file) == 0;

    if (descriptor >= 0) {
        close(descriptor);
        return seen && S_ISCHR(file.st_mode) ? "a container masks" : NULL;
    }
    if (system_error != EACCES && system_error != EPERM)
        return NULL;
    return capability_opens_all(&found->facts) || (seen && (file.st_mode & S_IROTH) != 0)
               ? "no user may read"
               : "CAP_DAC_READ_SEARCH opens";
}

/* Explains why a fact is unknown, and how to change that. `how` starts with the path of the file
 * that has the fact. The path comes last in the text, because a long text is truncated. */
static const char *reason_unknown(struct doctor *doctor, const struct examined *found,
                                  const char *how)
{
    struct document *document = &doctor->document;
    char path[PATH_SIZE];
    const char *hindered;

    snprintf(path, sizeof path, "%.*s", (int)strcspn(how, " ,"), how);
    hindered = path[0] == '/' ? hindrance(found, path) : NULL;
    if (hindered != NULL)
        return document_text(document, "unknown: %s %.48s", hindered, path);
    if (strstr(how, "configuration") != NULL)
        return "unknown: needs a readable /boot/config-$(uname -r)";
    if (strstr(how, "release") != NULL)
        return "unknown for this release of the kernel";
    return "unknown: this kernel does not report it";
}

static void add_fact(struct doctor *doctor, const struct examined *found, const char *name,
                     struct cell value, const char *meaning, const char *how)
{
    const char *shown = value.kind == CELL_UNKNOWN ? reason_unknown(doctor, found, how) : meaning;

    doctor_add_fact(doctor, name, value, shown, how);
}

static void add_answer(struct doctor *doctor, const struct examined *found, const char *name,
                       bool is_known, int32_t value, const char *yes, const char *no,
                       const char *how)
{
    add_fact(doctor, found, name, is_known ? doctor_yes_or_no(doctor, value != 0) : cell_unknown(),
             value != 0 ? yes : no, how);
}

static void add_yes_no(struct doctor *doctor, const struct examined *found, const char *name,
                       uint32_t field, int32_t value, const char *yes, const char *no,
                       const char *how)
{
    add_answer(doctor, found, name, (found->kernel.known & field) != 0, value, yes, no, how);
}

static void add_linux(struct doctor *doctor, const struct examined *found, const char *name,
                      uint32_t field, int32_t value, const char *yes, const char *no,
                      const char *how)
{
    add_answer(doctor, found, name, (found->facts.known & field) != 0, value, yes, no, how);
}

static const char *accounting_meaning(const struct camp_kernel *kernel)
{
    switch (kernel->accounting) {
    case CAMP_ACCOUNTING_TICK:
        return "user and system time are sampled at the tick";
    case CAMP_ACCOUNTING_GEN:
        return kernel->measured_cpus[0] != '\0' ? "measured on the CPUs below, else sampled"
                                                : "no CPU is nohz_full: sampled at the tick";
    case CAMP_ACCOUNTING_NATIVE:
    case CAMP_ACCOUNTING_MICROSTATES:
        return "user and system time are measured";
    default:
        return "unknown";
    }
}

static const char *tickless_meaning(const struct camp_kernel *kernel)
{
    if (kernel->tickless_idle == 0)
        return kernel->accounting == CAMP_ACCOUNTING_NATIVE
                   ? "the tick goes on; idle and iowait are measured"
                   : "idle and iowait are sampled, too";
    return (kernel->known & CAMP_KERNEL_SHORT_IDLE) != 0 && kernel->short_idle_sampled == 0
               ? "idle and iowait are measured"
               : "idle is measured while the tick is stopped";
}

static void add_idle(struct doctor *doctor, const struct examined *found)
{
    const struct camp_kernel *kernel = &found->kernel;

    add_yes_no(doctor, found, "tickless_idle", CAMP_KERNEL_TICKLESS_IDLE, kernel->tickless_idle,
               tickless_meaning(kernel), tickless_meaning(kernel),
               "/proc/timer_list (root), nohz_full, the kernel's configuration");
    add_yes_no(doctor, found, "short_idle_sampled", CAMP_KERNEL_SHORT_IDLE,
               kernel->short_idle_sampled, "short idle periods are sampled: use tier bpf",
               "short idle periods are like other idle time", "the kernel's release");
}

static void add_times(struct doctor *doctor, const struct examined *found)
{
    const struct camp_kernel *kernel = &found->kernel;
    const char *accounting = camp_accounting_name(kernel->accounting);

    add_fact(doctor, found, "tick_hz",
             (kernel->known & CAMP_KERNEL_TICK) != 0 ? cell_natural(kernel->tick_hz)
                                                     : cell_unknown(),
             "ticks a second: how often times are sampled", "clock_getres(CLOCK_MONOTONIC_COARSE)");
    add_fact(doctor, found, "user_hz", cell_natural(found->facts.user_hz),
             "units a second of the times in /proc", "sysconf(_SC_CLK_TCK)");
    add_fact(doctor, found, "accounting", cell_text(accounting), accounting_meaning(kernel),
             "/sys/devices/system/cpu/nohz_full, the machine, the kernel's configuration");
    add_fact(doctor, found, "measured_cpus",
             accounting == NULL                 ? cell_unknown()
             : kernel->measured_cpus[0] != '\0' ? cell_text(kernel->measured_cpus)
                                                : cell_text("none"),
             "CPUs whose user and system time is measured", "/sys/devices/system/cpu/nohz_full");
    add_idle(doctor, found);
    add_yes_no(doctor, found, "irq_time", CAMP_KERNEL_IRQ_TIME, kernel->irq_time,
               "interrupt time is measured", "interrupts are sampled, and in tasks' time",
               "/proc/pressure/irq, the kernel's configuration");
    add_yes_no(doctor, found, "steal", CAMP_KERNEL_STEAL, kernel->steal,
               "a virtual machine: the hypervisor reports steal", "no hypervisor steals time",
               "/proc/stat, /proc/cpuinfo");
}

static void add_sources(struct doctor *doctor, const struct examined *found)
{
    static const char *const cgroups[] = { "none", "v1", "v2", "v1 and v2" };
    const struct camp_linux *facts = &found->facts;

    add_linux(doctor, found, "sched_info", CAMP_LINUX_SCHED_INFO, facts->sched_info,
              "run time and run-queue delay of every thread", "no run-queue delay of threads",
              "/proc/self/schedstat");
    add_linux(doctor, found, "schedstats", CAMP_LINUX_SCHEDSTATS, facts->schedstats,
              "run-queue delay of every CPU", "no run-queue delay of CPUs", "/proc/schedstat");
    add_linux(doctor, found, "taskstats", CAMP_LINUX_TASKSTATS, facts->taskstats,
              "sampled beside measured time, and exits", "no sampled time of processes",
              "the netlink family TASKSTATS");
    add_linux(doctor, found, "delay_accounting", CAMP_LINUX_DELAY_ACCOUNTING,
              facts->delay_accounting, "waits for disk and memory are counted",
              "not needed for CPU times", "/proc/sys/kernel/task_delayacct, the command line");
    add_linux(doctor, found, "psi", CAMP_LINUX_PSI, facts->psi, "pressure stall information",
              "no pressure stall information", "/proc/pressure/cpu");
    add_linux(doctor, found, "btf", CAMP_LINUX_BTF, facts->btf, "BPF programs can run",
              "BPF programs cannot run", "/sys/kernel/btf/vmlinux");
    add_fact(doctor, found, "cgroup",
             (facts->known & CAMP_LINUX_CGROUP) != 0 ? cell_text(cgroups[facts->cgroup_version & 3])
                                                     : cell_unknown(),
             "control groups that are mounted", "/proc/self/mountinfo");
}

/* Whether camp can confine itself on this kernel. docs/security.md says which files and calls each
 * command keeps. */
static void add_confinement(struct doctor *doctor, const struct examined *found)
{
    const int version = sandbox_landlock_version();
    const bool has_filter = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0 && system_call_filter_exists();

    add_fact(doctor, found, "landlock",
             version > 0 ? cell_natural((uint64_t)version) : cell_text("none"),
             !sandbox_is_used() ? "not used: camp was built with a sanitizer"
             : version > 0      ? "version of Landlock, which limits access to files"
                                : "camp can open every file that its user can",
             "landlock_create_ruleset(2)");
    add_fact(doctor, found, "system_call_filter", doctor_yes_or_no(doctor, has_filter),
             !sandbox_is_used() ? "not used: camp was built with a sanitizer"
             : has_filter       ? "camp can limit its own system calls"
                                : "camp cannot limit its own system calls",
             "seccomp(2)");
}

static void add_build(struct doctor *doctor, const struct examined *found)
{
    const bool is_whole = PARTS_WITHOUT[0] == '\0';

    add_fact(doctor, found, "built_without", cell_text(is_whole ? "none" : PARTS_WITHOUT),
             is_whole ? "this camp has all its parts" : "these parts are not in this camp",
             "the build of this camp");
    if (!is_whole)
        document_note(&doctor->document, "This camp was built without: %s.", PARTS_WITHOUT);
}

void doctor_add_linux_facts(struct doctor *doctor, const struct examined *found)
{
    add_times(doctor, found);
    add_sources(doctor, found);
    add_confinement(doctor, found);
    add_build(doctor, found);
}
