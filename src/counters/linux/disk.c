/*
 * Disks and partitions, from /proc/diskstats and, for one disk, from /sys/block/.../stat (kernel
 * Documentation/admin-guide/iostats.rst; diskstats_show() and part_stat_show() of block/genhd.c).
 *
 * A request is counted when it completes. A sector has 512 bytes. Times are printed in ms.
 *
 * Partitions are recognised by their names, without a system call for each. The name of a
 * partition is the name of its disk, a "p" if that name ends in a digit, and a number
 * (block/partitions/core.c). The name alone is not enough, because a virtual machine may have a
 * whole disk called xvda1. But /proc/diskstats lists each disk directly before its partitions, and
 * in /sys the directory of a partition is in the directory of its disk.
 *
 * The kernel's name of a disk may have a slash ("cciss/c0d0"). The slash is "!" in /sys
 * and in results.
 */
#include "../clock.h"
#include "../error.h"
#include "file.h"
#include "parse.h"

#include <errno.h>
#include <unistd.h>

#define FEWEST_COLUMNS 11 /* columns of Linux 2.6.25; later kernels append columns */

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* The columns of a disk that was never used. Each line is first compared with this text, because a
 * virtual machine may have a dozen such disks. */
#define IDLE " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"

bool camp_disk_columns(struct cursor line, struct camp_disk *ret)
{
    uint64_t columns[FEWEST_COLUMNS];
    uint64_t later;

    ret->known = CAMP_DISK_ALL;
    if (cursor_left(&line) == sizeof IDLE - 1 && memcmp(line.at, IDLE, sizeof IDLE - 1) == 0)
        return true; /* the caller has set the numbers to zero */
    for (size_t i = 0; i < FEWEST_COLUMNS; i++)
        if (!line_u64(&line, &columns[i]) || columns[i] > UINT64_MAX / NS_PER_MS)
            return false;
    while (line_u64(&line, &later))
        ;
    if (!line_is_at_end(&line))
        return false;
    ret->reads = columns[0];
    ret->read_bytes = columns[2] * BYTES_PER_SECTOR;
    ret->read_ns = columns[3] * NS_PER_MS;
    ret->writes = columns[4];
    ret->written_bytes = columns[6] * BYTES_PER_SECTOR;
    ret->write_ns = columns[7] * NS_PER_MS;
    ret->in_flight = columns[8];
    ret->busy_ns = columns[9] * NS_PER_MS;
    ret->queue_ns = columns[10] * NS_PER_MS;
    return true;
}

/* Copies the name of the disk from a line, with '/' replaced by '!'. Returns false if the name is
 * empty, too long, or contains a NUL. */
static bool name_of(struct cursor *line, char name[CAMP_NAME_SIZE])
{
    size_t length = 0;

    while (*line->at == ' ')
        line->at++;
    for (; line->at < line->end && *line->at != ' '; line->at++) {
        if (*line->at == '\0' || length + 1 == CAMP_NAME_SIZE)
            return false;
        name[length++] = *line->at == '/' ? '!' : *line->at;
    }
    name[length] = '\0';
    return length != 0;
}

bool camp_disk_line(struct cursor line, struct camp_disk *ret)
{
    uint64_t number;

    return line_u64(&line, &number) && line_u64(&line, &number) && name_of(&line, ret->name) &&
           camp_disk_columns(line, ret);
}

/* Replaces each '/' in a name by '!'. Without a slash, a name from the caller cannot lead to
 * another directory. Returns false if no file can have the name. */
static bool name_in_sys(const char *name, char in_sys[CAMP_NAME_SIZE])
{
    size_t length = strlen(name);

    if (length == 0 || length >= CAMP_NAME_SIZE || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return false;
    for (size_t i = 0; i <= length; i++)
        in_sys[i] = name[i] == '/' ? '!' : name[i];
    return true;
}

/* Returns the length of the disk's name at the start of a partition's name: 3 for "sda1". Returns 0
 * if `name` cannot be that of a partition. */
static size_t disk_length_of(const char *name)
{
    size_t length = strlen(name);
    size_t end = length;

    while (end > 0 && is_digit(name[end - 1]))
        end--;
    if (end == 0 || end == length || name[end] == '0')
        return 0;
    if (end >= 2 && name[end - 1] == 'p' && is_digit(name[end - 2]))
        return end - 1;
    return end;
}

bool camp_disk_is_partition_name(const char *disk, const char *name)
{
    size_t length = disk_length_of(name);

    return length != 0 && strlen(disk) == length && memcmp(disk, name, length) == 0;
}

struct walk {
    struct camp_lines lines;
    size_t number;
    char disk[CAMP_NAME_SIZE];
    char buffer[LINES_BUFFER_SIZE];
};

static void walk_start(struct walk *walk, int descriptor, const char *path)
{
    /* A short read(2) may not be the last one, because the kernel writes a disk and all its
     * partitions as one record of any length. */
    camp_lines_start(&walk->lines, descriptor, path, walk->buffer, sizeof walk->buffer,
                     LINES_UNTIL_EMPTY);
    walk->number = 0;
    walk->disk[0] = '\0';
}

static int walk_next(struct walk *walk, struct camp_disk *ret, struct camp_error *error)
{
    struct cursor line;
    int r = camp_lines_next(&walk->lines, &line, error);

    if (r <= 0)
        return r;
    walk->number++;
    memset(ret, 0, sizeof *ret);
    if (!camp_disk_line(line, ret))
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s: line %zu is not of a disk; report it",
                         walk->lines.path, walk->number);
    ret->time_ns = walk->lines.time_ns;
    ret->kind = CAMP_DISK_PARTITION;
    if (!camp_disk_is_partition_name(walk->disk, ret->name)) {
        ret->kind = CAMP_DISK_WHOLE;
        memcpy(walk->disk, ret->name, sizeof walk->disk);
    }
    return 1;
}

/* True if the disk has a device of its own. Virtual disks, such as loop devices, have none. */
static bool has_device(const char *sys, const char *name)
{
    char path[PATH_SIZE];

    return camp_path(path, sys, NULL, "block/%s/device", name) == CAMP_OK &&
           access(path, F_OK) == 0;
}

static bool is_wanted(const struct camp_disk *disk, const char *sys, int kind)
{
    if (kind == CAMP_DISK_PHYSICAL)
        return disk->kind == CAMP_DISK_WHOLE && has_device(sys, disk->name);
    return kind == CAMP_DISK_ANY || kind == disk->kind;
}

int camp_disk_scan(int descriptor, const char *path, const char *sys, int kind,
                   struct camp_disk *disks, size_t size, size_t capacity, size_t *ret_count,
                   struct camp_error *error)
{
    struct camp_output output = { disks, size, capacity, 0 };
    struct camp_disk disk;
    struct walk walk;
    int r;

    walk_start(&walk, descriptor, path);
    while ((r = walk_next(&walk, &disk, error)) > 0)
        if (is_wanted(&disk, sys, kind))
            camp_output_add(&output, &disk, sizeof disk);
    return r < 0 ? r : camp_output_end(&output, "disks", ret_count, error);
}

/* Searches /proc/diskstats, for systems without /sys. `asked` is the name as the caller wrote it,
 * for the error message. */
static int read_of_diskstats(const struct camp_source *source, const char *name, const char *asked,
                             struct camp_disk *ret, struct camp_error *error)
{
    char path[PATH_SIZE];
    struct walk walk;
    int descriptor = camp_open_proc(source, "diskstats", path, error);
    int r;

    if (descriptor < 0)
        return descriptor;
    walk_start(&walk, descriptor, path);
    while ((r = walk_next(&walk, ret, error)) > 0)
        if (strcmp(ret->name, name) == 0)
            break;
    close(descriptor);
    if (r == 0)
        return camp_fail(error, CAMP_E_GONE, 0, "there is no disk %s; list them again", asked);
    return r < 0 ? r : CAMP_OK;
}

static int read_of_sys(const char *path, const char *name, int kind, struct camp_disk *ret,
                       struct camp_error *error)
{
    char text[512];
    struct cursor line;
    size_t length;
    int r = camp_read_file_once(path, text, sizeof text, &length, error);

    if (r < 0)
        return r;
    line = cursor_of(text, length);
    memset(ret, 0, sizeof *ret);
    if (length == 0 || text[length - 1] != '\n')
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s ends within a line; read it again", path);
    line.end--;
    if (!camp_disk_columns(line, ret))
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s is not of a disk; report it", path);
    camp_text_copy(ret->name, sizeof ret->name, cursor_of(name, strlen(name)));
    ret->time_ns = now_ns(CLOCK_MONOTONIC);
    ret->kind = kind;
    return CAMP_OK;
}

static int read_whole(const struct camp_source *source, const char *name, struct camp_disk *ret,
                      struct camp_error *error)
{
    char path[PATH_SIZE];
    int r = camp_path(path, camp_sys(source), error, "block/%s/stat", name);

    return r < 0 ? r : read_of_sys(path, name, CAMP_DISK_WHOLE, ret, error);
}

static int read_partition(const struct camp_source *source, const char *name, struct camp_disk *ret,
                          struct camp_error *error)
{
    char path[PATH_SIZE];
    size_t length = disk_length_of(name);
    int r;

    if (length == 0)
        return CAMP_E_GONE;
    r = camp_path(path, camp_sys(source), error, "block/%.*s/%s/stat", (int)length, name, name);
    return r < 0 ? r : read_of_sys(path, name, CAMP_DISK_PARTITION, ret, error);
}

/* Guesses from a name whether it is a partition: sda1, vdb2, xvda3 and nvme0n1p1 usually are, and
 * dm-1, loop2 and md3 are disks. The likelier path is tried first, because a failed open(2) would
 * add a tenth to the cost of camp_disk_read(). */
static bool looks_like_partition(const char *name)
{
    size_t length = disk_length_of(name);

    if (length == 0)
        return false;
    return name[length] == 'p' || strspn(name, "hsvx") != 0;
}

static int read_wherever_it_is(const struct camp_source *source, const char *in_sys,
                               const char *name, struct camp_disk *ret, struct camp_error *error)
{
    const bool partition_first = looks_like_partition(in_sys);
    int r = partition_first ? read_partition(source, in_sys, ret, error)
                            : read_whole(source, in_sys, ret, error);

    if (r == CAMP_E_GONE)
        r = partition_first ? read_whole(source, in_sys, ret, error)
                            : read_partition(source, in_sys, ret, error);
    return r == CAMP_E_GONE ? read_of_diskstats(source, in_sys, name, ret, error) : r;
}

int camp_disk_read(const struct camp_source *source, const char *name, struct camp_disk *ret,
                   size_t size, struct camp_error *error)
{
    char in_sys[CAMP_NAME_SIZE];
    struct camp_error failure; /* copied to *error only if every path has failed */
    struct camp_disk disk;
    int r;

    if (camp_is_null(error, name, ret))
        return CAMP_E_INVALID;
    if (!name_in_sys(name, in_sys))
        return camp_fail(error, CAMP_E_INVALID, 0, "'%s': no disk can have this name", name);
    r = read_wherever_it_is(source, in_sys, name, &disk, error != NULL ? &failure : NULL);
    if (r == CAMP_OK)
        camp_hand_out(ret, size, &disk, sizeof disk);
    else if (error != NULL)
        *error = failure;
    return r;
}

int camp_disk_read_all(const struct camp_source *source, int kind, struct camp_disk *disks,
                       size_t size, size_t capacity, size_t *ret_count, struct camp_error *error)
{
    char path[PATH_SIZE];
    int descriptor;
    int r;

    if (camp_array_is_null(error, disks, capacity, ret_count) ||
        camp_is_outside(error, kind, CAMP_DISK_ANY, CAMP_DISK_PHYSICAL))
        return CAMP_E_INVALID;
    if (kind == CAMP_DISK_PHYSICAL && camp_path(path, camp_sys(source), NULL, "block") == CAMP_OK &&
        access(path, F_OK) != 0)
        return camp_fail_errno(error, errno, path);
    descriptor = camp_open_proc(source, "diskstats", path, error);
    if (descriptor < 0)
        return descriptor;
    r = camp_disk_scan(descriptor, path, camp_sys(source), kind, disks, size, capacity, ret_count,
                       error);
    close(descriptor);
    return r;
}
