/*
 * What camp doctor examines on Linux: taskstats, the kernel's events for microstates, the
 * capabilities of this process and the tiers of `camp check`. doctor_linux_facts.c has the facts
 * about the kernel.
 */
#include "doctor_linux.h"

#include "commands/check/check_record.h"
#include "counters/error.h"
#include "program/capability.h"
#include "program/privilege.h"
#include "sources/machine/hidden.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MAXIMUM 40

/* Opens a session of microstates, because nothing else shows whether a session can be opened. */
static void try_microstates(struct examined *found)
{
    struct camp_states *session = NULL;
    char *advice;

    if (camp_states_open(&session, CAMP_STATES_NO_SYSCALLS, &found->states_refusal) == CAMP_OK)
        found->states_refusal.code = CAMP_OK;
    /* Removes the advice to run camp doctor. */
    advice = strstr(found->states_refusal.message, CAMP_ADVICE_PRIVILEGE);
    if (advice != NULL)
        *advice = '\0';
    camp_states_close(session);
}

/* Opens the tier taskstats, because nothing else shows whether it can read final clocks, the
 * complete CPU time of exited processes. */
static void try_final_clocks(struct examined *found)
{
    static const volatile sig_atomic_t never_stop;
    struct source *source = NULL;
    enum tasks_tier tier;

    if (tasks_source_open(TASKS_TASKSTATS, &never_stop, &source, &tier, NULL) == CAMP_OK)
        found->final_clocks = tasks_source_has_final_clocks(source);
    source_close(source);
}

static int examine(struct examined *found, struct camp_error *error)
{
    struct camp_taskstats session = CAMP_TASKSTATS_NONE;
    int result = camp_kernel_read(NULL, &found->kernel, sizeof found->kernel, error);

    if (result == CAMP_OK)
        result = camp_linux_read(NULL, &found->facts, sizeof found->facts, error);
    if (result < 0)
        return result;
    result = camp_taskstats_open(&session, &found->refusal);
    if (result == CAMP_OK) {
        found->taskstats_version = session.version;
        result = camp_taskstats_listen(&session, &found->refusal);
    }
    camp_taskstats_close(&session);
    found->tier = result == CAMP_OK ? TASKS_TASKSTATS : TASKS_SCHEDSTAT;
    if (found->tier == TASKS_TASKSTATS)
        try_final_clocks(found);
    try_microstates(found);
    return CAMP_OK;
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

static void add_capabilities(struct doctor *doctor, const struct examined *found)
{
    const bool is_known = (found->facts.known & CAMP_LINUX_CAPABILITIES) != 0;

    for (size_t i = 0; i < CAPABILITY_COUNT; i++)
        doctor_add_right(doctor, capabilities[i].name, is_known,
                         capability_held(&found->facts, capabilities[i].name),
                         capabilities[i].gives);
}

static void add_tier(struct doctor *doctor, const struct examined *found, enum tasks_tier tier,
                     bool is_available, const char *sees)
{
    const struct doctor_tier row = {
        .name = tier_name(tier),
        .is_available = is_available,
        .is_used = found->tier == tier,
        .sees = sees,
        .lacks = tier_lacks(tier, found->final_clocks),
    };

    doctor_add_tier(doctor, &row);
}

static void add_tiers(struct doctor *doctor, const struct examined *found)
{
    add_tier(doctor, found, TASKS_BPF, found->states_refusal.code == CAMP_OK,
             "sampled and measured time of living and ended processes; CPU times to 1 ns");
    add_tier(doctor, found, TASKS_TASKSTATS, found->tier == TASKS_TASKSTATS,
             found->final_clocks
                 ? "sampled and measured time of living and ended processes"
                 : "sampled and measured time of living processes, and most of that of ended ones");
    add_tier(doctor, found, TASKS_SCHEDSTAT, true, "measured time of living processes");
}

/* Returns whether a capability for microstates is missing. Returns false for root in a container,
 * whose capabilities are valid only inside the container. */
static bool lacks_states(const struct examined *found)
{
    return found->states_refusal.code == CAMP_E_PERM &&
           !(capability_held(&found->facts, "CAP_BPF") &&
             capability_held(&found->facts, "CAP_PERFMON")) &&
           !capability_held(&found->facts, "CAP_SYS_ADMIN");
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
static const char *change_of(struct doctor *doctor, const struct examined *found)
{
    if (found->tier == TASKS_TASKSTATS)
        return lacks_states(found) ? way_to_capabilities(doctor) : NULL;
    if (found->refusal.code == CAMP_E_PERM && found->taskstats_version == 0 &&
        capability_held(&found->facts, "CAP_NET_ADMIN"))
        return "run camp outside of this container: what is held in it is not enough";
    if (found->refusal.code == CAMP_E_PERM && found->taskstats_version == 0)
        return way_to_capabilities(doctor);
    return found->refusal.message;
}

/* Adds a note that says whether microstates can be measured. If only a capability is missing, camp
 * top and camp time still show CPU time. */
static void note_microstates(struct doctor *doctor, const struct examined *found)
{
    const struct camp_error *refusal = &found->states_refusal;

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

static void add_summary(struct doctor *doctor, const struct examined *found)
{
    struct document *document = &doctor->document;
    const struct camp_kernel *kernel = &found->kernel;
    const unsigned version = found->taskstats_version;
    const bool has_states = found->states_refusal.code == CAMP_OK;
    const struct doctor_summary summary = {
        .kernel = kernel,
        .tier = tier_name(found->tier),
        .taskstats_version = version,
        .change = change_of(doctor, found),
        .microstates_refusal = has_states ? NULL : found->states_refusal.message,
    };
    const char *taskstats = "";
    char hidden[HIDDEN_NOTE_SIZE];

    doctor_add_summary(doctor, &summary);
    if (version != 0)
        taskstats = document_text(document, " (taskstats version %u)", version);
    document->record.headline =
        document_text(document, "%.40s %.20s: camp check runs on tier %s%s", kernel->release,
                      kernel->machine, tier_name(found->tier), taskstats);
    note_microstates(doctor, found);
    hidden_note(hidden);
    if (hidden[0] != '\0')
        document_note(document, "%s", hidden);
    if (summary.change != NULL)
        document_note(document, "To change that: %s", summary.change);
    else
        document_note(
            document,
            found->tier == TASKS_TASKSTATS && has_states
                ? "camp check --tier bpf is the most exact, and costs more than taskstats."
                : "There is no better tier.");
}

int doctor_fill(struct doctor *doctor, struct camp_error *error)
{
    struct examined found = { 0 };
    const int result = examine(&found, error);

    if (result < 0)
        return result;
    doctor_add_linux_facts(doctor, &found);
    add_events(doctor);
    add_capabilities(doctor, &found);
    add_tiers(doctor, &found);
    add_summary(doctor, &found);
    return CAMP_OK;
}
