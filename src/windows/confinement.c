/* What Linux does with capabilities, Landlock and filters of system calls. Windows has none of
 * these: a command runs with the rights of its user, and nothing confines it. */
#include "program/privilege.h"
#include "program/sandbox.h"

#include <stdio.h>

void privilege_drop(void)
{
}

enum privilege_use privilege_use_of(const char *tier)
{
    (void)tier;
    return PRIVILEGE_NOTHING;
}

void privilege_give_up(enum privilege_use use)
{
    (void)use;
}

void privilege_keep(uint64_t capabilities)
{
    (void)capabilities;
}

int sandbox_enter(const struct sandbox *sandbox, struct camp_error *error)
{
    (void)sandbox;
    (void)error;
    return CAMP_OK;
}

int sandbox_landlock_version(void)
{
    return 0;
}

bool sandbox_is_used(void)
{
    return false;
}
