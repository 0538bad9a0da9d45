/*
 * disks [SECONDS]: requests and bytes a second of each disk, and how busy it was.
 *
 * The disks are those with a device of their own: no loop devices, RAM disks or RAID sets.
 */
#include <camp/camp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DISKS 1024

static struct camp_disk before[DISKS], after[DISKS];

/* Prints the growth of a counter a second, divided by `unit`. */
static void print_rate(uint32_t known, uint64_t first, uint64_t second, uint64_t elapsed_ns,
                       double unit)
{
    double rate;

    if (known == 0 || camp_rate(first, second, 64, elapsed_ns, &rate) < 0)
        printf(" %10s", "unknown");
    else
        printf(" %10.1f", rate / unit);
}

static void print_disk(const struct camp_disk *first, const struct camp_disk *second)
{
    uint32_t known = first->known & second->known;
    uint64_t elapsed_ns = second->time_ns - first->time_ns;

    printf("%-16s", second->name);
    print_rate(known & CAMP_DISK_READS, first->reads, second->reads, elapsed_ns, 1);
    print_rate(known & CAMP_DISK_READ_BYTES, first->read_bytes, second->read_bytes, elapsed_ns,
               1e6);
    print_rate(known & CAMP_DISK_WRITES, first->writes, second->writes, elapsed_ns, 1);
    print_rate(known & CAMP_DISK_WRITTEN_BYTES, first->written_bytes, second->written_bytes,
               elapsed_ns, 1e6);
    /* 1e9 busy ns in a second are 100 %. */
    print_rate(known & CAMP_DISK_BUSY, first->busy_ns, second->busy_ns, elapsed_ns, 1e7);
    printf("\n");
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    struct camp_error error = { 0 };
    struct camp_utilisation all;
    size_t first = 0, second = 0, i, j;
    int result;

    if (argc > 2 || !(seconds >= 0.01 && seconds <= 3600)) {
        fprintf(stderr, "usage: disks [SECONDS]\n");
        return 2;
    }
    result = camp_disk_read_all(NULL, CAMP_DISK_PHYSICAL, before, sizeof before[0], DISKS, &first,
                                &error);
    if (result == CAMP_OK) /* waits */
        result = camp_cpu_utilisation(NULL, CAMP_CPU_TOTAL, (unsigned)(seconds * 1000), NULL, NULL,
                                      &all, sizeof all, &error);
    if (result == CAMP_OK)
        result = camp_disk_read_all(NULL, CAMP_DISK_PHYSICAL, after, sizeof after[0], DISKS,
                                    &second, &error);
    if (result < 0) {
        fprintf(stderr, "disks: %s\n", error.message);
        return 1;
    }
    printf("%-16s %10s %10s %10s %10s %10s\n", "disk", "reads/s", "read MB/s", "writes/s",
           "wrote MB/s", "busy%");
    for (i = 0; i < second; i++)
        for (j = 0; j < first; j++)
            if (strcmp(before[j].name, after[i].name) == 0)
                print_disk(&before[j], &after[i]);
    return 0;
}
