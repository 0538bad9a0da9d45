#include "wait_record.h"

#include "counters/units.h"
#include "ledger/array.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct field summary_fields[] = {
    { "time", NULL, "wall clock of the interval's end", 0, 0 },
    { "interval_s", NULL, "its length", 0, 6 },
    { "tier", NULL, "bpf; or kernel: the kernel's own iowait alone", 0, 0 },
    { "tier_lacks", NULL, "what this tier cannot see", 0, 0 },
};

/* In percent of the CPU's time; of the machine, of the time of all CPUs. */
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

static const struct field cpu_fields[] = { { "cpu", "cpu", "its id", 7, 0 }, CPU_FIELDS };

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

static const struct field loss_fields[] = {
    { "unseen", NULL, "switches that no event reported, in the interval", 0, 0 },
    { "lost", NULL, "threads without an account or without last numbers", 0, 0 },
    { "partial", NULL, "CPUs whose interval is incomplete", 0, 0 },
};

_Static_assert(ARRAY_COUNT(cpu_fields) == WAIT_CPU_CELLS, "room for a CPU");
_Static_assert(ARRAY_COUNT(task_fields) == WAIT_TASK_CELLS, "room for a task");

const char *const wait_table_names[] = { "cpus", "tasks", "machine", "losses", NULL };

const char *wait_tier_name(enum wait_tier tier)
{
    return tier == WAIT_KERNEL ? "kernel" : "bpf";
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : NAN;
}

static struct wait_cpu cpu_by_states(const struct frame *cpus, size_t at)
{
    const uint64_t *values = frame_values(cpus, at);

    return (struct wait_cpu){
        .cpu = (int32_t)cpus->entities[at].id,
        .elapsed_ns = cpus->elapsed_ns[at],
        .user = values[CPUS_STATES_USER],
        .system = values[CPUS_STATES_SYSTEM],
        .irq = values[CPUS_STATES_IRQ],
        .softirq = values[CPUS_STATES_SOFTIRQ],
        .idle = values[CPUS_STATES_IDLE] + values[CPUS_STATES_IOWAIT],
        .any = values[CPUS_STATES_ANY_WAIT],
        .own = values[CPUS_STATES_IOWAIT],
        .kernel = values[CPUS_STATES_KERNEL_WAIT],
        .steal = values[CPUS_STATES_STEAL],
    };
}

static struct wait_cpu cpu_by_kernel(const struct frame *cpus, size_t at)
{
    const uint64_t *values = frame_values(cpus, at);

    return (struct wait_cpu){
        .cpu = (int32_t)cpus->entities[at].id,
        .elapsed_ns = cpus->elapsed_ns[at],
        .user =
            values[CPUS_USER] + values[CPUS_NICE] + values[CPUS_GUEST] + values[CPUS_GUEST_NICE],
        .system = values[CPUS_SYSTEM],
        .irq = values[CPUS_IRQ],
        .softirq = values[CPUS_SOFTIRQ],
        .idle = values[CPUS_IDLE] + values[CPUS_IOWAIT],
        .kernel = values[CPUS_IOWAIT],
        .steal = values[CPUS_STEAL],
    };
}

static void fill_cpu(struct cell *cells, const struct wait_cpu *cpu, enum wait_tier tier,
                     size_t cpus)
{
    const double unknown = tier == WAIT_KERNEL ? NAN : 0;

    *cells++ = cell_real(percent(cpu->idle, cpu->elapsed_ns));
    *cells++ = cell_real(percent(cpu->any, cpu->elapsed_ns) + unknown);
    *cells++ = cell_real(percent(cpu->any, cpu->elapsed_ns * cpus) + unknown);
    *cells++ = cell_real(percent(cpu->own, cpu->elapsed_ns) + unknown);
    *cells++ = cell_real(percent(cpu->kernel, cpu->elapsed_ns));
    *cells++ = cell_real(percent(cpu->user, cpu->elapsed_ns));
    *cells++ = cell_real(percent(cpu->system, cpu->elapsed_ns));
    *cells++ = cell_real(percent(cpu->irq, cpu->elapsed_ns));
    *cells++ = cell_real(percent(cpu->softirq, cpu->elapsed_ns));
    *cells++ = cell_real(percent(cpu->steal, cpu->elapsed_ns));
}

static int compare_by_wait(const void *a, const void *b)
{
    const struct wait_cpu *left = a, *right = b;

    if (left->own + left->kernel != right->own + right->kernel)
        return left->own + left->kernel > right->own + right->kernel ? -1 : 1;
    return left->cpu < right->cpu ? -1 : left->cpu > right->cpu;
}

static int compare_ids(const void *a, const void *b)
{
    const struct wait_cpu *left = a, *right = b;

    return left->cpu < right->cpu ? -1 : left->cpu > right->cpu;
}

static int reserve_cpus(struct wait_record *ret, size_t count)
{
    return ARRAYS_RESERVE(ret->cpu_capacity, count + 1, ARRAY(ret->cpus),
                          ARRAY_ROWS(ret->cpu_cells, WAIT_CPU_CELLS))
               ? CAMP_OK
               : CAMP_E_NOMEM;
}

/* Returns the number of rows to show, in the order of their ids. */
static size_t read_cpus(struct wait_record *ret, const struct wait_interval *interval, size_t top,
                        struct wait_cpu *ret_total)
{
    const struct frame *cpus = interval->cpus;
    size_t rows;

    ret->cpu_count = 0;
    for (size_t i = 0; i < cpus->entity_count; i++) {
        struct wait_cpu cpu =
            interval->tier == WAIT_KERNEL ? cpu_by_kernel(cpus, i) : cpu_by_states(cpus, i);

        if (cpu.cpu == CAMP_CPU_TOTAL)
            *ret_total = cpu;
        else
            ret->cpus[ret->cpu_count++] = cpu;
    }
    rows = ret->cpu_count;
    if (top == 0 || rows <= top)
        return rows;
    qsort(ret->cpus, rows, sizeof *ret->cpus, compare_by_wait);
    qsort(ret->cpus, top, sizeof *ret->cpus, compare_ids);
    return top;
}

static int fill_cpus(struct wait_record *ret, const struct wait_interval *interval, size_t top)
{
    struct wait_cpu total = { .cpu = CAMP_CPU_TOTAL };
    size_t rows;

    if (reserve_cpus(ret, interval->cpus->entity_count) != CAMP_OK)
        return CAMP_E_NOMEM;
    rows = read_cpus(ret, interval, top, &total);
    for (size_t i = 0; i < rows; i++) {
        struct cell *cells = &ret->cpu_cells[i * WAIT_CPU_CELLS];

        cells[0] = cell_integer(ret->cpus[i].cpu);
        fill_cpu(cells + 1, &ret->cpus[i], interval->tier, ret->cpu_count);
    }
    ret->machine[0] = cell_natural(ret->cpu_count);
    fill_cpu(ret->machine + 1, &total, interval->tier, ret->cpu_count);
    ret->tables[WAIT_CPUS] = TABLE_OF_ROWS("cpus", cpu_fields, ret->cpu_cells, rows);
    return CAMP_OK;
}

/* /sys/dev/block/MAJOR:MINOR leads to the device's folder, which has the kernel's name; a device
 * that is gone has its numbers as its name. */
static const char *name_disk(char ret[WAIT_DISK_SIZE], uint32_t major, uint32_t minor)
{
    char path[64], target[256];
    const char *name;
    ssize_t length;

    if (major == 0 && minor == 0)
        return NULL;
    snprintf(path, sizeof path, "/sys/dev/block/%" PRIu32 ":%" PRIu32, major, minor);
    length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    name = strrchr(target, '/');
    if (name != NULL)
        snprintf(ret, WAIT_DISK_SIZE, "%.*s", WAIT_DISK_SIZE - 1, name + 1);
    else
        snprintf(ret, WAIT_DISK_SIZE, "%" PRIu32 ":%" PRIu32, major, minor);
    return ret;
}

static bool is_selected(const struct wait_task *task, const struct wait_selection *selection)
{
    bool wanted = selection->pid_count == 0;

    for (size_t i = 0; i < selection->pid_count && !wanted; i++)
        wanted = task->pid == selection->pids[i];
    return wanted;
}

static void fill_task(struct cell *cells, const struct wait_task *task, char disk[WAIT_DISK_SIZE],
                      uint64_t elapsed_ns)
{
    *cells++ = task->pid != 0 ? cell_integer(task->pid) : cell_unknown();
    *cells++ = task->tid != 0 ? cell_integer(task->tid) : cell_unknown();
    *cells++ = cell_text(task->name);
    *cells++ = cell_text(name_disk(disk, task->major, task->minor));
    *cells++ = cell_natural(task->wait_ns);
    *cells++ = cell_real((double)task->wait_ns / NS_PER_MS);
    *cells++ = cell_real(percent(task->wait_ns, elapsed_ns));
}

static int reserve_tasks(struct wait_record *ret, size_t count)
{
    return ARRAYS_RESERVE(ret->task_capacity, count + 1, ARRAY(ret->disks),
                          ARRAY_ROWS(ret->task_cells, WAIT_TASK_CELLS))
               ? CAMP_OK
               : CAMP_E_NOMEM;
}

/* *ret_matching: the number of matching ones, shown or not. */
static int fill_tasks(struct wait_record *ret, const struct wait_interval *interval,
                      const struct wait_selection *selection, size_t *ret_matching)
{
    const size_t count = interval->tasks != NULL ? interval->tasks->count : 0;
    uint64_t sum_ns = 0, unattributed_ns = 0;
    size_t rows = 0;

    *ret_matching = 0;
    if (reserve_tasks(ret, count) != CAMP_OK)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct wait_task *task = &interval->tasks->tasks[i];

        sum_ns += task->wait_ns;
        unattributed_ns += task->major == 0 && task->minor == 0 ? task->wait_ns : 0;
        if (!is_selected(task, selection))
            continue;
        ++*ret_matching;
        if (selection->top == 0 || rows < selection->top) {
            fill_task(&ret->task_cells[rows * WAIT_TASK_CELLS], task, ret->disks[rows],
                      interval->elapsed_ns);
            rows++;
        }
    }
    ret->machine[WAIT_CPU_CELLS] =
        interval->tasks != NULL ? cell_real(percent(sum_ns, interval->elapsed_ns)) : cell_unknown();
    ret->machine[WAIT_CPU_CELLS + 1] =
        interval->tasks != NULL ? cell_real(percent(unattributed_ns, interval->elapsed_ns))
                                : cell_unknown();
    ret->tables[WAIT_TASKS] = TABLE_OF_ROWS("tasks", task_fields, ret->task_cells, rows);
    return CAMP_OK;
}

/* Adds a line below the tables. */
__attribute__((format(printf, 3, 4))) static void note(struct wait_record *ret, size_t *line,
                                                       const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(ret->lines[*line], sizeof ret->lines[0], format, arguments);
    va_end(arguments);
    ret->notes[*line] = ret->lines[*line];
    ret->notes[++*line] = NULL;
}

static void fill_texts(struct wait_record *ret, const struct wait_interval *interval,
                       size_t matching)
{
    const size_t cpus = ret->tables[WAIT_CPUS].row_count;
    const size_t tasks = ret->tables[WAIT_TASKS].row_count;
    const struct cell *all = ret->machine;
    const struct losses *losses = &interval->losses;
    size_t line = 0;

    snprintf(ret->headline, sizeof ret->headline, "%.8s  %.2f s  tier %s  %zu CPUs",
             strlen(ret->time) > 11 ? ret->time + 11 : "-", (double)interval->elapsed_ns / NS_PER_S,
             wait_tier_name(interval->tier), ret->cpu_count);
    ret->notes[0] = NULL;
    if (tasks < matching)
        note(ret, &line, "not shown  %zu waits (--top 0 shows all)", matching - tasks);
    if (cpus < ret->cpu_count)
        note(ret, &line, "not shown  %zu CPUs with less wait", ret->cpu_count - cpus);
    if (losses->partial > 0)
        note(ret, &line, "partial    %" PRIu64 " CPUs whose interval is incomplete are left out",
             losses->partial);
    if (interval->tier == WAIT_KERNEL) {
        note(ret, &line, "all CPUs   idle %.2f %%, kernel %.2f %%", all[1].real, all[5].real);
        return;
    }
    if (ret->cpu_count > 0)
        note(ret, &line, "all CPUs   any %.2f %%, any/CPUs %.2f %%, own %.2f %%, kernel %.2f %%",
             all[2].real, all[3].real, all[4].real, all[5].real);
    note(ret, &line, "tasks      %.2f %% of the interval (100: one, always); on no disk %.2f %%",
         all[WAIT_CPU_CELLS].real, all[WAIT_CPU_CELLS + 1].real);
    if (losses->unseen > 0)
        note(ret, &line, "unseen     %" PRIu64 " switches: their times are estimated",
             losses->unseen);
    if (losses->lost > 0)
        note(ret, &line, "lost       %" PRIu64 " threads without an account or last numbers",
             losses->lost);
}

static void fill_summary(struct wait_record *ret, const struct wait_interval *interval)
{
    ret->summary[0] = cell_text(ret->time);
    ret->summary[1] = cell_real((double)interval->elapsed_ns / NS_PER_S);
    ret->summary[2] = cell_text(wait_tier_name(interval->tier));
    ret->summary[3] =
        cell_text(interval->tier == WAIT_KERNEL ? "any, own, and the tasks that waited" : NULL);
    ret->losses[0] = cell_natural(interval->losses.unseen);
    ret->losses[1] = cell_natural(interval->losses.lost);
    ret->losses[2] = cell_natural(interval->losses.partial);
}

int wait_record_fill(struct wait_record *ret, const struct wait_interval *interval,
                     const struct wait_selection *selection)
{
    size_t matching;
    int r = fill_cpus(ret, interval, selection->top_cpus);

    if (r == CAMP_OK)
        r = fill_tasks(ret, interval, selection, &matching);
    if (r != CAMP_OK)
        return r;
    snprintf(ret->time, sizeof ret->time, "%s", interval->time);
    fill_summary(ret, interval);
    fill_texts(ret, interval, matching);
    ret->tables[WAIT_SUMMARY] = TABLE_OF_ONE("summary", TABLE_INLINE, summary_fields, ret->summary);
    ret->tables[WAIT_MACHINE] = TABLE_OF_ONE("machine", TABLE_OBJECT, machine_fields, ret->machine);
    ret->tables[WAIT_LOSSES] = TABLE_OF_ONE("losses", TABLE_OBJECT, loss_fields, ret->losses);
    ret->record = (struct record){ "camp.wait/1",    ret->headline, ret->tables,
                                   WAIT_TABLE_COUNT, WAIT_CPUS,     ret->notes };
    return CAMP_OK;
}

void wait_record_release(struct wait_record *record)
{
    free(record->cpus);
    free(record->cpu_cells);
    free(record->task_cells);
    free(record->disks);
    *record = (struct wait_record){ 0 };
}
