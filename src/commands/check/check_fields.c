#include "check_record.h"

#include <stdio.h>
#include <string.h>

static const struct field interval_fields[] = {
    { "time", "time", "end of the interval, RFC 3339", 0, 0 },
    { "interval_s", "interval", "its real length", 0, 3 },
    { "tier", "tier",
      "how processes were read: bpf, taskstats or schedstat; on Windows cycles, ticks or none", 0,
      0 },
    { "tier_lacks", "lacks", "what this tier cannot see", 0, 0 },
    { "tier_change", "change", "what would give a better tier; null: nothing", 0, 0 },
    { "hidden", "hidden", "true: other users' processes cannot be seen (hidepid)", 0, 0 },
    { "accounting", "accounting", "how this kernel gets user and system time", 0, 0 },
};

static const struct field summary_fields[] = {
    { "text", NULL, "the interval in one sentence", 0, 0 },
    { "cpus", NULL, "CPUs that are busy in it; null: with a selection", 0, 0 },
    { "cpu", NULL, "CPUs that were busy, on average; with a selection: processes on a CPU", 0, 6 },
};

static const struct field total_fields[] = {
    { "processes", NULL, "living at the end, and ended; with a selection: those in rows", 0, 0 },
    { "active", NULL, "measured to run: those that the errors are of", 0, 0 },
    { "new", NULL, "", 0, 0 },
    { "ended", NULL, "", 0, 0 },
    { "measured_percent", NULL, "sum over the processes", 0, 3 },
    { "sampled_percent", NULL, "sum over those measured to run", 0, 3 },
    { "error_percent", NULL, "(sampled - measured) / measured: errors cancel out", 0, 2 },
    { "absolute_error_percent", NULL, "sum of |sampled - measured| / measured", 0, 2 },
    { "maximum_error_percent", NULL, "largest |sampled - measured| / measured of one", 0, 2 },
    { "stray_sampled_percent", NULL, "sampled of processes not measured to run", 0, 3 },
};

static const struct field loss_fields[] = {
    { "unseen", NULL, "tasks that started and exited unseen, at most; null: nobody counts them", 0,
      0 },
    { "lost", NULL, "tasks whose exit record the kernel dropped", 0, 0 },
    { "partial", NULL, "processes or CPUs whose last interval is unknown", 0, 0 },
    { "unread_percent", NULL,
      "CPU time at most of ended processes since their last tick; giving back their memory comes "
      "after their record: it is in unaccounted_percent",
      0, 2 },
};

static const struct field process_fields[] = {
    { "pid", "pid", "null: ended processes of one name in one row", 7, 0 },
    { "name", "name", "of the task (comm)", -15, 0 },
    { "measured_percent", "measured %", "CPU time by the scheduler's clock, of one CPU", 10, 3 },
    { "sampled_percent", "sampled %", "time charged to it at ticks, of one CPU", 9, 3 },
    { "error_points", "points", "sampled - measured: the rows with the largest come first", 7, 3 },
    { "error_percent", "error %", "(sampled - measured) / measured", 8, 1 },
    { NULL, "", "new, ended, and how many", -12, 0 },
    { "new", "new", "started in the interval", 3, 0, true },
    { "ended", "ended", "ended in it", 5, 0, true },
    { "count", "count", "processes in this row", 5, 0, true },
};

static const struct field cpu_fields[] = {
    { "cpu", "cpu", "its id", 7, 0 },
    { "measured_busy_percent", "busy measured %",
      "tier bpf: by timestamps at each switch and interrupt; tier cycles: 100 - the cycles of the "
      "idle thread; else 100 - idle - iowait; with what was stolen of it",
      15, 2 },
    { "sampled_busy_percent", "sampled %", "user + nice + system + irq + softirq + guest", 9, 2 },
    { "idle_percent", "idle %", "", 7, 2 },
    { "iowait_percent", "iowait %", "", 8, 2 },
    { "steal_percent", "steal %", "", 7, 2 },
    { "sum_percent", "sum %", "all columns: 100 where they add up to wall time", 7, 2 },
};

static const struct field machine_fields[] = {
    { "cpus", NULL, "how many: each is 100 %", 0, 0 },
    { "measured_busy_percent", NULL, "of one CPU, all added up", 0, 2 },
    { "sampled_busy_percent", NULL, "", 0, 2 },
    { "idle_percent", NULL, "", 0, 2 },
    { "iowait_percent", NULL, "", 0, 2 },
    { "steal_percent", NULL, "", 0, 2 },
    { "sum_percent", NULL, "100 x cpus where the columns add up to wall time", 0, 2 },
    { "unaccounted_percent", NULL,
      "measured busy that is no process's: interrupts and the like; negative: processes got more",
      0, 2 },
    { "resolution_percent", NULL,
      "one unit of measured busy in this interval: of the system's columns; tiers bpf and cycles: "
      "1 ns",
      0, 2 },
    { "outside_percent", NULL, "measured busy of threads outside of the PID namespace; tier bpf", 0,
      2 },
};

static const struct table tables[CHECK_TABLE_COUNT] = {
    [CHECK_INTERVAL] = DOCUMENT_ONE("interval", TABLE_INLINE, interval_fields),
    [CHECK_SUMMARY] = DOCUMENT_ONE("summary", TABLE_OBJECT, summary_fields),
    [CHECK_PROCESSES] = DOCUMENT_ROWS("processes", process_fields),
    [CHECK_CPUS] = DOCUMENT_ROWS("cpus", cpu_fields),
    [CHECK_MACHINE] = DOCUMENT_ONE("machine", TABLE_OBJECT, machine_fields),
    [CHECK_TOTAL] = DOCUMENT_ONE("total", TABLE_OBJECT, total_fields),
    [CHECK_LOSSES] = DOCUMENT_ONE("losses", TABLE_OBJECT, loss_fields),
};

const struct record check_layout = DOCUMENT_LAYOUT("camp.check/1", tables, CHECK_PROCESSES);

const char *const check_table_names[] = { "processes", "cpus", "machine", "total", "losses", NULL };

size_t check_process_column(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(process_fields); i++) {
        if (process_fields[i].name != NULL && strcmp(process_fields[i].name, name) == 0)
            return i;
    }
    return SIZE_MAX;
}

void check_process_columns(char *ret, size_t size)
{
    size_t length = 0;

    for (size_t i = 0; i < ARRAY_COUNT(process_fields) && length < size; i++) {
        if (process_fields[i].name != NULL)
            length += (size_t)snprintf(ret + length, size - length, "%s%s", i > 0 ? ", " : "",
                                       process_fields[i].name);
    }
}
