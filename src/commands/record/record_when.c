#include "record_when.h"

#include "counters/clock.h"
#include "counters/units.h"
#include "ledger/words.h"
#include "microstates/switches.h"
#include "program/command.h"
#include "record_traces.h"
#include "sources/causes/lengths_frame.h"
#include "sources/machine/pid_namespace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Returns CLOCK_BOOTTIME - CLOCK_MONOTONIC: the time that the machine was suspended. The shortest
 * of some attempts counts, because an interrupt may come between two clocks. */
static int64_t suspended_ns(void)
{
    uint64_t shortest = UINT64_MAX;
    int64_t ret = 0;

    for (int i = 0; i < 4; i++) {
        const uint64_t before = now_ns(CLOCK_MONOTONIC), boot = now_ns(CLOCK_BOOTTIME),
                       after = now_ns(CLOCK_MONOTONIC);

        if (after - before >= shortest)
            continue;
        shortest = after - before;
        ret = (int64_t)boot - (int64_t)(before + shortest / 2);
    }
    return ret;
}

int record_when_open(struct record_when *when)
{
    struct camp_error error = { 0 };
    int r = when->text != NULL ? switches_open(&when->switches, when->ring_bytes, &error) : CAMP_OK;

    when->suspended_before_ns = suspended_ns();
    if (r == CAMP_E_PERM)
        return complain(STATUS_PRIVILEGE,
                        "--when keeps the switches of all CPUs in memory: %s; or leave out --when",
                        error.message);
    return r == CAMP_OK ? OPTIONS_GO_ON : complain_of(r, &error);
}

void record_when_close(struct record_when *when)
{
    switches_close(when->switches);
    when->switches = NULL;
    frame_release(&when->lengths);
}

/* Enough for the columns of all sources of this machine. */
#define COLUMNS_SIZE 4096

static bool has_column(const struct schema *schema, const char *name)
{
    char order[ORDER_NAME_SIZE];

    for (size_t i = 0; i < order_count(schema); i++) {
        order_name(schema, i, order);
        if (strcmp(order, name) == 0)
            return true;
    }
    return false;
}

static int complain_of_column(const struct schema *schema, const char *name)
{
    char columns[COLUMNS_SIZE] = "", order[ORDER_NAME_SIZE], stem[ORDER_NAME_SIZE];
    size_t length = 0;

    snprintf(stem, sizeof stem, "%.*s", (int)strcspn(name, "."), name);
    if (condition_is_of_lengths(name) && has_column(schema, stem))
        return complain(STATUS_USAGE,
                        "--when: %s: only waits, such as run_queue, have .p50, .p99 and .max; of "
                        "%s give the time in an interval: %s > 20ms",
                        name, stem, stem);
    for (size_t i = 0; i < order_count(schema) && length + ORDER_NAME_SIZE + 2 < COLUMNS_SIZE;
         i++) {
        order_name(schema, i, order);
        if (order_unit(schema, i) != ORDER_OF_TEXT)
            length += (size_t)snprintf(columns + length, COLUMNS_SIZE - length, "%s%s",
                                       length > 0 ? ", " : "", order);
    }
    if (condition_is_of_lengths(name)) {
        snprintf(stem, sizeof stem, "%.*s", (int)(strlen(name) - strlen(".max")), name);
        if (has_column(schema, stem))
            return complain(STATUS_USAGE,
                            "--when: %s: only waits, such as run_queue, have .p50, .p99 and .max; "
                            "of %s give the time in an interval: %s > 20ms",
                            name, stem, stem);
    }
    return complain(STATUS_USAGE, "--when: there is no column %s; there are %s", name, columns);
}

int record_when_complain(const char *text, const struct condition_fault *fault)
{
    if (fault->rest[0] == '\0')
        return complain(STATUS_USAGE, "--when '%s': %s at its end; %s", text, fault->problem,
                        fault->advice);
    return complain(STATUS_USAGE, "--when '%s': %s before \"%s\"; %s", text, fault->problem,
                    fault->rest, fault->advice);
}

/* The tier of a database whose server camp does not find among the processes of this machine. */
#define TIER_OF_ANY_SERVER "SQL"

static int complain_of_condition(const struct record_when *when, const struct schema *schema,
                                 const struct condition_fault *fault, bool has_causes)
{
    if (fault->advice != NULL)
        return record_when_complain(when->text, fault);
    if (!has_causes && order_find(&lengths_schema, fault->rest) < order_count(&lengths_schema))
        return complain(STATUS_USAGE, "--when: %s is how long waits lasted, which needs --why",
                        fault->rest);
    return complain_of_column(schema, fault->rest);
}

int record_when_parse(struct record_when *when, const struct schema *schema,
                      const struct from_facts *facts, bool has_causes)
{
    struct condition_fault fault;

    if (when->text == NULL)
        return OPTIONS_GO_ON;
    if (strcasecmp(facts->tier, TIER_OF_ANY_SERVER) == 0)
        return complain(STATUS_USAGE,
                        "--when keeps switches of this machine, and the server of %s is not known "
                        "to run here (tier %s)",
                        facts->name, facts->tier);
    if (!condition_parse(&when->condition, schema, has_causes ? &lengths_schema : NULL, when->text,
                         &fault))
        return complain_of_condition(when, schema, &fault, has_causes);
    frame_init(&when->lengths, &lengths_schema);
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

/* What the mark of a trace reports. */
struct finding {
    char column[CONDITION_COLUMN_SIZE], value[VALUE_SIZE];
    char row[CAMP_NAME_SIZE + 32], length[VALUE_SIZE], left_out[160];
    char *title; /* "run_queue 31.200 ms of postgres 1234" */
};

/* Returns the frame on which a comparison is. */
static const struct frame *frame_of(const struct record_when *when,
                                    const struct comparison *comparison, const struct frame *frame)
{
    return comparison->of_lengths ? &when->lengths : frame;
}

static bool describe(struct finding *ret, const struct comparison *comparison,
                     const struct condition_value *value, const struct frame *frame)
{
    const struct entity *row =
        value->row < frame->entity_count ? &frame->entities[value->row] : NULL;

    condition_column(comparison, frame->schema, ret->column);
    value_text(ret->value, frame->schema, comparison->order, value->value);
    snprintf(ret->length, sizeof ret->length, "%.3f ms",
             (double)(frame->end_ns - frame->start_ns) / (double)NS_PER_MS);
    if (row == NULL)
        snprintf(ret->row, sizeof ret->row, "%s",
                 comparison->row[0] != '\0' ? comparison->row : "all rows");
    else if (row->id > 0)
        snprintf(ret->row, sizeof ret->row, "%s %" PRId64, row->name, row->id);
    else
        snprintf(ret->row, sizeof ret->row, "%s", row->name);
    if (asprintf(&ret->title, "%s %s of %s", ret->column, ret->value, ret->row) < 0)
        ret->title = NULL;
    return ret->title != NULL;
}

/* Suspends are longer. Two readings of the clocks differ by less, unless camp lost its CPU. */
#define SHORTEST_SUSPEND_NS ((int64_t)NS_PER_MS)

/* Returns the CLOCK_BOOTTIME of a time by CLOCK_MONOTONIC, at which the two clocks were this far
 * apart. */
static uint64_t boot_ns(const struct switches_copy *copy, uint64_t monotonic_ns, int64_t suspended)
{
    const int64_t now = (int64_t)copy->boot_ns - (int64_t)copy->monotonic_ns;

    return monotonic_ns +
           (uint64_t)(llabs(now - suspended) < SHORTEST_SUSPEND_NS ? now : suspended);
}

/* Copies the values of the last intervals, the oldest first, without those before the first event
 * of the trace. Returns their number. */
static size_t copy_samples(struct perfetto_sample *ret, const struct record_when *when,
                           size_t comparison, const struct switches_copy *copy, uint64_t since_ns)
{
    const uint64_t end = when->intervals;
    size_t count = 0;

    for (uint64_t n = end > WHEN_SAMPLES ? end - WHEN_SAMPLES : 0; n < end; n++) {
        const size_t at = (size_t)(n % WHEN_SAMPLES);
        const uint64_t start_ns = boot_ns(copy, when->starts_ns[at], when->suspended_ns[at]);

        if (start_ns >= since_ns || n + 1 == end)
            ret[count++] = (struct perfetto_sample){ .start_ns = start_ns,
                                                     .value = when->values[comparison][at] };
    }
    return count;
}

/* Returns the CLOCK_BOOTTIME of the oldest event. */
static uint64_t oldest_ns(const struct switches_copy *copy)
{
    uint64_t oldest = copy->boot_ns;

    for (size_t i = 0; i < copy->cpu_count; i++) {
        if (copy->cpus[i].count > 0 && copy->cpus[i].events[0].time_ns < oldest)
            oldest = copy->cpus[i].events[0].time_ns;
    }
    return oldest;
}

/* Returns the CLOCK_BOOTTIME of the start of the last interval. */
static uint64_t interval_start_ns(const struct record_when *when, const struct switches_copy *copy)
{
    const size_t at = (size_t)((when->intervals - 1) % WHEN_SAMPLES);

    return boot_ns(copy, when->starts_ns[at], when->suspended_ns[at]);
}

/* The ids of a trace are those of the machine, which /proc knows only in its own PID namespace. */
static bool has_names(void)
{
    return pid_namespace_is_of_machine() && !pid_namespace_differs_from_proc();
}

/* Returns the time (s since 1970) in the name of a trace: the start of its interval, but not before
 * the recording that it belongs to, and later than the trace before, even if that was removed. */
static int64_t trace_time_s(const struct record_when *when, const struct frame *frame,
                            const struct record_files *files)
{
    int64_t ret =
        (frame->wall_clock_ns - (int64_t)(frame->end_ns - frame->start_ns)) / (int64_t)NS_PER_S;

    if (files->rotate_ns > 0 && ret < files->time_s)
        ret = files->time_s;
    return when->last_ns != 0 && ret <= when->name_s ? when->name_s + 1 : ret;
}

static int write_trace(struct record_when *when, const struct frame *frame,
                       const struct switches_copy *copy, struct finding *finding,
                       const struct record_files *files, char **ret_path)
{
    const struct perfetto_fact facts[] = {
        { "condition", when->text },       { "column", finding->column },
        { "value", finding->value },       { "row", finding->row },
        { "length", finding->length },     { "recording", name_in_path(files->path) },
        { "left out", finding->left_out },
    };
    char names[CONDITION_MOST][CONDITION_COLUMN_SIZE];
    struct perfetto_sample(*samples)[WHEN_SAMPLES] = calloc(CONDITION_MOST, sizeof *samples);
    struct perfetto_counter counters[CONDITION_MOST];
    struct camp_kernel kernel = { 0 };
    struct perfetto_trace trace = {
        .switches = copy,
        .kernel = { kernel.system, kernel.release, kernel.machine },
        .start_ns = interval_start_ns(when, copy),
        .end_ns = boot_ns(copy, frame->end_ns, when->suspended_before_ns),
        .title = finding->title,
        .facts = facts,
        .fact_count = sizeof facts / sizeof facts[0],
        .counters = counters,
        .counter_count = when->condition.count,
        .name_of = has_names() ? name_of : NULL,
    };
    int system_error;

    if (samples == NULL)
        return ENOMEM;
    when->name_s = trace_time_s(when, frame, files);
    camp_kernel_read(NULL, &kernel, sizeof kernel, NULL);
    for (size_t i = 0; i < when->condition.count; i++) {
        const struct comparison *comparison = &when->condition.comparisons[i];
        const struct schema *schema = frame_of(when, comparison, frame)->schema;

        condition_column(comparison, schema, names[i]);
        counters[i] = (struct perfetto_counter){
            .name = names[i],
            .is_time = order_unit(schema, comparison->order) == ORDER_OF_TIME,
            .samples = samples[i],
            .count = copy_samples(samples[i], when, i, copy, oldest_ns(copy)),
        };
    }
    system_error = record_trace_write(files->output, &when->name_s, &trace, ret_path);
    free(samples);
    return system_error;
}

static void report(const struct record_when *when, const struct switches_copy *copy,
                   const struct finding *finding, const char *path)
{
    const uint64_t oldest = oldest_ns(copy);

    complain(STATUS_OK, "%s: the switches of the last %.3f s are in %s%s%s", finding->title,
             (double)(copy->boot_ns - oldest) / (double)NS_PER_S, path,
             oldest > interval_start_ns(when, copy)
                 ? ", but not the start of the interval: give a larger --ring"
                 : "",
             when->traces == when->trace_most ? "; no more traces (--when-count)" : "");
}

static void describe_losses(struct finding *ret, const struct switches_copy *copy)
{
    char lost[32] = "an unknown number of";

    if (copy->lost_is_known)
        snprintf(lost, sizeof lost, "%" PRIu64, copy->lost);
    snprintf(ret->left_out, sizeof ret->left_out,
             "%s events lost since the start, %" PRIu64 " overwritten while copied", lost,
             copy->overwritten);
}

static void keep_trace(struct record_when *when, const struct frame *frame,
                       const struct record_files *files, struct finding *finding)
{
    struct switches_copy copy;
    struct camp_error error = { 0 };
    char *path = NULL;
    int r = switches_read(when->switches, &copy, &error), system_error;

    if (r != CAMP_OK) {
        when->last_ns = frame->end_ns;
        when->failed++;
        complain(STATUS_OK, "%s: %s; recording goes on", finding->title, error.message);
        return;
    }
    describe_losses(finding, &copy);
    system_error = write_trace(when, frame, &copy, finding, files, &path);
    when->last_ns = frame->end_ns;
    when->traces += system_error == 0;
    when->failed += system_error != 0;
    if (system_error == 0)
        report(when, &copy, finding, path);
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

/* Reports the names of the condition that no row of the first interval has. This interval has a row
 * for each entity. The rows of waits have the names of processes, and exist only if a wait ended.
 */
static void complain_of_names(const struct record_when *when, const struct frame *frame)
{
    for (size_t i = 0; i < when->condition.count; i++) {
        const struct comparison *comparison = &when->condition.comparisons[i];

        if (!condition_has_row(comparison, frame) &&
            (!comparison->of_lengths || !condition_has_row(comparison, &when->lengths)))
            complain(STATUS_OK,
                     "--when: nothing is called %s now; the condition counts it once it appears",
                     comparison->row);
    }
}

void record_when_interval(struct record_when *when, const struct frame *frame,
                          const struct causes *causes, const struct record_files *files)
{
    const struct comparison *comparison;
    struct condition_value values[CONDITION_MOST];
    struct finding finding;
    const size_t at = (size_t)(when->intervals % WHEN_SAMPLES);
    size_t reason = 0;
    bool holds;

    if (when->text == NULL)
        return;
    if (causes != NULL && lengths_frame_fill(&when->lengths, causes) != CAMP_OK)
        frame_clear(&when->lengths);
    if (when->intervals == 0)
        complain_of_names(when, frame);
    holds = condition_holds(&when->condition, frame, &when->lengths, values, &reason);
    when->intervals++;
    when->held += holds;
    when->starts_ns[at] = frame->start_ns;
    when->suspended_ns[at] = when->suspended_before_ns;
    when->suspended_before_ns = suspended_ns();
    for (size_t i = 0; i < when->condition.count; i++)
        when->values[i][at] = values[i].value;
    if (!holds || !may_write(when, frame))
        return;
    comparison = &when->condition.comparisons[reason];
    if (describe(&finding, comparison, &values[reason], frame_of(when, comparison, frame)))
        keep_trace(when, frame, files, &finding);
    free(finding.title);
}

int record_when_summary(const struct record_when *when, int status)
{
    if (when->text == NULL || ferror(stdout))
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
