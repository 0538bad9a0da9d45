/* The rights of this process. */
#pragma once

#include <stdbool.h>

/* Whether it runs with the rights of an administrator. */
bool right_is_administrator(void);

/* Whether SeDebugPrivilege is enabled, by which a process may open those of other users. */
bool right_opens_all(void);

/* Enables SeDebugPrivilege if the user has it: Windows starts a program without it. */
void right_enable(void);

/* Gives it up for good. */
void right_give_up(void);
