#include "record_when.h"

#include "counters/units.h"
#include "ledger/words.h"
#include "microstates/switches.h"
#include "program/command.h"
#include "record_traces.h"
#include "sources/from_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PAUSE_NS (60 * NS_PER_S)
#define DEFAULT_BYTES UINT64_C(16000000)
#define DEFAULT_TRACES 10

static bool is_of_this_machine(const char *from)
{
    const struct from_source *source = from != NULL ? from_source_find(from) : NULL;

    return from == NULL ||
           (source != NULL && (source->opener <= OPENS_CHECK || source->opener == OPENS_POSTGRES ||
                               source->opener == OPENS_MARIADB));
}

/* A trace has a copy of the ring in memory, and the ring itself is memory of the kernel. */
static int check_memory(uint64_t bytes)
{
    struct camp_memory memory;

    if (camp_memory_read(NULL, CAMP_MEMORY_AVAILABLE, &memory, sizeof memory, NULL) != CAMP_OK ||
        (memory.known & CAMP_MEMORY_AVAILABLE) == 0 || bytes <= memory.available_bytes / 4)
        return OPTIONS_GO_ON;
    return complain(STATUS_FAILURE,
                    "--ring %" PRIu64 "MB is more than a quarter of the available memory, which is "
                    "%" PRIu64 "MB: give a smaller size",
                    bytes / 1000000, memory.available_bytes / 1000000);
}

int record_when_check(struct record_when *when, const char *from)
{
    if (when->text == NULL && when->pause_ns + when->ring_bytes + when->trace_most > 0)
        return complain(STATUS_USAGE, "--%s goes with --when",
                        when->pause_ns > 0     ? "when-pause"
                        : when->ring_bytes > 0 ? "ring"
                                               : "when-count");
    if (when->text == NULL)
        return OPTIONS_GO_ON;
    if (!is_of_this_machine(from))
        return complain(STATUS_USAGE,
                        "--when keeps switches of this machine, which --from %s does "
                        "not measure",
                        from);
    when->pause_ns = when->pause_ns > 0 ? when->pause_ns : DEFAULT_PAUSE_NS;
    when->ring_bytes = when->ring_bytes > 0 ? when->ring_bytes : DEFAULT_BYTES;
    when->trace_most = when->trace_most > 0 ? when->trace_most : DEFAULT_TRACES;
    return check_memory(when->ring_bytes);
}

int record_when_open(struct record_when *when)
{
    struct camp_error error = { 0 };
    int r = when->text != NULL ? switches_open(&when->switches, when->ring_bytes, &error) : CAMP_OK;

    return r == CAMP_OK ? OPTIONS_GO_ON : complain_of(r, &error);
}

void record_when_close(struct record_when *when)
{
    switches_close(when->switches);
    when->switches = NULL;
}

/* Enough for the columns of all sources of this machine. */
#define COLUMNS_SIZE 4096

static int complain_of_column(const struct schema *schema, const char *name)
{
    char columns[COLUMNS_SIZE] = "", order[ORDER_NAME_SIZE];
    size_t length = 0;

    for (size_t i = 0; i < order_count(schema) && length + ORDER_NAME_SIZE + 2 < COLUMNS_SIZE;
         i++) {
        order_name(schema, i, order);
        if (order_unit(schema, i) != ORDER_OF_TEXT)
            length += (size_t)snprintf(columns + length, COLUMNS_SIZE - length, "%s%s",
                                       length > 0 ? ", " : "", order);
    }
    return complain(STATUS_USAGE, "--when: there is no column %s; there are %s", name, columns);
}

static int complain_of_text(const char *text, const struct condition_fault *fault)
{
    if (fault->rest[0] == '\0')
        return complain(STATUS_USAGE, "--when '%s': %s at its end; %s", text, fault->problem,
                        fault->advice);
    return complain(STATUS_USAGE, "--when '%s': %s before \"%s\"; %s", text, fault->problem,
                    fault->rest, fault->advice);
}

int record_when_parse(struct record_when *when, const struct schema *schema)
{
    struct condition_fault fault;

    if (when->text == NULL)
        return OPTIONS_GO_ON;
    if (!condition_parse(&when->condition, schema, when->text, &fault))
        return fault.advice == NULL ? complain_of_column(schema, fault.rest)
                                    : complain_of_text(when->text, &fault);
    when->counts_idle = condition_counts_idle(&when->condition, schema);
    return OPTIONS_GO_ON;
}

static const char *name_of(void *context, int32_t tid)
{
    static struct camp_task task;
    struct camp_process process;

    (void)context;
    if (camp_process_identify(NULL, tid, &process, sizeof process, NULL) != CAMP_OK ||
        camp_process_read(NULL, &process, CAMP_TASK_NAME, &task, sizeof task, NULL) != CAMP_OK)
        return NULL;
    return task.name;
}

#define VALUE_SIZE 64

static void value_text(char ret[VALUE_SIZE], const struct schema *schema, size_t order,
                       uint64_t value)
{
    if (order_unit(schema, order) == ORDER_OF_TIME)
        snprintf(ret, VALUE_SIZE, "%.3f ms", (double)value / (double)NS_PER_MS);
    else
        snprintf(ret, VALUE_SIZE, "%" PRIu64, value);
}

/* What is said of an interval in which the condition held. */
struct finding {
    char column[CONDITION_COLUMN_SIZE], value[VALUE_SIZE];
    char row[CAMP_NAME_SIZE + 32], length[VALUE_SIZE], left_out[160];
    char *title; /* "run_queue 31.200 ms of postgres 1234" */
};

/* Describes the first comparison that holds. */
static bool describe(struct finding *ret, const struct record_when *when, const struct frame *frame,
                     const struct condition_value *values)
{
    const struct entity *row;
    size_t i = 0;

    while (i + 1 < when->condition.count && !values[i].holds)
        i++;
    row = values[i].row < frame->entity_count ? &frame->entities[values[i].row] : NULL;
    condition_column(&when->condition.comparisons[i], frame->schema, ret->column);
    value_text(ret->value, frame->schema, when->condition.comparisons[i].order, values[i].value);
    snprintf(ret->length, sizeof ret->length, "%.3f ms",
             (double)(frame->end_ns - frame->start_ns) / (double)NS_PER_MS);
    if (row == NULL)
        snprintf(ret->row, sizeof ret->row, "all rows");
    else if (row->id != 0)
        snprintf(ret->row, sizeof ret->row, "%s %" PRId64, row->name, row->id);
    else
        snprintf(ret->row, sizeof ret->row, "%s", row->name);
    if (asprintf(&ret->title, "%s %s of %s", ret->column, ret->value, ret->row) < 0)
        ret->title = NULL;
    return ret->title != NULL;
}

/* Copies the values of the last intervals, the oldest first, without those before the first event
 * of the trace. Returns their number. */
static size_t copy_samples(struct perfetto_sample *ret, const struct record_when *when,
                           size_t comparison, uint64_t since_ns)
{
    const uint64_t end = when->intervals;
    size_t count = 0;

    for (uint64_t n = end > WHEN_SAMPLES ? end - WHEN_SAMPLES : 0; n < end; n++) {
        const size_t at = n % WHEN_SAMPLES;

        if (when->starts_ns[at] >= since_ns || n + 1 == end)
            ret[count++] = (struct perfetto_sample){ .start_ns = when->starts_ns[at],
                                                     .value = when->values[comparison][at] };
    }
    return count;
}

/* Returns the CLOCK_MONOTONIC of the oldest event. */
static uint64_t oldest_ns(const struct switches_copy *copy)
{
    uint64_t oldest = copy->boot_ns;

    for (size_t i = 0; i < copy->cpu_count; i++) {
        if (copy->cpus[i].count > 0 && copy->cpus[i].events[0].time_ns < oldest)
            oldest = copy->cpus[i].events[0].time_ns;
    }
    return copy->monotonic_ns - (copy->boot_ns - oldest);
}

static int write_trace(const struct record_when *when, const struct frame *frame,
                       const struct switches_copy *copy, struct finding *finding,
                       const char *output, char **ret_path)
{
    const struct perfetto_fact facts[] = {
        { "condition", when->text },       { "column", finding->column },
        { "value", finding->value },       { "row", finding->row },
        { "length", finding->length },     { "recording", name_in_path(output) },
        { "left out", finding->left_out },
    };
    char names[CONDITION_MOST][CONDITION_COLUMN_SIZE];
    struct perfetto_sample(*samples)[WHEN_SAMPLES] = calloc(CONDITION_MOST, sizeof *samples);
    struct perfetto_counter counters[CONDITION_MOST];
    struct camp_kernel kernel = { 0 };
    struct perfetto_trace trace = {
        .switches = copy,
        .kernel = { kernel.system, kernel.release, kernel.machine },
        .start_ns = frame->start_ns,
        .end_ns = frame->end_ns,
        .title = finding->title,
        .facts = facts,
        .fact_count = sizeof facts / sizeof facts[0],
        .counters = counters,
        .counter_count = when->condition.count,
        .name_of = name_of,
    };
    int system_error;

    if (samples == NULL)
        return ENOMEM;
    camp_kernel_read(NULL, &kernel, sizeof kernel, NULL);
    for (size_t i = 0; i < when->condition.count; i++) {
        const struct comparison *comparison = &when->condition.comparisons[i];

        condition_column(comparison, frame->schema, names[i]);
        counters[i] = (struct perfetto_counter){
            .name = names[i],
            .is_time = order_unit(frame->schema, comparison->order) == ORDER_OF_TIME,
            .samples = samples[i],
            .count = copy_samples(samples[i], when, i, oldest_ns(copy)),
        };
    }
    system_error = record_trace_write(output, frame->wall_clock_ns, &trace, ret_path);
    free(samples);
    return system_error;
}

static void report(const struct record_when *when, const struct frame *frame,
                   const struct switches_copy *copy, const struct finding *finding,
                   const char *path)
{
    const uint64_t oldest = oldest_ns(copy);

    complain(STATUS_OK, "%s: the switches of the last %.3f s are in %s%s%s", finding->title,
             (double)(copy->monotonic_ns - oldest) / (double)NS_PER_S, path,
             oldest > frame->start_ns ? ", but not the start of the interval: give a larger --ring"
                                      : "",
             when->traces == when->trace_most ? "; no more traces (--when-count)" : "");
}

static void keep_trace(struct record_when *when, const struct frame *frame, const char *output,
                       struct finding *finding)
{
    struct switches_copy copy;
    struct camp_error error = { 0 };
    char *path = NULL;
    int r = switches_read(when->switches, &copy, &error), system_error;

    when->last_ns = frame->end_ns;
    if (r != CAMP_OK) {
        when->failed++;
        complain(STATUS_OK, "%s: %s; recording goes on", finding->title, error.message);
        return;
    }
    snprintf(finding->left_out, sizeof finding->left_out,
             "%" PRIu64 " events lost since the start, %" PRIu64 " overwritten while copied",
             copy.lost, copy.overwritten);
    system_error = write_trace(when, frame, &copy, finding, output, &path);
    when->traces += system_error == 0;
    when->failed += system_error != 0;
    if (system_error == 0)
        report(when, frame, &copy, finding, path);
    else
        complain(STATUS_OK, "%s: cannot write %s: %s; recording goes on", finding->title,
                 path != NULL ? path : "a trace", strerror(system_error));
    switches_copy_release(&copy);
    free(path);
}

static bool may_write(const struct record_when *when, const struct frame *frame)
{
    return when->traces < when->trace_most &&
           (when->last_ns == 0 || frame->end_ns - when->last_ns >= when->pause_ns);
}

void record_when_interval(struct record_when *when, const struct frame *frame, const char *output)
{
    struct condition_value values[CONDITION_MOST];
    struct finding finding;
    const size_t at = when->intervals % WHEN_SAMPLES;
    bool holds;

    if (when->text == NULL)
        return;
    holds = condition_holds(&when->condition, frame, values);
    when->intervals++;
    when->held += holds;
    when->starts_ns[at] = frame->start_ns;
    for (size_t i = 0; i < when->condition.count; i++)
        when->values[i][at] = values[i].value;
    if (!holds || !may_write(when, frame))
        return;
    if (describe(&finding, when, frame, values))
        keep_trace(when, frame, output, &finding);
    free(finding.title);
}

int record_when_summary(const struct record_when *when, int status)
{
    if (when->text == NULL)
        return status;
    printf("--when: held in %" PRIu64 " of %" PRIu64 " %s, %" PRIu64 " %s written", when->held,
           when->intervals, noun_of(when->intervals, "interval", "intervals"), when->traces,
           noun_of(when->traces, "trace", "traces"));
    if (when->failed > 0)
        printf(", %" PRIu64 " not", when->failed);
    putchar('\n');
    if (fflush(stdout) != 0)
        return output_failed(errno);
    return status == STATUS_OK && when->failed > 0 ? STATUS_FAILURE : status;
}
