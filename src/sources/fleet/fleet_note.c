/* Missing hosts: known, but down, or without samples for two scrapes. */
#include "fleet_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAMED_MOST 5

static void __attribute__((format(printf, 3, 4)))
append(char *ret, size_t size, const char *format, ...)
{
    const size_t length = strlen(ret);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(ret + length, size - length, format, arguments);
    va_end(arguments);
}

static bool is_missing(const struct fleet *fleet, const struct fleet_member *host)
{
    const int64_t period_ns = host->period_ns > 0 ? host->period_ns : fleet->period_ns;

    if (fleet->begin_ns > 0) /* later samples are known, too */
        return fleet->kind == FLEET_HOSTS && host->is_silent &&
               host->accounted_ns > fleet->begin_ns;
    return host->is_down ||
           (!fleet_is_query(fleet) &&
            fleet->eval_ns - fleet_newest(host) > 2 * period_ns + MARGIN_NS + fleet->age_ns);
}

/* A time that stays the same while the host is missing, so that the note is shown once. */
static void note_since(const struct fleet *fleet, const struct fleet_member *host, char *ret,
                       size_t size)
{
    const time_t newest = (time_t)(fleet_newest(host) / NS_PER_S);
    struct tm local;
    char at[16];

    append(ret, size, "%s (%s", host->entity.name, host->is_down ? "down" : "no samples");
    if (fleet->begin_ns == 0 && newest > 0 &&
        strftime(at, sizeof at, "%H:%M:%S", localtime_r(&newest, &local)) > 0)
        append(ret, size, " since %s", at);
    append(ret, size, ")");
}

size_t fleet_missing(const struct fleet *fleet, char *ret, size_t size)
{
    size_t count = 0;
    char names[FRAME_NOTE_SIZE / 2] = "";

    ret[0] = '\0';
    for (size_t i = 0; i < fleet->hosts.count; i++) {
        const struct fleet_member *host = fleet->hosts.members[i];

        if (!is_missing(fleet, host))
            continue;
        if (count++ < NAMED_MOST) {
            append(names, sizeof names, "%s", count > 1 ? ", " : "");
            note_since(fleet, host, names, sizeof names);
        }
    }
    if (count > 0)
        append(ret, size, "%zu %s missing: %s", count, count == 1 ? "host is" : "hosts are", names);
    if (count > NAMED_MOST)
        append(ret, size, " and %zu more", count - NAMED_MOST);
    return count;
}
