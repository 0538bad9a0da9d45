#include "evidence.h"

#include "counters/units.h"
#include "ledger/array.h"
#include "ledger/group.h"
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum evidence_kind kind_of(const struct schema *schema, bool are_threads)
{
    if (are_threads)
        return EVIDENCE_THREADS;
    if (column_find(schema, "measured_ns") != SIZE_MAX)
        return EVIDENCE_CHECK;
    if (columns_has(schema, "contention_ns", NULL) || columns_has(schema, "contention_*", NULL))
        return EVIDENCE_SESSIONS;
    return EVIDENCE_OTHER;
}

void evidence_start(struct evidence *evidence, const struct schema *schema, bool are_threads)
{
    evidence->kind = kind_of(schema, are_threads);
    evidence->why_no_causes = "there are no causes of waits here";
    frame_init(&evidence->rows.frame, schema);
    frame_init(&evidence->short_lived.frame, schema);
}

static bool is_short_lived(const struct evidence *evidence, const struct entity *entity)
{
    return (evidence->kind == EVIDENCE_THREADS || evidence->kind == EVIDENCE_CHECK) &&
           (entity->flags & ENTITY_NEW) != 0 && (entity->flags & ENTITY_ENDED) != 0;
}

/* Returns whether an entity would get a row that no earlier interval has. */
static bool needs_row(const struct evidence_sum *sum, const struct entity *entity)
{
    return ((entity->flags & ENTITY_NEW) != 0 && entity->id != 0) ||
           registry_find(&sum->registry, entity) == REGISTRY_NONE;
}

/* Returns the entity under which a row is added up. */
static struct entity entity_of(const struct evidence *evidence, const struct evidence_sum *sum,
                               const struct entity *entity)
{
    struct entity ret = *entity;

    if (sum == &evidence->short_lived || ret.id == 0)
        ret.flags &= ~(uint32_t)ENTITY_NEW; /* A row with a name goes on in later intervals. */
    if (sum == &evidence->short_lived)
        ret.id = ret.pid = 0;
    if (sum->registry.count >= EVIDENCE_ROWS_MOST && needs_row(sum, &ret)) {
        ret = (struct entity){ .flags = ENTITY_ENDED, .count = ret.count };
        snprintf(ret.name, sizeof ret.name, EVIDENCE_OTHERS);
    }
    return ret;
}

static int add_row(struct evidence *evidence, struct evidence_sum *sum, const struct frame *from,
                   size_t row)
{
    const struct entity entity = entity_of(evidence, sum, &from->entities[row]);
    enum registry_match match;
    uint32_t number, count;
    int r = registry_enter(&sum->registry, &entity, &number, &match);

    while (r == CAMP_OK && sum->frame.entity_count <= number) {
        if (frame_add(&sum->frame) == NULL)
            return CAMP_E_NOMEM;
        sum->frame.entities[sum->frame.entity_count - 1].count = 0;
    }
    if (r != CAMP_OK)
        return r;
    if (!ARRAY_RESERVE_ZEROED(sum->unaccounted_ns, sum->unaccounted_capacity,
                              sum->frame.entity_count))
        return CAMP_E_NOMEM;
    sum->unaccounted_ns[number] += frame_unaccounted_size_ns(from, row);
    count = entity.id == 0 ? sum->frame.entities[number].count : 0;
    sum->frame.entities[number] = entity;
    sum->frame.entities[number].count += count;
    frame_add_values(&sum->frame, number, from, row);
    return CAMP_OK;
}

static int add_root(struct evidence *evidence, int64_t id, uint64_t blocking_ns)
{
    size_t at = 0;

    while (at < evidence->root_count && evidence->roots[at].id != id)
        at++;
    if (!ARRAY_RESERVE(evidence->roots, evidence->root_capacity, at + 1))
        return CAMP_E_NOMEM;
    if (at == evidence->root_count)
        evidence->roots[evidence->root_count++] = (struct evidence_root){ id, 0 };
    evidence->roots[at].blocking_ns += blocking_ns;
    return CAMP_OK;
}

/* Adds what sessions waited to the session that blocks all of their chain, in this interval. */
static int add_roots(struct evidence *evidence, const struct frame *rows)
{
    const size_t blocked = column_find(rows->schema, "blocked_ns");
    const size_t label = schema_find_label(rows->schema, "root_blocker");
    int r = CAMP_OK;

    if (blocked == SIZE_MAX || label == SIZE_MAX)
        return CAMP_OK;
    for (size_t i = 0; i < rows->entity_count && r == CAMP_OK; i++) {
        const char *root = labels_value(rows->entities[i].labels, label);
        const uint64_t blocked_ns = frame_values(rows, i)[blocked];
        const bool is_known = (root[0] >= '0' && root[0] <= '9') || strcmp(root, "prepared") == 0;

        if (blocked_ns > 0 && is_known)
            r = add_root(evidence, entity_beside(rows->entities[i].id, strtoll(root, NULL, 10)),
                         blocked_ns);
    }
    return r;
}

int evidence_add(struct evidence *evidence, const struct frame *rows, const struct frame *cpus)
{
    int r = CAMP_OK;

    evidence->elapsed_ns += rows->end_ns - rows->start_ns;
    evidence->intervals++;
    losses_add(&evidence->losses, &rows->losses);
    registry_start_frame(&evidence->rows.registry);
    registry_start_frame(&evidence->short_lived.registry);
    for (size_t i = 0; i < rows->entity_count && r == CAMP_OK; i++) {
        struct evidence_sum *sum =
            is_short_lived(evidence, &rows->entities[i]) ? &evidence->short_lived : &evidence->rows;

        r = add_row(evidence, sum, rows, i);
    }
    if (r == CAMP_OK && evidence->kind == EVIDENCE_SESSIONS)
        r = add_roots(evidence, rows);
    if (cpus == NULL)
        return r;
    if (cpus != rows)
        evidence->losses.partial += cpus->losses.partial;
    if (evidence->cpus.frame.schema == NULL)
        frame_init(&evidence->cpus.frame, cpus->schema);
    registry_start_frame(&evidence->cpus.registry);
    for (size_t i = 0; i < cpus->entity_count && r == CAMP_OK; i++)
        r = add_row(evidence, &evidence->cpus, cpus, i);
    return r;
}

double evidence_seconds(const struct evidence *evidence)
{
    return (double)evidence->elapsed_ns / NS_PER_S;
}

struct measure evidence_of_processes(const struct evidence *evidence, const char *columns)
{
    return measure_columns(&evidence->processes, evidence_seconds(evidence), columns);
}

static void compare_cpu(struct evidence_machine *machine, int64_t id, double busy)
{
    if (!machine->has_rows || busy > machine->fullest.share)
        machine->fullest = (struct evidence_cpu){ id, busy };
    if (!machine->has_rows || 1 - busy > machine->emptiest.share)
        machine->emptiest = (struct evidence_cpu){ id, 1 - busy };
    machine->has_rows = true;
}

/* Fills the members that come from a row for each CPU. */
static void add_cpus(struct evidence_machine *machine, const struct frame *cpus)
{
    const struct measure busy = measure_class(cpus, 1, CLASS_CPU);
    const struct measure outside = measure_columns(cpus, 1, "outside_ns");
    double busy_s = 0, elapsed_s = 0, outside_s = 0;

    for (size_t i = 0; i < cpus->entity_count; i++) {
        const double row_s = (double)cpus->elapsed_ns[i] / NS_PER_S;

        if (cpus->entities[i].id == CAMP_CPU_TOTAL || row_s <= 0)
            continue;
        compare_cpu(machine, cpus->entities[i].id, measure_row(&busy, i) / row_s);
        machine->cpus++;
        busy_s += measure_row(&busy, i);
        outside_s += measure_row(&outside, i);
        elapsed_s += row_s;
    }
    if (elapsed_s <= 0)
        return;
    machine->has_load = true;
    machine->busy = fmin(busy_s / elapsed_s, 1);
    machine->outside = outside_s / elapsed_s * (double)machine->cpus;
}

static void fill_machine(struct evidence *evidence, size_t cpus_if_unknown)
{
    struct evidence_machine *machine = &evidence->machine;
    const struct frame *rows = &evidence->rows.frame;
    const double seconds = evidence_seconds(evidence);
    struct measure rows_cpu, short_cpu;

    *machine = (struct evidence_machine){ 0 };
    if (evidence->cpus.frame.schema != NULL)
        add_cpus(machine, &evidence->cpus.frame);
    if (machine->cpus == 0)
        machine->cpus = cpus_if_unknown;
    if (machine->has_load || machine->cpus == 0 || evidence->kind != EVIDENCE_THREADS ||
        seconds <= 0)
        return;
    rows_cpu = measure_class(rows, seconds, CLASS_CPU);
    short_cpu = measure_class(&evidence->short_lived.frame, seconds, CLASS_CPU);
    machine->has_load = true;
    machine->busy =
        fmin((measure_all(&rows_cpu) + measure_all(&short_cpu)) / (double)machine->cpus, 1);
}

static int compare_members(const void *left, const void *right)
{
    const struct evidence_member *a = left, *b = right;

    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static int sort_members(struct evidence *evidence)
{
    const struct frame *rows = &evidence->rows.frame;

    evidence->members = calloc(rows->entity_count + 1, sizeof *evidence->members);
    if (evidence->members == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < rows->entity_count; i++)
        evidence->members[i] = (struct evidence_member){ entity_pid(&rows->entities[i]), i };
    qsort(evidence->members, rows->entity_count, sizeof *evidence->members, compare_members);
    return CAMP_OK;
}

struct evidence_process evidence_process_find(const struct evidence *evidence, int64_t pid)
{
    const size_t all = evidence->rows.frame.entity_count;
    struct evidence_process ret = { evidence->members, 0 };
    size_t first = 0, end = all;

    while (first < end) {
        const size_t middle = first + (end - first) / 2;

        if (evidence->members[middle].pid < pid)
            first = middle + 1;
        else
            end = middle;
    }
    ret.members += first;
    while (first + ret.count < all && ret.members[ret.count].pid == pid)
        ret.count++;
    return ret;
}

struct evidence_process evidence_process_next(const struct evidence *evidence,
                                              const struct evidence_process *process)
{
    const size_t all = evidence->rows.frame.entity_count;
    struct evidence_process ret = { evidence->members, 0 };

    if (process->members != NULL)
        ret.members = process->members + process->count;
    while ((size_t)(ret.members - evidence->members) + ret.count < all &&
           ret.members[ret.count].pid == ret.members[0].pid)
        ret.count++;
    return ret;
}

int evidence_finish(struct evidence *evidence, size_t cpus_if_unknown)
{
    const struct grouping by_process = { .key = GROUP_PROCESS };
    const struct frame *rows = &evidence->rows.frame;
    int r = CAMP_OK;

    if (evidence->kind == EVIDENCE_THREADS)
        r = group_frame(&evidence->processes, rows, &by_process);
    else
        frame_start_as(&evidence->processes, rows);
    for (size_t i = 0; evidence->kind != EVIDENCE_THREADS && i < rows->entity_count && r == CAMP_OK;
         i++)
        r = frame_add_row(&evidence->processes, rows, i) != NULL ? CAMP_OK : CAMP_E_NOMEM;
    if (r == CAMP_OK)
        r = sort_members(evidence);
    if (r == CAMP_OK)
        fill_machine(evidence, cpus_if_unknown);
    return r;
}

static void release_sum(struct evidence_sum *sum)
{
    frame_release(&sum->frame);
    registry_release(&sum->registry);
    free(sum->unaccounted_ns);
}

void evidence_release(struct evidence *evidence)
{
    release_sum(&evidence->rows);
    release_sum(&evidence->short_lived);
    release_sum(&evidence->cpus);
    frame_release(&evidence->processes);
    free(evidence->members);
    free(evidence->roots);
    *evidence = (struct evidence){ 0 };
}
