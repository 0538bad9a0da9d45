/* What camp doctor examines on Windows: how times are counted, which rights this process has, what
 * this camp was built without, and which numbers Wine imitates. */
#include "commands/doctor/doctor.h"
#include "commands/check/check_record.h"

#include "counters/error.h"
#include "counters/units.h"
#include "imitation.h"
#include "parts.h"
#include "rights.h"
#include "sources/source.h"
#include "windows.h"

#include <camp/catalogue.h>

#include <stdio.h>
#include <string.h>

#define DISKS_MOST 64
#define FORM_SIZE 40
#define LIST_SIZE 160

struct examined {
    struct camp_kernel kernel;
    const char *wine; /* the version of Wine; NULL: this is Windows */
    bool is_administrator, may_open_all;
    enum tasks_tier tier;
};

static int examine(struct examined *found, struct camp_error *error)
{
    const int result = camp_kernel_read(NULL, &found->kernel, sizeof found->kernel, error);

    if (result < 0)
        return result;
    found->wine = wine_version();
    found->is_administrator = right_is_administrator();
    found->may_open_all = right_is_held();
    found->tier = found->wine != NULL                               ? TASKS_NOTHING
                  : (found->kernel.known & CAMP_KERNEL_CYCLES) == 0 ? TASKS_TICKS
                                                                    : TASKS_CYCLES;
    return CAMP_OK;
}

static const char *or_imitated(const struct examined *found, bool is_known, const char *meaning)
{
    return is_known              ? meaning
           : found->wine != NULL ? "unknown: Wine does not report it"
                                 : "unknown: this system does not report it";
}

static void add_number(struct doctor *doctor, const struct examined *found, const char *name,
                       bool is_known, uint64_t value, const char *meaning, const char *how)
{
    doctor_add_fact(doctor, name, is_known ? cell_natural(value) : cell_unknown(),
                    or_imitated(found, is_known, meaning), how);
}

static void add_times(struct doctor *doctor, const struct examined *found)
{
    const struct camp_kernel *kernel = &found->kernel;
    const bool has_accounting = (kernel->known & CAMP_KERNEL_ACCOUNTING) != 0;
    const bool has_tick = (kernel->known & CAMP_KERNEL_TICK) != 0;
    DWORD adjustment = 0, increment = 0;
    BOOL is_disabled;
    LARGE_INTEGER frequency = { 0 };

    doctor_add_fact(
        doctor, "accounting",
        has_accounting ? cell_text(camp_accounting_name(kernel->accounting)) : cell_unknown(),
        or_imitated(found, has_accounting, "user and system time are sampled at the tick"),
        "the system");
    GetSystemTimeAdjustment(&adjustment, &increment, &is_disabled);
    add_number(doctor, found, "tick_hz", has_tick, kernel->tick_hz,
               document_text(&doctor->document, "ticks a second, each of %.4f ms",
                             (double)increment * 100 / NS_PER_MS),
               "GetSystemTimeAdjustment");
    add_number(doctor, found, "cycles_hz", (kernel->known & CAMP_KERNEL_CYCLES) != 0,
               kernel->cycles_hz, "cycles a second: measured times are cycles divided by it",
               "~MHz of the registry");
    QueryPerformanceFrequency(&frequency);
    doctor_add_fact(doctor, "clock_hz", cell_natural((uint64_t)frequency.QuadPart),
                    "units a second of the clock for intervals", "QueryPerformanceFrequency");
    doctor_add_fact(doctor, "processor_groups", cell_natural(GetActiveProcessorGroupCount()),
                    "of at most 64 CPUs each: CPU n of group g is 64 g + n",
                    "GetActiveProcessorGroupCount");
}

/* Whether a disk has counts: Windows does not count without a driver that does. */
static void add_disks(struct doctor *doctor)
{
    static struct camp_disk disks[DISKS_MOST];
    struct cell value = cell_unknown();
    size_t count = 0, counted = 0;

    if (camp_disk_read_all(NULL, CAMP_DISK_WHOLE, disks, sizeof disks[0], DISKS_MOST, &count,
                           NULL) == CAMP_OK &&
        count > 0) {
        for (size_t i = 0; i < count; i++)
            counted += (disks[i].known & CAMP_DISK_READS) != 0;
        value = doctor_yes_or_no(doctor, counted > 0);
    }
    doctor_add_fact(doctor, "disk_performance", value,
                    count == 0     ? "unknown: there is no disk, or more than 64"
                    : counted == 0 ? "no counts and times of disks"
                                   : "counts and measured times of disks",
                    "IOCTL_DISK_PERFORMANCE");
}

static void add_text(struct doctor *doctor)
{
    const unsigned page = GetACP();

    doctor_add_fact(doctor, "code_page", cell_natural(page),
                    page == CP_UTF8 ? "UTF-8: names of files and arguments can be of any language"
                                    : "names of files outside of this code page cannot be opened; "
                                      "UTF-8 takes Windows 10 of May 2019 or later",
                    "GetACP, the manifest of camp.exe");
}

/* Appends a word to a list with commas, as far as there is space. */
static void append(char list[LIST_SIZE], const char *prefix, const char *word)
{
    const size_t length = strlen(list);

    snprintf(list + length, LIST_SIZE - length, "%s%s%s", length > 0 ? ", " : "", prefix, word);
}

static void add_absent(struct doctor *doctor, enum part part)
{
    char list[LIST_SIZE] = "", form[FORM_SIZE];
    const char *prefix = "--from ";

    for (size_t i = 0; i < absent_command_count; i++) {
        if (absent_commands[i].part == part)
            append(list, "camp ", absent_commands[i].name);
    }
    for (size_t i = 0; i < from_source_count; i++) {
        if (from_sources[i].hidden || absent_part_of(&from_sources[i]) != part)
            continue;
        append(list, prefix, from_source_form(&from_sources[i], form, sizeof form));
        prefix = "";
    }
    if (absent_parts[part].more != NULL)
        append(list, "", absent_parts[part].more);
    doctor_add_fact(doctor, absent_parts[part].name, doctor_yes_or_no(doctor, false),
                    document_text(&doctor->document, "%s: no %s", absent_parts[part].why, list),
                    "the build");
}

static void add_imitation(struct doctor *doctor)
{
    for (size_t i = 0; i < imitated_by_wine_count; i++) {
        const struct imitated *number = &imitated_by_wine[i];
        const struct cell cells[] = {
            cell_text(number->counter),
            cell_text(number->reports),
            cell_text(number->shown != NULL ? number->shown : "unknown"),
        };

        DOCUMENT_ADD(&doctor->document, IMITATION, cells);
    }
}

static void add_facts(struct doctor *doctor, const struct examined *found)
{
    doctor_add_fact(doctor, "imitation", doctor_yes_or_no(doctor, found->wine != NULL),
                    found->wine != NULL
                        ? document_text(&doctor->document,
                                        "Wine %.20s imitates Windows: the last table has the "
                                        "numbers that it lacks or makes up",
                                        found->wine)
                        : "this is Windows itself",
                    "ntdll.dll");
    add_times(doctor, found);
    add_disks(doctor);
    add_text(doctor);
    for (enum part part = 0; part < PART_COUNT; part++)
        add_absent(doctor, part);
}

static void add_rights(struct doctor *doctor, const struct examined *found)
{
    doctor_add_right(doctor, "administrator", true, found->is_administrator,
                     "SeDebugPrivilege, which only administrators have");
    doctor_add_right(doctor, "SeDebugPrivilege", true, found->may_open_all,
                     "cycles of processes of other users and of services");
}

static void add_tier(struct doctor *doctor, const struct examined *found, enum tasks_tier tier,
                     bool is_available, const char *sees)
{
    const struct doctor_tier row = {
        .name = tasks_tiers[tier].name,
        .is_available = is_available,
        .is_used = found->tier == tier,
        .sees = sees,
        .lacks = tier_lacks(tier, false),
    };

    doctor_add_tier(doctor, &row);
}

static void add_tiers(struct doctor *doctor, const struct examined *found)
{
    const bool has_cycles = (found->kernel.known & CAMP_KERNEL_CYCLES) != 0;

    add_tier(doctor, found, TASKS_CYCLES, has_cycles,
             "sampled and measured time of living processes");
    add_tier(doctor, found, TASKS_TICKS, found->wine == NULL && !has_cycles,
             "sampled time of living processes");
    add_tier(doctor, found, TASKS_NOTHING, found->wine != NULL,
             "which processes live, start and end");
}

/* Returns what would give a better tier or more processes, or NULL if there is nothing to change.
 */
static const char *change_of(const struct examined *found)
{
    switch (found->tier) {
    case TASKS_NOTHING:
        return "run camp.exe on Windows itself: Wine does not count cycles";
    case TASKS_TICKS:
        return "there is no better tier here: the rate of the cycles is unknown";
    default:
        return found->may_open_all ? NULL
                                   : "run camp as an administrator, to measure processes of others";
    }
}

static void add_summary(struct doctor *doctor, const struct examined *found)
{
    struct document *document = &doctor->document;
    const struct camp_kernel *kernel = &found->kernel;
    const struct doctor_summary summary = { .kernel = kernel,
                                            .tier = tasks_tiers[found->tier].name,
                                            .change = change_of(found),
                                            .microstates_refusal = absent_parts[PART_STATES].why };

    doctor_add_summary(doctor, &summary);
    document->record.headline =
        document_text(document, "Windows %.40s %.20s: camp check runs on tier %s", kernel->release,
                      kernel->machine, summary.tier);
    document_note(document, "Thread states are unavailable, and so are camp top and camp time: %s.",
                  absent_parts[PART_STATES].why);
    if (summary.change != NULL)
        document_note(document, "To change that: %s", summary.change);
    else
        document_note(document, "There is no better tier.");
}

int doctor_fill(struct doctor *doctor, struct camp_error *error)
{
    struct examined found = { 0 };
    const int result = examine(&found, error);

    if (result < 0)
        return result;
    add_facts(doctor, &found);
    add_rights(doctor, &found);
    add_tiers(doctor, &found);
    if (found.wine != NULL)
        add_imitation(doctor);
    add_summary(doctor, &found);
    return CAMP_OK;
}
