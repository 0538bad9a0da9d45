/*
 * The counters of one process or one thread.
 *
 * The times of the clock tick (sampled) come from the table of processes, like all counts; the
 * cycles (measured) come from the process or thread itself, which must be opened for that. It is
 * opened first: as long as it is open, its number is not reused, so the table has this process or
 * none. If it may not be opened, the cycles are unknown. The start is the moment of creation, in
 * units of 100 ns since 1601; a later process with the same number has another.
 */
#include "shared.h"

#include "../platform.h"
#include "../usual.h"

#include <string.h>

#define OF_CYCLES (CAMP_TASK_CPU | CAMP_TASK_CYCLES)

/* The states of a thread, and the reasons to wait, that are distinguished here (KTHREAD_STATE and
 * KWAIT_REASON of the headers of drivers). */
enum {
    STATE_READY = 1,
    STATE_RUNNING = 2,
    STATE_STANDBY = 3,
    STATE_TERMINATED = 4,
    STATE_TRANSITION = 6, /* ready, but its kernel stack is on a disk */
    STATE_DEFERRED_READY = 7,
    REASON_SUSPENDED = 5,
    REASON_SUSPENDED_BY_USER = 12
};

char camp_thread_state(const struct native_thread *thread)
{
    switch (thread->state) {
    case STATE_READY:
    case STATE_RUNNING:
    case STATE_STANDBY:
    case STATE_DEFERRED_READY:
        return 'R';
    case STATE_TERMINATED:
        return 'X';
    case STATE_TRANSITION:
        return 'D';
    default:
        return thread->wait_reason == REASON_SUSPENDED ||
                       thread->wait_reason == REASON_SUSPENDED_BY_USER
                   ? 'T'
                   : 'S';
    }
}

/* The state of a process is that of its busiest thread. */
static char state_of_all(const struct native_process *process)
{
    static const char busiest_first[] = "RDSTX";
    const char *found = busiest_first + sizeof busiest_first - 2;

    for (uint32_t i = 0; i < process->threads; i++) {
        const char *here = strchr(busiest_first, camp_thread_state(&process->thread[i]));

        if (here < found)
            found = here;
    }
    return *found;
}

/* What is read once for all processes of a table. */
struct of_machine {
    bool is_imitation;
    int64_t boot_time;
    uint64_t cycles_hz;
};

static struct of_machine read_machine(void)
{
    return (struct of_machine){ camp_is_imitation(), camp_boot_time(), camp_cycles_hz() };
}

/* A process outlives its parent, whose number may then belong to a younger process. */
static int32_t parent_of(const struct process_table *table, const struct native_process *process)
{
    const struct native_process *parent = camp_table_find(table, (int32_t)id_of(process->parent));

    return parent != NULL && parent->create_time <= process->create_time
               ? (int32_t)id_of(parent->process)
               : 0;
}

static void fill_start(int64_t create_time, int64_t boot_time, struct camp_task *task)
{
    task->start = (uint64_t)create_time;
    if (boot_time == 0 || create_time < boot_time)
        return;
    task->known |= CAMP_TASK_START;
    task->started_ns = ns_of_native(create_time - boot_time);
}

/* Wine takes the times from Linux, where they are parts of a measured time. */
static void fill_times(int64_t user_time, int64_t kernel_time, bool is_imitation,
                       struct camp_task *task)
{
    task->known |= CAMP_TASK_USER | CAMP_TASK_SYSTEM;
    task->user_ns = ns_of_native(user_time);
    task->system_ns = ns_of_native(kernel_time);
    if (is_imitation)
        return;
    task->known |= CAMP_TASK_SAMPLED;
    task->split_provenance = camp_usual.split;
    task->sampled_ns = task->user_ns + task->system_ns;
}

/* 0 cycles mean that the system does not count them. The table is some ms old when the cycles are
 * read, which is less than the step of its times, but more than that of the cycles. */
static void fill_cycles(uint64_t cycles, uint64_t hz, uint64_t time_ns, struct camp_task *task)
{
    if (cycles == 0)
        return;
    task->time_ns = time_ns;
    task->known |= CAMP_TASK_CYCLES;
    task->cycles = cycles;
    if (hz == 0)
        return;
    task->known |= CAMP_TASK_CPU;
    task->cpu_ns = camp_ns_of_cycles(cycles, hz);
    task->cpu_provenance = CAMP_MEASURED;
    task->cpu_resolution_ns = 1;
}

/* The counts that Wine reports as 0, or makes up. */
static void fill_counts(const struct native_process *process, struct camp_task *task)
{
    task->known |= CAMP_TASK_FAULTS | CAMP_TASK_COMMITTED | CAMP_TASK_HANDLES | CAMP_TASK_SWITCHES |
                   CAMP_TASK_READ_BYTES | CAMP_TASK_WRITTEN_BYTES | CAMP_TASK_OTHER_BYTES |
                   CAMP_TASK_STATE;
    task->faults = process->page_faults;
    task->committed_bytes = process->private_bytes;
    task->handles = process->handles;
    task->read_bytes = process->read_bytes;
    task->written_bytes = process->written_bytes;
    task->other_bytes = process->other_bytes;
    task->state = state_of_all(process);
    for (uint32_t i = 0; i < process->threads; i++)
        task->switches += process->thread[i].context_switches;
}

/* What a process and each of its threads have in common. */
static struct camp_task task_of(const struct process_table *table,
                                const struct native_process *process)
{
    return (struct camp_task){
        .known = CAMP_TASK_VIRTUAL | CAMP_TASK_RESIDENT | CAMP_TASK_THREADS | CAMP_TASK_PARENT,
        .parent = parent_of(table, process),
        .time_ns = table->time_ns,
        .virtual_bytes = process->virtual_bytes,
        .resident_bytes = process->resident_bytes,
        .threads = process->threads,
    };
}

static void fill_process(const struct of_machine *machine, const struct process_table *table,
                         const struct native_process *process, HANDLE opened,
                         struct camp_task *task)
{
    ULONG64 cycles = 0;
    uint64_t time_ns;

    *task = task_of(table, process);
    fill_start(process->create_time, machine->boot_time, task);
    fill_times(process->user_time, process->kernel_time, machine->is_imitation, task);
    if (!machine->is_imitation)
        fill_counts(process, task);
    time_ns = camp_now_ns();
    if (opened != NULL && QueryProcessCycleTime(opened, &cycles))
        fill_cycles(cycles, machine->cycles_hz, time_ns, task);
    task->known |= CAMP_TASK_NAME;
    camp_utf8_of(process->image_name.Buffer, process->image_name.Length / sizeof(WCHAR), task->name,
                 sizeof task->name);
}

int camp_process_read_opened(const struct camp_process *identity, HANDLE opened,
                             struct camp_task *ret, struct camp_error *error)
{
    const struct of_machine machine = read_machine();
    const struct native_process *process;
    struct process_table table;
    int r = camp_table_open(&table, error);

    if (r == CAMP_OK) {
        process = camp_table_expect(&table, identity, error);
        if (process != NULL)
            fill_process(&machine, &table, process, opened, ret);
        else
            r = CAMP_E_GONE;
    }
    camp_table_close(&table);
    return r;
}

static int hand_out_task(int result, HANDLE opened, const struct camp_task *task,
                         struct camp_task *ret, size_t size)
{
    if (opened != NULL)
        CloseHandle(opened);
    if (result == CAMP_OK)
        camp_hand_out(ret, size, task, sizeof *task);
    return result;
}

int camp_process_read(const struct camp_source *source, const struct camp_process *process,
                      uint32_t wanted, struct camp_task *ret, size_t size, struct camp_error *error)
{
    HANDLE opened = NULL;
    struct camp_task task;
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, process, ret) || camp_is_outside(error, process->pid, 1, INT32_MAX))
        return CAMP_E_INVALID;
    if ((wanted & OF_CYCLES) != 0)
        opened = camp_process_open(process->pid);
    r = camp_process_read_opened(process, opened, &task, error);
    return hand_out_task(r, opened, &task, ret, size);
}

/* The process is opened after the table was read, so its number may belong to another one now. */
static void read_usage(const struct of_machine *machine, const struct process_table *table,
                       const struct native_process *process, bool with_cycles,
                       struct camp_process_usage *ret)
{
    HANDLE opened = NULL;

    ret->process = camp_identity_of(process);
    if (with_cycles)
        opened = camp_process_open(ret->process.pid);
    if (opened != NULL && !camp_was_created_at(opened, ret->process.start)) {
        CloseHandle(opened);
        opened = NULL;
    }
    fill_process(machine, table, process, opened, &ret->task);
    if (opened != NULL)
        CloseHandle(opened);
}

int camp_process_read_all(const struct camp_source *source, uint32_t wanted,
                          struct camp_process_usage *usages, size_t size, size_t capacity,
                          size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { usages, size, capacity, 0 };
    struct of_machine machine;
    struct process_table table;
    bool with_cycles;
    int r = camp_check_list(source, "usages", usages, size, sizeof(struct camp_process), capacity,
                            ret_count, error);

    if (r < 0)
        return r;
    machine = read_machine();
    with_cycles = (wanted & OF_CYCLES) != 0 && !machine.is_imitation;
    r = camp_table_open(&table, error);
    for (size_t i = 0; r == CAMP_OK && i < table.count; i++) {
        struct camp_process_usage usage = { 0 };

        if (i < capacity)
            read_usage(&machine, &table, table.processes[i], with_cycles, &usage);
        camp_output_add(&output, &usage, sizeof usage);
    }
    camp_table_close(&table);
    return r < 0 ? r : camp_output_end(&output, "processes", ret_count, error);
}

/* A thread has no name of its own in the table. */
static void fill_thread(const struct process_table *table, const struct native_process *process,
                        const struct native_thread *thread, HANDLE opened, struct camp_task *task)
{
    const struct of_machine machine = read_machine();
    ULONG64 cycles = 0;
    uint64_t time_ns;

    *task = task_of(table, process);
    fill_start(thread->create_time, machine.boot_time, task);
    fill_times(thread->user_time, thread->kernel_time, machine.is_imitation, task);
    if (!machine.is_imitation) {
        task->known |= CAMP_TASK_SWITCHES | CAMP_TASK_STATE;
        task->switches = thread->context_switches;
        task->state = camp_thread_state(thread);
    }
    time_ns = camp_now_ns();
    if (opened != NULL && QueryThreadCycleTime(opened, &cycles))
        fill_cycles(cycles, machine.cycles_hz, time_ns, task);
}

static const struct native_thread *find_thread(const struct native_process *process,
                                               const struct camp_thread *identity)
{
    for (uint32_t i = 0; process != NULL && i < process->threads; i++) {
        const struct native_thread *thread = &process->thread[i];

        if (id_of(thread->thread) == (uint32_t)identity->tid &&
            (uint64_t)thread->create_time == identity->start)
            return thread;
    }
    return NULL;
}

static int read_thread(const struct camp_thread *identity, HANDLE opened, struct camp_task *ret,
                       struct camp_error *error)
{
    const struct native_process *process;
    const struct native_thread *thread;
    struct process_table table;
    int r = camp_table_open(&table, error);

    if (r == CAMP_OK) {
        process = camp_table_find(&table, identity->pid);
        thread = find_thread(process, identity);
        if (thread != NULL)
            fill_thread(&table, process, thread, opened, ret);
        else
            r = camp_fail(error, CAMP_E_GONE, 0,
                          "thread %d of process %d has ended; list them again", (int)identity->tid,
                          (int)identity->pid);
    }
    camp_table_close(&table);
    return r;
}

int camp_thread_read(const struct camp_source *source, const struct camp_thread *thread,
                     uint32_t wanted, struct camp_task *ret, size_t size, struct camp_error *error)
{
    HANDLE opened = NULL;
    struct camp_task task;
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, thread, ret) || camp_is_outside(error, thread->pid, 1, INT32_MAX) ||
        camp_is_outside(error, thread->tid, 1, INT32_MAX))
        return CAMP_E_INVALID;
    if ((wanted & OF_CYCLES) != 0)
        opened = camp_thread_open(thread->tid);
    r = read_thread(thread, opened, &task, error);
    return hand_out_task(r, opened, &task, ret, size);
}
