/*
 * Any bytes as a file of workloads, and as what its rules are asked about.
 *
 * Numbers of repetitions (a{9,99}), many + (each is its expression written twice, so 30 of them
 * within each other take all memory), back references (\1) and texts longer than a person writes
 * are left out: what regcomp(3) and regexec(3) take for them is the C library's.
 */
#include "ledger/workload.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MAXIMUM 4096
#define PLUSES_MAXIMUM 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_moderate(const uint8_t *data, size_t size)
{
    size_t pluses = 0;

    for (size_t i = 0; i < size; i++) {
        pluses += data[i] == '+';
        if (data[i] == '{' || data[i] == '\\')
            return false;
    }
    return size <= SIZE_MAXIMUM && pluses <= PLUSES_MAXIMUM;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rule_fault fault;
    struct workloads workloads;
    char *text;
    int r;

    if (!is_moderate(data, size))
        return 0;
    text = malloc(size > 0 ? size : 1); /* no final 0: a read past the end is seen */
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
