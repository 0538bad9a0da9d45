#include "summary_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_LEAST 0.05 /* smaller sums would be shown as 0.0 */

static void __attribute__((format(printf, 2, 3))) append(char *text, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + length, SUMMARY_TEXT_SIZE - length, format, arguments);
    va_end(arguments);
}

/* Round half up, as the page does. printf() rounds 0.25 to the even digit: 0.2. */
static double whole(double value)
{
    return floor(value + 0.5);
}

static double tenths(double value)
{
    return floor(value * 10 + 0.5) / 10;
}

static double hundredths(double value)
{
    return floor(value * 100 + 0.5) / 100;
}

static void write_busy(const struct summary *summary, char *ret)
{
    const double percent = whole(100 * summary_busy(summary));

    if (summary->cpus == 1)
        append(ret, "The CPU is %.0f %% busy", percent);
    else if (summary->cpus == 2)
        append(ret, "Both CPUs are %.0f %% busy", percent);
    else
        append(ret, "%zu CPUs are %.0f %% busy", summary->cpus, percent);
}

/* Returns whether the rows are CPUs. A CPU does not wait for one, and has no name to mention; its
 * time in CLASS_READY was stolen by a hypervisor. */
static bool are_cpus(const char *noun)
{
    return strcmp(noun, "CPUs") == 0;
}

/* Writes how many are on a CPU and how many wait for one. */
static void write_cpus(const struct summary *summary, const char *noun, char *ret)
{
    const double waiting = summary->classes[CLASS_READY];

    if (!summary->has[CLASS_CPU])
        return;
    if (summary->cpus > 0)
        write_busy(summary, ret);
    else
        append(ret, "%.1f %s on a CPU", tenths(summary->classes[CLASS_CPU]), noun);
    if (waiting >= SHOWN_LEAST && are_cpus(noun))
        append(ret, ", and %.1f stolen", tenths(waiting));
    else if (waiting >= SHOWN_LEAST && summary->cpus > 0)
        append(ret, ", and %.1f %s wait for one", tenths(waiting), noun);
    else if (waiting >= SHOWN_LEAST)
        append(ret, ", %.1f wait for a CPU", tenths(waiting));
    else if (summary->has[CLASS_READY] && summary->cpus > 0 && !are_cpus(noun))
        append(ret, ", and none waits for one");
    append(ret, ". ");
}

static void write_idle(const struct summary *summary, char *ret)
{
    append(ret, summary->missing >= SHOWN_LEAST
                    ? "Nothing is active in the states that were measured. "
                    : "All is idle. ");
}

/* Writes the other waits and the parked threads: "Disk 1.8 · lock 0.3 · 500 parked. ". */
static void write_waits(const struct summary *summary, char *ret)
{
    const char *between = "";

    for (size_t i = CLASS_THROTTLED; i < CLASS_IDLE; i++) {
        const char *title = column_class_title((enum column_class)i);

        if (summary->classes[i] < SHOWN_LEAST)
            continue;
        append(ret, "%s%c%s %.1f", between,
               between[0] == '\0' ? toupper((unsigned char)title[0]) : title[0], title + 1,
               tenths(summary->classes[i]));
        between = " · ";
    }
    if (summary->parked > 0)
        append(ret, "%s%zu parked", between, summary->parked);
    if (between[0] != '\0' || summary->parked > 0)
        append(ret, ". ");
}

/* Writes "1 switch unseen" or "2 events lost". `plural` is the noun's ending. */
static void write_loss(uint64_t count, const char *noun, const char *plural, const char *what,
                       const char **between, char *ret)
{
    if (count == 0)
        return;
    append(ret, "%s%" PRIu64 " %s%s%s", *between, count, noun, count != 1 ? plural : "", what);
    *between = ", ";
}

/* Writes what does not add up, or that all adds up. Without states, only losses are known. */
static void write_promise(const struct summary *summary, char *ret)
{
    const char *between = "";

    if (summary_is_missing(summary)) {
        append(ret, "%.2f unaccounted (%.0f %%)", hundredths(summary->missing),
               whole(100 * summary->missing / summary->elapsed));
        between = ", ";
    }
    if (summary_is_over(summary)) {
        append(ret, "%s%.2f accounted twice", between, hundredths(summary->over));
        between = ", ";
    }
    if (summary->unseen_are_switches)
        write_loss(summary->losses.unseen, "switch", "es", " unseen", &between, ret);
    else
        write_loss(summary->losses.unseen, "event", "s", " unseen", &between, ret);
    write_loss(summary->losses.lost, "event", "s", " lost", &between, ret);
    write_loss(summary->losses.partial, "", "", "not whole", &between, ret);
    if (summary->losses.unread_ns > 0) {
        /* An upper bound is rounded up. */
        append(ret, "%s most %.1f s unread", between[0] == '\0' ? "At" : ", at",
               ceil((double)summary->losses.unread_ns / 1e8) / 10);
        between = ", ";
    }
    if (between[0] != '\0')
        append(ret, ".");
    else
        append(ret,
               summary->only_cpu_time ? "Nothing lost." : "Nothing unaccounted, nothing lost.");
}

void summary_text(const struct summary *summary, const char *noun, char ret[SUMMARY_TEXT_SIZE])
{
    ret[0] = '\0';
    /* Without states, a process that is on no CPU need not be idle. */
    if (summary->active < SHOWN_LEAST && !summary->only_cpu_time)
        write_idle(summary, ret);
    else
        write_cpus(summary, noun, ret);
    write_waits(summary, ret);
    write_promise(summary, ret);
    if (are_cpus(noun) || summary->active < SHOWN_LEAST)
        return;
    if (summary->name_count == 1)
        append(ret, " Mostly %s.", summary->names[0]);
    else if (summary->name_count == 2)
        append(ret, " Mostly %s and %s.", summary->names[0], summary->names[1]);
    /* A name may have a line feed, which would look like the end of the headline. */
    for (char *at = ret; *at != '\0'; at++)
        *at = *at == '\n' ? '?' : *at;
}

void summary_wrap(char *text, size_t width)
{
    char *space = NULL;
    size_t column = 0;

    for (char *at = text; *at != '\0'; at++) {
        if (*at == ' ')
            space = at;
        column += ((unsigned char)*at & 0xc0) != 0x80;
        if (column <= width || space == NULL)
            continue;
        *space = '\n';
        at = space;
        space = NULL;
        column = 0;
    }
}
