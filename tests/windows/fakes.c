#include "fakes.h"

#include <ws2ipdef.h>
#include <ws2tcpip.h>

#include <iphlpapi.h>
#include <powrprof.h>

struct fakes fakes;
struct fake_process fake_table[3];
struct fake_opened fake_opened[3];
int fake_handles;

static WCHAR name_of_process[] = L"caf\u00e9.exe";

static const struct native_thread busy = {
    .kernel_time = 10000000,
    .user_time = 20000000,
    .create_time = FAKE_BOOT_TIME + 50000000,
    .thread = (HANDLE)1004,
    .process = (HANDLE)FAKE_PID,
    .context_switches = 300,
    .state = 2,
};
static const struct native_thread waiting = {
    .create_time = FAKE_BOOT_TIME + 60000000,
    .thread = (HANDLE)1002,
    .process = (HANDLE)FAKE_PID,
    .context_switches = 40,
    .state = 5,
    .wait_reason = 6,
};

static struct fake_process make_process(int pid, int parent, uint32_t threads)
{
    struct fake_process made = { .process = { .next = sizeof made,
                                              .threads = threads,
                                              .create_time = FAKE_BOOT_TIME + 50000000,
                                              .process = (HANDLE)(uintptr_t)pid,
                                              .parent = (HANDLE)(uintptr_t)parent } };

    return made;
}

void fakes_reset(void)
{
    fakes = (struct fakes){
        .groups = FAKE_GROUPS,
        .registry_has_mhz = true,
        .process_can_be_opened = true,
        .process_cycles = 3 * FAKE_MHZ * 1000000ull,
        .thread_cycles = 1 * FAKE_MHZ * 1000000ull,
        .idle_cycles = 100 * FAKE_MHZ * 1000000ull,
        /* In units of 100 ns: 60 s idle, 10 s interrupts, 5 s deferred calls, 25 s system. */
        .cpu = { .idle_time = 600000000,
                 .kernel_time = 1000000000,
                 .user_time = 200000000,
                 .deferred_call_time = 50000000,
                 .interrupt_time = 100000000,
                 .interrupts = 50 },
        .disks_count = true,
        .disk = { .BytesRead.QuadPart = 4096,
                  .BytesWritten.QuadPart = 8192,
                  .ReadTime.QuadPart = 10000,
                  .WriteTime.QuadPart = 20000,
                  .IdleTime.QuadPart = 70000000,
                  .QueryTime.QuadPart = FAKE_BOOT_TIME + 100000000,
                  .ReadCount = 1,
                  .WriteCount = 2,
                  .QueueDepth = 3 },
    };
    fake_table[0] = make_process(FAKE_PID, 4, 2);
    fake_table[0].process.user_time = 40000000;
    fake_table[0].process.kernel_time = 10000000;
    fake_table[0].process.handles = 77;
    fake_table[0].process.page_faults = 1234;
    fake_table[0].process.virtual_bytes = 1 << 30;
    fake_table[0].process.resident_bytes = 1 << 20;
    fake_table[0].process.private_bytes = 1 << 19;
    fake_table[0].process.read_bytes = 11;
    fake_table[0].process.written_bytes = 22;
    fake_table[0].process.other_bytes = 33;
    fake_table[0].process.image_name =
        (UNICODE_STRING){ .Length = sizeof name_of_process - sizeof(WCHAR),
                          .Buffer = name_of_process };
    fake_table[0].threads[0] = busy;
    fake_table[0].threads[1] = waiting;
    fake_table[1] = make_process(0, 0, 1); /* the idle process */
    fake_table[2] = make_process(4, 0, 3); /* the system */
    fake_table[2].process.create_time = FAKE_BOOT_TIME;
    fake_table[2].process.next = 0;
    memset(fake_opened, 0, sizeof fake_opened);
    fake_handles = 0;
}

static NTSTATUS copy(void *ret, ULONG size, ULONG *ret_size, const void *value, ULONG needed)
{
    *ret_size = needed;
    if (size < needed)
        return NATIVE_LENGTH_MISMATCH;
    memcpy(ret, value, needed);
    return 0;
}

static NTSTATUS copy_page_files(void *ret, ULONG size, ULONG *ret_size)
{
    struct native_page_file files[2] = { { .next = sizeof files[0], .total = 1000, .in_use = 400 },
                                         { .next = 0, .total = 24, .in_use = 4 } };

    if (fakes.page_files < 0)
        return fakes.page_files;
    return copy(ret, size, ret_size, files, sizeof files);
}

NTSTATUS NTAPI NtQuerySystemInformation(SYSTEM_INFORMATION_CLASS of, void *ret, ULONG size,
                                        ULONG *ret_size)
{
    const struct native_time_of_day time = { .boot_time = FAKE_BOOT_TIME };
    const struct native_performance counts = { .page_faults = 555, .context_switches = 666 };

    switch ((int)of) {
    case OF_TIME_OF_DAY:
        return copy(ret, size, ret_size, &time, sizeof time);
    case OF_PERFORMANCE:
        return copy(ret, size, ret_size, &counts, sizeof counts);
    case OF_PAGE_FILES:
        return copy_page_files(ret, size, ret_size);
    case OF_PROCESSES:
        fakes.tables_read += size >= sizeof fake_table;
        return copy(ret, size, ret_size, fake_table, sizeof fake_table);
    default:
        return (NTSTATUS)0xC0000003; /* STATUS_INVALID_INFO_CLASS */
    }
}

/* As in the system, the text follows the UNICODE_STRING. */
NTSTATUS NTAPI NtQueryInformationProcess(HANDLE process, PROCESSINFOCLASS of, void *ret, ULONG size,
                                         ULONG *ret_size)
{
    const size_t units = fakes.command_line != NULL ? wcslen(fakes.command_line) : 0;
    UNICODE_STRING *line = ret;

    if (process != FAKE_HANDLE || (int)of != OF_COMMAND_LINE || fakes.command_line == NULL)
        return NATIVE_INVALID_CLASS;
    *ret_size = (ULONG)(sizeof *line + (units + 1) * sizeof(WCHAR));
    if (size < *ret_size)
        return NATIVE_LENGTH_MISMATCH;
    line->Buffer = (WCHAR *)(line + 1);
    line->Length = (USHORT)(units * sizeof(WCHAR));
    memcpy(line->Buffer, fakes.command_line, (units + 1) * sizeof(WCHAR));
    return 0;
}

/* CPU n of group g has g seconds more of user time. */
NTSTATUS NTAPI NtQuerySystemInformationEx(int of, void *input, ULONG input_size, void *ret,
                                          ULONG size, ULONG *ret_size)
{
    struct native_cpu cpus[FAKE_CPUS];
    USHORT group;

    if (of != OF_CPU_TIMES || input_size != sizeof group)
        return (NTSTATUS)0xC0000003;
    memcpy(&group, input, sizeof group);
    for (int i = 0; i < FAKE_CPUS; i++) {
        cpus[i] = fakes.cpu;
        cpus[i].user_time += group * 10000000ll;
    }
    return copy(ret, size, ret_size, cpus, sizeof cpus);
}

static WORD WINAPI count_groups(void)
{
    return (WORD)fakes.groups;
}

static DWORD WINAPI count_cpus(WORD group)
{
    return group == ALL_PROCESSOR_GROUPS ? (DWORD)fakes.groups * FAKE_CPUS : FAKE_CPUS;
}

static BOOL WINAPI idle_cycles(USHORT group, ULONG *length, ULONG64 *ret)
{
    (void)group;
    if (*length < FAKE_CPUS * sizeof *ret)
        return FALSE;
    for (unsigned i = 0; i < FAKE_CPUS; i++)
        ret[i] = fakes.idle_cycles == 0 ? 0 : fakes.idle_cycles + i * FAKE_MHZ * 1000000ull;
    if (fakes.first_cpu_is_never_idle)
        ret[0] = 0;
    *length = FAKE_CPUS * sizeof *ret;
    return TRUE;
}

static FARPROC WINAPI no_function(HMODULE module, const char *name)
{
    (void)module, (void)name;
    return NULL; /* so this is not Wine */
}

/* Returns the process that a handle of open_process() is of, or NULL for FAKE_HANDLE. */
static const struct fake_opened *opened_of(HANDLE handle)
{
    for (unsigned i = 0; i < COUNT(fake_opened); i++) {
        if (handle == (HANDLE)(uintptr_t)(0x7100 + i))
            return &fake_opened[i];
    }
    return NULL;
}

static HANDLE WINAPI open_process(DWORD rights, BOOL inherit, DWORD pid)
{
    (void)rights, (void)inherit;
    for (unsigned i = 0; i < COUNT(fake_opened); i++) {
        if (pid != 0 && (DWORD)fake_opened[i].pid == pid) {
            fake_handles++;
            return (HANDLE)(uintptr_t)(0x7100 + i);
        }
    }
    SetLastError(pid != FAKE_PID ? ERROR_INVALID_PARAMETER : ERROR_ACCESS_DENIED);
    if (pid != FAKE_PID || !fakes.process_can_be_opened)
        return NULL;
    fake_handles++;
    return FAKE_HANDLE;
}

static HANDLE WINAPI open_thread(DWORD rights, BOOL inherit, DWORD tid)
{
    (void)rights, (void)inherit, (void)tid;
    fake_handles++;
    return FAKE_HANDLE;
}

static BOOL WINAPI close_handle(HANDLE handle)
{
    const bool is_open = handle == FAKE_HANDLE || opened_of(handle) != NULL;

    fake_handles -= is_open;
    return is_open;
}

static DWORD WINAPI wait_for(HANDLE handle, DWORD ms)
{
    (void)handle, (void)ms;
    return fakes.process_has_ended ? WAIT_OBJECT_0 : WAIT_TIMEOUT;
}

/* The table and the process itself have the same moment of creation. */
static BOOL WINAPI process_times(HANDLE process, FILETIME *create, FILETIME *end, FILETIME *kernel,
                                 FILETIME *user)
{
    const struct fake_opened *opened = opened_of(process);

    if (opened != NULL) {
        memcpy(create, &opened->create_time, sizeof *create);
        memcpy(kernel, &opened->kernel_time, sizeof *kernel);
        memcpy(user, &opened->user_time, sizeof *user);
        *end = (FILETIME){ 0 };
        return TRUE;
    }
    memcpy(create, &fake_table[0].process.create_time, sizeof *create);
    create->dwLowDateTime += fakes.pid_is_reused;
    *end = *kernel = *user = (FILETIME){ 0 };
    return process == FAKE_HANDLE;
}

static BOOL WINAPI process_cycles(HANDLE process, ULONG64 *ret)
{
    const struct fake_opened *opened = opened_of(process);

    *ret = opened != NULL ? opened->cycles : fakes.process_cycles;
    return opened != NULL || process == FAKE_HANDLE;
}

static BOOL WINAPI thread_cycles(HANDLE thread, ULONG64 *ret)
{
    *ret = fakes.thread_cycles;
    return thread == FAKE_HANDLE;
}

static LSTATUS WINAPI registry_value(HKEY key, LPCWSTR path, LPCWSTR name, DWORD flags, DWORD *type,
                                     void *ret, DWORD *size)
{
    const DWORD mhz = FAKE_MHZ;

    (void)key, (void)path, (void)flags, (void)type;
    if (!fakes.registry_has_mhz || wcscmp(name, L"~MHz") != 0 || *size < sizeof mhz)
        return ERROR_FILE_NOT_FOUND;
    memcpy(ret, &mhz, sizeof mhz);
    return ERROR_SUCCESS;
}

static BOOL WINAPI time_adjustment(DWORD *adjustment, DWORD *increment, BOOL *disabled)
{
    *adjustment = *increment = 156250;
    *disabled = FALSE;
    return TRUE;
}

NTSTATUS WINAPI CallNtPowerInformation(POWER_INFORMATION_LEVEL level, void *input, ULONG input_size,
                                       void *ret, ULONG size)
{
    const uint32_t cpus[FAKE_CPUS][6] = { { 0, 3000, 1200, 3000, 0, 0 },
                                          { 1, 3000, 1300, 3000, 0, 0 } };

    (void)input, (void)input_size;
    if (level != ProcessorInformation || size != sizeof cpus)
        return (NTSTATUS)0xC0000023; /* STATUS_BUFFER_TOO_SMALL */
    memcpy(ret, cpus, sizeof cpus);
    return 0;
}

BOOL WINAPI K32GetPerformanceInfo(PERFORMANCE_INFORMATION *ret, DWORD size)
{
    (void)size;
    ret->CommitTotal = 100;
    ret->CommitLimit = 500;
    ret->PageSize = 4096;
    return TRUE;
}

/* An interface, the filter above it, and one with the longest alias, of characters with three bytes
 * in UTF-8. */
DWORD WINAPI GetIfTable2(MIB_IF_TABLE2 **ret)
{
    MIB_IF_TABLE2 *table = calloc(1, sizeof *table + 3 * sizeof table->Table[0]);

    table->NumEntries = 3;
    for (ULONG i = 0; i < table->NumEntries; i++) {
        table->Table[i].InOctets = 1000 + i;
        table->Table[i].InUcastPkts = 10;
        table->Table[i].InNUcastPkts = 2;
        table->Table[i].OutUcastPkts = 20;
        table->Table[i].OutNUcastPkts = 3;
        table->Table[i].OutDiscards = 4;
    }
    wcscpy(table->Table[0].Alias, L"Ethernet");
    wcscpy(table->Table[1].Alias, L"Ethernet-Filter");
    table->Table[1].InterfaceAndOperStatusFlags.FilterInterface = 1;
    for (size_t i = 0; i < IF_MAX_STRING_SIZE; i++)
        table->Table[2].Alias[i] = L'\u65e5';
    *ret = table;
    return NO_ERROR;
}

void WINAPI FreeMibTable(void *table)
{
    free(table);
}

/* There are PhysicalDrive0 and PhysicalDrive2 (a file), C: on 2, and D: on no drive or on several.
 * E: is of a network. */
static HANDLE WINAPI create_file(LPCSTR path, DWORD rights, DWORD share,
                                 SECURITY_ATTRIBUTES *security, DWORD how, DWORD flags,
                                 HANDLE template)
{
    static const char *const paths[] = { "\\\\.\\PhysicalDrive0", "", "\\\\.\\PhysicalDrive2",
                                         "\\\\.\\C:", "\\\\.\\D:" };

    (void)share, (void)security, (void)how, (void)flags, (void)template;
    for (unsigned i = 0; i < COUNT(paths) && rights == 0; i++)
        if (strcmp(path, paths[i]) == 0)
            return (HANDLE)(uintptr_t)(0x8000 + i);
    SetLastError(ERROR_FILE_NOT_FOUND);
    return INVALID_HANDLE_VALUE;
}

static BOOL give(void *ret, DWORD size, const void *value, DWORD needed)
{
    if (size < needed)
        return FALSE;
    memcpy(ret, value, needed);
    return TRUE;
}

static BOOL WINAPI device_control(HANDLE device, DWORD control, void *input, DWORD input_size,
                                  void *ret, DWORD size, DWORD *ret_size, OVERLAPPED *overlapped)
{
    const uintptr_t number = (uintptr_t)device - 0x8000;
    const STORAGE_DEVICE_NUMBER drive = { .DeviceType = FILE_DEVICE_DISK, .DeviceNumber = 2 };
    const STORAGE_DEVICE_DESCRIPTOR descriptor = { .BusType = number == 2 ? BusTypeFileBackedVirtual
                                                                          : BusTypeNvme };

    (void)input, (void)input_size, (void)ret_size, (void)overlapped;
    if (control == IOCTL_DISK_PERFORMANCE && fakes.disks_count)
        return give(ret, size, &fakes.disk, sizeof fakes.disk);
    if (control == IOCTL_STORAGE_GET_DEVICE_NUMBER && number == 3)
        return give(ret, size, &drive, sizeof drive);
    if (control == IOCTL_STORAGE_QUERY_PROPERTY)
        return give(ret, size, &descriptor, sizeof descriptor);
    SetLastError(ERROR_INVALID_FUNCTION);
    return FALSE;
}

static DWORD WINAPI logical_drives(void)
{
    return 1u << 2 | 1u << 3 | 1u << 4;
}

static UINT WINAPI drive_type(LPCSTR root)
{
    return root[0] == 'E' ? DRIVE_REMOTE : DRIVE_FIXED;
}

/* The pointers by which the library calls functions of DLLs. */
WORD(WINAPI *__imp_GetActiveProcessorGroupCount)(void) = count_groups;
DWORD(WINAPI *__imp_GetActiveProcessorCount)(WORD) = count_cpus;
BOOL(WINAPI *__imp_QueryIdleProcessorCycleTimeEx)(USHORT, ULONG *, ULONG64 *) = idle_cycles;
FARPROC(WINAPI *__imp_GetProcAddress)(HMODULE, LPCSTR) = no_function;
HANDLE(WINAPI *__imp_OpenProcess)(DWORD, BOOL, DWORD) = open_process;
HANDLE(WINAPI *__imp_OpenThread)(DWORD, BOOL, DWORD) = open_thread;
BOOL(WINAPI *__imp_CloseHandle)(HANDLE) = close_handle;
DWORD(WINAPI *__imp_WaitForSingleObject)(HANDLE, DWORD) = wait_for;
BOOL(WINAPI *__imp_GetProcessTimes)
(HANDLE, FILETIME *, FILETIME *, FILETIME *, FILETIME *) = process_times;
BOOL(WINAPI *__imp_QueryProcessCycleTime)(HANDLE, ULONG64 *) = process_cycles;
BOOL(WINAPI *__imp_QueryThreadCycleTime)(HANDLE, ULONG64 *) = thread_cycles;
LSTATUS(WINAPI *__imp_RegGetValueW)
(HKEY, LPCWSTR, LPCWSTR, DWORD, DWORD *, void *, DWORD *) = registry_value;
BOOL(WINAPI *__imp_GetSystemTimeAdjustment)(DWORD *, DWORD *, BOOL *) = time_adjustment;
HANDLE(WINAPI *__imp_CreateFileA)
(LPCSTR, DWORD, DWORD, SECURITY_ATTRIBUTES *, DWORD, DWORD, HANDLE) = create_file;
BOOL(WINAPI *__imp_DeviceIoControl)
(HANDLE, DWORD, void *, DWORD, void *, DWORD, DWORD *, OVERLAPPED *) = device_control;
DWORD(WINAPI *__imp_GetLogicalDrives)(void) = logical_drives;
UINT(WINAPI *__imp_GetDriveTypeA)(LPCSTR) = drive_type;
