/*
 * camp doctor: what this kernel counts and how, its events for microstates, the capabilities of
 * this process and what each would give, the tier of `camp check`, and the one line that would
 * change it.
 *
 * doctor_facts.c has the facts. This file examines the rest, and shows all of it.
 */
#include "doctor.h"

#include "commands/check/check_record.h"
#include "program/command.h"
#include "program/privilege.h"
#include "views/view.h"

#include <stdio.h>
#include <string.h>

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
    { "used", "is used", "whether camp check uses it by default", -8, 0 },
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

/* Whether a session is possible is known after opening one. */
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

struct cell doctor_yes_or_no(const struct doctor *doctor, bool yes)
{
    return doctor->words ? cell_text(yes ? "yes" : "no") : cell_boolean(yes);
}

/* Without BTF the kernel does not report its events: there are no rows then. */
static void add_events(struct doctor *doctor)
{
    struct camp_states_event events[EVENTS_MAXIMUM];
    size_t count;

    if (camp_states_events(events, sizeof events[0], EVENTS_MAXIMUM, &count, NULL) != CAMP_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        struct cell *row = doctor->events[doctor->event_count++];

        row[0] = cell_text(events[i].name);
        row[1] = emphasised(doctor_yes_or_no(doctor, events[i].present != 0),
                            events[i].present != 0  ? PLAIN
                            : events[i].needed != 0 ? BAD
                                                    : FAINT);
        row[2] = doctor_yes_or_no(doctor, events[i].needed != 0);
        row[3] = cell_text(events[i].since);
        row[4] = cell_text(events[i].without);
    }
}

static void add_capabilities(struct doctor *doctor)
{
    bool known = (doctor->kernel.known & CAMP_KERNEL_CAPABILITIES) != 0;

    for (size_t i = 0; i < CAPABILITY_COUNT; i++) {
        bool held = capability_held(&doctor->kernel, capabilities[i].name);
        struct cell *row = doctor->capabilities[i];

        row[0] = cell_text(capabilities[i].name);
        row[1] = known ? emphasised(doctor_yes_or_no(doctor, held), held ? GOOD : FAINT)
                       : cell_unknown();
        row[2] = cell_text(capabilities[i].gives);
    }
}

static void add_tier(struct doctor *doctor, enum tasks_tier tier, bool available, const char *sees)
{
    struct cell *row = doctor->tiers[tier == TASKS_BPF ? 0 : tier == TASKS_TASKSTATS ? 1 : 2];

    row[0] = cell_text(tier_name(tier));
    row[1] = doctor_yes_or_no(doctor, available);
    row[2] = emphasised(doctor_yes_or_no(doctor, doctor->tier == tier),
                        doctor->tier == tier ? GOOD : FAINT);
    row[3] = cell_text(sees);
    row[4] = cell_text(tier_lacks(tier));
}

/* Root in a container holds the capabilities, but not those of the machine. */
static bool lacks_states(const struct doctor *doctor)
{
    return doctor->states_refusal.code == CAMP_E_PERM &&
           !(capability_held(&doctor->kernel, "CAP_BPF") &&
             capability_held(&doctor->kernel, "CAP_PERFMON")) &&
           !capability_held(&doctor->kernel, "CAP_SYS_ADMIN");
}

static const char *file_has_capabilities(const struct doctor *doctor)
{
    return privilege_group_exists() ? "sudo adduser $USER " PRIVILEGE_GROUP ", and log in anew"
                                    : doctor->setcap;
}

/* The obstacle to the better tier: a capability, or the kernel's refusal. */
static const char *change_of(struct doctor *doctor)
{
    if (doctor->tier == TASKS_TASKSTATS)
        return lacks_states(doctor) ? file_has_capabilities(doctor) : NULL;
    if (doctor->refusal.code == CAMP_E_PERM && doctor->taskstats_version == 0 &&
        capability_held(&doctor->kernel, "CAP_NET_ADMIN"))
        return "run camp outside of this container: what is held in it is not enough";
    if (doctor->refusal.code == CAMP_E_PERM && doctor->taskstats_version == 0)
        return file_has_capabilities(doctor);
    return doctor->refusal.message;
}

/* Where the kernel has microstates but the user may not read them, camp top and camp time still
 * show the numbers that every user may read. */
static void describe_microstates(struct doctor *doctor)
{
    const bool can = doctor->states_refusal.code == CAMP_OK;

    doctor->summary[5] = cell_boolean(can);
    doctor->summary[6] = cell_text(can ? NULL : doctor->states_refusal.message);
    if (can)
        snprintf(doctor->microstates, sizeof doctor->microstates,
                 "Microstates can be measured: camp top, time, wait, check --tier bpf.");
    else
        snprintf(doctor->microstates, sizeof doctor->microstates,
                 "%s; camp wait uses its tier kernel: %s",
                 doctor->states_refusal.code == CAMP_E_PERM
                     ? "Thread states are unavailable: camp top and camp time show CPU time"
                     : "Thread states are unavailable, and so are camp top and camp time",
                 doctor->states_refusal.message);
}

static void add_summary(struct doctor *doctor)
{
    const struct camp_kernel *kernel = &doctor->kernel;
    const char *change;

    privilege_line(doctor->setcap);
    change = change_of(doctor);
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
        COMMON_OPTION(COMMON_FORMAT, &format, .choices = formats),
        COLOR_OPTION,
        COMMON_OPTION(COMMON_TABLE, &table,
                      .help = "The table that csv writes: facts, events, capabilities or tiers.",
                      .choices = table_names),
    };
    const struct option_table options = {
        "camp doctor [OPTIONS]",
        "What this kernel counts and how, which events it has for microstates and whether\n"
        "they can be measured, which capabilities are held and what each would give,\n"
        "which tier camp check runs on, and what would change it.",
        specs, ARRAY_COUNT(specs)
    };
    struct view_options output = { .stream = stdout, .width = view_width(stdout) };
    struct doctor doctor = { 0 };
    struct camp_error error;
    int status = options_parse(&options, argc, argv, &first);
    int result;

    if (status != OPTIONS_GO_ON)
        return status;
    output.colour = view_wants_colour(stdout);
    output.table = table_names[table >= 0 ? table : FACTS];
    doctor.words = format == FORMAT_TEXT;
    result = examine(&doctor, &error);
    if (result < 0)
        return complain_of(result, &error);
    doctor_add_facts(&doctor);
    add_events(&doctor);
    add_capabilities(&doctor);
    add_tier(&doctor, TASKS_BPF, doctor.states_refusal.code == CAMP_OK,
             "both, all of what ends, and CPUs to the ns");
    add_tier(&doctor, TASKS_TASKSTATS, doctor.tier == TASKS_TASKSTATS,
             "sampled and measured time, and what ends");
    add_tier(&doctor, TASKS_SCHEDSTAT, true, "measured time of living processes");
    add_summary(&doctor);
    describe_microstates(&doctor);
    return show(&doctor, view_by_name(formats[format]), &output);
}
