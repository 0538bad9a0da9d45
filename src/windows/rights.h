/* The rights of this process. */
#pragma once

#include <stdbool.h>

/* Whether it runs with the rights of an administrator. */
bool right_is_administrator(void);

/* Whether this user has SeDebugPrivilege, by which a process may open those of other users. Windows
 * starts a program with the privilege disabled. */
bool right_is_held(void);

/* Enables SeDebugPrivilege if the user has it. */
void right_enable(void);

/* Gives it up for good. */
void right_give_up(void);
