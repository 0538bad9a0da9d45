/*
 * Any bytes as a file of workloads, and as what its rules are asked about.
 *
 * Repetitions (a{9,99}), back references (\1) and expressions longer than a person writes are left
 * out: regcomp(3) and regexec(3) take as much time and memory for them as they like, and that is
 * the C library's.
 */
#include "ledger/workload.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct workload_fault fault;
    struct workloads workloads;
    char *text = malloc(size + 1);
    int r;

    if (text == NULL || size > 4096 || memchr(data, '{', size) != NULL ||
        memchr(data, '\\', size) != NULL) {
        free(text);
        return 0;
    }
    /* Without the final 0, so that a read past the end is seen. */
    text = realloc(text, size > 0 ? size : 1);
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
