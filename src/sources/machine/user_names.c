#include "user_names.h"

#include "ledger/array.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct user_name *ask(uint32_t uid)
{
    struct user_name *ret = calloc(1, sizeof *ret);
    struct passwd entry, *user = NULL;
    char strings[4096];

    if (ret == NULL)
        return NULL;
    ret->uid = uid;
    getpwuid_r(uid, &entry, strings, sizeof strings,
               &user); /* thread-safe: other threads may ask too */
    if (user != NULL)
        snprintf(ret->name, sizeof ret->name, "%.31s", user->pw_name);
    else
        snprintf(ret->name, sizeof ret->name, "%" PRIu32, uid);
    return ret;
}

/* The position of this user, or where it would be inserted. */
static size_t position_of(const struct user_names *users, uint32_t uid)
{
    size_t low = 0, high = users->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (users->names[middle]->uid < uid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *user_names_get(struct user_names *users, uint32_t uid)
{
    const size_t place = position_of(users, uid);
    struct user_name *user;

    if (place < users->count && users->names[place]->uid == uid)
        return users->names[place]->name;
    if (!ARRAY_RESERVE(users->names, users->capacity, users->count + 1))
        return "?";
    user = ask(uid);
    if (user == NULL)
        return "?";
    memmove(&users->names[place + 1], &users->names[place],
            (users->count - place) * sizeof *users->names);
    users->names[place] = user;
    users->count++;
    return user->name;
}

void user_names_release(struct user_names *users)
{
    for (size_t i = 0; i < users->count; i++)
        free(users->names[i]);
    free(users->names);
    *users = (struct user_names){ 0 };
}
