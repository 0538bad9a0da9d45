/*
 * A session of microstates: the programs in the kernel, loaded, attached, and read.
 *
 * Nothing is pinned: programs, maps and links live by descriptors of this process, so the kernel
 * takes all of it away when the process ends, by whatever signal.
 */
#include "session.h"
#include "../counters/error.h"
#include "../counters/units.h"
#include "calls.h"
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

static bool begins(const char *text, const char *with)
{
    return text != NULL && strncmp(text, with, strlen(with)) == 0;
}

/* What a kernel does not have is left out, and what was not asked for: interrupts that are not told
 * of are part of whatever they hit, faults of text are booked as of data. */
static void leave_out(struct bpf_object *object, const struct btf *kernel, uint32_t options)
{
    struct bpf_program *program;

    bpf_object__for_each_program(program, object)
    {
        const char *tracepoint = strchr(bpf_program__section_name(program), '/');
        bool unwanted = ((options & CAMP_STATES_NO_SYSCALLS) != 0 && begins(tracepoint, "/sys_")) ||
                        ((options & CAMP_STATES_DISKS) == 0 && begins(tracepoint, "/block_"));

        if (bpf_program__type(program) == BPF_PROG_TYPE_TRACING &&
            bpf_program__expected_attach_type(program) == BPF_TRACE_RAW_TP &&
            (unwanted || parameters_of(kernel, tracepoint + 1) == 0))
            bpf_program__set_autoload(program, false);
    }
}

static int find_events(struct states_bpf *programs, uint32_t options, struct camp_error *error)
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
        leave_out(programs->obj, kernel, options);
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
    struct states_bpf *programs = states_bpf__open();
    int r;

    session->programs = programs;
    if (programs == NULL)
        return camp_fail(error, CAMP_E_NOMEM, errno, "no memory for the programs of microstates");
    calls_fill((uint8_t *)programs->rodata->kind_of_call, sizeof programs->rodata->kind_of_call);
    programs->rodata->split_calls = (options & CAMP_STATES_NO_SYSCALLS) == 0;
    programs->rodata->tell_disks = (options & CAMP_STATES_DISKS) != 0;
    r = find_events(programs, options, error);
    if (r != CAMP_OK)
        return r;
    r = states_bpf__load(programs);
    if (r == 0)
        r = states_bpf__attach(programs);
    return r == 0 ? CAMP_OK : fail_load(r, error);
}

/* ------------------------------------------------------------------------------- Session -- */

static int begin(struct camp_states *session, struct camp_error *error)
{
    void *cpus =
        mmap(NULL, CPUS_BYTES, PROT_READ, MAP_SHARED, bpf_map__fd(session->programs->maps.cpus), 0);
    int r;

    if (cpus == MAP_FAILED)
        return camp_fail(error, CAMP_E_NOMEM, errno, "no memory to map the accounts of CPUs");
    session->cpus = cpus;
    session->exits = ring_buffer__new(bpf_map__fd(session->programs->maps.exits), session_take_exit,
                                      session, NULL);
    if (session->exits == NULL)
        return camp_fail(error, CAMP_E_NOMEM, errno, "no memory for the ring of ended threads");
    r = session_meet_all(session, error);
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
