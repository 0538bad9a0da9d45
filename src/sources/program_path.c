#include "program_path.h"

#include <sys/types.h>
#include <unistd.h>

bool program_path(char *ret, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", ret, size);

    if (length <= 0 || (size_t)length == size)
        return false;
    ret[length] = '\0';
    return true;
}
