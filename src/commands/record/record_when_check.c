#include "record_when.h"

#include "counters/units.h"
#include "program/command.h"
#include "sources/from_list.h"
#include "sources/machine/cgroup_paths.h"
#include "sources/machine/file_text.h"

#include <camp/system.h>

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_PAUSE_NS (60 * NS_PER_S)
#define DEFAULT_BYTES UINT64_C(16000000)
#define DEFAULT_TRACES 10

static bool is_of_this_machine(const char *from)
{
    const struct from_source *source = from != NULL ? from_source_find(from) : NULL;

    return from == NULL ||
           (source != NULL && (source->opener <= OPENS_CHECK || from_source_is_server(source)));
}

#define MACHINE_TIME_NAMESPACE 0xEFFFFFFA /* PROC_TIME_INIT_INO of the kernel */

/* In another time namespace CLOCK_BOOTTIME differs from that of the events. */
static bool has_clocks_of_machine(void)
{
    struct stat own;

    return stat("/proc/self/ns/time", &own) != 0 || own.st_ino == MACHINE_TIME_NAMESPACE;
}

/* Reads a number from a file of the cgroup path[length], below the folder where cgroups are
 * mounted. Returns false if there is none: "max" means no limit. */
static bool read_number(const char *mount, const char *path, size_t length, const char *name,
                        uint64_t *ret)
{
    char file[PATH_MAX], text[64], *end;
    ssize_t size;

    if (snprintf(file, sizeof file, "%s%.*s/%s", mount, (int)length, path, name) >=
        (int)sizeof file)
        return false;
    size = file_text(file, text, sizeof text - 1);
    if (size <= 0)
        return false;
    text[size] = '\0';
    *ret = strtoull(text, &end, 10);
    return end != text;
}

/* Returns what the cgroup path[length] (version 2) and those around it still permit, or UINT64_MAX.
 * The kernel accounts the ring to the cgroup of the process that creates it. */
static uint64_t left_in(const char *mount, const char *path, size_t length)
{
    uint64_t ret = UINT64_MAX;

    for (; length > 1; length -= length > 0) {
        uint64_t most, current;

        if (read_number(mount, path, length, "memory.max", &most) &&
            read_number(mount, path, length, "memory.current", &current)) {
            const uint64_t left = most > current ? most - current : 0;

            ret = left < ret ? left : ret;
        }
        while (length > 0 && path[length - 1] != '/')
            length--;
    }
    return ret;
}

static uint64_t left_in_own_cgroup(void)
{
    struct cgroup_paths cgroups;
    struct camp_process self;
    char path[PATH_MAX];
    size_t length = 0;
    uint64_t ret = UINT64_MAX;

    if (!cgroup_paths_open(&cgroups))
        return ret;
    if (camp_process_identify(NULL, getpid(), &self, sizeof self, NULL) == CAMP_OK &&
        camp_process_text(NULL, &self, CAMP_TEXT_CGROUP, path, sizeof path, &length, NULL) ==
            CAMP_OK &&
        length <= sizeof path)
        ret = left_in(cgroups.mount, path, length);
    cgroup_paths_release(&cgroups);
    return ret;
}

/* A trace has a copy of the ring in memory, and the ring itself is memory of the kernel. */
static int check_memory(uint64_t bytes)
{
    uint64_t available = left_in_own_cgroup();
    struct camp_memory memory;

    if (camp_memory_read(NULL, CAMP_MEMORY_AVAILABLE, &memory, sizeof memory, NULL) == CAMP_OK &&
        (memory.known & CAMP_MEMORY_AVAILABLE) != 0 && memory.available_bytes < available)
        available = memory.available_bytes;
    if (bytes <= available / 4)
        return OPTIONS_GO_ON;
    return complain(STATUS_FAILURE,
                    "--ring %" PRIu64 "MB is more than a quarter of the available memory, which is "
                    "%" PRIu64 "MB: give a smaller size",
                    bytes / 1000000, available / 1000000);
}

static int check_text(const char *text)
{
    struct condition condition;
    struct condition_fault fault;

    return condition_parse(&condition, NULL, NULL, text, &fault)
               ? OPTIONS_GO_ON
               : record_when_complain(text, &fault);
}

int record_when_check(struct record_when *when, const char *from)
{
    if (when->text == NULL && when->pause_ns + when->ring_bytes + when->trace_most > 0)
        return complain(STATUS_USAGE, "--%s goes with --when",
                        when->pause_ns > 0     ? "when-pause"
                        : when->ring_bytes > 0 ? "ring"
                                               : "when-count");
    if (when->text == NULL)
        return OPTIONS_GO_ON;
    if (!is_of_this_machine(from))
        return complain(STATUS_USAGE,
                        "--when keeps switches of this machine, which --from %s does "
                        "not measure",
                        from);
    if (check_text(when->text) != OPTIONS_GO_ON)
        return STATUS_USAGE;
    if (!has_clocks_of_machine())
        return complain(STATUS_FAILURE,
                        "--when needs the clocks of the machine, and this time namespace has other "
                        "ones: run camp outside of it");
    when->pause_ns = when->pause_ns > 0 ? when->pause_ns : DEFAULT_PAUSE_NS;
    when->ring_bytes = when->ring_bytes > 0 ? when->ring_bytes : DEFAULT_BYTES;
    when->trace_most = when->trace_most > 0 ? when->trace_most : DEFAULT_TRACES;
    return check_memory(when->ring_bytes);
}
