/* Parser: src/counters/linux/disk.c */
/* Parses any bytes as the file /proc/diskstats, and as the columns of /sys/block/NAME/stat. */
#include "foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = { "vda", "vda1", "nvme0n1p2", "cciss/c0d0", ".." };
    static struct camp_disk disks[64];
    static struct camp_reader reader;
    static int opened = CAMP_E_GONE;
    char *bytes = foreign_line(data, size);
    struct camp_disk disk = { 0 };
    size_t count;

    foreign_file(data, size);
    if (opened != CAMP_OK)
        opened = camp_reader_open_disks(&reader, &foreign_source, NULL);
    if (camp_reader_disks(&reader, CAMP_DISK_ANY, disks, sizeof *disks, 64, &count, NULL) ==
        CAMP_OK)
        for (size_t i = 0; i < count; i++)
            if (disks[i].name[0] == '\0' || strchr(disks[i].name, '/') != NULL ||
                (i == 0 && disks[i].kind != CAMP_DISK_WHOLE))
                abort();
    camp_disk_columns(cursor_of(bytes, size), &disk);
    free(bytes);
    (void)camp_disk_read_all(&foreign_source, CAMP_DISK_PARTITION, disks, sizeof *disks, 64, &count,
                             NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (camp_disk_read(&foreign_source, names[i], &disk, sizeof disk, NULL) == CAMP_OK &&
            (disk.name[0] != names[i][0] || strchr(disk.name, '/') != NULL))
            abort();
    }
    return 0;
}
