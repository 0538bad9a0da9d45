/*
 * How this kernel counts CPU time: by microstate accounting, which is always on since Solaris 10
 * (disable_msacct() of uts/common/os/msacct.c only clears a flag). Facts about ticks are unknown,
 * because no time depends on them, except their rate, which is the resolution of children_ns.
 */
#include "../error.h"
#include "../platform.h"
#include "../usual.h"

#include <camp/camp.h>

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void copy(char ret[CAMP_NAME_SIZE], const char *text)
{
    memcpy(ret, text, strnlen(text, CAMP_NAME_SIZE - 1));
}

int camp_kernel_read(const struct camp_source *source, struct camp_kernel *ret, size_t size,
                     struct camp_error *error)
{
    struct camp_kernel kernel = camp_usual.kernel;
    struct utsname names;
    long tick_hz;

    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    if (source == NULL) {
        tick_hz = sysconf(_SC_CLK_TCK);
        if (tick_hz > 0) {
            kernel.known |= CAMP_KERNEL_TICK;
            kernel.tick_hz = (uint32_t)tick_hz;
        }
        if (uname(&names) >= 0) {
            copy(kernel.system, names.sysname);
            copy(kernel.release, names.release);
            copy(kernel.machine, names.machine);
        }
    }
    camp_hand_out(ret, size, &kernel, sizeof kernel);
    return CAMP_OK;
}
