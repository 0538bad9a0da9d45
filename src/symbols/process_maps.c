#include "process_maps.h"

#include "ledger/array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MOST (64u << 20)

/* Reads a hexadecimal or decimal number that ends with `end`, and moves *at behind that. */
static bool read_number(char **at, int base, char end, uint64_t most, uint64_t *ret)
{
    char *behind;

    if (**at == '-' || **at == '+' || **at == ' ' || **at == '\t')
        return false;
    errno = 0;
    *ret = strtoull(*at, &behind, base);
    if (errno != 0 || behind == *at || *ret > most || (*behind != end && end != ' ') ||
        (end == ' ' && *behind != ' ' && *behind != '\0'))
        return false;
    *at = *behind == '\0' ? behind : behind + 1;
    return true;
}

/* Parses a line such as "7f00-7f10 r-xp 00001000 fe:01 4711    /usr/bin/postgres". */
static bool parse_line(char *line, struct mapping *ret)
{
    uint64_t major, minor;
    bool is_executable;

    if (!read_number(&line, 16, '-', UINT64_MAX, &ret->start) ||
        !read_number(&line, 16, ' ', UINT64_MAX, &ret->end) || ret->start >= ret->end ||
        strlen(line) < 5 || line[4] != ' ')
        return false;
    is_executable = line[2] == 'x';
    line += 5;
    if (!read_number(&line, 16, ' ', UINT64_MAX, &ret->offset) ||
        !read_number(&line, 16, ':', UINT32_MAX, &major) ||
        !read_number(&line, 16, ' ', UINT32_MAX, &minor) ||
        !read_number(&line, 10, ' ', UINT64_MAX, &ret->inode))
        return false;
    ret->device_major = (uint32_t)major;
    ret->device_minor = (uint32_t)minor;
    ret->path = line + strspn(line, " ");
    return is_executable;
}

bool process_maps_parse(struct process_maps *ret, char *text, size_t length)
{
    char *line = text, *end = text + length;

    ret->count = 0;
    *end = '\0';
    while (line < end) {
        char *next = memchr(line, '\n', (size_t)(end - line));
        struct mapping mapping;

        if (next == NULL)
            next = end;
        *next = '\0';
        if (parse_line(line, &mapping) &&
            (ret->count == 0 || mapping.start >= ret->items[ret->count - 1].end)) {
            if (!ARRAY_RESERVE(ret->items, ret->capacity, ret->count + 1))
                return false;
            ret->items[ret->count++] = mapping;
        }
        line = next + 1;
    }
    return true;
}

/* Sets *ret to the whole file, with space for one more byte. */
static bool read_text(const char *path, struct process_maps *ret, size_t *ret_length)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t got = -1;

    if (file < 0)
        return false;
    while (ARRAY_RESERVE(ret->text, ret->text_capacity, length + 4096)) {
        got = read(file, ret->text + length, ret->text_capacity - length - 1);
        if (got <= 0 || (length += (size_t)got) > TEXT_MOST)
            break;
    }
    close(file);
    *ret_length = length;
    return got == 0 && length > 0;
}

bool process_maps_read(struct process_maps *ret, const char *path)
{
    struct process_maps maps = { 0 };
    size_t length;

    if (!read_text(path, &maps, &length) || !process_maps_parse(&maps, maps.text, length)) {
        process_maps_release(&maps);
        return false;
    }
    process_maps_release(ret);
    *ret = maps;
    return true;
}

const struct mapping *process_maps_find(const struct process_maps *maps, uint64_t address)
{
    size_t low = 0, high = maps->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (maps->items[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < maps->count && maps->items[low].start <= address ? &maps->items[low] : NULL;
}

void process_maps_release(struct process_maps *maps)
{
    free(maps->items);
    free(maps->text);
    *maps = (struct process_maps){ 0 };
}
