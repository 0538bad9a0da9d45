/* The names of databases or roles by their numbers: a server's memory has the number, and SQL
 * reports the name. */
#pragma once

#include <camp/camp.h>

#include <stddef.h>

#define POSTGRES_NAME_SIZE 64
#define POSTGRES_NUMBER_SIZE 16

struct postgres_name {
    uint32_t number;
    char name[POSTGRES_NAME_SIZE];
};

/* All zero is empty. */
struct postgres_names {
    struct postgres_name *names; /* [count], in ascending order of numbers */
    size_t count, capacity;
};

/* Adds a name, or replaces that of the same number. With 10,000 names no further one is added.
 * CAMP_OK or CAMP_E_NOMEM. */
int postgres_names_add(struct postgres_names *names, uint32_t number, const char *name);

/* Returns the name of a number, or the number itself as a text in `buffer`, or "" for the number 0.
 * The result is valid until the next postgres_names_add(). */
const char *postgres_names_find(const struct postgres_names *names, uint32_t number,
                                char buffer[POSTGRES_NUMBER_SIZE]);
void postgres_names_release(struct postgres_names *names);
