/*
 * The kernel's events and helpers that microstates need, and the first Linux version that has each;
 * and the capabilities that the kernel requires.
 *
 * In the kernel's BTF a tracepoint NAME is the typedef "btf_trace_NAME" of a function with the
 * tracepoint's parameters. An iterator NAME is the function "bpf_iter_NAME". A helper is the
 * function of its own name. The clock of throttled time is a member of struct cfs_rq. Whether a
 * program can attach to the start and end of a function depends on more than BTF, so it is tried.
 */
#include "events.h"
#include "counters/error.h"
#include "refusal.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct event {
    const char *name;
    const char *tracepoint; /* or NULL */
    const char *function;   /* the kernel's function of a helper or an iterator, or NULL */
    const char *member;     /* of struct cfs_rq, or NULL */
    const char *traced;     /* the kernel's function to which programs attach, or NULL */
    bool finds_threads;     /* whether a program may find a thread by its tid */
    unsigned parameters; /* smallest number of a tracepoint's parameters, including the context */
    bool needed;
    const char *since, *without;
};

#define TRACEPOINT(name, needed, since, without)                                                   \
    {                                                                                              \
        name, name, NULL, NULL, NULL, false, 1, needed, since, without                             \
    }
#define HELPER(name, function, since, without)                                                     \
    {                                                                                              \
        name, NULL, function, NULL, NULL, false, 0, true, since, without                           \
    }

#define MEMBER_OF_CLOCK "throttled_clock_self"
#define EACH_VISITED "snapshots also visit idle threads"

/* The tracepoints are older, but programs attach to them by BTF only since Linux 5.5. */
static const struct event events[] = {
    { "sched_switch prev_state", "sched_switch", NULL, NULL, NULL, false, 5, true, "5.18",
      "no reason why a thread leaves" },
    TRACEPOINT("sched_wakeup", true, "5.5", "no end of a sleep"),
    TRACEPOINT("sched_wakeup_new", true, "5.5", "no beginning of a thread"),
    HELPER("iter/task", "bpf_iter_task", "5.8", "no snapshot of all threads"),
    HELPER("ring buffer", "bpf_ringbuf_reserve", "5.8", "no last numbers of exited threads"),
    HELPER("task storage", "bpf_task_storage_get", "5.13", "no account of a thread"),
    HELPER("registers of a task", "bpf_task_pt_regs", "5.15", "no kinds of sleep"),
    TRACEPOINT("sys_enter", false, "5.5", "user and system are one"),
    TRACEPOINT("sys_exit", false, "5.5", "user and system are one"),
    TRACEPOINT("page_fault_user", false, "x86", "faults of text count as data's"),
    TRACEPOINT("page_fault_kernel", false, "x86", "faults in a call are the call's"),
    TRACEPOINT("irq_handler_entry", false, "5.5", "they are part of what they hit"),
    TRACEPOINT("irq_handler_exit", false, "5.5", "they are part of what they hit"),
    TRACEPOINT("softirq_entry", false, "5.5", "they are part of what they hit"),
    TRACEPOINT("softirq_exit", false, "5.5", "they are part of what they hit"),
    TRACEPOINT("local_timer_entry", false, "x86", "they are part of what they hit"),
    TRACEPOINT("local_timer_exit", false, "x86", "they are part of what they hit"),
    TRACEPOINT("block_bio_queue", false, "5.5", "camp wait names no disk"),
    TRACEPOINT("signal_deliver", false, "5.5", "signals are not counted"),
    TRACEPOINT("sched_migrate_task", false, "5.5", "throttled time before a move is run queue"),
    TRACEPOINT("sched_waking", false, "5.5", "no causes of waits"),
    TRACEPOINT("softirq_raise", false, "5.5", "a softirq's wakeups are its own"),
    TRACEPOINT("hrtimer_expire_entry", false, "5.5", "a timer's wakeups may be a device's"),
    TRACEPOINT("hrtimer_expire_exit", false, "5.5", "a timer's wakeups may be a device's"),
    TRACEPOINT("call_function_entry", false, "x86", "its wakeups are of what it hit"),
    TRACEPOINT("call_function_exit", false, "x86", "its wakeups are of what it hit"),
    TRACEPOINT("call_function_single_entry", false, "x86", "its wakeups are of what it hit"),
    TRACEPOINT("call_function_single_exit", false, "x86", "its wakeups are of what it hit"),
    TRACEPOINT("irq_work_entry", false, "x86", "its wakeups are of what it hit"),
    TRACEPOINT("irq_work_exit", false, "x86", "its wakeups are of what it hit"),
    TRACEPOINT("ipi_entry", false, "arm64", "its wakeups are of what it hit"),
    TRACEPOINT("ipi_exit", false, "arm64", "its wakeups are of what it hit"),
    TRACEPOINT("task_rename", false, "5.5", EACH_VISITED),
    TRACEPOINT("cgroup_attach_task", false, "5.5", EACH_VISITED),
    TRACEPOINT("sched_process_exit", false, "5.5", EACH_VISITED),
    { "a thread by its tid", NULL, NULL, NULL, NULL, true, 0, false, "6.10", EACH_VISITED },
    { "throttled clock", NULL, NULL, MEMBER_OF_CLOCK, NULL, false, 0, false, "6.6",
      "a group's throttled time is run queue" },
    { "fexit " EVENTS_FUNCTION_OF_TRAPS, NULL, NULL, NULL, EVENTS_FUNCTION_OF_TRAPS, false, 0,
      false, "5.5", "no trap: its time is part of user" },
};

/* Returns the number of parameters of a tracepoint, including its context, or 0 if the kernel lacks
 * it. */
static unsigned parameters_of(const struct kernel_types *kernel, const char *tracepoint)
{
    char name[80];
    const struct btf_type *type;
    uint32_t id;

    snprintf(name, sizeof name, "btf_trace_%s", tracepoint);
    id = camp_kernel_type_find(kernel, name, BTF_KIND_TYPEDEF);
    if (id == 0)
        return 0;
    type = camp_kernel_type(kernel, camp_kernel_type(kernel, id)->type);
    type = camp_kernel_type(kernel, type->type);
    return btf_vlen(type);
}

static bool has_member(const struct kernel_types *kernel, const char *struct_name, const char *name)
{
    const uint32_t id = camp_kernel_type_find(kernel, struct_name, BTF_KIND_STRUCT);
    const struct btf_type *type = camp_kernel_type(kernel, id); /* void has no members */

    for (unsigned i = 0; i < btf_vlen(type); i++) {
        if (strcmp(camp_kernel_name(kernel, btf_members(type)[i].name_off), name) == 0)
            return true;
    }
    return false;
}

/* Loads a program that does nothing at the end of a function. Returns its file descriptor, or a
 * value below 0. */
static int load_tracer(const struct kernel_types *kernel, const char *function)
{
    static const struct bpf_insn return_0[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K },
                                                { .code = BPF_JMP | BPF_EXIT } };
    const uint32_t id = camp_kernel_type_find(kernel, function, BTF_KIND_FUNC);
    struct bpf_prog_load_opts options = { .sz = sizeof options, /* not const in libbpf 1.5 */
                                          .expected_attach_type = BPF_TRACE_FEXIT,
                                          .attach_btf_id = id };

    return id == 0 ? -ENOENT
                   : bpf_prog_load(BPF_PROG_TYPE_TRACING, NULL, "GPL", return_0,
                                   sizeof return_0 / sizeof return_0[0], &options);
}

static void close_descriptor(int descriptor)
{
    if (descriptor >= 0)
        close(descriptor);
}

bool camp_events_may_trace(const struct kernel_types *kernel, const char *function)
{
    const int program = load_tracer(kernel, function);

    close_descriptor(program);
    return program >= 0;
}

/* Loads a program that calls two functions of the kernel. */
bool camp_events_may_find_threads(const struct kernel_types *kernel)
{
    const int find = (int)camp_kernel_type_find(kernel, "bpf_task_from_pid", BTF_KIND_FUNC);
    const int release = (int)camp_kernel_type_find(kernel, "bpf_task_release", BTF_KIND_FUNC);
    const struct bpf_insn find_thread[] = {
        { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = 1 },
        { .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .imm = find },
        { .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 2 },
        { .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_0 },
        { .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .imm = release },
        { .code = BPF_ALU64 | BPF_MOV | BPF_K },
        { .code = BPF_JMP | BPF_EXIT },
    };
    struct bpf_prog_load_opts options = { .sz = sizeof options, /* not const in libbpf 1.5 */
                                          .prog_flags = BPF_F_SLEEPABLE };
    int program = -1;

    if (find != 0 && release != 0)
        program = bpf_prog_load(BPF_PROG_TYPE_SYSCALL, NULL, "GPL", find_thread,
                                sizeof find_thread / sizeof find_thread[0], &options);
    close_descriptor(program);
    return program >= 0;
}

static bool can_attach(const struct kernel_types *kernel, const char *function)
{
    const int program = load_tracer(kernel, function);
    const int link = program >= 0 ? bpf_raw_tracepoint_open(NULL, program) : program;

    close_descriptor(link);
    close_descriptor(program);
    return link >= 0;
}

static bool is_present(const struct kernel_types *kernel, const struct event *event)
{
    if (event->traced != NULL)
        return can_attach(kernel, event->traced);
    if (event->finds_threads)
        return camp_events_may_find_threads(kernel);
    if (event->member != NULL)
        return has_member(kernel, "cfs_rq", event->member);
    return event->tracepoint != NULL
               ? parameters_of(kernel, event->tracepoint) >= event->parameters
               : camp_kernel_type_find(kernel, event->function, BTF_KIND_FUNC) != 0;
}

bool camp_events_have_tracepoint(const struct kernel_types *kernel, const char *name)
{
    return parameters_of(kernel, name) > 0;
}

bool camp_events_have_throttled_clock(const struct kernel_types *kernel)
{
    return has_member(kernel, "cfs_rq", MEMBER_OF_CLOCK);
}

int camp_events_require(const struct kernel_types *kernel, struct camp_error *error)
{
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (events[i].needed && !is_present(kernel, &events[i]))
            return camp_fail(error, CAMP_E_NOTSUP, 0,
                             "this kernel has no %s (%s): microstates need Linux %s; camp check "
                             "works without microstates",
                             events[i].name, events[i].without, events[i].since);
    }
    return CAMP_OK;
}

int camp_events_require_causes(const struct kernel_types *kernel, struct camp_error *error)
{
    static const char *const needed[] = { "sched_waking", "sched_migrate_task" };

    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (!camp_events_have_tracepoint(kernel, needed[i]))
            return camp_fail(error, CAMP_E_NOTSUP, 0,
                             "this kernel has no event %s, which the causes of waits need; camp "
                             "top works without causes",
                             needed[i]);
    }
    return CAMP_OK;
}

int camp_events_list(const struct kernel_types *kernel, struct camp_states_event *ret, size_t size,
                     size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { ret, size, capacity, 0 };
    const bool may_try = camp_has_rights_for_programs();

    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        const struct camp_states_event shown = {
            .name = events[i].name,
            .since = events[i].since,
            .without = events[i].without,
            .needed = events[i].needed,
            .present = is_present(kernel, &events[i]),
            .known = (events[i].traced == NULL && !events[i].finds_threads) || may_try
                         ? CAMP_STATES_EVENT_PRESENT
                         : 0,
        };

        camp_output_add(&output, &shown, sizeof shown);
    }
    return camp_output_end(&output, "events", ret_count, error);
}

int camp_states_events(struct camp_states_event *ret, size_t size, size_t capacity,
                       size_t *ret_count, struct camp_error *error)
{
    libbpf_print_fn_t before;
    struct kernel_types *kernel = NULL;
    int r;

    if (camp_array_is_null(error, ret, capacity, ret_count))
        return CAMP_E_INVALID;
    before = libbpf_set_print(NULL);
    r = camp_kernel_types_open(&kernel, error);
    if (r == CAMP_OK)
        r = camp_events_list(kernel, ret, size, capacity, ret_count, error);
    camp_kernel_types_close(kernel);
    libbpf_set_print(before);
    return r;
}
