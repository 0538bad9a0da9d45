#include "values.h"

#include "program/capability.h"
#include "program/command.h"

#include "counters/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* camp get warns if one step of a value is more than this percentage of the interval. */
#define STEP_MAX_PERCENT 5.0
#define REASON_SIZE (2 * CAMP_ERROR_SIZE + LABEL_SIZE)

bool values_init(struct values *ret, const struct query *query, const struct camp_kernel *kernel,
                 const struct camp_linux *facts)
{
    *ret = (struct values){ .query = query, .kernel = kernel, .facts = facts };
    ret->reported_counters = calloc(all_counters()->count, sizeof *ret->reported_counters);
    ret->reported_subjects = calloc(query->subjects.count + 1, sizeof *ret->reported_subjects);
    return ret->reported_counters != NULL && ret->reported_subjects != NULL;
}

void values_release(struct values *values)
{
    free(values->reported_counters);
    free(values->reported_subjects);
    values->reported_counters = values->reported_subjects = NULL;
}

/* Notes that a value is unknown. If *reported is false, prints the reason and sets *reported. */
static void miss(struct values *values, bool *reported, int status, const char *reason)
{
    if (values->status == STATUS_OK)
        values->status = status;
    if (!*reported)
        complain(status, "%s", reason);
    *reported = true;
}

static int status_of(int result)
{
    return result == CAMP_E_PERM ? STATUS_PRIVILEGE : STATUS_FAILURE;
}

static void miss_subject(struct values *values, const struct row *row)
{
    const struct subject *subject = &values->query->subjects.items[row->subject];
    const char *message =
        subject->failure != NULL ? subject->failure : camp_result_name(subject->now.result);
    char reason[REASON_SIZE];

    snprintf(reason, sizeof reason, "%s: %s", subject->label, message);
    miss(values, &values->reported_subjects[row->subject], status_of(subject->now.result), reason);
}

static bool is_of_taskstats(const struct camp_counter *counter)
{
    return counter->record == CAMP_RECORD_TASKSTAT;
}

static bool is_asked_for(const struct query *query, const struct camp_counter *counter)
{
    for (size_t i = 0; i < query->row_count; i++) {
        if (query->rows[i].counter == counter)
            return true;
    }
    return false;
}

/* Explains why taskstats is missing. taskstats may refuse all requests, or have no data for this
 * process. The reason then applies to all counters of taskstats, so one message names all
 * requested counters. */
static int why_no_taskstat(struct values *values, const struct subject *subject, char *ret)
{
    const struct camp_error *error = &values->query->subjects.taskstats_error;
    const struct counters *all = all_counters();
    size_t length = 0;

    for (size_t i = 0; i < all->count && length < REASON_SIZE / 2; i++) {
        if (!is_of_taskstats(&all->items[i]) || !is_asked_for(values->query, &all->items[i]))
            continue;
        length += (size_t)snprintf(ret + length, REASON_SIZE - length, "%s%s",
                                   length > 0 ? ", " : "", all->items[i].name);
        values->reported_counters[i] = true;
    }
    if (error->code < 0)
        snprintf(ret + length, REASON_SIZE - length, ": %s", error->message);
    else
        snprintf(ret + length, REASON_SIZE - length, " of %s: taskstats has no answer about it",
                 subject->label);
    return status_of(error->code < 0 ? error->code : subject->now.taskstat.result);
}

/* Returns whether the task has a file /proc/PID/io. The file does not exist if the kernel does
 * not count read and written bytes. */
static bool has_guarded_file(const struct camp_source *source, const struct subject *subject)
{
    int32_t pid = subject->kind == CAMP_KIND_PROCESS ? subject->process.pid : subject->thread.pid;
    char path[4096];

    snprintf(path, sizeof path, "%s/%" PRId32 "/io",
             source != NULL && source->proc != NULL ? source->proc : "/proc", pid);
    return access(path, F_OK) == 0 || errno != ENOENT;
}

/* Explains why /proc/PID/io cannot be read. The owner of the process may open the file, and
 * CAP_DAC_READ_SEARCH allows it to others. In addition, the reader must be allowed to trace the
 * process. CAP_SYS_PTRACE allows tracing, unless a security module refuses or the process is in
 * an outer user namespace (__ptrace_may_access()). */
static int why_no_io(const struct values *values, const struct row *row, char *ret)
{
    const struct subject *subject = &values->query->subjects.items[row->subject];
    bool traces = capability_held(values->facts, "CAP_SYS_PTRACE");
    bool opens = capability_opens_all(values->facts);
    int length =
        snprintf(ret, REASON_SIZE, "%s.%s is unknown: ", subject->label, row->counter->name);
    size_t room = REASON_SIZE - (size_t)length;

    if (!has_guarded_file(values->query->subjects.source, subject)) {
        snprintf(ret + length, room, "this system does not say it");
        return STATUS_PARTIAL;
    }
    if (traces && opens) {
        snprintf(ret + length, room,
                 "refused, though CAP_SYS_PTRACE is held: a security module guards this process, "
                 "or it is outside of this container");
        return STATUS_PARTIAL;
    }
    snprintf(ret + length, room,
             "it takes %s%s%s for a process of another user or with more rights",
             traces ? "" : "CAP_SYS_PTRACE", traces || opens ? "" : " and ",
             opens ? "" : "CAP_DAC_READ_SEARCH");
    return STATUS_PRIVILEGE;
}

static void miss_counter(struct values *values, const struct row *row)
{
    const struct camp_counter *counter = row->counter;
    const struct subject *subject = &values->query->subjects.items[row->subject];
    char reason[REASON_SIZE];
    bool reported = values->reported_counters[counter - all_counters()->items];
    int status = STATUS_PARTIAL;

    if (is_of_taskstats(counter))
        status = why_no_taskstat(values, subject, reason);
    else if (counter->capability != NULL)
        status = why_no_io(values, row, reason);
    else if (values->kernel->imitation == 1)
        snprintf(
            reason, sizeof reason,
            "%s.%s is unknown: Wine, which imitates %s here, does not have it; see camp doctor",
            subject->label, counter->name, values->kernel->system);
    else
        snprintf(reason, sizeof reason, "%s.%s is unknown: %s%s", subject->label, counter->name,
                 counter->needs != NULL ? "it takes " : "",
                 counter->needs != NULL ? counter->needs : "this system does not say it");
    miss(values, &reported, status, reason);
    values->reported_counters[counter - all_counters()->items] = true;
}

/* Returns a value that has a function of its own. */
static struct cell extra_cell(struct values *values, const struct row *row, enum extra_kind kind)
{
    const struct subject *subject = &values->query->subjects.items[row->subject];
    const struct extra *extra = &subject->extras[kind];
    bool *reported = &values->reported_counters[row->counter - all_counters()->items];
    char reason[REASON_SIZE];

    if (extra->result >= 0) {
        values->had++;
        return extra_is_text(kind) ? cell_text(extra->text) : cell_natural(extra->number);
    }
    snprintf(reason, sizeof reason, "%s.%s is unknown: %s", subject->label, row->counter->name,
             extra->text != NULL ? extra->text : camp_result_name(extra->result));
    miss(values, reported,
         extra->result == CAMP_E_NOTSUP ? STATUS_PARTIAL : status_of(extra->result), reason);
    return cell_unknown();
}

static void miss_rate(struct values *values, const struct row *row)
{
    const struct subject *subject = &values->query->subjects.items[row->subject];
    char reason[LABEL_SIZE + 128];

    snprintf(reason, sizeof reason, "%s.%s went backwards in the interval: its growth is unknown",
             subject->label, row->counter->name);
    miss(values, &values->reported_counters[row->counter - all_counters()->items], STATUS_PARTIAL,
         reason);
}

/* Returns the unit in which the kernel counts a time, or 0 for a unit that is too small to
 * matter. */
static double unit_ns(const struct camp_counter *counter, const struct camp_kernel *kernel)
{
    if (strncmp(counter->resolution, "1/100 s", 7) == 0)
        return (double)proc_time_unit_ns();
    if (strncmp(counter->resolution, "1 tick", 6) == 0 && kernel->tick_hz > 0)
        return (double)NS_PER_S / kernel->tick_hz;
    return strcmp(counter->resolution, "1 ms") == 0 ? (double)NS_PER_MS : 0;
}

/* Returns how many CPUs are fully busy if a value is 100 %. */
static uint64_t cpus_of(const struct values *values, const struct row *row)
{
    const struct subject *subject = &values->query->subjects.items[row->subject];
    bool of_all = counter_is_utilisation(row->counter) && subject->cpu == CAMP_CPU_TOTAL;

    return of_all && subject->now.cpu_count > 0 ? subject->now.cpu_count : 1;
}

static double step_percent(const struct values *values, const struct row *row, uint64_t interval_ns)
{
    if (!query_row_needs_interval(values->query, row))
        return 0;
    return 100 * unit_ns(row->counter, values->kernel) /
           (double)(interval_ns * cpus_of(values, row));
}

void values_tell_steps(const struct values *values, uint64_t interval_ns)
{
    const struct query *query = values->query;
    const struct row *coarsest = NULL;
    double step = STEP_MAX_PERCENT;
    double unit;

    if (!query->interval_given)
        return;
    for (size_t i = 0; i < query->row_count; i++) {
        double of_row = step_percent(values, &query->rows[i], interval_ns);

        if (of_row > step) {
            coarsest = &query->rows[i];
            step = of_row;
        }
    }
    if (coarsest == NULL)
        return;
    unit = unit_ns(coarsest->counter, values->kernel);
    complain(STATUS_OK,
             "%s.%s comes in steps of %.4g %% of the time: %s, in units of %.4g ms; take "
             "--interval %.0fms or longer",
             query->subjects.items[coarsest->subject].label, coarsest->counter->name, step,
             coarsest->counter->source, unit / NS_PER_MS,
             ceil(100 * unit / (STEP_MAX_PERCENT * (double)cpus_of(values, coarsest)) / NS_PER_MS));
}

static uint64_t natural_of(const struct camp_counter *counter, const struct reading *reading)
{
    uint64_t value;

    memcpy(&value, counter_place(counter, reading), sizeof value);
    return value;
}

static struct cell raw_cell(struct row *row, const struct reading *reading)
{
    const char *at = counter_place(row->counter, reading);
    uint32_t natural;
    int32_t integer;
    double real;

    switch (row->counter->type) {
    case CAMP_TYPE_U64:
        return cell_natural(natural_of(row->counter, reading));
    case CAMP_TYPE_U32:
        memcpy(&natural, at, sizeof natural);
        return cell_natural(natural);
    case CAMP_TYPE_REAL:
        memcpy(&real, at, sizeof real);
        return cell_real(real);
    case CAMP_TYPE_CHARACTER:
        row->character[0] = *at;
        return cell_text(row->character);
    case CAMP_TYPE_TEXT:
        if (*at == '\0')
            return (row->counter->kinds & CAMP_KIND_KERNEL) != 0 ? cell_text("none")
                                                                 : cell_unknown();
        return cell_text(at);
    default:
        break;
    }
    memcpy(&integer, at, sizeof integer);
    if (row->counter->type == CAMP_TYPE_FLAG)
        return cell_text(integer != 0 ? "yes" : "no");
    return row->counter->type == CAMP_TYPE_ACCOUNTING ? cell_text(camp_accounting_name(integer))
                                                      : cell_integer(integer);
}

/* Returns whether a counter that went backwards still has a rate. An interface or disk that was
 * removed and added again counts from zero. For other kinds the growth is unknown: iowait may
 * decrease, and a sum over living threads decreases when a thread exits. */
static bool may_be_reset(enum camp_kind kind)
{
    return (kind & (CAMP_KIND_NETWORK | CAMP_KIND_DISK | CAMP_KIND_PARTITION)) != 0;
}

static struct cell rate_cell(struct values *values, const struct row *row)
{
    const struct subject *subject = &values->query->subjects.items[row->subject];
    double rate = 0;
    int result = counter_rate(row->counter, natural_of(row->counter, &subject->before),
                              natural_of(row->counter, &subject->now),
                              subject->now.time_ns - subject->before.time_ns, &rate);

    if (result < 0 || (result == CAMP_RESET && !may_be_reset(subject->kind))) {
        miss_rate(values, row);
        return cell_unknown();
    }
    values->had++;
    return cell_real(row->counter->nature == CAMP_NATURE_SHARE ? 100 * rate / NS_PER_S : rate);
}

struct cell value_cell(struct values *values, struct row *row)
{
    const struct subject *subject = &values->query->subjects.items[row->subject];
    bool is_rate =
        (row->counter->nature == CAMP_NATURE_SHARE && !counter_is_utilisation(row->counter)) ||
        (values->query->rate && row->counter->nature == CAMP_NATURE_COUNTER);

    if (subject->now.result < 0 ||
        (query_row_needs_interval(values->query, row) && subject->before.result < 0)) {
        miss_subject(values, row);
        return cell_unknown();
    }
    if (extra_of(row->counter) < EXTRA_COUNT)
        return extra_cell(values, row, extra_of(row->counter));
    if (!counter_is_known(row->counter, &subject->now) ||
        (is_rate && !counter_is_known(row->counter, &subject->before))) {
        miss_counter(values, row);
        return cell_unknown();
    }
    if (is_rate)
        return rate_cell(values, row);
    values->had++;
    return raw_cell(row, &subject->now);
}
