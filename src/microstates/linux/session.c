/*
 * A session of microstates: loads, attaches and closes the programs in the kernel.
 *
 * Nothing is pinned. The process holds the programs, maps and links by file descriptors, so the
 * kernel removes them when the process ends, even after a signal.
 */
#include "session.h"
#include "../calls.h"
#include "counters/error.h"
#include "events.h"
#include "refusal.h"
#include "relocations.h"
#include "stacks.h"
#include "states.skel.h"

#include <camp/states.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define LARGE_BYTES (256 * 1024)
#define CPUS_MOST (1u << 16)
#define OPTIONS                                                                                    \
    (CAMP_STATES_NO_SYSCALLS | CAMP_STATES_VERBOSE | CAMP_STATES_DISKS | CAMP_STATES_VISIT_ALL |   \
     CAMP_STATES_CULPRITS | CAMP_STATES_BY_PROCESS | CAMP_STATES_STACKS |                          \
     CAMP_STATES_GROUPS_BY_NEED | CAMP_STATES_BY_CGROUP | CAMP_STATES_CPU_CGROUPS)
#define MACHINE_NAMESPACE 0xEFFFFFFC /* PROC_PID_INIT_INO of the kernel */

static bool begins(const char *text, const char *with)
{
    return text != NULL && strncmp(text, with, strlen(with)) == 0;
}

/* Leaves out the programs of events that the kernel lacks or that were not requested. Without
 * interrupt events, the time of interrupts counts as time of the interrupted thread. Without
 * page-fault events, CAMP_STATE_TEXT_FAULT counts as CAMP_STATE_DATA_FAULT. */
static void leave_out(struct bpf_object *object, const struct kernel_types *kernel,
                      uint32_t options)
{
    struct bpf_program *program;

    bpf_object__for_each_program(program, object)
    {
        const char *tracepoint = strchr(bpf_program__section_name(program), '/');
        bool unwanted = ((options & CAMP_STATES_NO_SYSCALLS) != 0 && begins(tracepoint, "/sys_")) ||
                        ((options & CAMP_STATES_DISKS) == 0 && begins(tracepoint, "/block_"));

        if (bpf_program__type(program) == BPF_PROG_TYPE_TRACING &&
            bpf_program__expected_attach_type(program) == BPF_TRACE_RAW_TP &&
            (unwanted || !camp_events_have_tracepoint(kernel, tracepoint + 1)))
            bpf_program__set_autoload(program, false);
    }
}

static bool is_of_function(const struct bpf_program *program)
{
    return bpf_program__expected_attach_type(program) == BPF_TRACE_FENTRY ||
           bpf_program__expected_attach_type(program) == BPF_TRACE_FEXIT;
}

/* Without one of the two events of system calls, user and system are one state. */
static bool splits_calls(const struct states_bpf *programs)
{
    return bpf_program__autoload(programs->progs.on_sys_enter) &&
           bpf_program__autoload(programs->progs.on_sys_exit);
}

/* Decides whether the programs of traps are loaded. They are attached later, by attach_traps(): if
 * attaching fails, the session works without them. */
static void prepare_traps(struct bpf_object *object, const struct kernel_types *kernel, bool splits)
{
    const bool possible = splits && camp_events_may_trace(kernel, EVENTS_FUNCTION_OF_TRAPS);
    struct bpf_program *program;

    bpf_object__for_each_program(program, object)
    {
        if (is_of_function(program)) {
            bpf_program__set_autoload(program, possible);
            bpf_program__set_autoattach(program, false);
        }
    }
}

/* Decides whether snapshots come from the list of changes, which needs all events that change
 * something of a sleeping thread. The kernel finds threads by their tids in the machine's own PID
 * namespace only. */
static void prepare_changes(struct states_bpf *programs, const struct kernel_types *kernel,
                            uint32_t options)
{
    struct bpf_program *const needed[] = { programs->progs.on_rename, programs->progs.on_attach,
                                           programs->progs.on_exit };
    bool possible = (options & CAMP_STATES_VISIT_ALL) == 0 &&
                    programs->rodata->own_namespace == 0 && camp_events_may_find_threads(kernel);

    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        possible &= bpf_program__autoload(needed[i]);
    bpf_program__set_autoload(programs->progs.on_rename, possible);
    bpf_program__set_autoload(programs->progs.on_attach, possible);
    bpf_program__set_autoload(programs->progs.read_threads_of_list, possible);
    programs->rodata->lists_changes = possible;
}

static int find_events(struct camp_states *session, const struct relocations *types,
                       uint32_t options, struct camp_error *error)
{
    struct states_bpf *programs = session->programs;
    struct kernel_types *kernel = NULL;
    int r = camp_kernel_types_open(&kernel, error);

    if (r == CAMP_OK)
        r = camp_events_require(kernel, error);
    if (r == CAMP_OK) {
        leave_out(programs->obj, kernel, options);
        programs->rodata->split_calls = splits_calls(programs);
        prepare_traps(programs->obj, kernel, programs->rodata->split_calls);
        programs->rodata->sees_faults = camp_events_have_tracepoint(kernel, "page_fault_user");
        prepare_changes(programs, kernel, options);
        r = camp_causes_prepare(session, kernel, options, error);
        camp_stacks_prepare(session, (options & CAMP_STATES_STACKS) != 0);
        camp_relocations_fill(types, kernel, bpf_object__btf(programs->obj));
    }
    camp_kernel_types_close(kernel);
    return r;
}

/* Returns the inode number of the PID namespace of this process, or 0 if it is the namespace of the
 * machine. */
static uint32_t own_namespace(void)
{
    struct stat namespace;

    return stat("/proc/self/ns/pid", &namespace) != 0 || namespace.st_ino == MACHINE_NAMESPACE
               ? 0
               : (uint32_t) namespace.st_ino;
}

/* The program for the end of a trap is attached first, because it does nothing until the start of a
 * trap was recorded. */
static void attach_traps(struct camp_states *session)
{
    struct states_bpf *programs = session->programs;

    if (!bpf_program__autoload(programs->progs.on_fault_begin))
        return;
    programs->links.on_fault_end = bpf_program__attach(programs->progs.on_fault_end);
    if (programs->links.on_fault_end != NULL)
        programs->links.on_fault_begin = bpf_program__attach(programs->progs.on_fault_begin);
    if (programs->links.on_fault_begin != NULL) {
        session->knows.states |= 1u << CAMP_STATE_TRAP;
        programs->bss->known_states = session->knows.states;
    }
}

static uint32_t bit_if(bool condition, unsigned bit)
{
    return condition ? bit : 0;
}

/* Decides what is known of threads and CPUs, by the programs that were loaded. Traps are known once
 * attach_traps() has succeeded. */
static void note_known(struct camp_states *session)
{
    const struct states_bpf *programs = session->programs;
    const bool splits = programs->rodata->split_calls;
    const bool interrupts = bpf_program__autoload(programs->progs.on_irq_handler_entry);
    const bool softirqs = bpf_program__autoload(programs->progs.on_softirq_entry);
    const bool text = bpf_program__autoload(programs->progs.on_fault_user);
    const bool in_call = bpf_program__autoload(programs->progs.on_fault_kernel);
    const bool signals = bpf_program__autoload(programs->progs.on_signal);

    session->knows = (struct camp_states_known){
        .states = ((1u << CAMP_STATE_COUNT) - 1) &
                  ~(1u << CAMP_STATE_TRAP | 1u << CAMP_STATE_SLEEP |
                    bit_if(!splits, 1u << CAMP_STATE_SYSTEM) |
                    bit_if(!interrupts && !softirqs, 1u << CAMP_STATE_IRQ) |
                    bit_if(!text, 1u << CAMP_STATE_TEXT_FAULT) |
                    bit_if(!in_call, 1u << CAMP_STATE_KERNEL_FAULT)),
        .thread = CAMP_THREAD_STATES_ALL & ~(bit_if(!splits, CAMP_THREAD_STATES_SYSTEM_CALLS) |
                                             bit_if(!signals, CAMP_THREAD_STATES_SIGNALS)),
        .cpu = CAMP_CPU_STATES_ALL &
               ~(bit_if(!splits, CAMP_CPU_STATES_SYSTEM | CAMP_CPU_STATES_OUTSIDE_SYSTEM) |
                 bit_if(!interrupts, CAMP_CPU_STATES_IRQ) |
                 bit_if(!softirqs, CAMP_CPU_STATES_SOFTIRQ)),
        .losses = CAMP_STATES_LOSSES_ALL,
    };
    programs->bss->known_states = session->knows.states;
    programs->bss->known_fields = session->knows.thread;
}

/* libbpf_num_possible_cpus() does not count the gaps between the numbers, as in "0-3,8-11". */
static int count_cpus(uint32_t *ret, struct camp_error *error)
{
    FILE *file = fopen("/sys/devices/system/cpu/possible", "re");
    uint32_t last = UINT32_MAX;

    if (file != NULL) {
        while (fscanf(file, "%" SCNu32 "%*[-,]", &last) == 1)
            continue;
        fclose(file);
    }
    if (last >= CPUS_MOST)
        return camp_fail(error, CAMP_E_IO, file == NULL ? errno : 0,
                         "the numbers of the CPUs cannot be read from "
                         "/sys/devices/system/cpu/possible, which microstates need");
    *ret = last + 1;
    return CAMP_OK;
}

/* Looks up addresses that the kernel may hide: then the programs work without them. */
static void find_restarts(const struct states_bpf *programs)
{
    LIBBPF_OPTS(bpf_test_run_opts, nothing);

    (void)bpf_prog_test_run_opts(bpf_program__fd(programs->progs.find_restarts), &nothing);
}

/* Opens the programs, and decides which of them are loaded. */
static int prepare(struct camp_states *session, struct relocations *types, uint32_t options,
                   struct camp_error *error)
{
    LIBBPF_OPTS(bpf_object_open_opts, open_options);
    struct states_bpf *programs;
    int r;

    camp_relocations_open(types, &open_options);
    programs = camp_causes_open_programs((options & CAMP_STATES_CULPRITS) != 0, &open_options);
    session->programs = programs;
    if (programs == NULL)
        return camp_fail(error, CAMP_E_NOMEM, errno, "no memory for the programs of microstates");
    camp_calls_fill((uint8_t *)programs->rodata->kind_of_call,
                    sizeof programs->rodata->kind_of_call);
    programs->rodata->own_namespace = own_namespace();
    session->has_disks = (options & CAMP_STATES_DISKS) != 0;
    programs->rodata->tell_disks = session->has_disks;
    r = find_events(session, types, options, error);
    if (r == CAMP_OK)
        r = count_cpus(&session->cpu_count, error);
    if (r == CAMP_OK) {
        bpf_map__set_max_entries(programs->maps.cpus, session->cpu_count);
        bpf_map__set_max_entries(programs->maps.queues, session->cpu_count);
    }
    return r;
}

static int load(struct camp_states *session, uint32_t options, struct camp_error *error)
{
    struct relocations types;
    const int prepared = prepare(session, &types, options, error);
    struct states_bpf *programs = session->programs;
    int r = prepared == CAMP_OK && programs != NULL ? states_bpf__load(programs) : 0, causes;

    camp_relocations_close(&types);
    if (prepared != CAMP_OK || programs == NULL)
        return prepared;
    if (r == 0 && programs->bss == NULL) /* libbpf could not map the variables of the programs */
        r = -ENOMEM;
    if (r == 0) {
        note_known(session);
        find_restarts(programs);
        causes = camp_causes_begin(session, error);
        if (causes == CAMP_OK)
            causes = camp_stacks_begin(session, error);
        if (causes != CAMP_OK)
            return causes;
        r = states_bpf__attach(programs);
    }
    if (r == 0)
        r = camp_stacks_attach(session);
    if (r != 0)
        return camp_refused_programs(r, "microstates",
                                     "camp top --verbose shows why; camp check works without "
                                     "microstates",
                                     error);
    attach_traps(session);
    return CAMP_OK;
}

static int begin(struct camp_states *session, struct camp_error *error)
{
    void *cpus = mmap(NULL, session->cpu_count * sizeof *session->cpus, PROT_READ, MAP_SHARED,
                      bpf_map__fd(session->programs->maps.cpus), 0);
    int r;

    if (cpus == MAP_FAILED)
        return camp_fail(error, CAMP_E_NOMEM, errno, "no memory to map the accounts of CPUs");
    session->cpus = cpus;
    session->exits = ring_buffer__new(bpf_map__fd(session->programs->maps.exits),
                                      camp_session_take_exit, session, NULL);
    if (session->exits == NULL)
        return camp_fail(error, CAMP_E_NOMEM, errno, "no memory for the ring of ended threads");
    session->lists_changes = session->programs->rodata->lists_changes;
    r = camp_session_account_all(session, error);
    session->programs->bss->all_accounted = true;
    return r;
}

/* Makes malloc() use mappings, not the heap, for the growing lists of threads. Unless
 * M_MMAP_THRESHOLD is fixed, malloc() raises this limit when libbpf frees a large block. The lists
 * then leave holes in the heap (8 of 38 MB with 10,000 threads). */
static void map_large_lists(void)
{
#ifdef M_MMAP_THRESHOLD /* musl has another malloc(), without this limit */
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
#endif
}

static int close_refused(struct camp_states *session, int result, struct camp_error *error)
{
    const size_t needed =
        session->programs != NULL ? camp_refusal_files_needed(session->programs->obj) : 0;

    camp_states_close(session);
    return camp_refused_by_limit(result, needed, "microstates", error);
}

int camp_states_open(struct camp_states **ret, uint32_t options, struct camp_error *error)
{
    struct camp_states *session;
    libbpf_print_fn_t before = NULL;
    int r;

    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    if ((options & ~OPTIONS) != 0)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "options is 0x%x: pass bits of enum camp_states_option",
                         (unsigned)options);
    if ((options & CAMP_STATES_STACKS) != 0 && (options & CAMP_STATES_CULPRITS) == 0)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "CAMP_STATES_STACKS goes with CAMP_STATES_CULPRITS");
    session = calloc(1, sizeof *session);
    if (session == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a session");
    map_large_lists();
    if ((options & CAMP_STATES_VERBOSE) == 0)
        before = libbpf_set_print(NULL);
    r = load(session, options, error);
    if (r == CAMP_OK)
        r = begin(session, error);
    if ((options & CAMP_STATES_VERBOSE) == 0)
        libbpf_set_print(before);
    if (r == CAMP_OK)
        *ret = session;
    else
        r = close_refused(session, r, error);
    return r;
}

int camp_states_known(const struct camp_states *session, struct camp_states_known *ret, size_t size,
                      struct camp_error *error)
{
    if (camp_is_null(error, session, ret))
        return CAMP_E_INVALID;
    camp_hand_out(ret, size, &session->knows, sizeof session->knows);
    return CAMP_OK;
}

void camp_states_close(struct camp_states *session)
{
    if (session == NULL)
        return;
    if (session->cpus != NULL)
        munmap((void *)session->cpus, session->cpu_count * sizeof *session->cpus);
    camp_causes_end(session);
    camp_stacks_end(session);
    ring_buffer__free(session->exits);
    free(session->known);
    free(session->records);
    free(session->read_again.tids);
    free(session->orphaned.tids);
    states_bpf__destroy(session->programs);
    free(session);
}
