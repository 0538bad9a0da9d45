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

/* Returns whether the rows are sums of threads whose parked time is not known: camp export adds up
 * the threads of a group. Then waits in a lock may be waits for work. */
static bool may_be_parked(const char *noun)
{
    return strcmp(noun, "groups") == 0 || strcmp(noun, "hosts") == 0;
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

/* Returns the class with the most time, of the classes from `first` to the one before `end`; the
 * first of equal ones. A wait that may not be one is never the largest. */
static enum column_class largest(const struct summary *summary, const char *noun,
                                 enum column_class first, enum column_class end)
{
    enum column_class found = first;

    for (enum column_class i = first; i < end; i++) {
        if (summary->classes[i] > summary->classes[found] &&
            (i != CLASS_CONTENTION || !may_be_parked(noun)))
            found = i;
    }
    return found;
}

/* The number of CPUs is known. Writes how busy they are, and the largest wait with a known reason.
 * Returns its class. */
static enum column_class write_with_cpus(const struct summary *summary, const char *noun, char *ret)
{
    const enum column_class wait =
        are_cpus(noun) ? CLASS_READY : largest(summary, noun, CLASS_READY, CLASS_OTHER_WAIT);
    const double waiting = tenths(summary->classes[wait]);

    write_busy(summary, ret);
    if (summary->classes[wait] < SHOWN_LEAST)
        append(ret, "%s",
               summary->has[CLASS_READY] && !are_cpus(noun) ? ", and none waits for one" : "");
    else if (are_cpus(noun))
        append(ret, ", and %.1f stolen", waiting);
    else if (wait == CLASS_READY)
        append(ret, ", and %.1f %s wait for one", waiting, noun);
    else
        append(ret, ", and %.1f %s %s", waiting, noun, doing[wait]);
    return wait;
}

/* The number of CPUs is unknown. Writes the largest class, and the time on a CPU or in the run
 * queue. Returns the class of the wait that was written. */
static enum column_class write_without_cpus(const struct summary *summary, const char *noun,
                                            char *ret)
{
    const enum column_class first = largest(summary, noun, CLASS_CPU, CLASS_IDLE);

    append(ret, "%.1f %s %s", tenths(summary->classes[first]), noun, doing[first]);
    if (first != CLASS_CPU && summary->has[CLASS_CPU])
        append(ret, ", %.1f on a CPU", tenths(summary->classes[CLASS_CPU]));
    if (first == CLASS_CPU && summary->classes[CLASS_READY] >= SHOWN_LEAST)
        append(ret, ", %.1f wait for a CPU", tenths(summary->classes[CLASS_READY]));
    return first == CLASS_CPU ? CLASS_READY : first;
}

/* Writes the headline. Returns the class of the wait that it tells. */
static enum column_class write_headline(const struct summary *summary, const char *noun, char *ret)
{
    const enum column_class told = summary->cpus > 0 && summary->has[CLASS_CPU]
                                       ? write_with_cpus(summary, noun, ret)
                                       : write_without_cpus(summary, noun, ret);

    append(ret, ". ");
    return told;
}

static void write_idle(const struct summary *summary, char *ret)
{
    append(ret, summary->missing >= SHOWN_LEAST
                    ? "Nothing is active in the states that were measured. "
                    : "All is idle. ");
}

/* Writes the waits except `told`, and the parked threads: "Disk 1.8 · lock 0.3 · 500 parked. ". */
static void write_waits(const struct summary *summary, const char *noun, enum column_class told,
                        char *ret)
{
    const char *between = "";

    for (enum column_class i = CLASS_READY; i < CLASS_IDLE; i++) {
        const char *title =
            i == CLASS_CONTENTION && may_be_parked(noun) ? "lock or parked" : column_class_title(i);

        if (i == told || summary->classes[i] < SHOWN_LEAST)
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
    enum column_class told = CLASS_READY;

    ret[0] = '\0';
    /* Without states, a process that is on no CPU need not be idle. */
    if (summary->active < SHOWN_LEAST && !summary->only_cpu_time)
        write_idle(summary, ret);
    else
        told = write_headline(summary, noun, ret);
    write_waits(summary, noun, told, ret);
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
