/*
 * The time of each CPU, from /proc/stat (man 5 proc; show_stat() of fs/proc/stat.c).
 *
 * The kernel has ten counters for each CPU, in nanoseconds, and prints them in ticks of 1/100 s.
 * user contains guest, and nice contains guest_nice (account_guest_time() of
 * kernel/sched/cputime.c), so the guest times are subtracted here. Kernels before 2.6.33 print
 * fewer columns; the missing columns are unknown. Reading stops after the lines of the CPUs,
 * because the line of interrupts that follows may be tens of kilobytes long.
 */
#define _GNU_SOURCE 1 /* for memmem() */

#include "../error.h"
#include "../units.h"
#include "file.h"
#include "parse.h"

#include <errno.h>
#include <unistd.h>

#define COLUMNS 10
#define FEWEST_COLUMNS 4 /* Linux 2.4 prints only user, nice, system and idle */

bool camp_cpu_id_of(struct cursor *line, int32_t *ret_cpu)
{
    struct cursor here = *line;
    uint64_t id;

    if (!text_prefix(&here, "cpu") || here.at == here.end)
        return false;
    if (*here.at == ' ') {
        *ret_cpu = CAMP_CPU_TOTAL;
    } else {
        if (!line_u64(&here, &id) || id > INT32_MAX || here.at == here.end || *here.at != ' ')
            return false;
        *ret_cpu = (int32_t)id;
    }
    *line = here;
    return true;
}

static uint64_t without(uint64_t whole, uint64_t part)
{
    return whole > part ? whole - part : 0; /* `part` is read later, and may be larger by then */
}

bool camp_cpu_columns(struct cursor line, uint64_t ticks_per_second, struct camp_cpu *ret)
{
    uint64_t ns_per_tick = NS_PER_S / ticks_per_second;
    uint64_t columns[COLUMNS] = { 0 };
    uint64_t later;
    uint32_t known = 0;
    size_t count = 0;

    for (; count < COLUMNS && line_u64(&line, &columns[count]); count++) {
        known |= 1u << count;
        /* Some kernels print a huge number when a counter falls below zero. The product then
         * overflows, and the value is unknown. */
        if (__builtin_mul_overflow(columns[count], ns_per_tick, &columns[count])) {
            known &= ~(1u << count);
            columns[count] = 0;
        }
    }
    /* Guest time is subtracted from user time below, so user time is unknown if guest time is. */
    if (count == COLUMNS && (known & CAMP_CPU_GUEST) == 0)
        known &= ~(uint32_t)CAMP_CPU_USER;
    if (count == COLUMNS && (known & CAMP_CPU_GUEST_NICE) == 0)
        known &= ~(uint32_t)CAMP_CPU_NICE;
    while (count == COLUMNS && line_u64(&line, &later))
        ; /* skips columns of later kernels */
    if (count < FEWEST_COLUMNS || !line_is_at_end(&line))
        return false;
    ret->known = known;
    ret->user_ns = without(columns[0], columns[8]);
    ret->nice_ns = without(columns[1], columns[9]);
    ret->system_ns = columns[2];
    ret->idle_ns = columns[3];
    ret->iowait_ns = columns[4];
    ret->irq_ns = columns[5];
    ret->softirq_ns = columns[6];
    ret->steal_ns = columns[7];
    ret->guest_ns = columns[8];
    ret->guest_nice_ns = columns[9];
    return true;
}

/* Bytes: enough for about a dozen CPUs. A larger read would copy more of the line of interrupts. */
#define FIRST_READ 1024

struct walk {
    struct camp_lines lines;
    int32_t previous;
    size_t count; /* number of CPU lines read, including the line of the total */
    uint64_t ticks_per_second;
    char buffer[LINES_BUFFER_SIZE];
};

static void walk_start(struct walk *walk, int descriptor, const char *path)
{
    long ticks = sysconf(_SC_CLK_TCK);

    camp_lines_start(&walk->lines, descriptor, path, walk->buffer, sizeof walk->buffer,
                     LINES_ONE_RECORD);
    walk->lines.prefix = "cpu";
    walk->lines.first_read = FIRST_READ;
    walk->previous = CAMP_CPU_TOTAL - 1;
    walk->count = 0;
    walk->ticks_per_second = ticks > 0 ? (uint64_t)ticks : 100;
}

static int walk_fail(const struct walk *walk, size_t line, struct camp_error *error)
{
    return camp_fail(error, CAMP_E_FORMAT, 0, "%s: line %zu is not of a CPU's times; report it",
                     walk->lines.path, line);
}

/* Reads the line of the next CPU. Returns 1, or 0 after the last CPU. *ret_line becomes the columns
 * after the id. If the total is not first, or the ids do not ascend, returns CAMP_E_FORMAT. */
static int walk_next(struct walk *walk, int32_t *ret_cpu, struct cursor *ret_line,
                     struct camp_error *error)
{
    int r = camp_lines_next(&walk->lines, ret_line, error);

    if (r < 0)
        return r;
    if (r == 0)
        return walk->count < 2 ? walk_fail(walk, walk->count + 1, error) : 0;
    if (!camp_cpu_id_of(ret_line, ret_cpu) || *ret_cpu <= walk->previous ||
        (walk->count == 0) != (*ret_cpu == CAMP_CPU_TOTAL))
        return walk_fail(walk, walk->count + 1, error);
    walk->previous = *ret_cpu;
    walk->count++;
    return 1;
}

static int walk_columns(const struct walk *walk, int32_t cpu, struct cursor line,
                        struct camp_cpu *ret, struct camp_error *error)
{
    *ret = (struct camp_cpu){ .cpu = cpu,
                              .time_ns = walk->lines.time_ns,
                              .resolution_ns = NS_PER_S / walk->ticks_per_second };
    return camp_cpu_columns(line, walk->ticks_per_second, ret)
               ? CAMP_OK
               : walk_fail(walk, walk->count, error);
}

int camp_cpu_scan(int descriptor, const char *path, struct camp_cpu *cpus, size_t size,
                  size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { cpus, size, capacity, 0 };
    struct camp_cpu cpu;
    struct walk walk;
    struct cursor line;
    int32_t id;
    int r;

    walk_start(&walk, descriptor, path);
    while ((r = walk_next(&walk, &id, &line, error)) > 0) {
        if (output.count < capacity)
            r = walk_columns(&walk, id, line, &cpu, error);
        if (r < 0)
            break;
        camp_output_add(&output, &cpu, sizeof cpu);
    }
    return r < 0 ? r : camp_output_end(&output, "lines of CPUs", ret_count, error);
}

static int scan_ids(int descriptor, const char *path, int32_t *ids, size_t capacity,
                    size_t *ret_count, struct camp_error *error)
{
    struct walk walk;
    struct cursor line;
    int32_t id;
    int r;

    walk_start(&walk, descriptor, path);
    while ((r = walk_next(&walk, &id, &line, error)) > 0)
        if (walk.count >= 2 && walk.count - 2 < capacity)
            ids[walk.count - 2] = id;
    if (r < 0)
        return r;
    *ret_count = walk.count - 1;
    return CAMP_OK;
}

static int scan_one(int descriptor, const char *path, int32_t cpu, struct camp_cpu *ret,
                    struct camp_error *error)
{
    struct walk walk;
    struct cursor line;
    int32_t id;
    int r;

    walk_start(&walk, descriptor, path);
    while ((r = walk_next(&walk, &id, &line, error)) > 0)
        if (id == cpu)
            return walk_columns(&walk, id, line, ret, error);
    if (r < 0)
        return r;
    return camp_fail(error, CAMP_E_GONE, 0, "there is no CPU %d online; see camp list cpus", cpu);
}

static int list(const struct camp_source *source, int32_t *ids, size_t capacity, size_t *ret_count,
                struct camp_error *error)
{
    char path[PATH_SIZE];
    int descriptor = camp_open_proc(source, "stat", path, error);
    int r;

    if (descriptor < 0)
        return descriptor;
    r = scan_ids(descriptor, path, ids, capacity, ret_count, error);
    close(descriptor);
    return r;
}

int camp_cpu_list(const struct camp_source *source, int32_t *ids, size_t capacity,
                  size_t *ret_count, struct camp_error *error)
{
    int r;

    if (camp_array_is_null(error, ids, capacity, ret_count))
        return CAMP_E_INVALID;
    r = list(source, ids, capacity, ret_count, error);
    if (r == CAMP_OK && *ret_count > capacity)
        return camp_fail(error, CAMP_E_SPACE, 0, "there are %zu CPUs: pass more space", *ret_count);
    return r;
}

int camp_cpu_count(const struct camp_source *source, size_t *ret_count, struct camp_error *error)
{
    if (camp_is_null(error, ret_count))
        return CAMP_E_INVALID;
    return list(source, NULL, 0, ret_count, error);
}

int camp_cpu_read(const struct camp_source *source, int32_t cpu, struct camp_cpu *ret, size_t size,
                  struct camp_error *error)
{
    char path[PATH_SIZE];
    struct camp_cpu here;
    int descriptor;
    int r;

    if (camp_is_null(error, ret) || camp_is_outside(error, cpu, CAMP_CPU_TOTAL, INT32_MAX))
        return CAMP_E_INVALID;
    descriptor = camp_open_proc(source, "stat", path, error);
    if (descriptor < 0)
        return descriptor;
    r = scan_one(descriptor, path, cpu, &here, error);
    close(descriptor);
    if (r == CAMP_OK)
        camp_hand_out(ret, size, &here, sizeof here);
    return r;
}

int camp_cpu_read_all(const struct camp_source *source, struct camp_cpu *cpus, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    char path[PATH_SIZE];
    int descriptor;
    int r;

    if (camp_array_is_null(error, cpus, capacity, ret_count))
        return CAMP_E_INVALID;
    descriptor = camp_open_proc(source, "stat", path, error);
    if (descriptor < 0)
        return descriptor;
    r = camp_cpu_scan(descriptor, path, cpus, size, capacity, ret_count, error);
    close(descriptor);
    return r;
}

/* The number of tasks started since boot is in the line "processes" (total_forks in the kernel,
 * which includes threads). It comes after the line of interrupts, which may be very long. */
#define CHUNK_SIZE 16384
#define LINE_SIZE 64 /* length of "\nprocesses ", a 64-bit number and "\n", rounded up */

static const char label[] = "\nprocesses ";

bool camp_parse_fork_count(const char *bytes, size_t length, uint64_t *ret_count)
{
    const char *found = memmem(bytes, length, label, sizeof label - 1);
    struct cursor rest;
    uint64_t count;

    if (found == NULL)
        return false;
    rest = cursor_of(bytes, length);
    rest.at = found + sizeof label - 1;
    if (!text_u64(&rest, &count) || rest.at == rest.end || *rest.at != '\n')
        return false;
    *ret_count = count;
    return true;
}

/* The end of each chunk is kept, because the line may continue in the next chunk. */
static int search(int descriptor, const char *path, uint64_t *ret_count, struct camp_error *error)
{
    char bytes[LINE_SIZE + CHUNK_SIZE];
    size_t kept = 0;

    for (;;) {
        ssize_t got = read(descriptor, bytes + kept, CHUNK_SIZE);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return camp_fail_errno(error, errno, path);
        if (camp_parse_fork_count(bytes, kept + (size_t)got, ret_count))
            return CAMP_OK;
        if (got == 0)
            return camp_fail(error, CAMP_E_FORMAT, 0, "%s has no line `processes`", path);
        kept += (size_t)got;
        if (kept > LINE_SIZE) {
            memmove(bytes, bytes + kept - LINE_SIZE, LINE_SIZE);
            kept = LINE_SIZE;
        }
    }
}

int camp_fork_count(const struct camp_source *source, uint64_t *ret_count, struct camp_error *error)
{
    char path[PATH_SIZE];
    int descriptor;
    int r;

    if (camp_is_null(error, ret_count))
        return CAMP_E_INVALID;
    descriptor = camp_open_proc(source, "stat", path, error);
    if (descriptor < 0)
        return descriptor;
    r = search(descriptor, path, ret_count, error);
    close(descriptor);
    return r;
}
