/*
 * The floor of a call of libcamp is the cheapest system calls that read the same answer into
 * memory. Nothing is parsed, and only the existence of an answer is checked.
 */
#include "subject.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#define PROCESS_CLOCK(pid) (~(clockid_t)(pid)*8 + 2) /* the clock id of clock_getcpuclockid(3) */

static char buffer[256 * 1024];
static int kept_stat = -1, kept_meminfo = -1, kept_network = -1, kept_disks = -1;
static int kept_process = -1;

static int open_read_close(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length;

    if (descriptor < 0)
        return -1;
    length = read(descriptor, buffer, sizeof buffer);
    close(descriptor);
    return length > 0 ? 0 : -1;
}

/* One read(2) may return only a part of /proc/diskstats, and only an empty read shows the end. */
static int read_to_end(int descriptor)
{
    off_t offset = 0;
    ssize_t length;

    while ((length = pread(descriptor, buffer, sizeof buffer, offset)) > 0)
        offset += length;
    return length == 0 && offset > 0 ? 0 : -1;
}

static int read_clock(void)
{
    struct timespec t;

    return clock_gettime(PROCESS_CLOCK(subject.pid), &t);
}

int floor_cpus(void)
{
    return open_read_close("/proc/stat");
}

int floor_cpus_online(void)
{
    return open_read_close("/sys/devices/system/cpu/online");
}

int floor_meminfo(void)
{
    return open_read_close("/proc/meminfo");
}

/* Also reads the clock, like libcamp, because this is a tenth of the cost of sysinfo(2). For the
 * other calls the clock is a hundredth of the cost and is left out. */
int floor_sysinfo(void)
{
    struct sysinfo info;
    struct timespec t;

    return sysinfo(&info) | clock_gettime(CLOCK_MONOTONIC, &t);
}

/* /proc/net is a symbolic link to self/net, so /proc/net/dev would cost more. */
int floor_network_file(void)
{
    return open_read_close("/proc/self/net/dev");
}

/* Opens a socket and asks for RTM_GETSTATS of all interfaces. The answer has the indices of the
 * interfaces, but not their names. */
int floor_network_netlink(void)
{
    struct {
        struct nlmsghdr header;
        struct if_stats_msg message;
    } request = { .header = { .nlmsg_len = sizeof request,
                              .nlmsg_type = RTM_GETSTATS,
                              .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
                  .message = { .filter_mask = 1u << (IFLA_STATS_LINK_64 - 1) } };
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    ssize_t length = -1;
    int done = 0;

    if (descriptor < 0)
        return -1;
    if (send(descriptor, &request, sizeof request, 0) < 0)
        goto out;
    while (!done && (length = recv(descriptor, buffer, sizeof buffer, 0)) > 0) {
        const struct nlmsghdr *header = (const void *)buffer;
        size_t left = (size_t)length;

        for (; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left))
            done |= header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR;
    }
out:
    close(descriptor);
    return length > 0 ? 0 : -1;
}

int floor_disks(void)
{
    int descriptor = open("/proc/diskstats", O_RDONLY | O_CLOEXEC);
    int r;

    if (descriptor < 0)
        return -1;
    r = read_to_end(descriptor);
    close(descriptor);
    return r;
}

/* /sys/block has only whole disks, so the path also tells that the disk is not a partition. */
int floor_disk(void)
{
    return open_read_close(subject.disk_path);
}

int floor_pids(void)
{
    int descriptor = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long length;

    if (descriptor < 0)
        return -1;
    while ((length = syscall(SYS_getdents64, descriptor, buffer, 32768)) > 0)
        continue;
    close(descriptor);
    return length == 0 ? 0 : -1;
}

struct name_entry { /* the layout that getdents64(2) writes */
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

static int read_stat_below(int folder, const char *pid)
{
    char path[32];
    size_t length = strlen(pid);
    int descriptor;

    if (length > sizeof path - 6)
        return -1;
    memcpy(path, pid, length);
    memcpy(path + length, "/stat", 6);
    descriptor = openat(folder, path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return -1;
    length = (size_t)read(descriptor, buffer + 65536, 4096);
    close(descriptor);
    return 0;
}

/* The start time of each process is in its stat file. */
int floor_processes(void)
{
    int folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long length;

    if (folder < 0)
        return -1;
    while ((length = syscall(SYS_getdents64, folder, buffer, 32768)) > 0) {
        const struct name_entry *entry;

        for (long at = 0; at < length; at += entry->length) {
            entry = (const void *)(buffer + at);
            if (entry->name[0] >= '1' && entry->name[0] <= '9')
                read_stat_below(folder, entry->name);
        }
    }
    close(folder);
    return length == 0 ? 0 : -1;
}

int floor_process_clock(void)
{
    return read_clock();
}

int floor_process_stat_clock(void)
{
    return open_read_close(subject.stat_path) | read_clock();
}

int floor_thread_stat(void)
{
    return open_read_close(subject.thread_stat_path);
}

/* The stat file has the start time, which identifies the thread. The schedstat file has the
 * measured times. */
int floor_thread_schedstat(void)
{
    return open_read_close(subject.thread_stat_path) |
           open_read_close(subject.thread_schedstat_path);
}

static int read_kept(int descriptor)
{
    return pread(descriptor, buffer, sizeof buffer, 0) > 0 ? 0 : -1;
}

int floor_kept_cpus(void)
{
    return read_kept(kept_stat);
}

int floor_kept_memory(void)
{
    return read_kept(kept_meminfo);
}

int floor_kept_networks(void)
{
    return read_kept(kept_network);
}

int floor_kept_disks(void)
{
    return read_to_end(kept_disks);
}

int floor_kept_process(void)
{
    return read_kept(kept_process) | read_clock();
}

int floor_open(void)
{
    kept_stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    kept_meminfo = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    kept_network = open("/proc/net/dev", O_RDONLY | O_CLOEXEC);
    kept_disks = open("/proc/diskstats", O_RDONLY | O_CLOEXEC);
    kept_process = open(subject.stat_path, O_RDONLY | O_CLOEXEC);
    return kept_stat < 0 || kept_meminfo < 0 || kept_network < 0 || kept_process < 0 ? -1 : 0;
}

void floor_close(void)
{
    close(kept_stat);
    close(kept_meminfo);
    close(kept_network);
    close(kept_disks);
    close(kept_process);
}
