#include "../error.h"

#include <string.h>
#include <unistd.h>

const char *camp_unmounted(const char *path)
{
    /* Each file is there whenever its file system is mounted. */
    static const struct {
        const char *folder, *file, *message;
    } systems[] = {
        { "/proc", "/proc/stat", "/proc is not mounted: run mount -t proc proc /proc" },
        { "/sys", "/sys/devices", "/sys is not mounted: run mount -t sysfs sysfs /sys" },
    };

    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        const size_t length = strlen(systems[i].folder);

        if (strncmp(path, systems[i].folder, length) == 0 &&
            (path[length] == '/' || path[length] == '\0') && access(systems[i].file, F_OK) != 0)
            return systems[i].message;
    }
    return NULL;
}
