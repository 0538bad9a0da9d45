#include "kernel_symbols.h"

#include "ledger/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE 1024
#define SYMBOLS_MAX 4000000u
#define FUNCTION_BYTES_MOST                                                                        \
    (1u << 20) /* what is farther behind a symbol is of no known function                          \
                */

/* Parses a line such as "ffffffff81000000 T _text" or "ffffffffc0001000 t read\t[ext4]". Returns
 * the name of a function, or NULL. */
static char *parse_line(char *line, uint64_t *ret_start)
{
    char *at, *name;

    *ret_start = strtoull(line, &at, 16);
    if (at == line || at[0] != ' ' || at[1] == '\0' || strchr("tTwW", at[1]) == NULL ||
        at[2] != ' ')
        return NULL;
    name = at + 3;
    name[strcspn(name, " \t\n")] = '\0';
    return name[0] != '\0' ? name : NULL;
}

static bool add(struct kernel_symbols *symbols, uint64_t start, const char *name)
{
    const size_t size = strlen(name) + 1;

    if (symbols->count >= SYMBOLS_MAX ||
        !ARRAY_RESERVE(symbols->items, symbols->capacity, symbols->count + 1) ||
        !ARRAY_RESERVE(symbols->names, symbols->names_capacity, symbols->names_size + size))
        return false;
    symbols->items[symbols->count++] =
        (struct kernel_symbol){ start, (uint32_t)symbols->names_size };
    memcpy(symbols->names + symbols->names_size, name, size);
    symbols->names_size += size;
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct kernel_symbol *left = a, *right = b;

    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return left->name < right->name ? -1 : left->name > right->name;
}

bool kernel_symbols_read(struct kernel_symbols *ret, const char *path)
{
    FILE *file = fopen(path, "re");
    char line[LINE_SIZE];
    bool done = file != NULL, has_lines = false;

    *ret = (struct kernel_symbols){ 0 };
    while (done && fgets(line, sizeof line, file) != NULL) {
        uint64_t start;
        const char *name = parse_line(line, &start);

        has_lines |= name != NULL;
        if (name != NULL && start != 0)
            done = add(ret, start, name);
    }
    if (file != NULL)
        fclose(file);
    if (!done) {
        kernel_symbols_release(ret);
        return false;
    }
    ret->is_hidden = has_lines && ret->count == 0;
    if (ret->count > 1)
        qsort(ret->items, ret->count, sizeof *ret->items, compare);
    return true;
}

/* Of several symbols at one address the first in the file counts. */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address)
{
    size_t low = 0, high = symbols->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (symbols->items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address - symbols->items[low - 1].start >= FUNCTION_BYTES_MOST)
        return NULL;
    low--;
    while (low > 0 && symbols->items[low - 1].start == symbols->items[low].start)
        low--;
    return symbols->names + symbols->items[low].name;
}

void kernel_symbols_release(struct kernel_symbols *symbols)
{
    free(symbols->items);
    free(symbols->names);
    *symbols = (struct kernel_symbols){ 0 };
}
