#include "explain_live.h"

#include "program/command.h"

#include <stdio.h>
#include <string.h>

int explain_live_start(struct explain_live *live, struct source *source,
                       const struct from_facts *facts, bool has_disks, struct camp_error *error)
{
    int r = CAMP_OK;

    live->has_waits =
        has_disks && strcmp(facts->tier, "bpf") == 0 &&
        wait_tasks_read(&live->waits, threads_source_session(source), NULL) == CAMP_OK;
    if (live->has_waits)
        wait_tasks_start(&live->waits);
    if (source_beside(source) == NULL && strcmp(facts->kind, "cpus") != 0)
        r = cpus_source_open(NULL, &stop_requested, &live->cpus, error);
    if (camp_system_read(NULL, CAMP_SYSTEM_MEMORY_SOME, &live->before, sizeof live->before, NULL) !=
        CAMP_OK)
        live->before.known = 0;
    return r;
}

static void add_pressure(const struct explain_live *live, struct evidence *evidence)
{
    struct camp_system now = { 0 };

    if (camp_system_read(NULL, CAMP_SYSTEM_MEMORY_SOME, &now, sizeof now, NULL) != CAMP_OK ||
        (live->before.known & now.known & CAMP_SYSTEM_MEMORY_SOME) == 0)
        return;
    evidence->pressure.is_known = true;
    evidence->pressure.memory_some_ns =
        counted_since(live->before.memory_some_ns, now.memory_some_ns);
}

/* Returns the time that was waited for the disk of `row` in this row and the later ones. */
static uint64_t waits_from(const struct frame *waits, size_t row)
{
    const uint64_t *disk = frame_values(waits, row);
    uint64_t sum_ns = 0;

    for (size_t i = row; i < waits->entity_count; i++) {
        const uint64_t *values = frame_values(waits, i);

        if (values[WAITS_MAJOR] == disk[WAITS_MAJOR] && values[WAITS_MINOR] == disk[WAITS_MINOR])
            sum_ns += values[WAITS_DISK];
    }
    return sum_ns;
}

static void add_disk(struct evidence *evidence, const struct frame *waits)
{
    uint64_t most_ns = 0, all_ns = 0;

    for (size_t i = 0; i < waits->entity_count; i++) {
        const uint64_t *values = frame_values(waits, i);
        const uint64_t sum_ns =
            values[WAITS_MAJOR] != 0 || values[WAITS_MINOR] != 0 ? waits_from(waits, i) : 0;

        all_ns += values[WAITS_DISK];
        if (sum_ns <= most_ns)
            continue;
        most_ns = sum_ns;
        waits_disk_name(evidence->disk, values);
    }
    evidence->disk_share = all_ns > 0 ? (double)most_ns / (double)all_ns : 0;
}

int explain_live_end(struct explain_live *live, struct source *source, const struct frame *rows,
                     struct evidence *evidence, const struct frame **ret_cpus,
                     struct camp_error *error)
{
    int r = CAMP_OK;

    *ret_cpus = source_beside(source);
    if (live->cpus != NULL)
        r = live->cpus->next(live->cpus, 0, ret_cpus, error);
    add_pressure(live, evidence);
    if (r == CAMP_OK && live->has_waits &&
        wait_tasks_read(&live->waits, threads_source_session(source), NULL) == CAMP_OK) {
        r = wait_tasks_fill(&live->waits, rows, 0);
        if (r == CAMP_OK)
            add_disk(evidence, &live->waits.rows);
    }
    return r;
}

void explain_live_close(struct explain_live *live)
{
    source_close(live->cpus);
    wait_tasks_release(&live->waits);
    *live = (struct explain_live){ 0 };
}
