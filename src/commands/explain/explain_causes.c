#include "explain_causes.h"

#include "ledger/array.h"
#include "program/command.h"

#include <string.h>

static bool reads_threads(const struct from *from)
{
    static const char *const sources[] = { "threads", "processes", "users", "commands", "cgroups" };

    for (size_t i = 0; from->text != NULL && i < ARRAY_COUNT(sources); i++) {
        if (strcmp(from->text, sources[i]) == 0)
            return true;
    }
    return from->text == NULL;
}

int explain_causes_ask(struct from *from, const struct process_selection *processes)
{
    if (!reads_threads(from))
        return complain(STATUS_USAGE,
                        "--why goes with the threads of this machine: --from threads, processes, "
                        "users, commands or cgroups; of a recording, camp explain reads the causes "
                        "that camp record --why wrote");
    from->causes = true;
    if (processes->count == 1)
        from->causes_pid = processes->pids[0];
    else if (processes->count > 1)
        from->states_options |= CAMP_STATES_BY_PROCESS;
    return OPTIONS_GO_ON;
}

int explain_causes_add(struct explain_causes *causes, struct source *source,
                       struct camp_error *error)
{
    const struct causes *more;
    int r;

    if (causes->is_damaged)
        return CAMP_OK;
    r = source_causes(source, &more, error);
    if (r == CAMP_OK && more == NULL) {
        causes->without++;
        return CAMP_OK;
    }
    if (r == CAMP_OK)
        r = cause_sum_add(&causes->sum, more, error);
    if (r != CAMP_OK && r != CAMP_E_NOMEM) {
        complain_of(r, error);
        causes->is_damaged = true;
        r = CAMP_OK;
    }
    return r;
}

static const char *reason_of(const struct explain_causes *causes, const struct evidence *evidence)
{
    if (causes->is_damaged)
        return "the causes of waits in the recording are damaged";
    if (causes->sum.intervals > 0)
        return "some intervals of the recording have no causes of waits: --begin and --end select "
               "those that have them";
    if (evidence->is_live && evidence->kind == EVIDENCE_THREADS)
        return "the causes of waits were not read: camp explain --why reads them, and camp record "
               "--why records them";
    return "there are no causes of waits here: they are in recordings of threads by camp record "
           "--why";
}

void explain_causes_finish(struct explain_causes *causes, struct evidence *evidence)
{
    if (!causes->is_damaged && causes->sum.intervals > 0 && causes->without == 0)
        evidence->causes = cause_sum_finish(&causes->sum);
    else
        evidence->why_no_causes = reason_of(causes, evidence);
}

void explain_causes_release(struct explain_causes *causes)
{
    cause_sum_release(&causes->sum);
}
