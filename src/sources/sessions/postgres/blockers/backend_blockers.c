#include "backend_blockers.h"

#include <stdbool.h>

/* Subtracts `ns` from the largest parts of an event. */
static void subtract(struct backend_blocking *parts, size_t count, uint32_t event, uint64_t ns)
{
    while (ns > 0) {
        struct backend_blocking *largest = NULL;
        uint64_t part_ns;

        for (size_t i = 0; i < count; i++) {
            if (parts[i].event == event && parts[i].ns > 0 &&
                (largest == NULL || parts[i].ns > largest->ns))
                largest = &parts[i];
        }
        if (largest == NULL)
            break;
        part_ns = largest->ns < ns ? largest->ns : ns;
        largest->ns -= part_ns;
        ns -= part_ns;
    }
}

/* Returns the time of a wait that was reported before it ended, and that the kernel did not
 * subtract, because the wait ended during the reading. */
static uint64_t unsubtracted_ns(const struct backend_blocks *now,
                                const struct backend_blocks *before)
{
    const uint64_t subtracted_ns = now->subtracted_ns - before->subtracted_ns;
    const bool has_ended = now->number != before->number || now->event == 0;

    if (before->event == 0 || !has_ended || subtracted_ns >= before->asleep_ns)
        return 0;
    return before->asleep_ns - subtracted_ns;
}

size_t backend_blockings_since(const struct backend_blocks *now,
                               const struct backend_blocks *before,
                               struct backend_blocking ret[BACKEND_BLOCKS])
{
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < BACKEND_BLOCKS; i++) {
        const struct backend_block *block = &now->blocks[i];
        /* If the place had another block at the previous reading, this one is new. */
        const uint64_t before_ns =
            before != NULL && before->blocks[i].added == block->added ? before->blocks[i].ns : 0;

        if (block->used != 0 && block->ns > before_ns)
            ret[count++] = (struct backend_blocking){ block->event, block->blocker, block->root,
                                                      block->ns - before_ns };
    }
    if (before != NULL)
        subtract(ret, count, before->event, unsubtracted_ns(now, before));
    for (size_t i = 0; i < count; i++) {
        if (ret[i].ns > 0)
            ret[kept++] = ret[i];
    }
    return kept;
}
