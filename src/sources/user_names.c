#include "user_names.h"

#include "ledger/array.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

static struct user_name *ask(uint32_t uid)
{
    struct user_name *ret = calloc(1, sizeof *ret);
    struct passwd entry, *user = NULL;
    char strings[4096];

    if (ret == NULL)
        return NULL;
    ret->uid = uid;
    /* getpwuid() would not be thread-safe */
    getpwuid_r(uid, &entry, strings, sizeof strings, &user);
    if (user != NULL)
        snprintf(ret->name, sizeof ret->name, "%.31s", user->pw_name);
    else
        snprintf(ret->name, sizeof ret->name, "%" PRIu32, uid);
    return ret;
}

static int compare_uids(const void *key, const void *element)
{
    const uint32_t uid = *(const uint32_t *)key;
    const struct user_name *user = *(struct user_name *const *)element;

    return uid < user->uid ? -1 : uid > user->uid;
}

const char *user_names_get(struct user_names *users, uint32_t uid)
{
    const size_t place = ARRAY_POSITION(&uid, users->names, users->count, compare_uids);
    struct user_name *user;

    if (place < users->count && users->names[place]->uid == uid)
        return users->names[place]->name;
    user = ask(uid);
    if (user == NULL || !ARRAY_INSERT(users->names, users->count, users->capacity, place)) {
        free(user);
        return "?";
    }
    users->names[place] = user;
    return user->name;
}

void user_names_release(struct user_names *users)
{
    for (size_t i = 0; i < users->count; i++)
        free(users->names[i]);
    free(users->names);
    *users = (struct user_names){ 0 };
}
