#include "thread_values.h"

#include "ledger/array.h"
#include "microstates/table.h"
#include "sources/measured_column.h"
#include "sources/source.h"

#include <stdlib.h>
#include <string.h>

#define STATE_OF(state, name, title, short_title, class, figure, help)                             \
    [CAMP_STATE_##state] = STATE(name, title, short_title, CLASS_##class, help),
static const struct column columns[] = {
    MICROSTATES(STATE_OF) COUNTER("system_calls", "scl", "system calls"),
    COUNTER("signals", "sig", "signals delivered"),
    COUNTER("voluntary_switches", "vcx", "times it left its CPU to sleep"),
    COUNTER("involuntary_switches", "icx", "times its CPU was taken away"),
    COUNTER("minor_faults", "minf", "page faults without input"),
    COUNTER("major_faults", "majf", "page faults with input"),
    COUNTER("read_bytes", "read", "from storage"),
    COUNTER("written_bytes", "written", "to storage"),
    COUNTER("read_chars", "rchar", "by read(2) and the like"),
    COUNTER("written_chars", "wchar", "by write(2) and the like"),
    COUNTER("cpu_ns", "cpu", "CPU time by the scheduler's own count"),
    COUNTER("run_delay_ns", "delay", "run-queue time by the scheduler's own count"),
    { "sampled_ns", "sampled", "utime + stime: whole ticks charged to whatever ran", COLUMN_COUNTER,
      CAMP_SAMPLED },
};

_Static_assert(sizeof columns / sizeof columns[0] == THREADS_COLUMN_COUNT,
               "a column was forgotten");
_Static_assert(THREADS_COLUMN_COUNT < 64, "a set of columns is one number");

const struct schema threads_schema = {
    .name = "threads",
    .columns = columns,
    .column_count = THREADS_COLUMN_COUNT,
    .state_count = CAMP_STATE_COUNT,
};

uint64_t threads_unmeasured(const struct camp_states *session)
{
    struct camp_states_known known = { 0 };

    camp_states_known(session, &known, sizeof known, NULL);
    return thread_unknown_columns(&known);
}

static bool is_absent(uint64_t unmeasured, size_t column)
{
    return column < THREADS_COLUMN_COUNT && (unmeasured >> column & 1) != 0;
}

void threads_columns_fill(struct threads_columns *ret, uint64_t unmeasured)
{
    struct schema *schema = &ret->schema;

    *schema = threads_schema;
    schema->columns = ret->columns;
    schema->column_count = schema->state_count = 0;
    ret->unmeasured = unmeasured;
    for (size_t i = 0; i < THREADS_COLUMN_COUNT; i++) {
        if (is_absent(unmeasured, i))
            continue;
        ret->columns[schema->column_count++] = columns[i];
        schema->state_count += i < CAMP_STATE_COUNT;
    }
}

void threads_values_add(uint64_t *values, uint64_t unmeasured, const uint64_t *did, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_absent(unmeasured, i))
            *values++ += did[i];
    }
}

static bool is_at(const struct schema *schema, size_t index, size_t column)
{
    return index < schema->column_count &&
           strcmp(schema->columns[index].name, columns[column].name) == 0;
}

bool threads_have_columns(const struct schema *schema)
{
    size_t found = 0;

    for (size_t i = 0; i < THREADS_COLUMN_COUNT; i++) {
        if (i == CAMP_STATE_COUNT && (found == 0 || found != schema->state_count))
            return false;
        found += is_at(schema, found, i);
    }
    return found == schema->column_count;
}

size_t threads_column(const struct schema *schema, size_t column)
{
    size_t found = 0;

    for (size_t i = 0; i < column && i < THREADS_COLUMN_COUNT; i++)
        found += is_at(schema, found, i);
    return found + (column > THREADS_COLUMN_COUNT ? column - THREADS_COLUMN_COUNT : 0);
}

bool threads_have(const struct schema *schema, size_t column)
{
    return is_at(schema, threads_column(schema, column), column);
}

static const struct {
    size_t offset;
    uint32_t known; /* enum camp_thread_states_field */
} counters[THREADS_COLUMN_COUNT] = {
#define MEMBER_OF(name, member)                                                                    \
    [THREADS_##name] = { offsetof(struct camp_thread_states, member), CAMP_THREAD_STATES_##name }
    MEMBER_OF(SYSTEM_CALLS, system_calls),
    MEMBER_OF(SIGNALS, signals),
    MEMBER_OF(VOLUNTARY_SWITCHES, voluntary_switches),
    MEMBER_OF(INVOLUNTARY_SWITCHES, involuntary_switches),
    MEMBER_OF(MINOR_FAULTS, minor_faults),
    MEMBER_OF(MAJOR_FAULTS, major_faults),
    MEMBER_OF(READ_BYTES, read_bytes),
    MEMBER_OF(WRITTEN_BYTES, written_bytes),
    MEMBER_OF(READ_CHARS, read_chars),
    MEMBER_OF(WRITTEN_CHARS, written_chars),
    MEMBER_OF(CPU, cpu_ns),
    MEMBER_OF(RUN_DELAY, run_delay_ns),
    MEMBER_OF(SAMPLED, sampled_ns),
#undef MEMBER_OF
};

size_t thread_value_offset(size_t column)
{
    if (column >= CAMP_STATE_COUNT && column < THREADS_COLUMN_COUNT)
        return counters[column].offset;
    return offsetof(struct camp_thread_states, state_ns) + column * sizeof(uint64_t);
}

uint64_t thread_unknown_columns(const struct camp_states_known *known)
{
    uint64_t unknown = ~known->states & ((1u << CAMP_STATE_COUNT) - 1);

    for (size_t i = CAMP_STATE_COUNT; i < THREADS_COLUMN_COUNT; i++) {
        if ((known->thread & counters[i].known) == 0)
            unknown |= UINT64_C(1) << i;
    }
    return unknown;
}

void thread_fill_values(uint64_t *values, const struct camp_thread_states *since)
{
    memcpy(values, since->state_ns, sizeof since->state_ns);
    for (size_t i = CAMP_STATE_COUNT; i < THREADS_COLUMN_COUNT; i++)
        memcpy(&values[i], (const char *)since + counters[i].offset, sizeof values[i]);
}

static void subtract(struct camp_thread_states *now, const struct camp_thread_states *then)
{
    uint64_t before[THREADS_COLUMN_COUNT], after[THREADS_COLUMN_COUNT];

    thread_fill_values(before, then);
    thread_fill_values(after, now);
    states_since(now->state_ns, before, after, CAMP_STATE_COUNT);
    for (size_t i = CAMP_STATE_COUNT; i < THREADS_COLUMN_COUNT; i++) {
        after[i] = counted_since(before[i], after[i]);
        memcpy((char *)now + counters[i].offset, &after[i], sizeof after[i]);
    }
    now->begin_ns += then->time_ns - then->begin_ns;
}

static struct camp_thread_states without_states(const struct camp_thread_states *now)
{
    struct camp_thread_states ret = *now;

    memset(ret.state_ns, 0, sizeof ret.state_ns);
    ret.time_ns = ret.begin_ns;
    return ret;
}

struct camp_thread_states thread_since(const struct camp_thread_states *now,
                                       const struct camp_thread_states *then)
{
    struct camp_thread_states since = *now;

    if (then != NULL) {
        subtract(&since, then);
    } else if ((now->flags & CAMP_THREAD_OLDER) != 0) {
        const struct camp_thread_states attached = without_states(now);

        subtract(&since, &attached);
    } else {
        since.flags |= THREAD_NEW;
    }
    return since;
}

uint64_t thread_length_ns(const struct camp_thread_states *thread)
{
    return thread->time_ns - thread->begin_ns;
}

bool thread_fits(const struct camp_thread_states *part, const struct camp_thread_states *total)
{
    bool fits = thread_length_ns(part) <= thread_length_ns(total);

    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        fits &= part->state_ns[i] <= total->state_ns[i];
    return fits;
}

struct camp_thread_states thread_waited(const struct camp_states_wait *wait)
{
    static const size_t first = offsetof(struct camp_thread_states, cpu_ns);
    struct camp_thread_states since = *wait->thread;

    memset((char *)&since + first, 0, sizeof since - first);
    since.begin_ns = since.time_ns;
    since.time_ns += wait->elapsed_ns;
    since.state_ns[wait->state] = wait->elapsed_ns;
    return since;
}

void thread_list_release(struct thread_list *list)
{
    free(list->threads);
    *list = (struct thread_list){ 0 };
}

int thread_list_add(struct thread_list *list, const struct camp_thread_states *thread)
{
    if (!ARRAY_RESERVE(list->threads, list->capacity, list->count + 1))
        return CAMP_E_NOMEM;
    list->threads[list->count++] = *thread;
    return CAMP_OK;
}
