/* A cache of the names of users, because getpwuid(3) reads a file or a network at each call. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define USER_NAME_SIZE 32

struct user_name {
    uint32_t uid;
    char name[USER_NAME_SIZE];
};

struct user_names {
    struct user_name **names; /* [count] sorted by uid */
    size_t count, capacity;
};

/* Returns the name of a user. For a user without a name, returns the uid as text, such as "1234";
 * without memory, returns "?". The text is valid until user_names_release(). */
const char *user_names_get(struct user_names *users, uint32_t uid);
void user_names_release(struct user_names *users);
