/*
 * Finds variables of a server. The executable has their addresses. /proc/PID/exe is the running
 * executable, even if it was replaced or deleted, or is in a container.
 *
 * The executable and /proc/PID/auxv both contain the address of the entry point. The difference of
 * the two addresses is the offset at which the kernel loaded the executable.
 */
#include "postgres_layout.h"

#include "counters/error.h"
#include "elf_symbols.h"
#include "postgres_memory.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int open_proc_file(int32_t pid, const char *name, struct camp_error *error)
{
    char path[64];
    int descriptor;

    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    return descriptor >= 0 ? descriptor : process_memory_fail(pid, errno, error);
}

static int read_entry(int32_t pid, uint64_t *ret, struct camp_error *error)
{
    ElfW(auxv_t) vector[64];
    int descriptor = open_proc_file(pid, "auxv", error);
    ssize_t length;

    if (descriptor < 0)
        return descriptor;
    length = read(descriptor, vector, sizeof vector);
    close(descriptor);
    for (ssize_t i = 0; i < length / (ssize_t)sizeof vector[0]; i++) {
        if (vector[i].a_type == AT_ENTRY) {
            *ret = vector[i].a_un.a_val;
            return CAMP_OK;
        }
    }
    return camp_fail(error, CAMP_E_FORMAT, 0, "/proc/%d/auxv does not have its entry point", pid);
}

static int read_executable(int32_t pid, struct elf_image *image, uint64_t *values,
                           struct camp_error *error)
{
    static const char *const names[] = { "my_wait_event_info", "MyBEEntry" };
    int descriptor = open_proc_file(pid, "exe", error);
    int r;

    if (descriptor < 0)
        return descriptor;
    r = elf_symbols(descriptor, names, 2, values, image, error);
    close(descriptor);
    if (r == CAMP_E_FORMAT || (r == CAMP_OK && (values[0] == 0 || values[1] == 0)))
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "the executable of process %d has no my_wait_event_info: it is no "
                         "PostgreSQL server of version 14 or later",
                         pid);
    return r;
}

int postgres_layout_find(struct postgres_layout *ret, int32_t postmaster, struct camp_error *error)
{
    struct elf_image image = { 0 };
    uint64_t entry = 0, moved, values[2];
    int r = read_executable(postmaster, &image, values, error);

    if (r == CAMP_OK)
        r = read_entry(postmaster, &entry, error);
    if (r != CAMP_OK)
        return r;
    moved = entry - image.entry;
    *ret = (struct postgres_layout){
        .pid = postmaster,
        .low = image.low + moved,
        .high = image.high + moved,
        .event_pointer = values[0] + moved,
        .entry_pointer = values[1] + moved,
    };
    return CAMP_OK;
}

#define CODE_MAX 31 /* a larger number is no st_state, which has some 7 values */

static uint32_t number_at(const unsigned char *entry, uint32_t offset)
{
    uint32_t number;

    memcpy(&number, entry + offset, sizeof number);
    return number;
}

/* True if the numbers at this offset are small, equal for entries of the same activity, and
 * different for different activities. */
static bool distinguishes(const struct postgres_known *known, const unsigned char *entries,
                          size_t count, uint32_t offset, uint32_t *code)
{
    bool seen[POSTGRES_ACTIVITIES] = { false };

    for (size_t i = 0; i < count; i++) {
        uint32_t number = number_at(entries + i * POSTGRES_ENTRY_SIZE, offset);
        enum postgres_activity activity = known[i].activity;

        if (number > CODE_MAX || (seen[activity] && code[activity] != number))
            return false;
        code[activity] = number;
        seen[activity] = true;
    }
    for (int a = 0; a < POSTGRES_ACTIVITIES; a++) {
        for (int b = 0; b < a; b++) {
            if (code[a] == code[b])
                return false;
        }
    }
    return true;
}

static bool holds_pids(const struct postgres_known *known, const unsigned char *entries,
                       size_t count, uint32_t offset)
{
    for (size_t i = 0; i < count; i++) {
        if (number_at(entries + i * POSTGRES_ENTRY_SIZE, offset) != (uint32_t)known[i].pid)
            return false;
    }
    return true;
}

static bool all_are_known(const struct postgres_known *known, size_t count)
{
    unsigned seen = 0;

    for (size_t i = 0; i < count; i++) {
        if ((unsigned)known[i].activity >= POSTGRES_ACTIVITIES)
            return false;
        seen |= 1u << known[i].activity;
    }
    return seen == (1u << POSTGRES_ACTIVITIES) - 1;
}

int postgres_layout_resolve(struct postgres_layout *layout, const struct postgres_known *known,
                            const unsigned char *entries, size_t count, struct camp_error *error)
{
    uint32_t code[POSTGRES_ACTIVITIES];
    struct postgres_layout resolved = *layout;
    unsigned activities = 0, pids = 0;

    if (!all_are_known(known, count))
        return camp_fail(error, CAMP_E_INVALID, 0, "pass a connection of each activity");
    for (uint32_t offset = 0; offset + sizeof *code <= POSTGRES_ENTRY_SIZE; offset += 4) {
        if (distinguishes(known, entries, count, offset, code)) {
            memcpy(resolved.code, code, sizeof code);
            resolved.activity_offset = offset;
            activities++;
        }
        if (pids == 0 && holds_pids(known, entries, count, offset)) {
            resolved.pid_offset = offset;
            pids++;
        }
    }
    if (activities != 1 || pids == 0)
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         "this server's table of sessions is laid out in an unknown way (%u places "
                         "for the state): its activities are asked for by SQL",
                         activities);
    resolved.activities_known = 1;
    *layout = resolved;
    return CAMP_OK;
}

int postgres_layout_read_entry(const struct postgres_layout *layout, int32_t pid,
                               unsigned char ret[POSTGRES_ENTRY_SIZE], struct camp_error *error)
{
    uint64_t at = 0;
    int r = process_memory_read_pointer(pid, layout->entry_pointer, &at, error);

    return r == CAMP_OK ? process_memory_read(pid, at, ret, POSTGRES_ENTRY_SIZE, error) : r;
}

int postgres_layout_find_statement(struct postgres_layout *layout,
                                   const unsigned char entry[POSTGRES_ENTRY_SIZE], int64_t id,
                                   struct camp_error *error)
{
    uint32_t places = 0, place = 0;

    for (uint32_t offset = 0; offset + sizeof id <= POSTGRES_ENTRY_SIZE; offset += sizeof id) {
        if (id == 0 || memcmp(entry + offset, &id, sizeof id) != 0)
            continue;
        place = offset;
        places++;
    }
    if (places != 1)
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         "this server's table of sessions has %u places for the id of a statement: "
                         "statements are asked for by SQL",
                         places);
    layout->statement_offset = place;
    return CAMP_OK;
}

enum postgres_activity postgres_layout_activity(const struct postgres_layout *layout, uint32_t code)
{
    for (int a = 0; a < POSTGRES_ACTIVITIES; a++) {
        if (layout->activities_known && layout->code[a] == code)
            return (enum postgres_activity)a;
    }
    return POSTGRES_ACTIVITIES;
}
