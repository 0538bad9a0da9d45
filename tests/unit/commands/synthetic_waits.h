/* Functions that make records of camp wait from synthetic CPUs, threads and disk waits. */
#pragma once

#include "commands/wait/wait_record.h"
#include "views/view.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define MS UINT64_C(1000000)

struct made {
    struct frame threads, cpus;
    struct wait_tasks tasks;
    struct wait_record record;
    struct wait_system system; /* nothing is known */
    struct selection selection;
    size_t top_cpus;
    enum wait_tier tier;
    uint64_t tolerance_ns;
    struct losses losses;
    bool no_calls; /* system calls were not measured */
};

static void add_cpu(struct made *made, int64_t id, uint64_t idle, uint64_t own, uint64_t any)
{
    struct frame *cpus = &made->cpus;
    struct entity *entity = frame_add(cpus);
    uint64_t *values;

    assert_non_null(entity);
    entity->id = id;
    values = frame_values(cpus, cpus->entity_count - 1);
    cpus->elapsed_ns[cpus->entity_count - 1] = id == CAMP_CPU_TOTAL ? 2 * SECOND : SECOND;
    values[CPUS_STATES_USER] = cpus->elapsed_ns[cpus->entity_count - 1] - idle;
    values[CPUS_STATES_IDLE] = idle - own;
    values[CPUS_STATES_IOWAIT] = own;
    values[CPUS_STATES_ANY_WAIT] = any;
    values[CPUS_STATES_KERNEL_WAIT] = own / 2;
    values[CPUS_STATES_STEAL] = 10 * MS;
}

/* Makes one second on two CPUs. CPU 0 is idle all the time. CPU 1 is idle for 700 ms, and a task of
 * CPU 1 waits for a disk during 600 of these 700 ms. */
static void make(struct made *made)
{
    *made = (struct made){ .tier = WAIT_BPF, .tolerance_ns = MS, .losses.unseen = 3 };
    frame_init(&made->threads, &threads_schema);
    frame_init(&made->cpus, &cpus_states_schema);
    add_cpu(made, CAMP_CPU_TOTAL, 1700 * MS, 600 * MS, 1150 * MS);
    add_cpu(made, 0, SECOND, 0, 550 * MS);
    add_cpu(made, 1, 700 * MS, 600 * MS, 600 * MS);
}

static void fill(struct made *made)
{
    struct wait_interval interval = {
        .tier = made->tier,
        .cpus = &made->cpus,
        .waits = made->tier == WAIT_BPF ? &made->tasks.rows : NULL,
        .threads = made->tier == WAIT_BPF ? &made->threads : NULL,
        .counts_calls = !made->no_calls,
        .system = &made->system,
        .losses = made->losses,
        .elapsed_ns = SECOND,
        .time = "2026-11-21T12:00:00.000+00:00",
    };

    assert_int_equal(wait_tasks_fill(&made->tasks, &made->threads, made->tolerance_ns), CAMP_OK);
    assert_int_equal(wait_record_fill(&made->record, &interval, &made->selection, made->top_cpus),
                     CAMP_OK);
}

static void release(struct made *made)
{
    frame_release(&made->threads);
    frame_release(&made->cpus);
    wait_tasks_release(&made->tasks);
    wait_record_release(&made->record);
}

static struct cell cell(const struct made *made, size_t table, size_t row, const char *name)
{
    const struct table *shown = &made->record.document.tables[table];

    assert_true(row < shown->row_count);
    for (size_t i = 0; i < shown->field_count; i++) {
        if (shown->fields[i].name != NULL && strcmp(shown->fields[i].name, name) == 0)
            return shown->cells[row * shown->field_count + i];
    }
    fail_msg("no column %s", name);
    return cell_unknown();
}

static void assert_percent(const struct made *made, size_t table, size_t row, const char *name,
                           double expected)
{
    struct cell found = cell(made, table, row, name);

    assert_int_equal(found.kind, CELL_REAL);
    if (!(fabs(found.real - expected) < 1e-6))
        fail_msg("%s of row %zu is %f, expected %f", name, row, found.real, expected);
}

static inline size_t tasks_shown(const struct made *made)
{
    return made->record.document.tables[WAIT_TASKS].row_count;
}
