/*
 * Disks and volumes, by IOCTL_DISK_PERFORMANCE.
 *
 * Windows counts each physical drive ("PhysicalDrive0") and each volume. A volume with a drive
 * letter ("C:") is listed as a partition, after the drive that it is on; one that is on several
 * drives, or on none, is listed after all drives. A volume without a letter has no name here.
 * Drives of networks have no counters and are left out.
 *
 * The numbers of requests have 32 bits and wrap. Idle time is counted, and the moment of the
 * reading is reported with it, so busy_ns is the time since boot that is not idle: right in
 * differences. For a drive that was attached later, it contains the time before that.
 *
 * Where a driver does not count, as on Wine, all fields are unknown.
 */
#include "shared.h"

#include "../platform.h"

#include <winioctl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Drives have the smallest free numbers, so a gap is as long as the number of drives that were
 * removed. After a longer one, no drive is looked for. */
#define LONGEST_GAP 16
#define NO_DRIVE UINT32_MAX

/* Opens a drive or volume to ask for its counters, which needs no right to its contents. */
static HANDLE open_device(const char *name)
{
    char path[CAMP_NAME_SIZE + 8];

    snprintf(path, sizeof path, "\\\\.\\%s", name);
    return CreateFileA(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
}

static bool ask(HANDLE device, DWORD control, void *input, DWORD input_size, void *ret, DWORD size)
{
    DWORD length = 0;

    return DeviceIoControl(device, control, input, input_size, ret, size, &length, NULL) != 0;
}

static void fill_busy(const DISK_PERFORMANCE *performance, struct camp_disk *disk)
{
    int64_t boot_time = camp_boot_time();
    int64_t busy = performance->QueryTime.QuadPart - boot_time - performance->IdleTime.QuadPart;

    if (boot_time == 0 || busy < 0)
        return;
    disk->known |= CAMP_DISK_BUSY;
    disk->busy_ns = ns_of_native(busy);
}

static void fill_counts(HANDLE device, struct camp_disk *disk)
{
    DISK_PERFORMANCE performance = { 0 };

    disk->time_ns = camp_now_ns();
    if (device == INVALID_HANDLE_VALUE ||
        !ask(device, IOCTL_DISK_PERFORMANCE, NULL, 0, &performance, sizeof performance))
        return;
    disk->known = CAMP_DISK_READS | CAMP_DISK_READ_BYTES | CAMP_DISK_READ_TIME | CAMP_DISK_WRITES |
                  CAMP_DISK_WRITTEN_BYTES | CAMP_DISK_WRITE_TIME | CAMP_DISK_IN_FLIGHT;
    disk->reads = performance.ReadCount;
    disk->read_bytes = (uint64_t)performance.BytesRead.QuadPart;
    disk->read_ns = ns_of_native(performance.ReadTime.QuadPart);
    disk->writes = performance.WriteCount;
    disk->written_bytes = (uint64_t)performance.BytesWritten.QuadPart;
    disk->write_ns = ns_of_native(performance.WriteTime.QuadPart);
    disk->in_flight = performance.QueueDepth;
    fill_busy(&performance, disk);
}

/* True unless the drive says that it is a file, or a space on several drives. */
static bool is_physical(HANDLE device)
{
    STORAGE_PROPERTY_QUERY query = { .PropertyId = StorageDeviceProperty,
                                     .QueryType = PropertyStandardQuery };
    STORAGE_DEVICE_DESCRIPTOR descriptor = { 0 };

    if (!ask(device, IOCTL_STORAGE_QUERY_PROPERTY, &query, sizeof query, &descriptor,
             sizeof descriptor))
        return true;
    return descriptor.BusType != BusTypeFileBackedVirtual && descriptor.BusType != BusTypeSpaces;
}

/* The number of the drive that a volume is on. */
static uint32_t drive_of(HANDLE volume)
{
    STORAGE_DEVICE_NUMBER number = { 0 };

    if (volume == INVALID_HANDLE_VALUE ||
        !ask(volume, IOCTL_STORAGE_GET_DEVICE_NUMBER, NULL, 0, &number, sizeof number) ||
        number.DeviceType != FILE_DEVICE_DISK)
        return NO_DRIVE;
    return number.DeviceNumber;
}

static void close_device(HANDLE device)
{
    if (device != INVALID_HANDLE_VALUE)
        CloseHandle(device);
}

/* The drives and volumes, each of which is listed once. */
struct walk {
    int kind; /* enum camp_disk_kind */
    struct camp_output *output;
    uint32_t letters; /* bit n: the volume with letter 'A' + n exists and is not listed yet */
};

static bool may_have_counters(char letter)
{
    const char root[] = { letter, ':', '\\', '\0' };
    UINT kind = GetDriveTypeA(root);

    return kind == DRIVE_FIXED || kind == DRIVE_REMOVABLE;
}

static bool has_letter(uint32_t letters, char letter)
{
    return (letters >> (letter - 'A') & 1) != 0;
}

static void add_volume(struct walk *walk, char letter, uint32_t drive)
{
    struct camp_disk disk = { .kind = CAMP_DISK_PARTITION, .name = { letter, ':' } };
    HANDLE device;

    if (!has_letter(walk->letters, letter) || !may_have_counters(letter))
        return;
    device = open_device(disk.name);
    if (drive == NO_DRIVE || drive_of(device) == drive) {
        walk->letters &= ~(1u << (letter - 'A'));
        fill_counts(device, &disk);
        camp_output_add(walk->output, &disk, sizeof disk);
    }
    close_device(device);
}

static void add_volumes(struct walk *walk, uint32_t drive)
{
    if (walk->kind != CAMP_DISK_ANY && walk->kind != CAMP_DISK_PARTITION)
        return;
    for (int letter = 'A'; letter <= 'Z'; letter++)
        add_volume(walk, (char)letter, drive);
}

/* Returns false if there is no drive with this number. */
static bool add_drive(struct walk *walk, uint32_t number)
{
    struct camp_disk disk = { .kind = CAMP_DISK_WHOLE };
    HANDLE device;

    snprintf(disk.name, sizeof disk.name, "PhysicalDrive%lu", (unsigned long)number);
    device = open_device(disk.name);
    if (device == INVALID_HANDLE_VALUE)
        return false;
    if (walk->kind != CAMP_DISK_PARTITION &&
        (walk->kind != CAMP_DISK_PHYSICAL || is_physical(device))) {
        fill_counts(device, &disk);
        camp_output_add(walk->output, &disk, sizeof disk);
    }
    close_device(device);
    add_volumes(walk, number);
    return true;
}

int camp_disk_read_all(const struct camp_source *source, int kind, struct camp_disk *disks,
                       size_t size, size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { disks, size, capacity, 0 };
    struct walk walk = { .kind = kind, .output = &output, .letters = GetLogicalDrives() };
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_array_is_null(error, disks, capacity, ret_count) ||
        camp_is_outside(error, kind, CAMP_DISK_ANY, CAMP_DISK_PHYSICAL))
        return CAMP_E_INVALID;
    for (uint32_t number = 0, gap = 0; gap < LONGEST_GAP; number++)
        gap = add_drive(&walk, number) ? 0 : gap + 1;
    add_volumes(&walk, NO_DRIVE);
    return camp_output_end(&output, "disks", ret_count, error);
}

/* Sets *ret_kind if the name is "PhysicalDriveN", or "X:" of a volume that exists. */
static bool is_name(const char *name, int32_t *ret_kind)
{
    static const char drive[] = "PhysicalDrive";
    const char *number = name + sizeof drive - 1;

    if (strncmp(name, drive, sizeof drive - 1) == 0) {
        *ret_kind = CAMP_DISK_WHOLE;
        return number[0] != '\0' && strlen(number) <= 3 &&
               strspn(number, "0123456789") == strlen(number);
    }
    *ret_kind = CAMP_DISK_PARTITION;
    return name[0] >= 'A' && name[0] <= 'Z' && strcmp(name + 1, ":") == 0 &&
           has_letter(GetLogicalDrives(), name[0]) && may_have_counters(name[0]);
}

int camp_disk_read(const struct camp_source *source, const char *name, struct camp_disk *ret,
                   size_t size, struct camp_error *error)
{
    struct camp_disk disk = { 0 };
    HANDLE device;
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, name, ret))
        return CAMP_E_INVALID;
    if (name[0] == '\0')
        return camp_fail(error, CAMP_E_INVALID, 0, "'': no disk can have this name");
    if (!is_name(name, &disk.kind))
        return camp_fail(error, CAMP_E_GONE, 0, "there is no disk %s; list them again", name);
    strcpy(disk.name, name);
    device = open_device(name);
    if (device == INVALID_HANDLE_VALUE)
        return camp_fail_windows(error, GetLastError(), name);
    fill_counts(device, &disk);
    CloseHandle(device);
    camp_hand_out(ret, size, &disk, sizeof disk);
    return CAMP_OK;
}
