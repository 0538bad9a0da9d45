/* The PID namespace of this process. */
#pragma once

#include <stdbool.h>

/* Returns whether this process is in the PID namespace of the machine, which has all processes. */
bool pid_namespace_is_of_machine(void);

/* Returns whether /proc shows the processes of another PID namespace. */
bool pid_namespace_differs_from_proc(void);
