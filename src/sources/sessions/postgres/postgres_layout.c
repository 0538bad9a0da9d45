/*
 * Finds variables of a server. The executable has their addresses. /proc/PID/exe is the running
 * executable, even if it was replaced or deleted, or is in a container.
 *
 * The executable and /proc/PID/auxv both contain the address of the entry point. The difference of
 * the two addresses is the offset at which the kernel loaded the executable.
 */
#include "postgres_layout.h"

#include "counters/error.h"
#include "postgres_memory.h"
#include "sources/sessions/postgres/server/elf_symbols.h"

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

#define TEXT_MOST 64 /* longest name in PostgreSQL, with its NUL */
#define CODE_MAX 31  /* a larger number is no st_state, which has some 7 values */

static uint32_t number_at(const unsigned char *entry, uint32_t offset)
{
    uint32_t number;

    memcpy(&number, entry + offset, sizeof number);
    return number;
}

/* True if the numbers at this offset are small and in the order of the activities. *ret_first is
 * the number of the first activity. */
static bool distinguishes(const struct postgres_known *known, const unsigned char *entries,
                          size_t count, uint32_t offset, uint32_t *ret_first)
{
    *ret_first = number_at(entries, offset) - (uint32_t)known[0].activity;
    for (size_t i = 0; i < count; i++) {
        const uint32_t number = number_at(entries + i * POSTGRES_ENTRY_SIZE, offset);

        if (number > CODE_MAX || number - (uint32_t)known[i].activity != *ret_first)
            return false;
    }
    return *ret_first <= CODE_MAX;
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
        if ((unsigned)known[i].activity >= POSTGRES_PROBED)
            return false;
        seen |= 1u << known[i].activity;
    }
    return seen == (1u << POSTGRES_PROBED) - 1;
}

int postgres_layout_resolve(struct postgres_layout *layout, const struct postgres_known *known,
                            const unsigned char *entries, size_t count, struct camp_error *error)
{
    struct postgres_layout resolved = *layout;
    unsigned activities = 0, pids = 0;
    uint32_t first;

    if (!all_are_known(known, count))
        return camp_fail(error, CAMP_E_INVALID, 0, "pass a connection of each activity");
    for (uint32_t offset = 0; offset + sizeof first <= POSTGRES_ENTRY_SIZE; offset += 4) {
        if (distinguishes(known, entries, count, offset, &first)) {
            for (uint32_t a = 0; a < POSTGRES_ACTIVITIES; a++)
                resolved.code[a] = first + a;
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

static bool is_probed(const struct postgres_layout *layout, uint32_t code)
{
    return postgres_layout_activity(layout, code) < POSTGRES_PROBED;
}

void postgres_layout_confirm(struct postgres_layout *layout, enum postgres_activity activity,
                             uint32_t code)
{
    /* A code of a probed activity means that the activity has changed since SQL reported it. */
    if (!layout->activities_known || activity < POSTGRES_PROBED ||
        activity >= POSTGRES_ACTIVITIES || code > CODE_MAX || is_probed(layout, code))
        return;
    layout->code[activity] = code;
}

/* Returns the only offset below `end` at which an entry has the numbers, or 0. */
static uint32_t find_numbers(const struct postgres_numbers *numbers, const unsigned char *entry,
                             uint32_t end)
{
    uint32_t ret = 0;

    for (uint32_t offset = 4; offset + sizeof *numbers <= end; offset += 4) {
        if (memcmp(entry + offset, numbers, sizeof *numbers) != 0)
            continue;
        if (ret != 0)
            return 0;
        ret = offset;
    }
    return ret;
}

static bool is_text_at(int32_t pid, uint64_t address, const char *text)
{
    char found[TEXT_MOST];
    const size_t size = strlen(text) + 1;

    return size <= sizeof found &&
           process_memory_read(pid, address, found, size, NULL) == CAMP_OK &&
           memcmp(found, text, size) == 0;
}

/* Returns the only offset at which an entry has a pointer to the text, or 0. */
static uint32_t find_pointer(int32_t pid, const char *text, const unsigned char *entry)
{
    uint32_t ret = 0;

    for (uint32_t offset = sizeof(uintptr_t); offset + sizeof(uintptr_t) <= POSTGRES_ENTRY_SIZE;
         offset += sizeof(uintptr_t)) {
        uintptr_t address;

        memcpy(&address, entry + offset, sizeof address);
        if (address == 0 || !is_text_at(pid, address, text))
            continue;
        if (ret != 0)
            return 0;
        ret = offset;
    }
    return ret;
}

void postgres_layout_resolve_names(struct postgres_layout *layout,
                                   const struct postgres_numbers *numbers, const char *application,
                                   const unsigned char entry[POSTGRES_ENTRY_SIZE])
{
    /* Behind an entry follows the next one, which may have the same numbers of an earlier session.
     * In all versions the numbers are before st_state. */
    layout->numbers_offset = find_numbers(
        numbers, entry, layout->activities_known ? layout->activity_offset : POSTGRES_ENTRY_SIZE);
    layout->application_offset = find_pointer(layout->pid, application, entry);
    if (layout->numbers_offset == 0 || layout->application_offset == 0)
        layout->numbers_offset = layout->application_offset = 0;
}
