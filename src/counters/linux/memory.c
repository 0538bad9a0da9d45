/*
 * Memory and swap, from sysinfo(2) or /proc/meminfo (man 5 proc; fs/proc/meminfo.c).
 *
 * Both show the same counters of the kernel (vm_zone_stat and swap_info). sysinfo(2) lacks Cached
 * and MemAvailable, but needs a tenth of the time: it opens no file, and does not add up all zones
 * for MemAvailable. In a container where lxcfs provides /proc/meminfo, sysinfo(2) reports the
 * memory of the host.
 */
#include "../clock.h"
#include "../error.h"
#include "file.h"
#include "parse.h"

#include <errno.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define OF_SYSINFO                                                                                 \
    (CAMP_MEMORY_TOTAL | CAMP_MEMORY_FREE | CAMP_MEMORY_BUFFERS | CAMP_MEMORY_SWAP_TOTAL |         \
     CAMP_MEMORY_SWAP_FREE)

#define ROW(name, field, member)                                                                   \
    {                                                                                              \
        name, sizeof name - 1, field, offsetof(struct camp_memory, member)                         \
    }

/* The wanted lines, in the order in which the kernel prints them. */
static const struct {
    const char *name;
    size_t length;
    uint32_t field;
    size_t offset;
} rows[] = {
    ROW("MemTotal:", CAMP_MEMORY_TOTAL, total_bytes),
    ROW("MemFree:", CAMP_MEMORY_FREE, free_bytes),
    ROW("MemAvailable:", CAMP_MEMORY_AVAILABLE, available_bytes),
    ROW("Buffers:", CAMP_MEMORY_BUFFERS, buffers_bytes),
    ROW("Cached:", CAMP_MEMORY_CACHED, cached_bytes),
    ROW("SwapTotal:", CAMP_MEMORY_SWAP_TOTAL, swap_total_bytes),
    ROW("SwapFree:", CAMP_MEMORY_SWAP_FREE, swap_free_bytes),
    ROW("CommitLimit:", CAMP_MEMORY_COMMIT_LIMIT, commit_limit_bytes),
    ROW("Committed_AS:", CAMP_MEMORY_COMMITTED, committed_bytes),
};

#define ROWS (sizeof rows / sizeof rows[0])

/* Bytes: enough for the lines up to SwapFree, except in kernels with high memory. */
#define FIRST_READ 512

/* Parses the rest of a line after the name, such as "     123 kB". */
static bool kib_of(struct cursor line, uint64_t *ret_bytes)
{
    uint64_t kib;

    if (!line_u64(&line, &kib) || kib > UINT64_MAX / BYTES_PER_KIB || !text_prefix(&line, " kB") ||
        cursor_left(&line) != 0)
        return false;
    *ret_bytes = kib * BYTES_PER_KIB;
    return true;
}

static bool may_be_row(char first)
{
    return first == 'M' || first == 'B' || first == 'C' || first == 'S';
}

/* Returns the index of the line's name in rows[], or ROWS if the line is unwanted. rows[likely] is
 * tried first. */
static size_t row_of(const struct cursor *line, size_t likely)
{
    size_t left = cursor_left(line);
    size_t row = likely;

    if (left == 0 || !may_be_row(*line->at))
        return ROWS;
    do {
        if (left >= rows[row].length && memcmp(line->at, rows[row].name, rows[row].length) == 0)
            return row;
        row = row + 1 < ROWS ? row + 1 : 0;
    } while (row != likely);
    return ROWS;
}

static bool take_row(struct cursor line, size_t *likely, struct camp_memory *memory)
{
    size_t row = row_of(&line, *likely);

    if (row == ROWS)
        return true;
    *likely = row + 1 < ROWS ? row + 1 : 0;
    memory->known |= rows[row].field;
    line.at += rows[row].length;
    return kib_of(line, (uint64_t *)((char *)memory + rows[row].offset));
}

int camp_memory_scan(int descriptor, const char *path, uint32_t wanted, struct camp_memory *ret,
                     struct camp_error *error)
{
    char buffer[LINES_BUFFER_SIZE];
    struct camp_memory memory = { 0 };
    struct camp_lines lines;
    struct cursor line;
    size_t likely = 0;
    int r = 1;

    camp_lines_start(&lines, descriptor, path, buffer, sizeof buffer, LINES_ONE_RECORD);
    lines.first_read = FIRST_READ;
    while ((~memory.known & wanted) != 0 && (r = camp_lines_next(&lines, &line, error)) > 0)
        if (!take_row(line, &likely, &memory))
            return camp_fail(error, CAMP_E_FORMAT, 0, "%s: a size is not a number of kB; report it",
                             path);
    if (r < 0)
        return r;
    if ((memory.known & CAMP_MEMORY_TOTAL) == 0)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s has no MemTotal; report it", path);
    memory.time_ns = lines.time_ns;
    *ret = memory;
    return CAMP_OK;
}

static int read_sysinfo(struct camp_memory *ret, struct camp_error *error)
{
    struct sysinfo info;
    uint64_t unit;

    if (sysinfo(&info) < 0)
        return camp_fail_errno(error, errno, "sysinfo");
    unit = info.mem_unit != 0 ? info.mem_unit : 1; /* kernels before 2.3.23 leave mem_unit 0 */
    *ret = (struct camp_memory){
        .known = OF_SYSINFO,
        .time_ns = now_ns(CLOCK_MONOTONIC),
        .total_bytes = info.totalram * unit,
        .free_bytes = info.freeram * unit,
        .buffers_bytes = info.bufferram * unit,
        .swap_total_bytes = info.totalswap * unit,
        .swap_free_bytes = info.freeswap * unit,
    };
    return CAMP_OK;
}

static int read_meminfo(const struct camp_source *source, uint32_t wanted, struct camp_memory *ret,
                        struct camp_error *error)
{
    char path[PATH_SIZE];
    int descriptor = camp_open_proc(source, "meminfo", path, error);
    int r;

    if (descriptor < 0)
        return descriptor;
    r = camp_memory_scan(descriptor, path, wanted, ret, error);
    close(descriptor);
    return r;
}

int camp_memory_read(const struct camp_source *source, uint32_t wanted, struct camp_memory *ret,
                     size_t size, struct camp_error *error)
{
    struct camp_memory memory;
    int r;

    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    if (source == NULL && (wanted & ~(uint32_t)OF_SYSINFO) == 0)
        r = read_sysinfo(&memory, error);
    else
        r = read_meminfo(source, wanted | CAMP_MEMORY_TOTAL, &memory, error);
    if (r == CAMP_OK)
        camp_hand_out(ret, size, &memory, sizeof memory);
    return r;
}
