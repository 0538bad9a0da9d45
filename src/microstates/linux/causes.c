/*
 * The ledger of causes of a session: whether it is kept, and its memory.
 * programs/culprits.bpf.h has the theory, cause_groups.c its groups, and cause_rows.c reads it.
 */
#include "counters/error.h"
#include "culprits_layout.h"
#include "events.h"
#include "layout.h"
#include "plain.skel.h"
#include "session.h"
#include "states.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The programs exist with and without the ledger, and share everything else. */
_Static_assert(sizeof(struct states_bpf__bss) == sizeof(struct plain_bpf__bss) &&
                   sizeof(struct states_bpf__rodata) == sizeof(struct plain_bpf__rodata),
               "the variables of the programs with and without causes differ");

#define IS_AT_ONE_PLACE(variable, section)                                                         \
    _Static_assert(offsetof(struct states_bpf__##section, variable) ==                             \
                       offsetof(struct plain_bpf__##section, variable),                            \
                   #variable " is elsewhere in the programs without causes")

IS_AT_ONE_PLACE(all_accounted, bss);
IS_AT_ONE_PLACE(changes, bss);
IS_AT_ONE_PLACE(free_groups, bss);
IS_AT_ONE_PLACE(generation, bss);
IS_AT_ONE_PLACE(group_names, bss);
IS_AT_ONE_PLACE(groups_version, bss);
IS_AT_ONE_PLACE(known_fields, bss);
IS_AT_ONE_PLACE(known_states, bss);
IS_AT_ONE_PLACE(sleeps_since_ns, bss);
IS_AT_ONE_PLACE(snapshot_before, bss);
IS_AT_ONE_PLACE(snapshot_brief, bss);
IS_AT_ONE_PLACE(snapshot_now, bss);
IS_AT_ONE_PLACE(stacks_from_ns, bss);
IS_AT_ONE_PLACE(stacks_of_watched, bss);
IS_AT_ONE_PLACE(stacks_since_ns, bss);
IS_AT_ONE_PLACE(subject_groups, bss);
IS_AT_ONE_PLACE(thread_records, bss);
IS_AT_ONE_PLACE(waker_devices, bss);
IS_AT_ONE_PLACE(wanted_count, bss);
IS_AT_ONE_PLACE(wanted_tids, bss);
IS_AT_ONE_PLACE(watched_groups, bss);
IS_AT_ONE_PLACE(watches_cgroups, bss);
IS_AT_ONE_PLACE(calls_with_argument, rodata);
IS_AT_ONE_PLACE(cpu_cgroups, rodata);
IS_AT_ONE_PLACE(groups_by_cgroup, rodata);
IS_AT_ONE_PLACE(groups_by_need, rodata);
IS_AT_ONE_PLACE(groups_by_process, rodata);
IS_AT_ONE_PLACE(kind_of_call, rodata);
IS_AT_ONE_PLACE(lists_changes, rodata);
IS_AT_ONE_PLACE(own_namespace, rodata);
IS_AT_ONE_PLACE(sees_faults, rodata);
IS_AT_ONE_PLACE(split_calls, rodata);
IS_AT_ONE_PLACE(tell_disks, rodata);

struct states_bpf *camp_causes_open_programs(bool has_causes, struct bpf_object_open_opts *options)
{
    struct states_bpf *programs = calloc(1, sizeof *programs);

    if (programs == NULL)
        return NULL;
    if (states_bpf__create_skeleton(programs) != 0)
        goto failed;
    if (!has_causes)
        programs->skeleton->data = (void *)plain_bpf__elf_bytes(&programs->skeleton->data_sz);
    if (bpf_object__open_skeleton(programs->skeleton, options) == 0)
        return programs;
failed:
    states_bpf__destroy(programs);
    return NULL;
}

/* Loads each program only if the kernel has its event. The two events of a timer, or of a kind of
 * messages between CPUs, are of no use without each other. */
static void leave_out_programs(struct states_bpf *programs, const struct kernel_types *kernel,
                               bool wanted)
{
    const struct {
        struct bpf_program *entry, *exit; /* exit may be NULL */
        const char *entry_event, *exit_event;
    } of_causes[] = {
        { programs->progs.on_waking, NULL, "sched_waking", NULL },
        { programs->progs.on_softirq_raise, NULL, "softirq_raise", NULL },
        { programs->progs.on_hrtimer_entry, programs->progs.on_hrtimer_exit, "hrtimer_expire_entry",
          "hrtimer_expire_exit" },
        { programs->progs.on_call_function_entry, programs->progs.on_call_function_exit,
          "call_function_entry", "call_function_exit" },
        { programs->progs.on_call_function_single_entry,
          programs->progs.on_call_function_single_exit, "call_function_single_entry",
          "call_function_single_exit" },
        { programs->progs.on_irq_work_entry, programs->progs.on_irq_work_exit, "irq_work_entry",
          "irq_work_exit" },
        { programs->progs.on_ipi_entry, programs->progs.on_ipi_exit, "ipi_entry", "ipi_exit" },
    };

    for (size_t i = 0; i < sizeof of_causes / sizeof of_causes[0]; i++) {
        const bool loads = wanted &&
                           camp_events_have_tracepoint(kernel, of_causes[i].entry_event) &&
                           (of_causes[i].exit == NULL ||
                            camp_events_have_tracepoint(kernel, of_causes[i].exit_event));

        bpf_program__set_autoload(of_causes[i].entry, loads);
        if (of_causes[i].exit != NULL)
            bpf_program__set_autoload(of_causes[i].exit, loads);
    }
    if (wanted && camp_events_have_tracepoint(kernel, "task_rename"))
        bpf_program__set_autoload(programs->progs.on_rename, true);
    if (wanted && camp_events_have_tracepoint(kernel, "cgroup_attach_task"))
        bpf_program__set_autoload(programs->progs.on_attach, true);
}

/* Notes the calls of which the first argument says for what a thread sleeps. */
static void note_arguments(struct states_bpf *programs)
{
    uint64_t *calls = (uint64_t *)programs->rodata->calls_with_argument;

    for (int32_t i = 0; i < CALLS_MAX; i++) {
        if (camp_call_argument(i) != CALL_OTHER)
            calls[i / 64] |= UINT64_C(1) << i % 64;
    }
}

int camp_fail_without_causes(struct camp_error *error)
{
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "this session keeps no ledger of causes: open it with CAMP_STATES_CULPRITS");
}

int camp_causes_prepare(struct camp_states *session, const struct kernel_types *kernel,
                        uint32_t options, struct camp_error *error)
{
    struct states_bpf *programs = session->programs;
    const bool wanted = (options & CAMP_STATES_CULPRITS) != 0;
    int r = wanted ? camp_events_require_causes(kernel, error) : CAMP_OK;

    leave_out_programs(programs, kernel, wanted && r == CAMP_OK);
    note_arguments(programs);
    session->has_causes = wanted;
    programs->rodata->groups_by_process = (options & CAMP_STATES_BY_PROCESS) != 0;
    programs->rodata->groups_by_cgroup = (options & CAMP_STATES_BY_CGROUP) != 0;
    programs->rodata->cpu_cgroups = (options & CAMP_STATES_CPU_CGROUPS) != 0;
    programs->rodata->groups_by_need = (options & CAMP_STATES_GROUPS_BY_NEED) != 0;
    bpf_map__set_autocreate(programs->maps.groups, wanted);
    bpf_map__set_autocreate(programs->maps.watched_cgroups, wanted);
    bpf_map__set_autocreate(programs->maps.queues, wanted);
    bpf_map__set_autocreate(programs->maps.sleeps_of_groups, wanted);
    bpf_map__set_autocreate(programs->maps.sleeps_of_calls, wanted);
    bpf_map__set_autocreate(programs->maps.distributions_of_groups, wanted);
    return r;
}

static void *map_array(const struct bpf_map *map, size_t size, int protection)
{
    void *mapped = mmap(NULL, size, protection, MAP_SHARED, bpf_map__fd(map), 0);

    return mapped == MAP_FAILED ? NULL : mapped;
}

int camp_causes_begin(struct camp_states *session, struct camp_error *error)
{
    struct states_bpf *programs = session->programs;

    if (!session->has_causes)
        return CAMP_OK;
    programs->bss->free_groups = FREE_AT_FIRST;
    programs->bss->groups_version = 1;
    session->queues =
        map_array(programs->maps.queues, session->cpu_count * sizeof *session->queues, PROT_READ);
    session->sleeps =
        map_array(programs->maps.sleeps_of_groups, GROUPS_MAX * sizeof *session->sleeps, PROT_READ);
    session->distributions =
        map_array(programs->maps.distributions_of_groups,
                  GROUPS_MAX * sizeof *session->distributions, PROT_READ | PROT_WRITE);
    if (session->queues == NULL || session->sleeps == NULL || session->distributions == NULL ||
        !camp_causes_make_charges(session))
        return camp_fail(error, CAMP_E_NOMEM, errno, "no memory to map the ledger of causes");
    return CAMP_OK;
}

void camp_causes_end(struct camp_states *session)
{
    if (session->queues != NULL)
        munmap((void *)session->queues, session->cpu_count * sizeof *session->queues);
    if (session->sleeps != NULL)
        munmap((void *)session->sleeps, GROUPS_MAX * sizeof *session->sleeps);
    if (session->distributions != NULL)
        munmap(session->distributions, GROUPS_MAX * sizeof *session->distributions);
    free(session->charges);
}
