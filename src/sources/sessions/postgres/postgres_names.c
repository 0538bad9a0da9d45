#include "postgres_names.h"

#include "ledger/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NAMES_MOST 10000

static int compare(const void *key, const void *element)
{
    const uint32_t number = *(const uint32_t *)key;
    const struct postgres_name *name = element;

    return number < name->number ? -1 : number > name->number;
}

static size_t position_of(const struct postgres_names *names, uint32_t number)
{
    return ARRAY_POSITION(&number, names->names, names->count, compare);
}

static bool is_at(const struct postgres_names *names, size_t position, uint32_t number)
{
    return position < names->count && names->names[position].number == number;
}

int postgres_names_add(struct postgres_names *names, uint32_t number, const char *name)
{
    const size_t position = position_of(names, number);

    if (!is_at(names, position, number)) {
        if (names->count == NAMES_MOST)
            return CAMP_OK;
        if (!ARRAY_INSERT(names->names, names->count, names->capacity, position))
            return CAMP_E_NOMEM;
        names->names[position].number = number;
    }
    snprintf(names->names[position].name, sizeof names->names[position].name, "%s", name);
    return CAMP_OK;
}

const char *postgres_names_find(const struct postgres_names *names, uint32_t number,
                                char buffer[POSTGRES_NUMBER_SIZE])
{
    const size_t position = position_of(names, number);

    if (number == 0)
        return "";
    if (is_at(names, position, number))
        return names->names[position].name;
    snprintf(buffer, POSTGRES_NUMBER_SIZE, "%" PRIu32, number);
    return buffer;
}

void postgres_names_release(struct postgres_names *names)
{
    free(names->names);
    *names = (struct postgres_names){ 0 };
}
