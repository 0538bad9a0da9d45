/*
 * Asks libproc2 (procps-ng 4) the same questions as libcamp. The contexts are opened once, as usual
 * with libproc2, and keep descriptors open. The `select` functions read at each call. The `get`
 * functions would return values that are up to a second old.
 */
#include "subject.h"

#include <libproc2/diskstats.h>
#include <libproc2/meminfo.h>
#include <libproc2/pids.h>
#include <libproc2/stat.h>

static struct stat_info *stat_context;
static struct meminfo_info *memory_context;
static struct diskstats_info *disk_context;
static struct pids_info *process_context;
static struct pids_info *table_context;

int libproc2_open(void)
{
    enum pids_item process_items[] = {
        PIDS_ID_PID,      PIDS_ID_PPID, PIDS_CMD,     PIDS_TICS_USER,
        PIDS_TICS_SYSTEM, PIDS_FLT_MIN, PIDS_FLT_MAJ, PIDS_RSS,
        PIDS_VSIZE_BYTES, PIDS_NLWP,    PIDS_STATE,   PIDS_TICS_BEGAN
    };
    enum pids_item table_items[] = { PIDS_ID_PID, PIDS_TICS_ALL };

    return procps_stat_new(&stat_context) | procps_meminfo_new(&memory_context) |
           procps_diskstats_new(&disk_context) |
           procps_pids_new(&process_context, process_items,
                           sizeof process_items / sizeof *process_items) |
           procps_pids_new(&table_context, table_items, 2);
}

void libproc2_close(void)
{
    procps_stat_unref(&stat_context);
    procps_meminfo_unref(&memory_context);
    procps_diskstats_unref(&disk_context);
    procps_pids_unref(&process_context);
    procps_pids_unref(&table_context);
}

int libproc2_cpus(void)
{
    enum stat_item items[] = { STAT_TIC_ID, STAT_TIC_USER, STAT_TIC_NICE, STAT_TIC_SYSTEM,
                               STAT_TIC_IDLE };

    return procps_stat_reap(stat_context, STAT_REAP_CPUS_ONLY, items, 5) ? 0 : -1;
}

int libproc2_memory(void)
{
    enum meminfo_item items[] = { MEMINFO_MEM_TOTAL,   MEMINFO_MEM_FREE,   MEMINFO_MEM_AVAILABLE,
                                  MEMINFO_MEM_BUFFERS, MEMINFO_MEM_CACHED, MEMINFO_SWAP_TOTAL,
                                  MEMINFO_SWAP_FREE };

    return procps_meminfo_select(memory_context, items, 7) ? 0 : -1;
}

static enum diskstats_item disk_items[] = { DISKSTATS_NAME,          DISKSTATS_READS,
                                            DISKSTATS_READ_SECTORS,  DISKSTATS_WRITES,
                                            DISKSTATS_WRITE_SECTORS, DISKSTATS_IO_TIME };

int libproc2_disks(void)
{
    return procps_diskstats_reap(disk_context, disk_items, 6) ? 0 : -1;
}

int libproc2_disk(void)
{
    return procps_diskstats_select(disk_context, subject.disk, disk_items, 6) ? 0 : -1;
}

int libproc2_process(void)
{
    unsigned pid = (unsigned)subject.pid;

    return procps_pids_select(process_context, &pid, 1, PIDS_SELECT_PID) ? 0 : -1;
}

int libproc2_table(void)
{
    return procps_pids_reap(table_context, PIDS_FETCH_TASKS_ONLY) ? 0 : -1;
}
