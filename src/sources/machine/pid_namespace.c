#include "pid_namespace.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MACHINE_NAMESPACE 0xEFFFFFFC /* PROC_PID_INIT_INO of the kernel */

bool pid_namespace_is_of_machine(void)
{
    struct stat own;

    return stat("/proc/self/ns/pid", &own) != 0 || own.st_ino == MACHINE_NAMESPACE;
}

bool pid_namespace_differs_from_proc(void)
{
    char own[24], found[24];
    const ssize_t length = readlink("/proc/self", found, sizeof found);

    snprintf(own, sizeof own, "%d", (int)getpid());
    return length < 0 || (size_t)length != strlen(own) || memcmp(own, found, (size_t)length) != 0;
}
