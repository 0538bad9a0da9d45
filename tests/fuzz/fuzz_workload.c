/* Parser: src/ledger/workload.c */
/* Parser: src/ledger/rule_text.c */
/* Parses any bytes as a file of workloads, and applies its rules to a process. */
#include "ledger/workload.h"
#include "moderate.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rule_fault fault;
    struct workloads workloads;
    char *text;
    int r;

    if (!is_moderate(data, size))
        return 0;
    /* The buffer has no spare bytes, so that a sanitizer detects reads past its end. */
    text = malloc(size > 0 ? size : 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    r = workloads_parse(&workloads, text, size, &fault);
    if (r == CAMP_E_FORMAT && (fault.line == 0 || fault.message[0] == '\0'))
        abort();
    if (r != CAMP_OK && workloads.count != 0)
        abort();
    if (workloads_match(&workloads, "sh", "root", "sh -c make") > workloads.count)
        abort();
    workloads_release(&workloads);
    free(text);
    return 0;
}
