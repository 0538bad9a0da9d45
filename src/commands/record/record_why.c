#include "record_why.h"

#include "program/command.h"

#include <string.h>

/* The kernel cuts a longer name, and so the name of the group. */
static bool is_called(const struct camp_states_group *group, const char *name)
{
    return group->kind == CAMP_GROUP_NAME &&
           strncmp(group->name, name, CAMP_STATES_NAME_SIZE - 1) == 0;
}

void record_why_check(const struct causes *causes, const char *name)
{
    for (size_t i = 0; i < causes->group_count; i++) {
        if (is_called(&causes->groups[i], name) && causes->threads[causes->groups[i].number] > 0)
            return;
    }
    complain(STATUS_OK,
             "--why-of: no process is called %s now; its causes are recorded once there "
             "is one",
             name);
}
