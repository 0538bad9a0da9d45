/* Facts about this machine that Linux has in /proc. */
#include "counters/error.h"
#include "sources/machine/hidden.h"
#include "sources/machine/pid_namespace.h"
#include "sources/program_path.h"
#include "windows.h"

#include <errno.h>
#include <limits.h>

/* Windows lists all processes to each user. */
bool hidden_processes(void)
{
    return false;
}

bool hidden_from_others(void)
{
    return false;
}

void hidden_note(char ret[HIDDEN_NOTE_SIZE])
{
    ret[0] = '\0';
}

bool pid_namespace_is_of_machine(void)
{
    return true;
}

bool pid_namespace_differs_from_proc(void)
{
    return false;
}

bool program_path(char *ret, size_t size)
{
    wchar_t wide[PROGRAM_PATH_SIZE];
    const DWORD length = GetModuleFileNameW(NULL, wide, PROGRAM_PATH_SIZE);

    if (length == 0 || length == PROGRAM_PATH_SIZE || size > INT_MAX ||
        WideCharToMultiByte(CP_ACP, 0, wide, -1, ret, (int)size, NULL, NULL) == 0)
        return false;
    for (char *at = ret; *at != '\0'; at++) {
        if (*at == '\\')
            *at = '/';
    }
    return true;
}

/* libcamp has no errno on Windows: it reports GetLastError(). */
int camp_fail_errno(struct camp_error *error, int system_error, const char *what)
{
    const int code = system_error == ENOMEM || system_error == EMFILE    ? CAMP_E_NOMEM
                     : system_error == EACCES || system_error == EPERM   ? CAMP_E_PERM
                     : system_error == ENOENT || system_error == ENOTDIR ? CAMP_E_GONE
                                                                         : CAMP_E_IO;

    return camp_fail(error, code, system_error, "%s: %s", what, strerror(system_error));
}
