/* What Linux does with capabilities, Landlock and filters of system calls. Windows has the right to
 * open the processes of others (rights.h). Otherwise a command runs with the rights of its user,
 * and nothing confines it. */
#include "program/privilege.h"
#include "program/sandbox.h"
#include "rights.h"

/* There is nothing to drop, because a file of Windows grants no rights. */
void privilege_drop(void)
{
}

void privilege_open_processes(void)
{
    right_enable();
}

/* Every tier opens the processes of others. */
enum privilege_use privilege_use_of(const char *tier)
{
    return tier != NULL ? PRIVILEGE_TASKSTATS : PRIVILEGE_NOTHING;
}

void privilege_give_up(enum privilege_use use)
{
    if (use == PRIVILEGE_NOTHING)
        right_give_up();
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
