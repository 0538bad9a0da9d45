#include "top_prstat.h"

#include "ledger/selection.h"
#include "sources/source.h"

#include <inttypes.h>
#include <stdio.h>

/* Bytes for the text of one number, such as "9.9" or "99K". */
#define CELL_SIZE 8
#define HEADING "   PID USERNAME USR SYS TRP TFL DFL LCK SLP LAT VCX ICX SCL SIG "

const char *prstat_heading(enum group_key key, bool ended)
{
    if (ended)
        return HEADING "ENDED/HOW MANY";
    return key == GROUP_NONE || key == GROUP_THREAD ? HEADING "PROCESS/LWPID"
                                                    : HEADING "PROCESS/NLWP";
}

/* Returns 0 for a state that was not measured. */
static uint64_t state_ns(const struct frame *rows, size_t row, enum camp_state state)
{
    return threads_have(rows->schema, state)
               ? frame_values(rows, row)[threads_column(rows->schema, state)]
               : 0;
}

/* Returns the time asleep or stopped for which prstat has no other column. */
static uint64_t sleep_ns(const struct frame *rows, size_t row)
{
    return class_ns(rows, row, CLASS_IDLE) + state_ns(rows, row, CAMP_STATE_DISK);
}

/* Writes "0.0" to "9.9", or "10" to "100". */
static void percent_text(char ret[CELL_SIZE], uint64_t part, uint64_t whole)
{
    const double percent = whole > 0 ? 100.0 * (double)part / (double)whole : 0;

    snprintf(ret, CELL_SIZE, "%.*f", percent < 9.95 ? 1 : 0, percent);
}

/* Writes "0" to "999", "1K" to "99K", ".1M" to ".9M", "1M" and so on. */
static void count_text(char ret[CELL_SIZE], uint64_t count)
{
    static const char units[] = " KMGTPE";
    size_t unit = 0;

    while (count >= 100000) {
        count /= 1000;
        unit++;
    }
    if (unit == 0 && count < 1000)
        snprintf(ret, CELL_SIZE, "%" PRIu64, count);
    else if (count < 1000)
        snprintf(ret, CELL_SIZE, ".%" PRIu64 "%c", count / 100, units[unit + 1]);
    else
        snprintf(ret, CELL_SIZE, "%" PRIu64 "%c", count / 1000, units[unit + 1]);
}

/* The columns from USR to LAT. */
#define TIME_COUNT 8

static void time_texts(char ret[TIME_COUNT][CELL_SIZE], const struct frame *rows, size_t row)
{
    const struct {
        uint64_t ns;
        bool unmeasured;
    } times[TIME_COUNT] = {
        { state_ns(rows, row, CAMP_STATE_USER), false },
        { state_ns(rows, row, CAMP_STATE_SYSTEM) + state_ns(rows, row, CAMP_STATE_IRQ),
          !threads_have(rows->schema, CAMP_STATE_SYSTEM) },
        { state_ns(rows, row, CAMP_STATE_TRAP), !threads_have(rows->schema, CAMP_STATE_TRAP) },
        { state_ns(rows, row, CAMP_STATE_TEXT_FAULT),
          !threads_have(rows->schema, CAMP_STATE_TEXT_FAULT) },
        { state_ns(rows, row, CAMP_STATE_DATA_FAULT) + state_ns(rows, row, CAMP_STATE_KERNEL_FAULT),
          false },
        { class_ns(rows, row, CLASS_CONTENTION), false },
        { sleep_ns(rows, row), false },
        { state_ns(rows, row, CAMP_STATE_RUN_QUEUE) + state_ns(rows, row, CAMP_STATE_THROTTLED),
          false },
    };

    for (size_t i = 0; i < TIME_COUNT; i++) {
        if (times[i].unmeasured)
            snprintf(ret[i], CELL_SIZE, "-");
        else
            percent_text(ret[i], times[i].ns, rows->elapsed_ns[row]);
    }
}

void prstat_line(char *ret, size_t capacity, const struct frame *rows, size_t row,
                 enum group_key key, struct user_names *users, const char *name)
{
    const struct entity *entity = &rows->entities[row];
    const uint64_t *values = frame_values(rows, row);
    const bool of_thread = key == GROUP_NONE || key == GROUP_THREAD;
    const bool of_process = (of_thread || key == GROUP_PROCESS) && entity->id != 0;
    const bool of_user = of_process || key == GROUP_USER;
    static const enum threads_counter counters[] = { THREADS_VOLUNTARY_SWITCHES,
                                                     THREADS_INVOLUNTARY_SWITCHES,
                                                     THREADS_SYSTEM_CALLS, THREADS_SIGNALS };
    char time[TIME_COUNT][CELL_SIZE], count[4][CELL_SIZE], pid[16] = "-";

    time_texts(time, rows, row);
    for (size_t i = 0; i < 4; i++) {
        if (threads_have(rows->schema, counters[i]))
            count_text(count[i], values[threads_column(rows->schema, counters[i])]);
        else
            snprintf(count[i], CELL_SIZE, "-");
    }
    if (of_process)
        snprintf(pid, sizeof pid, "%" PRId32, entity->pid);
    snprintf(ret, capacity,
             "%6s %-8.8s %3s %3s %3s %3s %3s %3s %3s %3s %3s %3s %3s %3s %s/%" PRId64, pid,
             of_user ? user_names_get(users, entity->uid) : "-", time[0], time[1], time[2], time[3],
             time[4], time[5], time[6], time[7], count[0], count[1], count[2], count[3], name,
             of_thread && of_process ? entity->id : (int64_t)entity->count);
}
