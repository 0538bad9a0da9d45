/*
 * camp doctor shows what this kernel counts, and how. It also shows the kernel's events for
 * microstates, the capabilities of this process and what each permits, the measurement tier of
 * `camp check`, and the command that would make a better tier available.
 *
 * doctor_facts.c has the facts about the kernel. This file examines all other things, and prints
 * the document.
 */
#include "doctor.h"

#include "commands/check/check_record.h"
#include "counters/error.h"
#include "program/command.h"
#include "program/privilege.h"
#include "sources/machine/hidden.h"
#include "views/view.h"

#include <camp/linux.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static const struct field fact_fields[] = {
    { "name", "fact", "what is asked of the kernel", -18, 0 },
    { "value", "value", "its answer; null: not known", -9, 0 },
    { "meaning", "what it means", "what that means for the numbers", 0, 0 },
    { "how", NULL, "where the answer comes from", 0, 0 },
};

static const struct field capability_fields[] = {
    { "name", "capability", "as in capabilities(7)", -20, 0 },
    { "held", "held", "whether this process has it (effective); null: not known", -5, 0 },
    { "gives", "what it gives", "what camp can do with it", 0, 0 },
};

static const struct field tier_fields[] = {
    { "name", "tier", "how camp check reads processes", -10, 0 },
    { "available", "can run", "whether it can run here and now", -8, 0 },
    { "used", "is used", "whether camp check uses it by default", -8, 0 },
    { "sees", "what it sees", "what it reads", 0, 0 },
    { "lacks", NULL, "what it cannot see; null: nothing", 0, 0 },
};

static const struct field event_fields[] = {
    { "name", "event", "of the kernel, which microstates are measured by", -23, 0 },
    { "present", "there", "whether this kernel has it, by its BTF or tried; null: not known", -5,
      0 },
    { "needed", "must", "true: no microstates without it", -4, 0 },
    { "since", "Linux", "the first that has it; x86: only there", -6, 0 },
    { "without", "without it", "what is missing then", 0, 0 },
};

static const struct field summary_fields[] = {
    { "release", NULL, "of the kernel", 0, 0 },
    { "machine", NULL, "of the kernel: x86_64, aarch64, s390x", 0, 0 },
    { "tier", NULL, "that camp check runs on now", 0, 0 },
    { "taskstats_version", NULL, "of the kernel's struct; null: no answer", 0, 0 },
    { "change", NULL, "what would give a better tier; null: there is none", 0, 0 },
    { "microstates", NULL, "whether they can be measured here and now", 0, 0 },
    { "microstates_refusal", NULL, "why not; null: they can", 0, 0 },
};

static const struct table tables[TABLE_COUNT] = {
    [FACTS] = DOCUMENT_ROWS("facts", fact_fields),
    [EVENTS] = DOCUMENT_ROWS("events", event_fields),
    [CAPABILITIES] = DOCUMENT_ROWS("capabilities", capability_fields),
    [TIERS] = DOCUMENT_ROWS("tiers", tier_fields),
    [SUMMARY] = DOCUMENT_ONE("summary", TABLE_INLINE, summary_fields),
};

static const struct record layout = DOCUMENT_LAYOUT("camp.doctor/1", tables, FACTS);

#define EVENTS_MAXIMUM 40

static const char *const table_names[] = { "facts", "events", "capabilities", "tiers", NULL };

/* Opens a session of microstates, because nothing else shows whether a session can be opened. */
static void try_microstates(struct doctor *doctor)
{
    struct camp_states *session = NULL;
    char *advice;

    if (camp_states_open(&session, CAMP_STATES_NO_SYSCALLS, &doctor->states_refusal) == CAMP_OK)
        doctor->states_refusal.code = CAMP_OK;
    /* Removes the advice to run camp doctor. */
    advice = strstr(doctor->states_refusal.message, CAMP_ADVICE_PRIVILEGE);
    if (advice != NULL)
        *advice = '\0';
    camp_states_close(session);
}

/* Opens the tier taskstats, because nothing else shows whether it can read final clocks, the
 * complete CPU time of exited processes. */
static void try_final_clocks(struct doctor *doctor)
{
    static const volatile sig_atomic_t never_stop;
    struct source *source = NULL;
    enum tasks_tier tier;

    if (tasks_source_open(TASKS_TASKSTATS, &never_stop, &source, &tier, NULL) == CAMP_OK)
        doctor->final_clocks = tasks_source_has_final_clocks(source);
    source_close(source);
}

static int examine(struct doctor *doctor, struct camp_error *error)
{
    struct camp_taskstats session = CAMP_TASKSTATS_NONE;
    int result = camp_kernel_read(NULL, &doctor->kernel, sizeof doctor->kernel, error);

    if (result == CAMP_OK)
        result = camp_linux_read(NULL, &doctor->facts, sizeof doctor->facts, error);
    if (result < 0)
        return result;
    result = camp_taskstats_open(&session, &doctor->refusal);
    if (result == CAMP_OK) {
        doctor->taskstats_version = session.version;
        result = camp_taskstats_listen(&session, &doctor->refusal);
    }
    camp_taskstats_close(&session);
    doctor->tier = result == CAMP_OK ? TASKS_TASKSTATS : TASKS_SCHEDSTAT;
    if (doctor->tier == TASKS_TASKSTATS)
        try_final_clocks(doctor);
    try_microstates(doctor);
    return CAMP_OK;
}

struct cell doctor_yes_or_no(const struct doctor *doctor, bool yes)
{
    return doctor->words ? cell_text(yes ? "yes" : "no") : cell_boolean(yes);
}

static struct cell event_presence(const struct doctor *doctor,
                                  const struct camp_states_event *event)
{
    if ((event->known & CAMP_STATES_EVENT_PRESENT) == 0)
        return cell_unknown();
    return emphasised(doctor_yes_or_no(doctor, event->present != 0), event->present != 0  ? PLAIN
                                                                     : event->needed != 0 ? BAD
                                                                                          : FAINT);
}

/* Without BTF, the kernel does not report its events, and the table stays empty. */
static void add_events(struct doctor *doctor)
{
    struct camp_states_event events[EVENTS_MAXIMUM];
    size_t count;

    if (camp_states_events(events, sizeof events[0], EVENTS_MAXIMUM, &count, NULL) != CAMP_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct cell cells[] = {
            cell_text(events[i].name),
            event_presence(doctor, &events[i]),
            doctor_yes_or_no(doctor, events[i].needed != 0),
            cell_text(events[i].since),
            cell_text(events[i].without),
        };

        DOCUMENT_ADD(&doctor->document, EVENTS, cells);
    }
}

static void add_capabilities(struct doctor *doctor)
{
    bool known = (doctor->facts.known & CAMP_LINUX_CAPABILITIES) != 0;

    for (size_t i = 0; i < CAPABILITY_COUNT; i++) {
        bool held = capability_held(&doctor->facts, capabilities[i].name);
        const struct cell cells[] = {
            cell_text(capabilities[i].name),
            known ? emphasised(doctor_yes_or_no(doctor, held), held ? GOOD : FAINT)
                  : cell_unknown(),
            cell_text(capabilities[i].gives),
        };

        DOCUMENT_ADD(&doctor->document, CAPABILITIES, cells);
    }
}

static void add_tier(struct doctor *doctor, enum tasks_tier tier, bool available, const char *sees)
{
    const bool is_used = doctor->tier == tier;
    const struct cell cells[] = {
        cell_text(tier_name(tier)),
        doctor_yes_or_no(doctor, available),
        emphasised(doctor_yes_or_no(doctor, is_used), is_used ? GOOD : FAINT),
        cell_text(sees),
        cell_text(tier_lacks(tier, doctor->final_clocks)),
    };

    DOCUMENT_ADD(&doctor->document, TIERS, cells);
}

/* Returns whether a capability for microstates is missing. Returns false for root in a container,
 * whose capabilities are valid only inside the container. */
static bool lacks_states(const struct doctor *doctor)
{
    return doctor->states_refusal.code == CAMP_E_PERM &&
           !(capability_held(&doctor->facts, "CAP_BPF") &&
             capability_held(&doctor->facts, "CAP_PERFMON")) &&
           !capability_held(&doctor->facts, "CAP_SYS_ADMIN");
}

/* In a shell that sudo(8) started, $USER is root, and $SUDO_USER is the user who started it. The
 * shell in which the command is run expands them, which may be another one. */
static const char *way_to_capabilities(struct doctor *doctor)
{
    const char *user = getenv("SUDO_USER") != NULL ? "${SUDO_USER:-$USER}" : "$USER";
    char line[PRIVILEGE_LINE_SIZE];

    if (privilege_group_exists())
        return document_text(&doctor->document,
                             "sudo adduser %s " PRIVILEGE_GROUP "; then log in again", user);
    privilege_line(line);
    return document_text(&doctor->document,
                         "sudo groupadd --system " PRIVILEGE_GROUP
                         "; sudo usermod -aG " PRIVILEGE_GROUP " %s; %s; then log in again",
                         user, line);
}

/* Returns a command for a better tier, or the reason why a better tier is not possible. NULL if
 * there is nothing to change. */
static const char *change_of(struct doctor *doctor)
{
    if (doctor->tier == TASKS_TASKSTATS)
        return lacks_states(doctor) ? way_to_capabilities(doctor) : NULL;
    if (doctor->refusal.code == CAMP_E_PERM && doctor->taskstats_version == 0 &&
        capability_held(&doctor->facts, "CAP_NET_ADMIN"))
        return "run camp outside of this container: what is held in it is not enough";
    if (doctor->refusal.code == CAMP_E_PERM && doctor->taskstats_version == 0)
        return way_to_capabilities(doctor);
    return doctor->refusal.message;
}

/* Adds a note that says whether microstates can be measured. If only a capability is missing, camp
 * top and camp time still show CPU time. */
static void note_microstates(struct doctor *doctor)
{
    const struct camp_error *refusal = &doctor->states_refusal;

    if (refusal->code == CAMP_OK)
        document_note(&doctor->document,
                      "Microstates can be measured: camp top, time, wait, check --tier bpf.");
    else
        document_note(&doctor->document, "%s; camp wait uses its tier kernel: %s",
                      refusal->code == CAMP_E_PERM
                          ? "Thread states are unavailable: camp top and camp time show CPU time"
                          : "Thread states are unavailable, and so are camp top and camp time",
                      refusal->message);
}

static void add_summary(struct doctor *doctor)
{
    struct document *document = &doctor->document;
    const struct camp_kernel *kernel = &doctor->kernel;
    const unsigned version = doctor->taskstats_version;
    const bool has_states = doctor->states_refusal.code == CAMP_OK;
    const char *change = change_of(doctor), *taskstats = "";
    char hidden[HIDDEN_NOTE_SIZE];
    const struct cell cells[] = {
        cell_text(kernel->release),
        cell_text(kernel->machine),
        cell_text(tier_name(doctor->tier)),
        version != 0 ? cell_natural(version) : cell_unknown(),
        cell_text(change),
        cell_boolean(has_states),
        cell_text(has_states ? NULL : doctor->states_refusal.message),
    };

    DOCUMENT_ADD(document, SUMMARY, cells);
    if (version != 0)
        taskstats = document_text(document, " (taskstats version %u)", version);
    document->record.headline =
        document_text(document, "%.40s %.20s: camp check runs on tier %s%s", kernel->release,
                      kernel->machine, tier_name(doctor->tier), taskstats);
    note_microstates(doctor);
    hidden_note(hidden);
    if (hidden[0] != '\0')
        document_note(document, "%s", hidden);
    if (change != NULL)
        document_note(document, "To change that: %s", change);
    else
        document_note(
            document,
            doctor->tier == TASKS_TASKSTATS && doctor->states_refusal.code == CAMP_OK
                ? "camp check --tier bpf is the most exact, and costs more than taskstats."
                : "There is no better tier.");
}

static void fill(struct doctor *doctor)
{
    document_start(&doctor->document, &layout);
    doctor_add_facts(doctor);
    add_events(doctor);
    add_capabilities(doctor);
    add_tier(doctor, TASKS_BPF, doctor->states_refusal.code == CAMP_OK,
             "sampled and measured time of living and ended processes; CPU times to 1 ns");
    add_tier(doctor, TASKS_TASKSTATS, doctor->tier == TASKS_TASKSTATS,
             doctor->final_clocks
                 ? "sampled and measured time of living and ended processes"
                 : "sampled and measured time of living processes, and most of that of ended ones");
    add_tier(doctor, TASKS_SCHEDSTAT, true, "measured time of living processes");
    add_summary(doctor);
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
    struct view_options output;
    struct doctor doctor = { 0 };
    struct camp_error error;
    int status = options_parse(&options, argc, argv, &first);
    int result;

    if (status != OPTIONS_GO_ON)
        return status;
    /* view_options_of() must be called after options_parse(), which handles --color. */
    output = view_options_of(stdout);
    output.table = table_names[table >= 0 ? table : FACTS];
    doctor.words = format == FORMAT_TEXT;
    result = examine(&doctor, &error);
    if (result < 0)
        return complain_of(result, &error);
    fill(&doctor);
    status = show_document(&doctor.document, view_by_name(formats[format]), &output, 0);
    document_release(&doctor.document);
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}
