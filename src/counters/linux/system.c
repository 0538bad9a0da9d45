/*
 * Counters of the whole system, from /proc/stat, /proc/loadavg, /proc/vmstat (man 5 proc;
 * mm/vmstat.c) and /proc/pressure (Documentation/accounting/psi.rst).
 *
 * Only the beginning of a line matters here. The line of interrupts in /proc/stat can be longer
 * than any buffer on the stack: it has a number for each interrupt of the machine.
 */
#include "../clock.h"
#include "../error.h"
#include "file.h"
#include "parse.h"

#include <camp/system.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define OF_STAT                                                                                    \
    (CAMP_SYSTEM_BOOT_TIME | CAMP_SYSTEM_CONTEXT_SWITCHES | CAMP_SYSTEM_INTERRUPTS |               \
     CAMP_SYSTEM_FORKS | CAMP_SYSTEM_RUNNING | CAMP_SYSTEM_BLOCKED)
#define OF_LOADAVG                                                                                 \
    (CAMP_SYSTEM_LOAD_AVERAGE_1 | CAMP_SYSTEM_LOAD_AVERAGE_5 | CAMP_SYSTEM_LOAD_AVERAGE_15)
#define OF_VMSTAT                                                                                  \
    (CAMP_SYSTEM_FAULTS | CAMP_SYSTEM_MAJOR_FAULTS | CAMP_SYSTEM_SWAPPED_IN |                      \
     CAMP_SYSTEM_SWAPPED_OUT | CAMP_SYSTEM_PAGED_IN | CAMP_SYSTEM_PAGED_OUT |                      \
     CAMP_SYSTEM_SCANNED | CAMP_SYSTEM_RECLAIMED)

enum unit { UNIT_ONE, UNIT_SECOND, UNIT_PAGE, UNIT_KIB };

struct row {
    const char *name; /* with the blank after it */
    uint32_t field;
    enum unit unit;
    size_t offset;
};

#define ROW(name, field, unit, member)                                                             \
    {                                                                                              \
        name " ", CAMP_SYSTEM_##field, UNIT_##unit, offsetof(struct camp_system, member)           \
    }

static const struct row stat_rows[] = {
    ROW("btime", BOOT_TIME, SECOND, boot_time_ns),
    ROW("ctxt", CONTEXT_SWITCHES, ONE, context_switches),
    ROW("intr", INTERRUPTS, ONE, interrupts),
    ROW("processes", FORKS, ONE, forks),
    ROW("procs_running", RUNNING, ONE, running),
    ROW("procs_blocked", BLOCKED, ONE, blocked),
};

/* A field of several rows is their sum: pages are reclaimed by four parts of the kernel. */
static const struct row vmstat_rows[] = {
    ROW("pgpgin", PAGED_IN, KIB, paged_in_bytes),
    ROW("pgpgout", PAGED_OUT, KIB, paged_out_bytes),
    ROW("pswpin", SWAPPED_IN, PAGE, swapped_in_bytes),
    ROW("pswpout", SWAPPED_OUT, PAGE, swapped_out_bytes),
    ROW("pgfault", FAULTS, ONE, faults),
    ROW("pgmajfault", MAJOR_FAULTS, ONE, major_faults),
    ROW("pgscan_kswapd", SCANNED, PAGE, scanned_bytes),
    ROW("pgscan_direct", SCANNED, PAGE, scanned_bytes),
    ROW("pgscan_khugepaged", SCANNED, PAGE, scanned_bytes),
    ROW("pgscan_proactive", SCANNED, PAGE, scanned_bytes),
    ROW("pgsteal_kswapd", RECLAIMED, PAGE, reclaimed_bytes),
    ROW("pgsteal_direct", RECLAIMED, PAGE, reclaimed_bytes),
    ROW("pgsteal_khugepaged", RECLAIMED, PAGE, reclaimed_bytes),
    ROW("pgsteal_proactive", RECLAIMED, PAGE, reclaimed_bytes),
};

/* The fields of the lines `some` and `full`. 0: the line says nothing about the whole system. */
static const struct pressure {
    const char *file;
    uint32_t fields[2];
    size_t offsets[2];
} pressures[] = {
    { "pressure/cpu",
      { CAMP_SYSTEM_CPU_SOME, 0 },
      { offsetof(struct camp_system, cpu_some_ns), 0 } },
    { "pressure/memory",
      { CAMP_SYSTEM_MEMORY_SOME, CAMP_SYSTEM_MEMORY_FULL },
      { offsetof(struct camp_system, memory_some_ns),
        offsetof(struct camp_system, memory_full_ns) } },
    { "pressure/io",
      { CAMP_SYSTEM_IO_SOME, CAMP_SYSTEM_IO_FULL },
      { offsetof(struct camp_system, io_some_ns), offsetof(struct camp_system, io_full_ns) } },
};

static uint64_t size_of(enum unit unit)
{
    const uint64_t sizes[] = {
        [UNIT_ONE] = 1,
        [UNIT_SECOND] = NS_PER_S,
        [UNIT_PAGE] = (uint64_t)sysconf(_SC_PAGESIZE),
        [UNIT_KIB] = BYTES_PER_KIB,
    };

    return sizes[unit];
}

static bool add(struct camp_system *system, uint32_t field, size_t offset, uint64_t value,
                uint64_t unit)
{
    uint64_t *member = (uint64_t *)((char *)system + offset);

    if (__builtin_mul_overflow(value, unit, &value) ||
        __builtin_add_overflow(*member, value, member))
        return false;
    system->known |= field;
    return true;
}

/* Sets the field of a line "name number". Lines of other names are unwanted. */
static bool take_row(struct cursor line, const struct row *rows, size_t count,
                     struct camp_system *system)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value;

        if (!text_prefix(&line, rows[i].name))
            continue;
        return text_u64(&line, &value) && (cursor_left(&line) == 0 || *line.at == ' ') &&
               add(system, rows[i].field, rows[i].offset, value, size_of(rows[i].unit));
    }
    return true;
}

static bool take_stat(struct cursor line, const void *what, struct camp_system *system)
{
    (void)what;
    return take_row(line, stat_rows, sizeof stat_rows / sizeof stat_rows[0], system);
}

static bool take_vmstat(struct cursor line, const void *what, struct camp_system *system)
{
    (void)what;
    return take_row(line, vmstat_rows, sizeof vmstat_rows / sizeof vmstat_rows[0], system);
}

/* Parses a number with two decimals, such as "0.57". */
static bool average_of(struct cursor *line, double *ret)
{
    uint64_t whole, hundredths;

    if (!text_u64(line, &whole) || !text_prefix(line, ".") || cursor_left(line) < 3 ||
        *line->at == ' ' || line->at[2] != ' ' || !text_u64(line, &hundredths))
        return false;
    *ret = (double)whole + (double)hundredths / 100;
    return true;
}

static bool take_loadavg(struct cursor line, const void *what, struct camp_system *system)
{
    (void)what;
    system->known |= OF_LOADAVG;
    return average_of(&line, &system->load_average_1) &&
           average_of(&line, &system->load_average_5) &&
           average_of(&line, &system->load_average_15);
}

/* The total is the last word of a line, after three averages. */
static bool take_pressure(struct cursor line, const void *what, struct camp_system *system)
{
    const struct pressure *pressure = what;
    const int full = text_prefix(&line, "full ");
    struct cursor word;
    uint64_t total_us;

    if ((!full && !text_prefix(&line, "some ")) || pressure->fields[full] == 0)
        return true;
    while (camp_text_word(&line, &word)) {
        if (text_prefix(&word, "total="))
            return text_u64(&word, &total_us) && cursor_left(&word) == 0 &&
                   add(system, pressure->fields[full], pressure->offsets[full], total_us,
                       NS_PER_US);
    }
    return false;
}

typedef bool take_line(struct cursor line, const void *what, struct camp_system *system);

/* Gives the lines of a file to `take`, which returns false if the kernel does not write such a
 * line. Of a line that is longer than the buffer, it gets the beginning. A kernel that was booted
 * without pressure (psi=0) answers EOPNOTSUPP, and has no line. */
static int take_lines(int descriptor, const char *path, take_line *take, const void *what,
                      struct camp_system *system, struct camp_error *error)
{
    char buffer[4096];
    size_t length = 0;
    bool skips = false; /* the rest of a long line is left */

    for (;;) {
        const ssize_t got = read(descriptor, buffer + length, sizeof buffer - length);
        struct cursor rest, line;

        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0 || (got < 0 && errno == EOPNOTSUPP))
            break;
        if (got < 0)
            return camp_fail_errno(error, errno, path);
        length += (size_t)got;
        rest = cursor_of(buffer, length);
        while (memchr(rest.at, '\n', cursor_left(&rest)) != NULL ||
               cursor_left(&rest) == sizeof buffer) {
            (void)text_line(&rest, &line);
            if (!skips && !take(line, what, system))
                return camp_fail(error, CAMP_E_FORMAT, 0,
                                 "%s has a line without its number; report it", path);
            skips = line.end == buffer + sizeof buffer;
        }
        length = cursor_left(&rest);
        memmove(buffer, rest.at, length);
    }
    if (length > 0 || skips)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s ends within a line; read it again", path);
    return CAMP_OK;
}

/* Leaves the fields of a file unknown if it does not exist here or may not be read. */
static int read_lines(const struct camp_source *source, const char *name, take_line *take,
                      const void *what, struct camp_system *system, struct camp_error *error)
{
    char path[PATH_SIZE];
    int descriptor = camp_open_proc(source, name, path, error);
    int r;

    if (descriptor == CAMP_E_GONE || descriptor == CAMP_E_PERM)
        return CAMP_OK;
    if (descriptor < 0)
        return descriptor;
    r = take_lines(descriptor, path, take, what, system, error);
    close(descriptor);
    return r;
}

int camp_system_read(const struct camp_source *source, uint32_t wanted, struct camp_system *ret,
                     size_t size, struct camp_error *error)
{
    struct camp_system system = { 0 };
    int r = CAMP_OK;

    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    if ((wanted & OF_STAT) != 0)
        r = read_lines(source, "stat", take_stat, NULL, &system, error);
    if (r == CAMP_OK && (wanted & OF_LOADAVG) != 0)
        r = read_lines(source, "loadavg", take_loadavg, NULL, &system, error);
    if (r == CAMP_OK && (wanted & OF_VMSTAT) != 0)
        r = read_lines(source, "vmstat", take_vmstat, NULL, &system, error);
    for (size_t i = 0; i < sizeof pressures / sizeof pressures[0] && r == CAMP_OK; i++) {
        if ((wanted & (pressures[i].fields[0] | pressures[i].fields[1])) != 0)
            r = read_lines(source, pressures[i].file, take_pressure, &pressures[i], &system, error);
    }
    if (r < 0)
        return r;
    system.time_ns = now_ns(CLOCK_MONOTONIC);
    camp_hand_out(ret, size, &system, sizeof system);
    return CAMP_OK;
}
