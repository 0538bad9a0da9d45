#include "file_locks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE 256 /* the kernel writes less than half of it */
#define BLANKS " \t"

/* Reads a number in decimal digits, and moves *at behind it. Returns false if there is none, or if
 * it is too large. */
static bool read_number(const char **at, uint64_t *ret)
{
    unsigned long long number;
    char *end;

    *at += strspn(*at, BLANKS);
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    number = strtoull(*at, &end, 10);
    *at = end;
    *ret = number;
    return errno == 0;
}

/* Moves *at behind the next word. Returns false if there is none. */
static bool skip_word(const char **at)
{
    size_t length;

    *at += strspn(*at, BLANKS);
    length = strcspn(*at, BLANKS "\n");
    *at += length;
    return length > 0;
}

/* Reads "fe:00:11026747", the device and the file. Another text is unknown: 0. */
static uint64_t read_inode(const char *at)
{
    uint64_t inode;

    at += strspn(at, BLANKS);
    for (int i = 0; i < 2; i++) {
        const size_t digits = strspn(at, "0123456789abcdefABCDEF");

        if (digits == 0 || at[digits] != ':')
            return 0;
        at += digits + 1;
    }
    return *at != ' ' && *at != '\t' && read_number(&at, &inode) ? inode : 0;
}

static bool parse_line(const char *at, struct file_lock *ret)
{
    uint64_t pid;

    *ret = (struct file_lock){ 0 };
    if (!read_number(&at, &ret->number) || *at++ != ':')
        return false;
    at += strspn(at, BLANKS);
    ret->waits = strncmp(at, "->", 2) == 0;
    at += ret->waits ? 2 : 0;
    for (int i = 0; i < 3; i++) {
        if (!skip_word(&at))
            return false;
    }
    if (read_number(&at, &pid) && pid <= INT32_MAX)
        ret->pid = (int32_t)pid;
    else if (!skip_word(&at))
        return false;
    ret->inode = read_inode(at);
    return true;
}

bool file_lock_read(FILE *locks, struct file_lock *ret)
{
    char line[LINE_SIZE];
    bool is_rest = false; /* of a line that is longer */

    while (fgets(line, sizeof line, locks) != NULL) {
        const bool is_start = !is_rest;

        is_rest = strchr(line, '\n') == NULL;
        if (is_start && parse_line(line, ret))
            return true;
    }
    return false;
}

size_t file_lock_waiters(FILE *locks, int32_t *ret, size_t most)
{
    struct file_lock lock;
    size_t count = 0;

    while (count < most && file_lock_read(locks, &lock)) {
        if (lock.waits && lock.pid > 0)
            ret[count++] = lock.pid;
    }
    return count;
}

int32_t file_lock_holder(FILE *locks, int32_t waiter, uint64_t inode)
{
    struct file_lock held = { 0 }, lock;

    while (file_lock_read(locks, &lock)) {
        if (!lock.waits)
            held = lock;
        else if (lock.pid == waiter && lock.inode == inode && lock.number == held.number &&
                 held.pid > 0)
            return held.pid;
    }
    return 0;
}
