/* Names the missing ones of the two capabilities that programs need. */
#include "refused.h"
#include "../counters/error.h"

#include <stdbool.h>

/* Of capabilities(7). CAP_SYS_ADMIN, which was all there was before Linux 5.8, is both. */
enum { SYS_ADMIN = 21, PERFMON = 38, BPF = 39 };

static bool holds(const struct camp_kernel *kernel, int capability)
{
    return (kernel->known & CAMP_KERNEL_CAPABILITIES) != 0 &&
           (kernel->capabilities >> capability & 1 || kernel->capabilities >> SYS_ADMIN & 1);
}

/* If both are held, they are a container's, and these programs see the whole machine. */
int refused_permission(int system_error, const char *what, struct camp_error *error)
{
    struct camp_kernel kernel = { 0 };
    bool bpf, perfmon;

    camp_kernel_read(NULL, &kernel, sizeof kernel, NULL);
    bpf = holds(&kernel, BPF);
    perfmon = holds(&kernel, PERFMON);
    if (bpf && perfmon)
        return camp_fail(error, CAMP_E_PERM, system_error,
                         "%s need CAP_BPF and CAP_PERFMON of the machine: run camp outside "
                         "of this container",
                         what);
    return camp_fail(error, CAMP_E_PERM, system_error,
                     "%s need %s: run as root, or see camp doctor", what,
                     bpf       ? "CAP_PERFMON, too"
                     : perfmon ? "CAP_BPF, too"
                               : "CAP_BPF and CAP_PERFMON");
}
