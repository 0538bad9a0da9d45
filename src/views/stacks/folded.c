#include "folded.h"

#include "views/format.h"

#include <inttypes.h>

void folded_write(FILE *stream, const struct stack_sums *sums)
{
    for (size_t i = 0; i < sums->count; i++) {
        write_printable(stream, sums->items[i].stack, "");
        fprintf(stream, " %" PRIu64 "\n", sums->items[i].ns);
    }
}
