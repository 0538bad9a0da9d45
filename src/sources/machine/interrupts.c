#include "interrupts.h"

#include "ledger/array.h"

#include <camp/camp.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Parses a decimal number. Blanks before it are skipped, but nothing else. */
static bool number_at(const char **at, uint64_t *ret)
{
    uint64_t value = 0;

    *at += strspn(*at, " ");
    if (**at < '0' || **at > '9')
        return false;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(**at - '0'), &value))
            return false;
    }
    *ret = value;
    return true;
}

/* Parses "    CPU0    CPU2 ", the names of the columns. */
static int take_heading(const char *at, struct interrupts *ret)
{
    uint64_t cpu;

    ret->count = 0;
    for (at += strspn(at, " "); strncmp(at, "CPU", 3) == 0; at += strspn(at, " ")) {
        at += 3;
        if (*at == ' ' || !number_at(&at, &cpu) || cpu > INT32_MAX ||
            (ret->count > 0 && (int64_t)cpu <= ret->items[ret->count - 1].cpu))
            return CAMP_E_FORMAT;
        if (!ARRAY_RESERVE(ret->items, ret->capacity, ret->count + 1))
            return CAMP_E_NOMEM;
        ret->items[ret->count++] = (struct cpu_interrupts){ .cpu = (int32_t)cpu };
    }
    return (*at == '\n' || *at == '\0') && ret->count > 0 ? CAMP_OK : CAMP_E_FORMAT;
}

/* Returns the text after a number for each CPU, or NULL if the row has fewer numbers. */
static const char *skip_numbers(const char *at, size_t count)
{
    uint64_t number;

    for (size_t i = 0; i < count; i++) {
        if (!number_at(&at, &number))
            return NULL;
    }
    return at;
}

/* Adds a row, such as "CAL:   5418123   5047587   Function call interrupts". Its name is different
 * on each architecture, its description is not. */
static void take_row(const char *line, struct interrupts *ret)
{
    const char *at = strchr(line, ':');
    const char *description = at != NULL ? skip_numbers(at + 1, ret->count) : NULL;
    bool is_call;

    if (description == NULL || strstr(description, "TLB shootdowns") != NULL)
        return;
    is_call = strstr(description, "Function call interrupts") != NULL;
    at++;
    for (size_t i = 0; i < ret->count; i++) {
        uint64_t number = 0;

        number_at(&at, &number);
        ret->items[i].interrupts += number;
        ret->items[i].cross_calls += is_call ? number : 0;
    }
}

int interrupts_scan(FILE *stream, struct interrupts *ret)
{
    char *line = NULL;
    size_t capacity = 0;
    int r = CAMP_E_FORMAT;

    ret->count = 0;
    if (getline(&line, &capacity, stream) > 0)
        r = take_heading(line, ret);
    while (r == CAMP_OK && getline(&line, &capacity, stream) > 0)
        take_row(line, ret);
    free(line);
    if (r != CAMP_OK)
        ret->count = 0;
    return r;
}

int interrupts_read(struct interrupts *ret)
{
    FILE *file = fopen("/proc/interrupts", "re");
    int r;

    ret->count = 0;
    if (file == NULL)
        return CAMP_E_NOTSUP;
    r = interrupts_scan(file, ret);
    fclose(file);
    return r;
}

static int compare_cpu(const void *key, const void *element)
{
    const int64_t cpu = *(const int64_t *)key,
                  other = ((const struct cpu_interrupts *)element)->cpu;

    return (cpu > other) - (cpu < other);
}

const struct cpu_interrupts *interrupts_of_cpu(const struct interrupts *interrupts, int64_t cpu)
{
    return ARRAY_FIND(&cpu, interrupts->items, interrupts->count, compare_cpu);
}

void interrupts_release(struct interrupts *interrupts)
{
    free(interrupts->items);
    *interrupts = (struct interrupts){ 0 };
}
