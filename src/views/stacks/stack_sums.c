#include "stack_sums.h"

#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

void stack_append(char *text, size_t size, const char *frame)
{
    const size_t before = strlen(text), length = strlen(frame);
    const size_t separator = before > 0 ? 1 : 0;
    char *at = text + before;

    if (length + separator >= size - before)
        return;
    if (separator > 0)
        *at++ = STACK_SEPARATOR;
    for (size_t i = 0; i < length; i++)
        at[i] = frame[i] == STACK_SEPARATOR         ? ':'
                : (unsigned char)frame[i] < ' '     ? '?'
                : (unsigned char)frame[i] == '\x7f' ? '?'
                                                    : frame[i];
    at[length] = '\0';
}

static bool is_same(const void *context, uint32_t position, const void *key)
{
    return strcmp(((const struct stack_sums *)context)->items[position].stack, key) == 0;
}

bool stack_sums_add(struct stack_sums *sums, const char *stack, uint64_t ns, uint64_t count)
{
    const uint32_t hash = index_hash_bytes(stack, strlen(stack));
    const struct index_slot *slot = index_find(&sums->index, hash, is_same, sums, stack);
    struct stack_sum sum = { .ns = ns, .count = count };

    if (slot != NULL) {
        sums->items[slot->position].ns += ns;
        sums->items[slot->position].count += count;
        return true;
    }
    if (!ARRAY_RESERVE(sums->items, sums->capacity, sums->count + 1) ||
        !index_reserve(&sums->index, sums->count + 1))
        return false;
    sum.stack = strdup(stack);
    if (sum.stack == NULL)
        return false;
    index_add(&sums->index, hash, (uint32_t)sums->count);
    sums->items[sums->count++] = sum;
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct stack_sum *left = a, *right = b;

    if (left->ns != right->ns)
        return left->ns > right->ns ? -1 : 1;
    return strcmp(left->stack, right->stack);
}

void stack_sums_sort(struct stack_sums *sums)
{
    if (sums->count > 1)
        qsort(sums->items, sums->count, sizeof *sums->items, compare);
    index_clear(&sums->index);
}

void stack_sums_clear(struct stack_sums *sums)
{
    for (size_t i = 0; i < sums->count; i++)
        free(sums->items[i].stack);
    sums->count = 0;
    index_clear(&sums->index);
}

void stack_sums_release(struct stack_sums *sums)
{
    stack_sums_clear(sums);
    index_release(&sums->index);
    free(sums->items);
    *sums = (struct stack_sums){ 0 };
}
