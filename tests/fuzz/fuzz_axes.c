/* Parser: src/ledger/axes.c */
/* Parses any bytes as axes (the option --axes). */
#include "ledger/axes.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct column columns[] = {
    { "a_ns", "a", "", COLUMN_STATE, CAMP_MEASURED },
    { "b_ns", "b", "", COLUMN_STATE, CAMP_MEASURED },
    { "c", "c d", "", COLUMN_STATE, CAMP_MEASURED },
    { "e", "e", "", COLUMN_STATE, CAMP_MEASURED },
};
static const struct schema schema = { "made-up", columns, 4, 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct axes_fault fault = { 0 };
    struct axes axes;

    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (axes_default(&axes, &schema, size % 6) && axes.vertices.count != size % 6)
        abort();
    if (!axes_parse(&axes, &schema, text, &fault)) {
        if (fault.problem == NULL || strlen(fault.word) >= AXES_NAME_SIZE)
            abort();
    } else {
        for (size_t i = 0; i < axes.vertices.count; i++) {
            if (axes.vertices.names[i][0] == '\0')
                abort();
        }
        for (size_t i = 0; i < schema.state_count; i++) {
            if (axes.vertices.of_state[i] > axes.vertices.count)
                abort();
        }
    }
    free(text);
    return 0;
}
