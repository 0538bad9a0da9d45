/*
 * The frequency of a CPU, from cpufreq (Documentation/admin-guide/pm/cpufreq.rst) or, without it,
 * from /proc/cpuinfo (show_cpuinfo() of each architecture; x86, POWER and s390x print a frequency).
 */
#include "../error.h"
#include "file.h"

#include <camp/system.h>

#include <inttypes.h>
#include <unistd.h>

#define HZ_PER_KHZ 1000u
#define HZ_PER_MHZ 1000000u

/* Parses a number of MHz with up to six decimals, such as "2599.998" or "3425.000000MHz". */
static bool hz_of_mhz(struct cursor text, uint64_t *ret_hz)
{
    uint64_t place = HZ_PER_MHZ / 10;

    if (!text_u64(&text, ret_hz) || *ret_hz > UINT32_MAX)
        return false;
    *ret_hz *= HZ_PER_MHZ;
    if (!text_prefix(&text, "."))
        return true;
    for (; cursor_left(&text) > 0 && *text.at >= '0' && *text.at <= '9'; text.at++) {
        *ret_hz += (uint64_t)(*text.at - '0') * place;
        place /= 10;
    }
    return true;
}

/* Moves *line to the value of a line "name\t: value". */
static bool is_named(struct cursor *line, const char *name)
{
    struct cursor rest = *line;

    if (!text_prefix(&rest, name))
        return false;
    text_skip_blanks(&rest);
    if (!text_prefix(&rest, ":"))
        return false;
    *line = rest;
    return true;
}

/* Finds the CPU's part of /proc/cpuinfo, and the frequency there. */
static int find(struct camp_lines *lines, int32_t cpu, uint64_t *ret_hz, struct camp_error *error)
{
    bool is_here = false, was_here = false, has_any = false;
    struct cursor line;
    int r;

    while ((r = camp_lines_next(lines, &line, error)) > 0) {
        uint64_t id;

        if (is_named(&line, "processor") || is_named(&line, "cpu number")) {
            is_here = text_u64(&line, &id) && id == (uint64_t)cpu;
            was_here = was_here || is_here;
            has_any = true;
        } else if (is_here && (is_named(&line, "cpu MHz") || is_named(&line, "cpu MHz dynamic") ||
                               is_named(&line, "clock"))) {
            return hz_of_mhz(line, ret_hz)
                       ? CAMP_OK
                       : camp_fail(error, CAMP_E_FORMAT, 0,
                                   "%s: a frequency is not a number of MHz; report it",
                                   lines->path);
        }
    }
    if (r < 0)
        return r;
    if (!has_any)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s names no CPU; report it", lines->path);
    if (!was_here)
        return camp_fail(error, CAMP_E_GONE, 0, "there is no CPU %" PRId32 " online", cpu);
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "neither cpufreq nor %s has the frequency of CPU %" PRId32, lines->path, cpu);
}

static int read_cpuinfo(const struct camp_source *source, int32_t cpu, uint64_t *ret_hz,
                        struct camp_error *error)
{
    char buffer[LINES_BUFFER_SIZE], path[PATH_SIZE];
    struct camp_lines lines;
    int descriptor = camp_open_proc(source, "cpuinfo", path, error);
    int r;

    if (descriptor < 0)
        return descriptor;
    camp_lines_start(&lines, descriptor, path, buffer, sizeof buffer, LINES_UNTIL_EMPTY);
    r = find(&lines, cpu, ret_hz, error);
    close(descriptor);
    return r;
}

int camp_cpu_frequency_hz(const struct camp_source *source, int32_t cpu, uint64_t *ret_hz,
                          struct camp_error *error)
{
    char path[PATH_SIZE], text[32];
    struct cursor cursor;
    size_t length = 0;
    uint64_t value = 0;
    int r;

    if (camp_is_null(error, ret_hz) || camp_is_outside(error, cpu, 0, INT32_MAX))
        return CAMP_E_INVALID;
    r = camp_path(path, camp_sys(source), error,
                  "devices/system/cpu/cpu%" PRId32 "/cpufreq/scaling_cur_freq", cpu);
    if (r < 0)
        return r;
    r = camp_read_file_once(path, text, sizeof text, &length, error);
    cursor = cursor_of(text, length);
    if (r == CAMP_OK && text_u64(&cursor, &value) && value > 0 && value <= UINT32_MAX) {
        *ret_hz = value * HZ_PER_KHZ;
        return CAMP_OK;
    }
    /* Drivers that do not know the frequency print "<unknown>" or fail. */
    r = read_cpuinfo(source, cpu, &value, error);
    if (r == CAMP_OK)
        *ret_hz = value;
    return r;
}
