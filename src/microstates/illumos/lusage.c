#include "lusage.h"

#include "counters/illumos/process.h"

#include <string.h>

/* A process has at most this many threads at once (the limit of thread ids is lower). */
#define ENTRIES_MAX 10000000

static bool header_of(const void *bytes, size_t length, prheader_t *ret)
{
    if (length < sizeof *ret)
        return false;
    memcpy(ret, bytes, sizeof *ret);
    /* A later system may append members to an entry. */
    return ret->pr_nent >= 1 && ret->pr_nent <= ENTRIES_MAX &&
           ret->pr_entsize >= (long)sizeof(prusage_t) &&
           ret->pr_entsize <= 16 * (long)sizeof(prusage_t);
}

size_t lusage_length(const void *bytes, size_t length)
{
    prheader_t header;

    return header_of(bytes, length, &header)
               ? sizeof header + (size_t)header.pr_nent * (size_t)header.pr_entsize
               : 0;
}

bool lusage_parse(const void *bytes, size_t length, struct lusage *ret)
{
    prheader_t header;

    if (!header_of(bytes, length, &header) || length < lusage_length(bytes, length))
        return false;
    *ret = (struct lusage){ .entries = (const char *)bytes + sizeof header,
                            .count = (size_t)header.pr_nent,
                            .entry_size = (size_t)header.pr_entsize };
    return true;
}

bool lusage_entry(const struct lusage *lusage, size_t index, prusage_t *ret)
{
    return camp_usage_parse(lusage->entries + index * lusage->entry_size, lusage->entry_size,
                            ret) &&
           ret->pr_lwpid >= 0 && ret->pr_count >= 0;
}
