/*
 * camp doctor: what this kernel counts and how, which events it has for microstates, which
 * capabilities this process holds and what each would give, which tier `camp check` runs on, and
 * the one line that would change it.
 *
 * It is a look at camp_kernel_read() with words beside the numbers; what is not known is shown as
 * unknown, with where it would be told.
 */
#include "capability.h"
#include "check_record.h"
#include "command.h"
#include "counters.h"

#include "sources/source.h"
#include "views/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FACT_FIELDS 4
#define CAPABILITY_FIELDS 3
#define TIER_FIELDS 5
#define SUMMARY_FIELDS 7
#define EVENT_FIELDS 5
#define FACTS_MAXIMUM 24
#define EVENTS_MAXIMUM 40
#define TIERS 3
#define MEANING_SIZE 96

static const struct field fact_fields[FACT_FIELDS] = {
    { "name", "fact", "what is asked of the kernel", -16, 0 },
    { "value", "value", "its answer; null: not known", -9, 0 },
    { "meaning", "what it means", "what that means for the numbers", -52, 0 },
    { "how", NULL, "where the answer comes from", 0, 0 },
};

static const struct field capability_fields[CAPABILITY_FIELDS] = {
    { "name", "capability", "as in capabilities(7)", -20, 0 },
    { "held", "held", "whether this process has it (effective); null: not known", -5, 0 },
    { "gives", "what it gives", "what camp can do with it", -52, 0 },
};

static const struct field tier_fields[TIER_FIELDS] = {
    { "name", "tier", "how camp check reads processes", -10, 0 },
    { "available", "can run", "whether it can run here and now", -8, 0 },
    { "used", "is used", "whether camp check uses it when not told otherwise", -8, 0 },
    { "sees", "what it sees", "what it reads", -50, 0 },
    { "lacks", NULL, "what it cannot see; null: nothing", 0, 0 },
};

static const struct field event_fields[EVENT_FIELDS] = {
    { "name", "event", "of the kernel, which microstates are measured by", -23, 0 },
    { "present", "there", "whether this kernel has it, by its BTF", -5, 0 },
    { "needed", "must", "true: no microstates without it", -4, 0 },
    { "since", "Linux", "the first that has it; x86: only there", -6, 0 },
    { "without", "without it", "what is missing then", -38, 0 },
};

static const struct field summary_fields[SUMMARY_FIELDS] = {
    { "release", NULL, "of the kernel", 0, 0 },
    { "machine", NULL, "of the kernel: x86_64, aarch64, s390x", 0, 0 },
    { "tier", NULL, "that camp check runs on now", 0, 0 },
    { "taskstats_version", NULL, "of the kernel's struct; null: no answer", 0, 0 },
    { "change", NULL, "what would give a better tier; null: there is none", 0, 0 },
    { "microstates", NULL, "whether they can be measured here and now", 0, 0 },
    { "microstates_refusal", NULL, "why not; null: they can", 0, 0 },
};

enum { FACTS, EVENTS, CAPABILITIES, TIER_TABLE, SUMMARY, TABLE_COUNT };

static const char *const table_names[] = { "facts", "events", "capabilities", "tiers", NULL };

struct doctor {
    bool words; /* "yes" and "no" for a person, who would not read a blank as "no" */
    struct camp_kernel kernel;
    struct camp_error refusal; /* of taskstats; code CAMP_OK: it answers */
    uint16_t taskstats_version;
    struct camp_error states_refusal; /* of a session of microstates; likewise */
    enum tasks_tier tier;
    struct cell facts[FACTS_MAXIMUM][FACT_FIELDS];
    char unknown[FACTS_MAXIMUM][MEANING_SIZE]; /* what is said of a fact that is not known */
    size_t fact_count;
    struct cell capabilities[CAPABILITY_COUNT][CAPABILITY_FIELDS];
    struct cell events[EVENTS_MAXIMUM][EVENT_FIELDS];
    size_t event_count;
    struct cell tiers[TIERS][TIER_FIELDS];
    struct cell summary[SUMMARY_FIELDS];
    char headline[160];
    char change[CAMP_ERROR_SIZE + 32], microstates[CAMP_ERROR_SIZE + 48];
};

/* ----------------------------------------------------------------------------- Examining -- */

/* Whether a session can be had is known when one was. */
static void try_microstates(struct doctor *doctor)
{
    struct camp_states *session = NULL;

    if (camp_states_open(&session, CAMP_STATES_NO_SYSCALLS, &doctor->states_refusal) == CAMP_OK)
        doctor->states_refusal.code = CAMP_OK;
    camp_states_close(session);
}

static int examine(struct doctor *doctor, struct camp_error *error)
{
    struct camp_taskstats session = CAMP_TASKSTATS_NONE;
    int result = camp_kernel_read(NULL, &doctor->kernel, sizeof doctor->kernel, error);

    if (result < 0)
        return result;
    result = camp_taskstats_open(&session, &doctor->refusal);
    if (result == CAMP_OK) {
        doctor->taskstats_version = session.version;
        result = camp_taskstats_listen(&session, &doctor->refusal);
    }
    camp_taskstats_close(&session);
    doctor->tier = result == CAMP_OK ? TASKS_TASKSTATS : TASKS_SCHEDSTAT;
    try_microstates(doctor);
    return CAMP_OK;
}

/* --------------------------------------------------------------------------------- Facts -- */

static struct cell yes_or_no(const struct doctor *doctor, bool yes)
{
    return doctor->words ? cell_text(yes ? "yes" : "no") : cell_boolean(yes);
}

/* What keeps a file from being read, as the words before its name: a capability that is not held,
 * or what none changes. NULL: nothing does. */
static const char *hindrance(const struct doctor *doctor, const char *path)
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
    return capability_opens_all(&doctor->kernel) || (seen && (file.st_mode & S_IROTH) != 0)
               ? "nobody here may read"
               : "CAP_DAC_READ_SEARCH opens";
}

/* Why a fact is not known, and what would change that. `how` begins with the file that tells it;
 * what to do stands before its name, which may be cut. */
static const char *why_unknown(struct doctor *doctor, const char *how)
{
    char *ret = doctor->unknown[doctor->fact_count];
    char path[MEANING_SIZE];
    const char *hindered;

    snprintf(path, sizeof path, "%.*s", (int)strcspn(how, " ,"), how);
    hindered = path[0] == '/' ? hindrance(doctor, path) : NULL;
    if (hindered != NULL)
        snprintf(ret, MEANING_SIZE, "unknown: %s %.48s", hindered, path);
    else if (strstr(how, "configuration") != NULL)
        snprintf(ret, MEANING_SIZE, "unknown: takes a readable /boot/config-$(uname -r)");
    else
        snprintf(ret, MEANING_SIZE, "unknown: this kernel does not tell us");
    return ret;
}

static void add_fact(struct doctor *doctor, const char *name, struct cell value,
                     const char *meaning, const char *how)
{
    const char *shown = value.kind == CELL_UNKNOWN ? why_unknown(doctor, how) : meaning;
    struct cell *row = doctor->facts[doctor->fact_count++];

    row[0] = cell_text(name);
    row[1] = value;
    row[2] = cell_text(shown);
    row[3] = cell_text(how);
}

/* A fact that is yes or no: one meaning for each. */
static void add_yes_no(struct doctor *doctor, const char *name, uint32_t field, int32_t value,
                       const char *yes, const char *no, const char *how)
{
    bool known = (doctor->kernel.known & field) != 0;

    add_fact(doctor, name, known ? yes_or_no(doctor, value != 0) : cell_unknown(),
             value != 0 ? yes : no, how);
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

static void add_times(struct doctor *doctor)
{
    const struct camp_kernel *kernel = &doctor->kernel;
    const char *accounting = accounting_name(kernel->accounting);

    add_fact(doctor, "tick_hz",
             (kernel->known & CAMP_KERNEL_TICK) != 0 ? cell_natural(kernel->tick_hz)
                                                     : cell_unknown(),
             "ticks a second: so often is sampled", "clock_getres(CLOCK_MONOTONIC_COARSE)");
    add_fact(doctor, "user_hz", cell_natural(kernel->user_hz),
             "units a second of the times in /proc", "sysconf(_SC_CLK_TCK)");
    add_fact(doctor, "accounting", cell_text(accounting), accounting_meaning(kernel),
             "/sys/devices/system/cpu/nohz_full, the machine, the kernel's configuration");
    add_fact(doctor, "measured_cpus",
             accounting == NULL                 ? cell_unknown()
             : kernel->measured_cpus[0] != '\0' ? cell_text(kernel->measured_cpus)
                                                : cell_text("none"),
             "CPUs whose user and system time is measured", "/sys/devices/system/cpu/nohz_full");
    add_yes_no(doctor, "tickless_idle", CAMP_KERNEL_TICKLESS_IDLE, kernel->tickless_idle,
               "idle and iowait are measured", "idle and iowait are sampled, too",
               "/proc/timer_list (root), nohz_full, the kernel's configuration");
    add_yes_no(doctor, "irq_time", CAMP_KERNEL_IRQ_TIME, kernel->irq_time,
               "interrupt time is measured", "interrupts are sampled, and in tasks' time",
               "/proc/pressure/irq, the kernel's configuration");
    add_yes_no(doctor, "steal", CAMP_KERNEL_STEAL, kernel->steal,
               "a virtual machine: the hypervisor reports steal", "no hypervisor steals time",
               "/proc/stat, /proc/cpuinfo");
}

static void add_sources(struct doctor *doctor)
{
    static const char *const cgroups[] = { "none", "v1", "v2", "v1 and v2" };
    const struct camp_kernel *kernel = &doctor->kernel;

    add_yes_no(doctor, "sched_info", CAMP_KERNEL_SCHED_INFO, kernel->sched_info,
               "run time and run-queue delay of every thread", "no run-queue delay of threads",
               "/proc/self/schedstat");
    add_yes_no(doctor, "schedstats", CAMP_KERNEL_SCHEDSTATS, kernel->schedstats,
               "run-queue delay of every CPU", "no run-queue delay of CPUs", "/proc/schedstat");
    add_yes_no(doctor, "taskstats", CAMP_KERNEL_TASKSTATS, kernel->taskstats,
               "sampled beside measured time, and exits", "no sampled time of processes",
               "the netlink family TASKSTATS");
    add_yes_no(doctor, "delay_accounting", CAMP_KERNEL_DELAY_ACCOUNTING, kernel->delay_accounting,
               "waits for disk and memory are counted", "not needed for CPU times",
               "/proc/sys/kernel/task_delayacct, the command line");
    add_yes_no(doctor, "psi", CAMP_KERNEL_PSI, kernel->psi, "pressure stall information",
               "no pressure stall information", "/proc/pressure/cpu");
    add_yes_no(doctor, "btf", CAMP_KERNEL_BTF, kernel->btf, "BPF programs can find their way",
               "BPF programs cannot run", "/sys/kernel/btf/vmlinux");
    add_fact(doctor, "cgroup",
             (kernel->known & CAMP_KERNEL_CGROUP) != 0
                 ? cell_text(cgroups[kernel->cgroup_version & 3])
                 : cell_unknown(),
             "control groups that are mounted", "/proc/self/mountinfo");
}

/* -------------------------------------------------------------------------------- Events -- */

/* A kernel without BTF does not tell: there are no rows then. */
static void add_events(struct doctor *doctor)
{
    struct camp_states_event events[EVENTS_MAXIMUM];
    size_t count;

    if (camp_states_events(events, sizeof events[0], EVENTS_MAXIMUM, &count, NULL) != CAMP_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        struct cell *row = doctor->events[doctor->event_count++];

        row[0] = cell_text(events[i].name);
        row[1] =
            emphasised(yes_or_no(doctor, events[i].present != 0), events[i].present != 0  ? PLAIN
                                                                  : events[i].needed != 0 ? BAD
                                                                                          : FAINT);
        row[2] = yes_or_no(doctor, events[i].needed != 0);
        row[3] = cell_text(events[i].since);
        row[4] = cell_text(events[i].without);
    }
}

/* ----------------------------------------------------------------- Capabilities and tiers -- */

static void add_capabilities(struct doctor *doctor)
{
    bool known = (doctor->kernel.known & CAMP_KERNEL_CAPABILITIES) != 0;

    for (size_t i = 0; i < CAPABILITY_COUNT; i++) {
        bool held = capability_held(&doctor->kernel, capabilities[i].name);
        struct cell *row = doctor->capabilities[i];

        row[0] = cell_text(capabilities[i].name);
        row[1] = known ? emphasised(yes_or_no(doctor, held), held ? GOOD : FAINT) : cell_unknown();
        row[2] = cell_text(capabilities[i].gives);
    }
}

static void add_tier(struct doctor *doctor, enum tasks_tier tier, bool available, const char *sees)
{
    struct cell *row = doctor->tiers[tier == TASKS_BPF ? 0 : tier == TASKS_TASKSTATS ? 1 : 2];

    row[0] = cell_text(tier_name(tier));
    row[1] = yes_or_no(doctor, available);
    row[2] =
        emphasised(yes_or_no(doctor, doctor->tier == tier), doctor->tier == tier ? GOOD : FAINT);
    row[3] = cell_text(sees);
    row[4] = cell_text(tier_lacks(tier));
}

/* What stands between here and the better tier: a capability, or what the kernel said. */
static const char *change_of(struct doctor *doctor)
{
    if (doctor->tier == TASKS_TASKSTATS)
        return NULL;
    if (doctor->refusal.code == CAMP_E_PERM && doctor->taskstats_version == 0 &&
        capability_held(&doctor->kernel, "CAP_NET_ADMIN"))
        return "run camp outside of this container: what is held in it is not enough";
    if (doctor->refusal.code == CAMP_E_PERM && doctor->taskstats_version == 0)
        return "sudo setcap cap_net_admin+ep \"$(command -v camp)\"   (or run camp as root)";
    return doctor->refusal.message;
}

/* camp top and camp time have no tier below: what they fall back to is camp check. */
static void tell_microstates(struct doctor *doctor)
{
    const bool can = doctor->states_refusal.code == CAMP_OK;

    doctor->summary[5] = cell_boolean(can);
    doctor->summary[6] = cell_text(can ? NULL : doctor->states_refusal.message);
    if (can)
        snprintf(doctor->microstates, sizeof doctor->microstates,
                 "Microstates can be measured: camp top, time, wait, check --tier bpf.");
    else
        snprintf(doctor->microstates, sizeof doctor->microstates,
                 "No camp top, time; wait has tier kernel: %s", doctor->states_refusal.message);
}

static void add_summary(struct doctor *doctor)
{
    const struct camp_kernel *kernel = &doctor->kernel;
    const char *change = change_of(doctor);

    doctor->summary[0] = cell_text(kernel->release);
    doctor->summary[1] = cell_text(kernel->machine);
    doctor->summary[2] = cell_text(tier_name(doctor->tier));
    doctor->summary[3] =
        doctor->taskstats_version != 0 ? cell_natural(doctor->taskstats_version) : cell_unknown();
    doctor->summary[4] = cell_text(change);
    snprintf(doctor->headline, sizeof doctor->headline, "%.40s %.20s: camp check runs on tier %s",
             kernel->release, kernel->machine, tier_name(doctor->tier));
    if (doctor->taskstats_version != 0)
        snprintf(doctor->headline + strlen(doctor->headline),
                 sizeof doctor->headline - strlen(doctor->headline), " (taskstats version %u)",
                 doctor->taskstats_version);
    if (change != NULL)
        snprintf(doctor->change, sizeof doctor->change, "To change that: %s", change);
    else
        snprintf(doctor->change, sizeof doctor->change, "There is no better tier.");
}

/* --------------------------------------------------------------------------------- Showing -- */

static int show(struct doctor *doctor, const struct view *view, const struct view_options *options)
{
    const char *const notes[] = { doctor->microstates, doctor->change, NULL };
    const struct table tables[TABLE_COUNT] = {
        [FACTS] = { "facts", TABLE_ROWS, fact_fields, FACT_FIELDS, doctor->facts[0],
                    doctor->fact_count, false },
        [CAPABILITIES] = { "capabilities", TABLE_ROWS, capability_fields, CAPABILITY_FIELDS,
                           doctor->capabilities[0], CAPABILITY_COUNT, false },
        [EVENTS] = { "events", TABLE_ROWS, event_fields, EVENT_FIELDS, doctor->events[0],
                     doctor->event_count, false },
        [TIER_TABLE] = { "tiers", TABLE_ROWS, tier_fields, TIER_FIELDS, doctor->tiers[0], TIERS,
                         false },
        [SUMMARY] = { "summary", TABLE_INLINE, summary_fields, SUMMARY_FIELDS, doctor->summary, 1,
                      true },
    };
    const struct record record = { .schema = "camp.doctor/1",
                                   .headline = doctor->headline,
                                   .tables = tables,
                                   .table_count = TABLE_COUNT,
                                   .main_table = FACTS,
                                   .notes = notes };
    int failed = view->record(options, &record, 0);

    return failed == 0 ? STATUS_OK : output_failed(failed);
}

int command_doctor(int argc, char **argv)
{
    enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };
    static const char *const formats[] = { "text", "json", "csv", NULL };
    int format = 0, table = -1, first;
    const struct option_spec specs[] = {
        { "format", 'f', OPTION_CHOICE, &format, "FORMAT", "text, json or csv", 0, 0, formats },
        { "table", 0, OPTION_CHOICE, &table, "TABLE",
          "what csv writes: facts, events, capabilities or tiers", 0, 0, table_names },
    };
    const struct option_table options = {
        "camp doctor [OPTIONS]",
        "What this kernel counts and how, which events it has for microstates and whether\n"
        "they can be measured, which capabilities are held and what each would give,\n"
        "which tier camp check runs on, and what would change it.",
        specs, COUNT(specs)
    };
    struct view_options output = { .stream = stdout,
                                   .colour = view_wants_colour(stdout),
                                   .width = view_width(stdout) };
    struct doctor doctor = { 0 };
    struct camp_error error;
    int status = options_parse(&options, argc, argv, &first);
    int result;

    if (status != OPTIONS_GO_ON)
        return status;
    if (first < argc)
        return complain(STATUS_USAGE, "'%s' is not taken; see camp doctor --help", argv[first]);
    if (table >= 0 && format != FORMAT_CSV)
        return complain(STATUS_USAGE, "--table goes with --format csv");
    output.table = table_names[table >= 0 ? table : FACTS];
    doctor.words = format == FORMAT_TEXT;
    result = examine(&doctor, &error);
    if (result < 0)
        return complain_of(result, &error);
    add_times(&doctor);
    add_sources(&doctor);
    add_events(&doctor);
    add_capabilities(&doctor);
    add_tier(&doctor, TASKS_BPF, doctor.states_refusal.code == CAMP_OK,
             "both, all of what ends, and CPUs to the ns");
    add_tier(&doctor, TASKS_TASKSTATS, doctor.tier == TASKS_TASKSTATS,
             "sampled and measured time, and what ends");
    add_tier(&doctor, TASKS_SCHEDSTAT, true, "measured time of living processes");
    add_summary(&doctor);
    tell_microstates(&doctor);
    return show(&doctor, view_by_name(formats[format]), &output);
}
