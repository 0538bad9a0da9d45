/*
 * The macros of which the rows of the catalogue are made. The file catalogue_rows.c of a system
 * defines BY_SYSTEM(on_linux, on_windows, on_illumos), which selects the text of this system, and
 * IS_LINUX and IS_WINDOWS.
 *
 * A row whose source is "" is of another system: this one does not count it.
 */
#pragma once

#include "catalogue_row.h"

#include <camp/system.h>

#undef linux /* GNU C defines it as 1 */

/* A text that is the same on all systems. A system that counts nothing has none. */
#define ON_ALL(text) BY_SYSTEM(text, text, text)

#define READINGS_OF_TIMES "two readings of the CPU's times"

/* The smallest step of the times of a CPU. */
#define CPU_STEP BY_SYSTEM("1/100 s", "1 tick", "1 ns")
#define CPU_STEP_PERCENT BY_SYSTEM("1/100 s in the interval", "1 tick in the interval", "1 ns")

/* What Linux needs for a value that other systems report to every caller. */
#define NEED_ON_LINUX(need) (IS_LINUX ? (need) : NEED_NOTHING)

#define TASKS (CAMP_KIND_PROCESS | CAMP_KIND_THREAD)
#define DISKS (CAMP_KIND_DISK | CAMP_KIND_PARTITION)

#define COUNTER CAMP_NATURE_COUNTER
#define LEVEL CAMP_NATURE_LEVEL
#define FACT CAMP_NATURE_FACT
#define SHARE CAMP_NATURE_SHARE

#define TEXTS(field, name, resolution, source, help)                                               \
    field "\0" name "\0" resolution "\0" source "\0" help

/* `of` names the struct of the field, and `OF` its enum camp_record: for struct camp_cpu they are
 * cpu and CPU, as in CAMP_RECORD_CPU. */
#define ROW(kinds, of, OF, field, name, type, nature, rule, known, need, resolution, source, help) \
    TEXTS(#field, name, resolution, source, help), offsetof(struct camp_##of, field), known,       \
        kinds, CAMP_RECORD_##OF, CAMP_TYPE_##type, nature, CAMP_RULE_##rule, need

/* A field that `camp get` does not show. */
#define FIELD(of, OF, field, type, known, help)                                                    \
    {                                                                                              \
        ROW(0, of, OF, field, "", type, FACT, NONE, known, NEED_NOTHING, "", "", help), 0          \
    }
#define PERCENT(kinds, name, resolution, source, need, help)                                       \
    {                                                                                              \
        TEXTS("", name, resolution, source, help), 0, 0, kinds, CAMP_RECORD_NONE, CAMP_TYPE_REAL,  \
            SHARE, CAMP_RULE_DERIVED, need, 0                                                      \
    }

/* A value in no struct, which a function returns. */
#define CALL(kinds, name, type, nature, rule, need, resolution, source, help)                      \
    {                                                                                              \
        TEXTS("", name, resolution, source, help), 0, 0, kinds, CAMP_RECORD_NONE,                  \
            CAMP_TYPE_##type, nature, CAMP_RULE_##rule, need, 0                                    \
    }

#define CPU_TIME(field, rule, known, source, help)                                                 \
    {                                                                                              \
        ROW(CAMP_KIND_CPU, cpu, CPU, field, "", U64, COUNTER, rule, CAMP_CPU_##known,              \
            NEED_NOTHING, CPU_STEP, source, help),                                                 \
            0                                                                                      \
    }
#define CPU_PERCENT(field, name, known, source, help)                                              \
    {                                                                                              \
        ROW(CAMP_KIND_CPU, utilisation, UTILISATION, field, name, REAL, SHARE, DERIVED,            \
            CAMP_UTILISATION_##known, NEED_NOTHING, CPU_STEP_PERCENT, source, help),               \
            0                                                                                      \
    }
#define MEMORY(field, rule, known, source, help)                                                   \
    {                                                                                              \
        ROW(CAMP_KIND_MEMORY, memory, MEMORY, field, "", U64, LEVEL, rule, CAMP_MEMORY_##known,    \
            NEED_NOTHING, "1 page", source, help),                                                 \
            0                                                                                      \
    }
#define NETWORK(field, known, source, help)                                                        \
    {                                                                                              \
        ROW(CAMP_KIND_NETWORK, network, NETWORK, field, "", U64, COUNTER, COUNTED,                 \
            CAMP_NETWORK_##known, NEED_NOTHING, "1", source, help),                                \
            0                                                                                      \
    }
#define DISK(field, known, nature, resolution, wraps_ms, source, help)                             \
    {                                                                                              \
        ROW(DISKS, disk, DISK, field, "", U64, nature, COUNTED, CAMP_DISK_##known, NEED_NOTHING,   \
            resolution, source, help),                                                             \
            (wraps_ms)*IS_LINUX                                                                    \
    }
#define TASK(kinds, field, type, nature, rule, known, need, resolution, source, help)              \
    {                                                                                              \
        ROW(kinds, task, TASK, field, "", type, nature, rule, known, need, resolution, source,     \
            help),                                                                                 \
            0                                                                                      \
    }
#define TASK_COUNTER(field, rule, known, resolution, source, help)                                 \
    TASK(TASKS, field, U64, COUNTER, rule, CAMP_TASK_##known, NEED_NOTHING, resolution, source,    \
         help)
#define TASK_LEVEL(field, known, resolution, source, help)                                         \
    TASK(CAMP_KIND_PROCESS, field, U64, LEVEL, COUNTED, CAMP_TASK_##known, NEED_NOTHING,           \
         resolution, source, help)
#define TASK_FACT(kinds, field, type, known, resolution, source, help)                             \
    TASK(kinds, field, type, FACT, NONE, known, NEED_NOTHING, resolution, source, help)
#define TASK_PERCENT(field, resolution, source, help)                                              \
    {                                                                                              \
        ROW(TASKS, task_utilisation, TASK_UTILISATION, field, "", REAL, SHARE, DERIVED, 0,         \
            NEED_NOTHING, resolution, source, help),                                               \
            0                                                                                      \
    }
#define TASKSTAT(kinds, field, rule, resolution, help)                                             \
    {                                                                                              \
        ROW(kinds, taskstat, TASKSTAT, field, "", U64, COUNTER, rule, 0, NEED_TASKSTATS,           \
            resolution, BY_SYSTEM("taskstats", "", ""), help),                                     \
            0                                                                                      \
    }
#define EXIT(field, type, help) FIELD(task_exit, TASK_EXIT, field, type, 0, help)
#define EXIT_OF_PROCESS(field, type, help)                                                         \
    FIELD(task_exit, TASK_EXIT, field, type, CAMP_TASK_EXIT_PROCESS, help)
#define KERNEL(field, type, known, source, help)                                                   \
    {                                                                                              \
        ROW(CAMP_KIND_KERNEL, kernel, KERNEL, field, "", type, FACT, NONE, known, NEED_ITS_SOURCE, \
            "exact", source, help),                                                                \
            0                                                                                      \
    }
#define LINUX(field, type, known, source, help)                                                    \
    {                                                                                              \
        ROW(CAMP_KIND_KERNEL, linux, LINUX, field, "", type, FACT, NONE, CAMP_LINUX_##known,       \
            NEED_ITS_SOURCE, "exact", BY_SYSTEM(source, "", ""), help),                            \
            0                                                                                      \
    }
#define SYSTEM(field, type, nature, rule, known, resolution, source, help)                         \
    {                                                                                              \
        ROW(CAMP_KIND_SYSTEM, system, SYSTEM, field, "", type, nature, rule, CAMP_SYSTEM_##known,  \
            NEED_ITS_SOURCE, resolution, source, help),                                            \
            0                                                                                      \
    }
#define SYSTEM_COUNTER(field, known, resolution, source, help)                                     \
    SYSTEM(field, U64, COUNTER, COUNTED, known, resolution, source, help)
#define LOAD_AVERAGE(minutes, help)                                                                \
    SYSTEM(load_average_##minutes, REAL, LEVEL, SAMPLED, LOAD_AVERAGE_##minutes,                   \
           BY_SYSTEM("1/100", "", "1/256"),                                                        \
           BY_SYSTEM("/proc/loadavg", "", "kstat unix:0:system_misc avenrun_" #minutes "min"),     \
           help)
#define PRESSURE(of, share, OF, file, help)                                                        \
    SYSTEM_COUNTER(of##_##share##_ns, OF, "1 us", BY_SYSTEM("/proc/pressure/" file, "", ""),       \
                   "Time in which " help),                                                         \
        PERCENT(CAMP_KIND_SYSTEM, #of "_" #share "_percent", "1 us",                               \
                BY_SYSTEM("two readings of " #of "_" #share "_ns", "", ""), NEED_ITS_SOURCE,       \
                "Share of " #of "_" #share "_ns in wall time.")
