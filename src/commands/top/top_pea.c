#include "top_pea.h"

#include "counters/units.h"
#include "ledger/array.h"
#include "ledger/selection.h"
#include "sources/source.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELL_SIZE 8 /* bytes for the text of one number, such as "9.9" or "999K" */
#define WANTED                                                                                     \
    (CAMP_TASK_VIRTUAL | CAMP_TASK_RESIDENT | CAMP_TASK_CHILDREN | CAMP_TASK_PARENT |              \
     CAMP_TASK_START)

const struct field pea_fields[PEA_FIELD_COUNT] = {
    [PEA_VIRTUAL] = { .name = "virtual_bytes", .help = "address space of the process at the end" },
    [PEA_RESIDENT] = { .name = "resident_bytes", .help = "its pages in memory at the end" },
    [PEA_CHILDREN] = { .name = "children_percent",
                       .help = "CPU time of children that exited and were waited for, of one CPU",
                       .decimals = 2 },
};

/* ---------------------------------------------------------------------- The processes -- */

static int list(struct pea *pea, size_t *ret_count)
{
    int r;

    do {
        r = camp_process_list(NULL, pea->list, sizeof *pea->list, pea->list_capacity, ret_count,
                              NULL);
        if (r == CAMP_E_SPACE && !ARRAY_RESERVE(pea->list, pea->list_capacity, *ret_count))
            return CAMP_E_NOMEM;
    } while (r == CAMP_E_SPACE);
    if (r != CAMP_OK)
        *ret_count = 0;
    return CAMP_OK;
}

int pea_read(struct pea *pea, uint64_t end_ns)
{
    const struct pea_reading swap = pea->before;
    struct pea_reading *now = &pea->now;
    size_t count = 0;

    if (pea->now.count > 0 && pea->end_ns == end_ns)
        return CAMP_OK;
    pea->before = pea->now;
    pea->now = swap;
    pea->end_ns = end_ns;
    now->count = 0;
    if (list(pea, &count) != CAMP_OK || !ARRAY_RESERVE(now->processes, now->capacity, count))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        struct pea_process *process = &now->processes[now->count];

        process->pid = pea->list[i].pid;
        if (camp_process_read(NULL, &pea->list[i], WANTED, &process->task, sizeof process->task,
                              NULL) == CAMP_OK)
            now->count++;
    }
    return CAMP_OK;
}

void pea_release(struct pea *pea)
{
    free(pea->before.processes);
    free(pea->now.processes);
    free(pea->list);
    *pea = (struct pea){ 0 };
}

static int compare_pids(const void *key, const void *element)
{
    const int32_t pid = *(const int32_t *)key, other = ((const struct pea_process *)element)->pid;

    return (pid > other) - (pid < other);
}

static const struct camp_task *find(const struct pea_reading *reading, int32_t pid)
{
    const struct pea_process *found =
        ARRAY_FIND(&pid, reading->processes, reading->count, compare_pids);

    return found != NULL ? &found->task : NULL;
}

/* Only a row of one living process has sizes: those of a thread are its process', and those of a
 * group would count shared pages several times. */
static const struct camp_task *task_of(const struct pea *pea, const struct entity *row,
                                       enum group_key key)
{
    const bool is_process =
        key == GROUP_PROCESS && row->id != 0 && (row->flags & ENTITY_ENDED) == 0;

    return is_process ? find(&pea->now, row->pid) : NULL;
}

/* Returns the CPU time of exited children between the two readings in percent of one CPU, or NAN if
 * it is unknown. */
static double children_percent(const struct pea *pea, const struct camp_task *now, int32_t pid)
{
    const struct camp_task *before = find(&pea->before, pid);
    double per_second;

    if (before == NULL || before->start != now->start ||
        (before->known & now->known & CAMP_TASK_CHILDREN) == 0 ||
        camp_rate(before->children_ns, now->children_ns, 64, now->time_ns - before->time_ns,
                  &per_second) != CAMP_OK)
        return NAN;
    return 100 * per_second / NS_PER_S;
}

void pea_fill(struct cell ret[PEA_FIELD_COUNT], const struct pea *pea, const struct frame *rows,
              size_t row, enum group_key key)
{
    const struct entity *entity = &rows->entities[row];
    const struct camp_task *task = task_of(pea, entity, key);

    for (size_t i = 0; i < PEA_FIELD_COUNT; i++)
        ret[i] = cell_unknown();
    if (task == NULL)
        return;
    if ((task->known & CAMP_TASK_VIRTUAL) != 0)
        ret[PEA_VIRTUAL] = cell_natural(task->virtual_bytes);
    if ((task->known & CAMP_TASK_RESIDENT) != 0)
        ret[PEA_RESIDENT] = cell_natural(task->resident_bytes);
    ret[PEA_CHILDREN] = cell_real(children_percent(pea, task, entity->pid));
}

/* --------------------------------------------------------------------------- The lines -- */

#define HEADING                                                                                    \
    "name             lwp     pid    ppid uid       usr%  sys% wait% chld%  size   rss    pf "     \
    "inblk"                                                                                        \
    " outblk chario  sysc  vctx  ictx  msps"

const char *pea_heading(bool ended)
{
    return ended ? HEADING "  (ended)" : HEADING;
}

static void percent_text(char ret[CELL_SIZE], double percent)
{
    if (isfinite(percent))
        snprintf(ret, CELL_SIZE, "%.*f", percent < 99.95 ? 1 : 0, fmin(percent, 99999));
    else
        snprintf(ret, CELL_SIZE, "-");
}

/* Writes "0" to "9999", then "9K" and so on, in powers of `base`. */
static void amount_text(char ret[CELL_SIZE], double amount, double base)
{
    static const char units[] = " KMGTPE";
    size_t unit = 0;

    while (amount >= 9999.5 && unit + 2 < sizeof units) {
        amount /= base;
        unit++;
    }
    snprintf(ret, CELL_SIZE, "%.0f%.*s", amount, unit > 0, &units[unit]);
}

static void size_text(char ret[CELL_SIZE], struct cell bytes)
{
    if (bytes.kind == CELL_NATURAL)
        amount_text(ret, (double)bytes.natural, 1024);
    else
        snprintf(ret, CELL_SIZE, "-");
}

static double state_ns(const struct frame *rows, size_t row, enum camp_state state)
{
    return threads_have(rows->schema, state)
               ? (double)frame_values(rows, row)[threads_column(rows->schema, state)]
               : 0;
}

/* The columns usr% to wait%, of the interval, as in pea.se: a process of two threads can have 200.
 */
static void fill_percents(char ret[3][CELL_SIZE], const struct frame *rows, size_t row)
{
    const double interval_ns = (double)(rows->end_ns - rows->start_ns);
    const double times[3] = {
        state_ns(rows, row, CAMP_STATE_USER) + state_ns(rows, row, CAMP_STATE_TRAP),
        state_ns(rows, row, CAMP_STATE_SYSTEM) + state_ns(rows, row, CAMP_STATE_IRQ),
        state_ns(rows, row, CAMP_STATE_RUN_QUEUE) + state_ns(rows, row, CAMP_STATE_THROTTLED),
    };

    for (size_t i = 0; i < 3; i++)
        percent_text(ret[i], 100 * times[i] / interval_ns);
}

static double counter(const struct frame *rows, size_t row, enum threads_counter column)
{
    return (double)frame_values(rows, row)[threads_column(rows->schema, column)];
}

enum { PF, INBLK, OUTBLK, CHARIO, SYSC, VCTX, ICTX, MSPS, RATE_COUNT };

/* The columns pf to msps. A block has 512 bytes, as in getrusage(2). */
static void fill_rates(char ret[RATE_COUNT][CELL_SIZE], const struct frame *rows, size_t row)
{
    const double interval_s = (double)(rows->end_ns - rows->start_ns) / NS_PER_S;
    const double switches = counter(rows, row, THREADS_VOLUNTARY_SWITCHES) +
                            counter(rows, row, THREADS_INVOLUNTARY_SWITCHES);
    const double amounts[MSPS] = {
        [PF] = counter(rows, row, THREADS_MAJOR_FAULTS),
        [INBLK] = counter(rows, row, THREADS_READ_BYTES) / BYTES_PER_SECTOR,
        [OUTBLK] = counter(rows, row, THREADS_WRITTEN_BYTES) / BYTES_PER_SECTOR,
        [CHARIO] =
            counter(rows, row, THREADS_READ_CHARS) + counter(rows, row, THREADS_WRITTEN_CHARS),
        [SYSC] = counter(rows, row, THREADS_SYSTEM_CALLS),
        [VCTX] = counter(rows, row, THREADS_VOLUNTARY_SWITCHES),
        [ICTX] = counter(rows, row, THREADS_INVOLUNTARY_SWITCHES),
    };

    for (size_t i = 0; i < MSPS; i++)
        amount_text(ret[i], amounts[i] / interval_s, 1000);
    percent_text(ret[MSPS], switches > 0
                                ? (double)class_ns(rows, row, CLASS_CPU) / NS_PER_MS / switches
                                : NAN);
}

void pea_line(char *ret, size_t capacity, const struct pea *pea, const struct frame *rows,
              size_t row, enum group_key key, struct user_names *users, const char *name)
{
    const struct entity *entity = &rows->entities[row];
    const bool of_process =
        (key == GROUP_NONE || key == GROUP_THREAD || key == GROUP_PROCESS) && entity->id != 0;
    char percents[3][CELL_SIZE], rates[RATE_COUNT][CELL_SIZE], sizes[2][CELL_SIZE];
    char children[CELL_SIZE], pid[16] = "-", parent[16] = "-";
    struct cell cells[PEA_FIELD_COUNT];

    fill_percents(percents, rows, row);
    fill_rates(rates, rows, row);
    pea_fill(cells, pea, rows, row, key);
    size_text(sizes[0], cells[PEA_VIRTUAL]);
    size_text(sizes[1], cells[PEA_RESIDENT]);
    percent_text(children, cells[PEA_CHILDREN].kind == CELL_REAL ? cells[PEA_CHILDREN].real : NAN);
    if (of_process)
        snprintf(pid, sizeof pid, "%" PRId32, entity->pid);
    if (of_process && entity->parent > 0)
        snprintf(parent, sizeof parent, "%" PRId32, entity->parent);
    snprintf(ret, capacity,
             "%-15.15s %4" PRIu32 " %7s %7s %-8.8s %5s %5s %5s %5s %5s %5s %5s %5s %6s %6s %5s %5s"
             " %5s %5s",
             name, (uint32_t)entity->count, pid, parent,
             of_process || key == GROUP_USER ? user_names_get(users, entity->uid) : "-",
             percents[0], percents[1], percents[2], children, sizes[0], sizes[1], rates[PF],
             rates[INBLK], rates[OUTBLK], rates[CHARIO], rates[SYSC], rates[VCTX], rates[ICTX],
             rates[MSPS]);
}
