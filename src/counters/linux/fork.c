/* Tasks started since boot: the line `processes` of /proc/stat (kernel: total_forks, which counts
 * threads too). It follows the interrupts, whose line may be very long. */
#define _GNU_SOURCE 1 /* memmem() */

#include "fork.h"
#include "../error.h"
#include "../text.h"
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define CHUNK_SIZE 16384
#define LINE_SIZE 64 /* "\nprocesses ", a number of 64 bits, "\n" */

static const char label[] = "\nprocesses ";

/* True when the whole line is in the bytes. */
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

/* Reads on, keeping the end of each chunk, until the line is whole. */
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
    int r = camp_path(path, camp_proc(source), error, "stat");

    if (r != CAMP_OK)
        return r;
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return camp_fail_errno(error, errno, path);
    r = search(descriptor, path, ret_count, error);
    close(descriptor);
    return r;
}
