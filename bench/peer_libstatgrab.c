/*
 * Asks libstatgrab the same questions as libcamp. libstatgrab has no functions for a single object,
 * so each call reads all objects.
 */
#include "subject.h"

#include <statgrab.h>
#include <stdbool.h>
#include <stddef.h>

int libstatgrab_open(void)
{
    return sg_init(1) == SG_ERROR_NONE ? 0 : -1;
}

void libstatgrab_close(void)
{
    sg_shutdown();
}

int libstatgrab_cpus(void)
{
    size_t count;

    return sg_get_cpu_stats(&count) ? 0 : -1;
}

int libstatgrab_memory(void)
{
    size_t count;

    return sg_get_mem_stats(&count) ? 0 : -1;
}

int libstatgrab_networks(void)
{
    size_t count;

    return sg_get_network_io_stats(&count) ? 0 : -1;
}

int libstatgrab_disks(void)
{
    size_t count;

    return sg_get_disk_io_stats(&count) ? 0 : -1;
}

int libstatgrab_table(void)
{
    size_t count;

    return sg_get_process_stats(&count) ? 0 : -1;
}
