/* With RUSAGE_CHILDREN, getrusage(2) returns the usage of all children that have ended and were
 * waited for, and of the descendants of these children. The sum of user and system time is the
 * scheduler's count, sum_exec_runtime. The division into user and system time is sampled at the
 * tick (cputime_adjust() in kernel/sched/cputime.c). */
#include "time_usage.h"

#include "counters/units.h"
#include "ledger/array.h"

#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>

static const struct field usage_fields[] = {
    { "usage", "", "on_cpu: all threads together; off_cpu_least: no thread was on a CPU", -14, 0 },
    { "time_s", "time s", "off_cpu_least: a lower bound, wall time - on_cpu", 10, 3 },
    { "percent", "% of real", "of the command's wall time; several CPUs are more than 100", 10, 2 },
};

static const struct field count_fields[] = {
    { "user_s", NULL, "part of on_cpu, as the tick sampled it", 0, 3 },
    { "system_s", NULL, "part of on_cpu, as the tick sampled it", 0, 3 },
    { "minor_faults", NULL, "", 0, 0 },
    { "major_faults", NULL, "", 0, 0 },
    { "voluntary_switches", NULL, "", 0, 0 },
    { "involuntary_switches", NULL, "", 0, 0 },
    { "some_running", NULL, "some descendants had not ended; no number includes them", 0, 0 },
};

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

void time_usage_start(struct time_usage *ret)
{
    getrusage(RUSAGE_CHILDREN, &ret->before);
}

void time_usage_read(struct time_usage *ret)
{
    const struct rusage *before = &ret->before;
    struct rusage *children = &ret->children;

    /* waitpid() returns 0 if there are children that have not ended. */
    ret->some_run = waitpid(-1, NULL, WNOHANG) == 0;
    getrusage(RUSAGE_CHILDREN, children);
    timersub(&children->ru_utime, &before->ru_utime, &children->ru_utime);
    timersub(&children->ru_stime, &before->ru_stime, &children->ru_stime);
    children->ru_minflt -= before->ru_minflt;
    children->ru_majflt -= before->ru_majflt;
    children->ru_nvcsw -= before->ru_nvcsw;
    children->ru_nivcsw -= before->ru_nivcsw;
}

static struct cell *fill_usage(struct cell *cells, double on_cpu_s, double real_s)
{
    const double off_s = real_s > on_cpu_s ? real_s - on_cpu_s : 0;

    *cells++ = cell_text("on_cpu");
    *cells++ = cell_real(on_cpu_s);
    *cells++ = cell_real(100 * on_cpu_s / real_s);
    *cells++ = cell_text("off_cpu_least");
    *cells++ = cell_real(off_s);
    *cells++ = cell_real(100 * off_s / real_s);
    return cells;
}

static void fill_counts(struct cell *cells, const struct time_usage *usage)
{
    const struct rusage *children = &usage->children;

    *cells++ = cell_real(seconds(children->ru_utime));
    *cells++ = cell_real(seconds(children->ru_stime));
    *cells++ = cell_integer(children->ru_minflt);
    *cells++ = cell_integer(children->ru_majflt);
    *cells++ = cell_integer(children->ru_nvcsw);
    *cells++ = cell_integer(children->ru_nivcsw);
    *cells = cell_boolean(usage->some_run);
}

void time_usage_fill(struct time_usage_record *ret, const struct time_usage *usage,
                     const struct time_facts *facts)
{
    const double on_cpu_s = seconds(usage->children.ru_utime) + seconds(usage->children.ru_stime);
    const double real_s = (double)facts->real_ns / NS_PER_S;
    struct cell *cells = ret->cells;

    *ret = (struct time_usage_record){ 0 };
    ret->tables[0] = time_summary(facts, cells);
    cells += TIME_SUMMARY_FIELDS;
    ret->tables[1] = TABLE_OF_ROWS("usage", usage_fields, cells, 2);
    cells = fill_usage(cells, on_cpu_s, real_s);
    ret->tables[2] = TABLE_OF_ONE("counts", TABLE_OBJECT, count_fields, cells);
    fill_counts(cells, usage);
    snprintf(ret->headline, sizeof ret->headline, "%s  real %.3f s", facts->time, real_s);
    snprintf(ret->note, sizeof ret->note,
             "on_cpu: %.2f CPUs on average; off_cpu_least: for at least this time no thread of the "
             "command was on a CPU",
             on_cpu_s / real_s);
    ret->note_list[0] = ret->note;
    if (usage->some_run)
        ret->note_list[1] = "descendants that still run are not included";
    ret->record = (struct record){
        "camp.time-usage/1", ret->headline, ret->tables, ARRAY_COUNT(ret->tables), 1, ret->note_list
    };
}
