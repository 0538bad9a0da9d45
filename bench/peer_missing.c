/*
 * Replaces the functions of C libraries that are not installed. Each function returns -1, which is
 * shown as "missing". The symbols are weak, so the functions for an installed library override
 * them.
 */
#include "subject.h"

#define MISSING(name)                                                                              \
    __attribute__((weak)) int name(void)                                                           \
    {                                                                                              \
        return -1;                                                                                 \
    }

MISSING(libproc2_open)
MISSING(libproc2_cpus)
MISSING(libproc2_memory)
MISSING(libproc2_disks)
MISSING(libproc2_disk)
MISSING(libproc2_process)
MISSING(libproc2_table)
MISSING(libstatgrab_open)
MISSING(libstatgrab_cpus)
MISSING(libstatgrab_memory)
MISSING(libstatgrab_networks)
MISSING(libstatgrab_disks)
MISSING(libstatgrab_table)

__attribute__((weak)) void libproc2_close(void)
{
}

__attribute__((weak)) void libstatgrab_close(void)
{
}
