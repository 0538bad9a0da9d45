#include "wait_record.h"

#include "counters/units.h"
#include "ledger/array.h"
#include "ledger/words.h"
#include "views/percent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct field summary_fields[] = {
    { "time", NULL, "wall clock of the interval's end", 0, 0 },
    { "interval_s", NULL, "its length", 0, 6 },
    { "tier", NULL, "bpf; or kernel: the kernel's own iowait alone", 0, 0 },
    { "tier_lacks", NULL, "what this tier cannot see", 0, 0 },
};

/* A CPU row is in percent of one CPU. The machine row is in percent of all CPUs together. */
#define CPU_FIELDS                                                                                 \
    { "idle_percent", "idle %", "nothing to run: waits included", 8, 2 },                          \
        { "any_percent", "any %", "idle while a thread anywhere waits for a disk", 8, 2 },         \
        { "any_divided_percent", "any/CPUs %", "any, divided by the number of CPUs", 10, 2 },      \
        { "own_percent", "own %", "idle while a thread that slept here waits for a disk", 8, 2 },  \
        { "kernel_percent", "kernel %", "iowait of /proc/stat, as it stands", 8, 2 },              \
        { "user_percent", NULL, "a thread outside system calls", 0, 2 },                           \
        { "system_percent", NULL, "a thread in a system call, or a kernel thread", 0, 2 },         \
        { "irq_percent", NULL, "interrupts of devices and of the timer", 0, 2 },                   \
        { "softirq_percent", NULL, "deferred work of interrupts", 0, 2 },                          \
    {                                                                                              \
        "steal_percent", NULL, "stolen by a hypervisor: within the others", 0, 2                   \
    }

static const struct field cpu_fields[] = {
    { "cpu", "cpu", "its id", 7, 0 },
    CPU_FIELDS,
    { "interrupts_per_s", NULL, "with those of its clock, and cross calls" },
    { "cross_calls_per_s", NULL, "another CPU asked this one to call a function" },
    { "context_switches_per_s", NULL, "needs microstates" },
};
#define RATES 3 /* fields after CPU_FIELDS */

static const struct field machine_fields[] = {
    { "cpus", NULL, "how many", 0, 0 },
    CPU_FIELDS,
    { "tasks_percent", NULL, "threads' time in state disk, of the interval: 100 is one thread", 0,
      2 },
    { "unattributed_percent", NULL, "of it: for a disk that is unknown", 0, 2 },
};

static const struct field task_fields[] = {
    { "pid", "pid", "its process; null: several exited ones", 7, 0 },
    { "tid", "tid", "", 7, 0 },
    { "name", "name", "of the thread", -15, 0 },
    { "disk", "disk", "kernel's name; null: unknown", -12, 0 },
    { "wait_ns", NULL, "state disk, in the interval", 0, 0 },
    { NULL, "wait ms", "", 10, 3 },
    { NULL, "wait %", "of the interval", 7, 2 },
};

static const struct field disk_fields[] = {
    { "disk", NULL, "a disk with a device of its own" },
    { "transfers_per_s", NULL, "reads and writes that it completed" },
};

static const struct field loss_fields[] = {
    { "unseen", NULL, "switches that no event reported, in the interval", 0, 0 },
    { "lost", NULL, "threads without an account or without last numbers", 0, 0 },
    { "partial", NULL, "CPUs whose interval is incomplete", 0, 0 },
};

static const struct table tables[WAIT_TABLE_COUNT] = {
    [WAIT_SUMMARY] = DOCUMENT_ONE("summary", TABLE_INLINE, summary_fields),
    [WAIT_MACHINE] = DOCUMENT_ONE("machine", TABLE_OBJECT, machine_fields),
    [WAIT_CPUS] = DOCUMENT_ROWS("cpus", cpu_fields),
    [WAIT_TASKS] = DOCUMENT_ROWS("tasks", task_fields),
    [WAIT_SYSTEM] = DOCUMENT_ONE("system", TABLE_OBJECT, wait_system_fields),
    [WAIT_DISKS] = DOCUMENT_ROWS("disks", disk_fields),
    [WAIT_LOSSES] = DOCUMENT_ONE("losses", TABLE_OBJECT, loss_fields),
};

static const struct record layout = DOCUMENT_LAYOUT("camp.wait/1", tables, WAIT_CPUS);

const char *const wait_table_names[] = { "cpus",  "tasks",  "machine", "system",
                                         "disks", "losses", NULL };

const char *wait_tier_name(enum wait_tier tier)
{
    return tier == WAIT_KERNEL ? "kernel" : "bpf";
}

/* The order is the same as in CPU_FIELDS. */
enum quantity {
    IDLE,
    ANY,
    ANY_DIVIDED,
    OWN,
    KERNEL,
    USER,
    SYSTEM,
    IRQ,
    SOFTIRQ,
    STEAL,
    QUANTITY_COUNT
};

#define BIT(column) (1u << (column))

/* Each quantity is the sum of these columns of a CPU. 0 means that the quantity is unknown. */
static const uint32_t columns_of_states[QUANTITY_COUNT] = {
    [IDLE] = BIT(CPUS_STATES_IDLE) | BIT(CPUS_STATES_IOWAIT),
    [ANY] = BIT(CPUS_STATES_ANY_WAIT),
    [ANY_DIVIDED] = BIT(CPUS_STATES_ANY_WAIT),
    [OWN] = BIT(CPUS_STATES_IOWAIT),
    [KERNEL] = BIT(CPUS_STATES_KERNEL_WAIT),
    [USER] = BIT(CPUS_STATES_USER),
    [SYSTEM] = BIT(CPUS_STATES_SYSTEM),
    [IRQ] = BIT(CPUS_STATES_IRQ),
    [SOFTIRQ] = BIT(CPUS_STATES_SOFTIRQ),
    [STEAL] = BIT(CPUS_STATES_STEAL),
};
static const uint32_t columns_of_kernel[QUANTITY_COUNT] = {
    [IDLE] = BIT(CPUS_IDLE) | BIT(CPUS_IOWAIT),
    [KERNEL] = BIT(CPUS_IOWAIT),
    [USER] = BIT(CPUS_USER) | BIT(CPUS_NICE) | BIT(CPUS_GUEST) | BIT(CPUS_GUEST_NICE),
    [SYSTEM] = BIT(CPUS_SYSTEM),
    [IRQ] = BIT(CPUS_IRQ),
    [SOFTIRQ] = BIT(CPUS_SOFTIRQ),
    [STEAL] = BIT(CPUS_STEAL),
};

static uint32_t columns_of(const struct wait_interval *interval, enum quantity quantity)
{
    return (interval->tier == WAIT_KERNEL ? columns_of_kernel : columns_of_states)[quantity];
}

static bool is_unknown(const struct wait_interval *interval, enum quantity quantity)
{
    const uint32_t columns = columns_of(interval, quantity);

    for (size_t i = 0; columns >> i != 0; i++) {
        if ((columns >> i & 1) != 0 &&
            interval->cpus->schema->columns[i].provenance == CAMP_UNKNOWN)
            return true;
    }
    return columns == 0;
}

static uint64_t sum_of(const struct wait_interval *interval, size_t at, enum quantity quantity)
{
    const uint32_t columns = columns_of(interval, quantity);
    uint64_t sum = 0;

    for (size_t i = 0; columns >> i != 0; i++)
        sum += (columns >> i & 1) != 0 ? frame_values(interval->cpus, at)[i] : 0;
    return sum;
}

static void fill_cpu(struct cell ret[QUANTITY_COUNT], const struct wait_interval *interval,
                     size_t at, size_t cpus)
{
    const uint64_t elapsed_ns = interval->cpus->elapsed_ns[at];

    for (enum quantity i = 0; i < QUANTITY_COUNT; i++) {
        ret[i] = is_unknown(interval, i)
                     ? cell_unknown()
                     : cell_real(percent_of((double)sum_of(interval, at, i),
                                            elapsed_ns * (i == ANY_DIVIDED ? cpus : 1)));
    }
}

static void fill_rates(struct cell ret[RATES], const struct wait_interval *interval, size_t at)
{
    const struct frame *cpus = interval->cpus;
    const double elapsed_s = (double)cpus->elapsed_ns[at] / NS_PER_S;

    wait_system_cpu(ret, interval->system, cpus->entities[at].id);
    if (interval->tier != WAIT_KERNEL)
        ret[2] = cell_real((double)frame_values(cpus, at)[CPUS_STATES_SWITCHES] / elapsed_s);
}

/* Selects the `top` CPUs with the most wait, and adds them in the order of their ids. Fills
 * `machine` with the total of all CPUs. */
static void add_cpus(struct wait_record *ret, const struct wait_interval *interval, size_t top,
                     struct cell machine[QUANTITY_COUNT])
{
    const struct frame *cpus = interval->cpus;
    size_t total = cpus->entity_count, rows;

    ret->cpu_count = 0;
    for (size_t i = 0; i < cpus->entity_count; i++) {
        ret->keys[i] = sum_of(interval, i, OWN) + sum_of(interval, i, KERNEL);
        if (cpus->entities[i].id == CAMP_CPU_TOTAL)
            total = i;
        else
            ret->rows[ret->cpu_count++] = i;
    }
    rows = rows_with_most(ret->rows, ret->cpu_count, top, ret->keys);
    for (size_t i = 0; i < rows; i++) {
        struct cell cells[1 + QUANTITY_COUNT + RATES] = {
            cell_integer(cpus->entities[ret->rows[i]].id),
        };

        fill_cpu(cells + 1, interval, ret->rows[i], ret->cpu_count);
        fill_rates(cells + 1 + QUANTITY_COUNT, interval, ret->rows[i]);
        DOCUMENT_ADD(&ret->document, WAIT_CPUS, cells);
    }
    if (total < cpus->entity_count)
        fill_cpu(machine, interval, total, ret->cpu_count);
}

static void add_task(struct document *document, const struct frame *waits, size_t row,
                     uint64_t elapsed_ns)
{
    const struct entity *thread = &waits->entities[row];
    const uint64_t *values = frame_values(waits, row);
    const uint64_t wait_ns = values[WAITS_DISK];
    char disk[CAMP_NAME_SIZE];
    struct cell cells[] = {
        thread->pid != 0 ? cell_integer(thread->pid) : cell_unknown(),
        thread->id != 0 ? cell_integer(thread->id) : cell_unknown(),
        cell_text(thread->name),
        cell_unknown(),
        cell_natural(wait_ns),
        cell_real((double)wait_ns / NS_PER_MS),
        cell_real(percent_of((double)wait_ns, elapsed_ns)),
    };

    waits_disk_name(disk, values);
    if (disk[0] != '\0')
        cells[3] = cell_text(document_text(document, "%s", disk));
    DOCUMENT_ADD(document, WAIT_TASKS, cells);
}

static uint64_t disk_ns(const void *context, const struct frame *waits, size_t row)
{
    (void)context;
    return frame_values(waits, row)[WAITS_DISK];
}

static int add_tasks(struct wait_record *ret, const struct wait_interval *interval,
                     const struct selection *selection)
{
    struct selection longest = *selection;
    int r;

    longest.key = disk_ns;
    r = selection_pick(&ret->selected, interval->waits, &longest);
    if (r == CAMP_OK)
        r = selection_fill(&ret->selected, &longest);
    for (size_t i = 0; i < ret->selected.count && r == CAMP_OK; i++)
        add_task(&ret->document, ret->selected.rows, ret->selected.order[i], interval->elapsed_ns);
    return r;
}

/* The sums include waits that are not selected. */
static void sum_waits(struct cell ret[2], const struct wait_interval *interval)
{
    const struct frame *waits = interval->waits;
    uint64_t sum_ns = 0, unattributed_ns = 0;

    for (size_t i = 0; i < waits->entity_count; i++) {
        const uint64_t *values = frame_values(waits, i);

        sum_ns += values[WAITS_DISK];
        if (values[WAITS_MAJOR] == 0 && values[WAITS_MINOR] == 0)
            unattributed_ns += values[WAITS_DISK];
    }
    ret[0] = cell_real(percent_of((double)sum_ns, interval->elapsed_ns));
    ret[1] = cell_real(percent_of((double)unattributed_ns, interval->elapsed_ns));
}

static void add_system(struct wait_record *ret, const struct wait_interval *interval)
{
    const struct wait_system *system = interval->system;
    struct cell cells[SYSTEM_FIELD_COUNT];

    wait_system_fill(cells, system, interval->threads, interval->counts_calls, ret->cpu_count);
    DOCUMENT_ADD(&ret->document, WAIT_SYSTEM, cells);
    for (size_t i = 0; i < system->now.disk_count; i++) {
        struct cell disk[2];

        wait_system_disk(disk, system, i);
        DOCUMENT_ADD(&ret->document, WAIT_DISKS, disk);
    }
}

static void add_notes(struct wait_record *ret, const struct wait_interval *interval,
                      const struct cell *all)
{
    struct document *document = &ret->document;
    const size_t cpus = document->tables[WAIT_CPUS].row_count;
    const struct losses *losses = &interval->losses;

    if (ret->selected.cut > 0)
        document_note(document, "not shown  %zu %s (--top 0 shows all)", ret->selected.cut,
                      noun_of(ret->selected.cut, "wait", "waits"));
    if (cpus < ret->cpu_count)
        document_note(document, "not shown  %zu %s with less wait", ret->cpu_count - cpus,
                      noun_of(ret->cpu_count - cpus, "CPU", "CPUs"));
    if (losses->partial > 0)
        document_note(document,
                      "partial    %" PRIu64 " CPUs whose interval is incomplete are left out",
                      losses->partial);
    if (interval->tier == WAIT_KERNEL) {
        document_note(document, "all CPUs   idle %.2f %%, kernel %.2f %%", all[IDLE].real,
                      all[KERNEL].real);
        return;
    }
    if (ret->cpu_count > 0)
        document_note(document,
                      "all CPUs   any %.2f %%, any/CPUs %.2f %%, own %.2f %%, kernel %.2f %%",
                      all[ANY].real, all[ANY_DIVIDED].real, all[OWN].real, all[KERNEL].real);
    document_note(document,
                  "tasks      %.2f %% of the interval (100: one, always); on no disk %.2f %%",
                  all[QUANTITY_COUNT].real, all[QUANTITY_COUNT + 1].real);
    if (losses->unseen > 0)
        document_note(document, "unseen     %" PRIu64 " %s: their times are estimated",
                      losses->unseen, noun_of(losses->unseen, "switch", "switches"));
    if (losses->lost > 0)
        document_note(document, "lost       %" PRIu64 " %s without an account or last numbers",
                      losses->lost, noun_of(losses->lost, "thread", "threads"));
}

static void add_summary(struct document *document, const struct wait_interval *interval)
{
    const char *time = document_text(document, "%s", interval->time);
    const struct losses *losses = &interval->losses;
    const struct cell summary[] = {
        cell_text(time),
        cell_real((double)interval->elapsed_ns / NS_PER_S),
        cell_text(wait_tier_name(interval->tier)),
        cell_text(interval->tier == WAIT_KERNEL ? "any, own, and the tasks that waited" : NULL),
    };
    const struct cell cells[] = { cell_natural(losses->unseen), cell_natural(losses->lost),
                                  cell_natural(losses->partial) };

    DOCUMENT_ADD(document, WAIT_SUMMARY, summary);
    DOCUMENT_ADD(document, WAIT_LOSSES, cells);
}

/* The headline says which column to read (own): the others are older definitions of I/O wait. */
static const char *headline(struct wait_record *ret, const struct wait_interval *interval,
                            const struct cell *all)
{
    const char *facts =
        document_text(&ret->document, "%.8s  %.2f s  tier %s  %zu %s", time_of_day(interval->time),
                      (double)interval->elapsed_ns / NS_PER_S, wait_tier_name(interval->tier),
                      ret->cpu_count, noun_of(ret->cpu_count, "CPU", "CPUs"));

    if (ret->cpu_count == 0 || all[OWN].kind != CELL_REAL)
        return facts;
    return document_text(&ret->document,
                         "%s\nCPUs idle %.2f %% of their time because their threads waited for a "
                         "disk (own).\nany, any/CPUs and kernel are older definitions of the same.",
                         facts, all[OWN].real);
}

int wait_record_fill(struct wait_record *ret, const struct wait_interval *interval,
                     const struct selection *selection, size_t top_cpus)
{
    struct document *document = &ret->document;
    struct cell machine[1 + QUANTITY_COUNT + 2] = { 0 };
    int r = CAMP_OK;

    if (!ARRAYS_RESERVE(ret->capacity, interval->cpus->entity_count + 1, ARRAY(ret->rows),
                        ARRAY(ret->keys)))
        return CAMP_E_NOMEM;
    document_start(document, &layout);
    add_cpus(ret, interval, top_cpus, machine + 1);
    ret->selected.cut = 0;
    if (interval->waits != NULL) {
        sum_waits(machine + 1 + QUANTITY_COUNT, interval);
        r = add_tasks(ret, interval, selection);
    }
    if (r != CAMP_OK)
        return r;
    machine[0] = cell_natural(ret->cpu_count);
    DOCUMENT_ADD(document, WAIT_MACHINE, machine);
    add_system(ret, interval);
    add_summary(document, interval);
    add_notes(ret, interval, machine + 1);
    document->record.headline = headline(ret, interval, machine + 1);
    return document_finish(document);
}

void wait_record_release(struct wait_record *record)
{
    document_release(&record->document);
    selected_release(&record->selected);
    free(record->rows);
    free(record->keys);
    *record = (struct wait_record){ 0 };
}
