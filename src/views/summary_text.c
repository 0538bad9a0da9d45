#include "summary_text.h"

#include "ledger/characters.h"

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
    const struct shared_cpus *cpus = &summary->cpus;

    if (cpus->count == 1)
        append(ret, "The CPU is");
    else if (cpus->count == 2)
        append(ret, "Both CPUs are");
    else
        append(ret, "%zu CPUs are", cpus->count);
    append(ret, " %.0f %% busy", whole(100 * summary_busy(summary)));
    if (cpus->full == 1 && cpus->count > 1)
        append(ret, " (CPU %" PRId64 " is full)", cpus->first_full);
    else if (cpus->full > 1 && cpus->full < cpus->count)
        append(ret, " (%zu are full)", cpus->full);
}

/* What entities do in a class, after their number. */
static const char *const doing[CLASS_COUNT] = {
    [CLASS_CPU] = "on a CPU",
    [CLASS_READY] = "wait for a CPU",
    [CLASS_THROTTLED] = "are throttled",
    [CLASS_IO] = "wait for a disk",
    [CLASS_CONTENTION] = "wait for a lock",
    [CLASS_NETWORK] = "wait for the network",
    [CLASS_OTHER_WAIT] = "are in other waits",
};

/* The number of CPUs is known. Writes how busy they are, and the largest wait with a known reason.
 * Returns its class. */
static enum column_class write_with_cpus(const struct summary *summary, char *ret)
{
    const enum column_class wait = summary_wait(summary);
    const double waiting = tenths(summary->classes[wait]);

    write_busy(summary, ret);
    if (summary->classes[wait] < SHOWN_LEAST)
        append(ret, "%s",
               summary->has[CLASS_READY] && !summary_of_cpus(summary) ? ", and none waits for one"
                                                                      : "");
    else if (summary_of_cpus(summary))
        append(ret, ", and %.1f stolen", waiting);
    else if (wait == CLASS_READY)
        append(ret, ", and %.1f %s wait for one", waiting, summary->noun);
    else
        append(ret, ", and %.1f %s %s", waiting, summary->noun, doing[wait]);
    return wait;
}

/* The number of CPUs is unknown. Writes the time on a CPU and the largest wait, the larger one
 * first. Returns the class of the wait. */
static enum column_class write_without_cpus(const struct summary *summary, char *ret)
{
    /* The states of a host are those of its CPUs: two hosts can have four busy CPUs. */
    const bool counts_cpus = strcmp(summary->noun, "hosts") == 0;
    const char *noun = counts_cpus ? "CPUs" : summary->noun;
    const char *running = counts_cpus ? "are busy" : doing[CLASS_CPU];
    const enum column_class wait = summary_wait(summary);
    const bool leads = summary->classes[wait] > summary->classes[CLASS_CPU];
    const enum column_class first = leads ? wait : CLASS_CPU;

    append(ret, "%.1f %s %s", tenths(summary->classes[first]), noun, leads ? doing[wait] : running);
    if (leads && summary->has[CLASS_CPU])
        append(ret, ", %.1f %s", tenths(summary->classes[CLASS_CPU]), running);
    if (!leads && summary->classes[wait] >= SHOWN_LEAST)
        append(ret, ", %.1f %s", tenths(summary->classes[wait]), doing[wait]);
    return wait;
}

/* Writes the headline. Returns the class of the wait in it. */
static enum column_class write_headline(const struct summary *summary, char *ret)
{
    const enum column_class reported = summary->cpus.count > 0 && summary->has[CLASS_CPU]
                                           ? write_with_cpus(summary, ret)
                                           : write_without_cpus(summary, ret);

    append(ret, ". ");
    return reported;
}

/* A server that is down, or hides its sessions, has no rows: that is no idle server. */
static bool has_no_rows(const struct summary *summary)
{
    return summary->elapsed <= 0 && !summary->only_cpu_time;
}

static void write_idle(const struct summary *summary, char *ret)
{
    if (has_no_rows(summary))
        append(ret, "No %s are seen. ", summary->noun);
    else
        append(ret, summary->missing >= SHOWN_LEAST
                        ? "Nothing is active in the states that were measured. "
                        : "All is idle. ");
}

/* Writes the waits except `reported`, and the parked threads: "Disk 1.8 · lock 0.3 · 500 parked. ".
 */
static void write_waits(const struct summary *summary, enum column_class reported, char *ret)
{
    const char *between = "";

    for (enum column_class i = CLASS_READY; i < CLASS_IDLE; i++) {
        const char *title = i == CLASS_CONTENTION && summary_may_be_parked(summary)
                                ? "lock or parked"
                                : column_class_title(i);

        if (i == reported || summary->classes[i] < SHOWN_LEAST)
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
    else if (has_no_rows(summary))
        ret[strlen(ret) - 1] = '\0'; /* the space after the sentence before */
    else if (summary->unseen_are_unknown)
        append(ret, "What started and ended meanwhile is unknown.");
    else
        append(ret,
               summary->only_cpu_time ? "Nothing lost." : "Nothing unaccounted, nothing lost.");
}

/* Writes the names with the most time in the two classes of the headline: "Mostly scan and dd; most
 * CPU time: x".
 */
static void write_names(const struct summary *summary, char *ret)
{
    if (summary->name_count == 0)
        return;
    append(ret, " Mostly %s", summary->names[0]);
    if (summary->name_count > 1)
        append(ret, " and %s", summary->names[1]);
    if (summary->other_name[0] != '\0')
        append(ret, "; most %s time: %s", column_class_title(summary->other), summary->other_name);
    append(ret, ".");
}

void summary_text(const struct summary *summary, char ret[SUMMARY_TEXT_SIZE])
{
    enum column_class reported = CLASS_READY;

    ret[0] = '\0';
    /* Without states, a process that is on no CPU need not be idle. */
    if (summary->active < SHOWN_LEAST && !summary->only_cpu_time)
        write_idle(summary, ret);
    else
        reported = write_headline(summary, ret);
    write_waits(summary, reported, ret);
    write_promise(summary, ret);
    if (!summary_of_cpus(summary) && summary->active >= SHOWN_LEAST)
        write_names(summary, ret);
    /* A name may have a line feed, which would look like the end of the headline. */
    make_printable(ret);
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
