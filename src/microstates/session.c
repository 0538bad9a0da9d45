/*
 * A session of microstates: the programs in the kernel, loaded, attached, and read.
 *
 * Nothing is pinned: programs, maps and links live by descriptors of this process, so the kernel
 * takes all of it away when the process ends, by whatever signal.
 */
#include "../counters/error.h"
#include "../counters/units.h"
#include "calls.h"
#include "layout.h"
#include "states.skel.h"

#include <camp/states.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORDS_AT_ONCE 128
#define CPUS_BYTES (CPUS_MAX * sizeof(struct cpu_account))

struct camp_states {
    struct states_bpf *programs;
    const struct cpu_account *cpus; /* [CPUS_MAX], as the kernel writes them */
    struct ring_buffer *exits;
    /* Where exits go while the ring is being read. */
    char *taken;
    size_t taken_size, taken_count, taken_capacity;
};

/* ------------------------------------------------------------------------------- Loading -- */

static int say_nothing(enum libbpf_print_level level, const char *format, va_list arguments)
{
    (void)level;
    (void)format;
    (void)arguments;
    return 0;
}

/* The parameters of a tracepoint, its context included; 0: this kernel does not have it. */
static unsigned parameters_of(const struct btf *kernel, const char *tracepoint)
{
    char name[80];
    const struct btf_type *type;
    int id;

    snprintf(name, sizeof name, "btf_trace_%s", tracepoint);
    id = btf__find_by_name_kind(kernel, name, BTF_KIND_TYPEDEF);
    if (id < 0)
        return 0;
    type = btf__type_by_id(kernel, btf__type_by_id(kernel, (uint32_t)id)->type); /* a pointer */
    type = btf__type_by_id(kernel, type->type);                                  /* a function */
    return btf_vlen(type);
}

/* What a kernel does not have is left out: interrupts that are not told of are part of whatever
 * they hit, faults of text are booked as of data. */
static void leave_out(struct bpf_object *object, const struct btf *kernel, bool no_calls)
{
    struct bpf_program *program;

    bpf_object__for_each_program(program, object)
    {
        const char *tracepoint = strchr(bpf_program__section_name(program), '/');
        bool call = strstr(bpf_program__section_name(program), "/sys_") != NULL;

        if (bpf_program__type(program) == BPF_PROG_TYPE_TRACING &&
            bpf_program__expected_attach_type(program) == BPF_TRACE_RAW_TP &&
            (parameters_of(kernel, tracepoint + 1) == 0 || (call && no_calls)))
            bpf_program__set_autoload(program, false);
    }
}

static int find_events(struct states_bpf *programs, bool no_calls, struct camp_error *error)
{
    struct btf *kernel = btf__load_vmlinux_btf();
    unsigned parameters;

    if (kernel == NULL)
        return camp_fail(
            error, errno == EACCES || errno == EPERM ? CAMP_E_PERM : CAMP_E_NOTSUP, errno,
            "this kernel has no BTF (/sys/kernel/btf/vmlinux): it takes one built with "
            "CONFIG_DEBUG_INFO_BTF");
    parameters = parameters_of(kernel, "sched_switch");
    if (parameters >= 5)
        leave_out(programs->obj, kernel, no_calls);
    btf__free(kernel);
    if (parameters < 5)
        return camp_fail(
            error, CAMP_E_NOTSUP, 0,
            "this kernel does not say why a thread leaves its CPU: it takes Linux 5.18");
    return CAMP_OK;
}

static int fail_load(int result, struct camp_error *error)
{
    if (result == -EPERM || result == -EACCES)
        return camp_fail(
            error, CAMP_E_PERM, -result,
            "microstates take CAP_BPF and CAP_PERFMON in the initial namespaces; run as "
            "root, or setcap cap_bpf,cap_perfmon+ep the program");
    return camp_fail(error, CAMP_E_NOTSUP, -result,
                     "this kernel refuses the programs of microstates (%s); --verbose says why",
                     strerror(-result));
}

static int load(struct camp_states *session, uint32_t options, struct camp_error *error)
{
    const bool no_calls = (options & CAMP_STATES_NO_SYSCALLS) != 0;
    struct states_bpf *programs = states_bpf__open();
    int r;

    session->programs = programs;
    if (programs == NULL)
        return camp_fail(error, CAMP_E_NOMEM, errno, "no memory for the programs of microstates");
    calls_fill((uint8_t *)programs->rodata->kind_of_call, sizeof programs->rodata->kind_of_call);
    programs->rodata->split_calls = !no_calls;
    r = find_events(programs, no_calls, error);
    if (r != CAMP_OK)
        return r;
    r = states_bpf__load(programs);
    if (r == 0)
        r = states_bpf__attach(programs);
    return r == 0 ? CAMP_OK : fail_load(r, error);
}

/* ------------------------------------------------------------------------------ Snapshot -- */

typedef void (*take_record)(void *context, const struct camp_thread_states *record);

static int read_records(struct camp_states *session, take_record take, void *context,
                        struct camp_error *error)
{
    struct camp_thread_states records[RECORDS_AT_ONCE];
    int descriptor = bpf_iter_create(bpf_link__fd(session->programs->links.snapshot));
    size_t waiting = 0; /* bytes: a read may end within a record */
    ssize_t got;

    if (descriptor < 0)
        return camp_fail(error, CAMP_E_IO, errno, "the kernel makes no iterator of its tasks (%s)",
                         strerror(errno));
    for (;;) {
        size_t whole;

        do
            got = read(descriptor, (char *)records + waiting, sizeof records - waiting);
        while (got < 0 && (errno == EINTR || errno == EAGAIN));
        if (got <= 0)
            break;
        waiting += (size_t)got;
        whole = waiting / sizeof records[0];
        for (size_t i = 0; i < whole; i++)
            take(context, &records[i]);
        waiting -= whole * sizeof records[0];
        memmove(records, records + whole, waiting);
    }
    close(descriptor);
    return got == 0 ? CAMP_OK
                    : camp_fail(error, CAMP_E_IO, errno, "the kernel's tasks cannot be read (%s)",
                                strerror(errno));
}

struct thread_array {
    char *next;
    size_t size, capacity, count;
};

static void take_thread(void *context, const struct camp_thread_states *record)
{
    struct thread_array *array = context;

    if (array->count++ >= array->capacity)
        return;
    camp_hand_out(array->next, array->size, record, sizeof *record);
    array->next += array->size;
}

int camp_states_threads(struct camp_states *session, struct camp_thread_states *ret, size_t size,
                        size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct thread_array array = { (char *)ret, size, capacity, 0 };
    int r;

    if (session == NULL || ret_count == NULL || (ret == NULL && capacity > 0))
        return camp_fail(error, CAMP_E_INVALID, 0, "pass a session and a place for the threads");
    r = read_records(session, take_thread, &array, error);
    if (r != CAMP_OK)
        return r;
    *ret_count = array.count;
    if (array.count > capacity)
        return camp_fail(error, CAMP_E_SPACE, 0, "%zu threads, and room for %zu", array.count,
                         capacity);
    return CAMP_OK;
}

/* --------------------------------------------------------------------------------- Exits -- */

/* libbpf calls this for each record; a negative result stops it behind this one. */
static int take_exit(void *context, void *record, size_t length)
{
    struct camp_states *session = context;

    if (length >= sizeof(struct camp_thread_states))
        camp_hand_out(session->taken + session->taken_count++ * session->taken_size,
                      session->taken_size, record, sizeof(struct camp_thread_states));
    return session->taken_count < session->taken_capacity ? 0 : -ENOSPC;
}

int camp_states_exits(struct camp_states *session, struct camp_thread_states *ret, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    int r;

    if (session == NULL || ret_count == NULL || (ret == NULL && capacity > 0))
        return camp_fail(error, CAMP_E_INVALID, 0, "pass a session and a place for the threads");
    session->taken = (char *)ret;
    session->taken_size = size;
    session->taken_capacity = capacity;
    session->taken_count = 0;
    r = capacity > 0 ? ring_buffer__consume(session->exits) : 0;
    if (r < 0 && r != -ENOSPC && r != -EINTR)
        return camp_fail(error, CAMP_E_IO, -r, "the ring of ended threads cannot be read (%s)",
                         strerror(-r));
    *ret_count = session->taken_count;
    return CAMP_OK;
}

/* ---------------------------------------------------------------------------------- CPUs -- */

static uint64_t open_interrupt_ns(const struct cpu_account *cpu, uint64_t now)
{
    uint64_t since = cpu->interrupt_since_ns;

    return since != 0 && now > since ? now - since : 0;
}

/* The same last switch and the same interrupts before and after the copy: it is of one state. A CPU
 * that changes all the time is taken at the last try as it stands. */
static struct cpu_account steady(const volatile struct cpu_account *account)
{
    struct cpu_account copy;

    for (int i = 0; i < 100; i++) {
        uint64_t since = account->since_ns, interrupts = account->irq_ns + account->softirq_ns;

        __sync_synchronize();
        copy = *account;
        __sync_synchronize();
        if (since == account->since_ns && copy.since_ns == since &&
            interrupts == account->irq_ns + account->softirq_ns)
            break;
    }
    return copy;
}

static struct camp_cpu_states cpu_states_of(int32_t number, const struct cpu_account *account)
{
    uint64_t now = now_ns(CLOCK_MONOTONIC);
    uint64_t open = open_interrupt_ns(account, now);
    uint64_t taken = account->irq_ns + account->softirq_ns + open - account->irq_before_ns;
    uint64_t interval = now > account->since_ns ? now - account->since_ns : 0;
    struct camp_cpu_states states = {
        .cpu = number,
        .running = account->running,
        .begin_ns = account->begin_ns,
        .time_ns = now,
        .busy_ns = account->busy_ns,
        .idle_ns = account->idle_ns,
        .system_ns = account->system_ns,
        .irq_ns = account->irq_ns + open,
        .softirq_ns = account->softirq_ns,
        .switches = account->switches,
    };

    interval -= taken < interval ? taken : interval;
    *(account->running != 0 ? &states.busy_ns : &states.idle_ns) += interval;
    return states;
}

int camp_states_cpus(struct camp_states *session, struct camp_cpu_states *ret, size_t size,
                     size_t capacity, size_t *ret_count, struct camp_error *error)
{
    size_t count = 0;

    if (session == NULL || ret_count == NULL || (ret == NULL && capacity > 0))
        return camp_fail(error, CAMP_E_INVALID, 0, "pass a session and a place for the CPUs");
    for (int32_t i = 0; i < CPUS_MAX; i++) {
        struct cpu_account account = steady(&session->cpus[i]);
        struct camp_cpu_states states;

        if (account.begin_ns == 0)
            continue;
        states = cpu_states_of(i, &account);
        if (count < capacity)
            camp_hand_out((char *)ret + count * size, size, &states, sizeof states);
        count++;
    }
    *ret_count = count;
    return count <= capacity
               ? CAMP_OK
               : camp_fail(error, CAMP_E_SPACE, 0, "%zu CPUs, and room for %zu", count, capacity);
}

int camp_states_losses(struct camp_states *session, struct camp_states_losses *ret, size_t size,
                       struct camp_error *error)
{
    struct camp_states_losses losses = { 0 };

    if (session == NULL || ret == NULL)
        return camp_fail(error, CAMP_E_INVALID, 0, "pass a session and a place for its losses");
    for (size_t i = 0; i < CPUS_MAX; i++) {
        losses.switches += session->cpus[i].switches;
        losses.unseen += session->cpus[i].unseen;
        losses.lost += session->cpus[i].lost;
        losses.exits_lost += session->cpus[i].exits_lost;
    }
    camp_hand_out(ret, size, &losses, sizeof losses);
    return CAMP_OK;
}

/* ------------------------------------------------------------------------------- Session -- */

static void take_nothing(void *context, const struct camp_thread_states *record)
{
    (void)context;
    (void)record;
}

/* The first snapshot gives every thread its account. */
static int begin(struct camp_states *session, struct camp_error *error)
{
    void *cpus =
        mmap(NULL, CPUS_BYTES, PROT_READ, MAP_SHARED, bpf_map__fd(session->programs->maps.cpus), 0);
    int r;

    if (cpus == MAP_FAILED)
        return camp_fail(error, CAMP_E_NOMEM, errno, "no memory to map the accounts of CPUs");
    session->cpus = cpus;
    session->exits =
        ring_buffer__new(bpf_map__fd(session->programs->maps.exits), take_exit, session, NULL);
    if (session->exits == NULL)
        return camp_fail(error, CAMP_E_NOMEM, errno, "no memory for the ring of ended threads");
    r = read_records(session, take_nothing, NULL, error);
    session->programs->bss->all_met = true;
    return r;
}

int camp_states_open(struct camp_states **ret, uint32_t options, struct camp_error *error)
{
    struct camp_states *session;
    libbpf_print_fn_t before = NULL;
    int r;

    if (ret == NULL)
        return camp_fail(error, CAMP_E_INVALID, 0, "pass a place for the session");
    session = calloc(1, sizeof *session);
    if (session == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a session");
    if ((options & CAMP_STATES_VERBOSE) == 0)
        before = libbpf_set_print(say_nothing);
    r = load(session, options, error);
    if (r == CAMP_OK)
        r = begin(session, error);
    if ((options & CAMP_STATES_VERBOSE) == 0)
        libbpf_set_print(before);
    if (r == CAMP_OK)
        *ret = session;
    else
        camp_states_close(session);
    return r;
}

void camp_states_close(struct camp_states *session)
{
    if (session == NULL)
        return;
    if (session->cpus != NULL)
        munmap((void *)session->cpus, CPUS_BYTES);
    ring_buffer__free(session->exits);
    states_bpf__destroy(session->programs);
    free(session);
}
