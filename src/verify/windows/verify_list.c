/*
 * Compares the lists of the library with those of other functions of Windows. A name counts 1 if
 * the library lists it and can read it.
 *
 * Processes start and exit during the test, so Toolhelp32 lists them before and after the library.
 * Each process in both lists must be in the library's list.
 */
#include "verify_trials.h"

#include "ledger/array.h"
#include "load/windows/load_adapters.h"

#include <camp/system.h>

#include <math.h>
#include <tlhelp32.h>

#define LIST_MAX 1025
#define PROCESSES_MAX 65536

void verify_cpu_list(struct verification *verification)
{
    static int32_t ids[LIST_MAX];
    struct camp_error error = { 0 };
    struct camp_cpu cpu;
    size_t count = 0;
    double readable = 0;

    camp_cpu_list(NULL, ids, LIST_MAX, &count, &error);
    if (has_failed(verification, "list-cpus", &error))
        return;
    for (size_t i = 0; i < count; i++)
        readable += camp_cpu_read(NULL, ids[i], &cpu, sizeof cpu, NULL) == CAMP_OK;
    decide(verification, "list-cpus", (double)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS),
           readable, 0);
}

void verify_network_list(struct verification *verification)
{
    static struct camp_network networks[LIST_MAX];
    IP_ADAPTER_ADDRESSES *list = adapters_read();
    struct camp_error error = { 0 };
    size_t count = 0;
    double expected = 0, found = 0;

    camp_network_read_all(NULL, networks, sizeof networks[0], LIST_MAX, &count, &error);
    for (const IP_ADAPTER_ADDRESSES *adapter = list; adapter != NULL; adapter = adapter->Next) {
        char name[CAMP_NETWORK_NAME_SIZE] = "";
        struct camp_network network;

        WideCharToMultiByte(CP_UTF8, 0, adapter->FriendlyName, -1, name, sizeof name, NULL, NULL);
        expected++;
        for (size_t i = 0; i < count; i++)
            found += strcmp(networks[i].name, name) == 0 &&
                     camp_network_read(NULL, name, &network, sizeof network, NULL) == CAMP_OK;
    }
    if (list == NULL)
        not_tested(verification, "list-networks", "GetAdaptersAddresses() lists no adapter");
    else if (!has_failed(verification, "list-networks", &error))
        decide(verification, "list-networks", expected, found, 0);
    free(list);
}

/* Wine shows folders of its host as volumes, which cannot be opened. */
static bool can_open(const char *volume)
{
    const char path[] = { '\\', '\\', '.', '\\', volume[0], ':', '\0' };
    HANDLE device =
        CreateFileA(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);

    if (device == INVALID_HANDLE_VALUE)
        return false;
    CloseHandle(device);
    return true;
}

void verify_volume_list(struct verification *verification)
{
    static struct camp_disk disks[LIST_MAX];
    DWORD letters = GetLogicalDrives();
    struct camp_error error = { 0 };
    size_t count = 0;
    double expected = 0, found = 0;

    camp_disk_read_all(NULL, CAMP_DISK_PARTITION, disks, sizeof disks[0], LIST_MAX, &count, &error);
    letters &= GetLogicalDrives(); /* not those that were plugged in or out meanwhile */
    for (int letter = 'A'; letter <= 'Z'; letter++) {
        const char name[] = { (char)letter, ':', '\0' };
        const char root[] = { (char)letter, ':', '\\', '\0' };
        struct camp_disk disk;

        if (!(letters >> (letter - 'A') & 1) ||
            (GetDriveTypeA(root) != DRIVE_FIXED && GetDriveTypeA(root) != DRIVE_REMOVABLE))
            continue;
        expected++;
        for (size_t i = 0; i < count; i++)
            found += strcmp(disks[i].name, name) == 0 &&
                     (!can_open(name) ||
                      camp_disk_read(NULL, name, &disk, sizeof disk, NULL) == CAMP_OK);
    }
    if (!has_failed(verification, "list-volumes", &error))
        decide(verification, "list-volumes", expected, found, 0);
}

static int by_pid(const void *a, const void *b)
{
    const int32_t first = *(const int32_t *)a, second = *(const int32_t *)b;

    return first < second ? -1 : first > second;
}

static bool holds(const int32_t *pids, size_t count, int32_t pid)
{
    return ARRAY_FIND(&pid, pids, count, by_pid) != NULL;
}

/* Lists the pids of Toolhelp32, ascending. The idle process (pid 0) is not listed. */
static size_t list_pids(int32_t *ret)
{
    HANDLE snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    PROCESSENTRY32W entry = { .dwSize = sizeof entry };
    size_t count = 0;

    if (snapshot == INVALID_HANDLE_VALUE)
        return 0;
    for (BOOL more = Process32FirstW(snapshot, &entry); more && count < PROCESSES_MAX;
         more = Process32NextW(snapshot, &entry))
        if (entry.th32ProcessID != 0)
            ret[count++] = (int32_t)entry.th32ProcessID;
    CloseHandle(snapshot);
    qsort(ret, count, sizeof *ret, by_pid);
    return count;
}

struct process_lists {
    int32_t before[PROCESSES_MAX], listed[PROCESSES_MAX], after[PROCESSES_MAX];
    struct camp_process processes[PROCESSES_MAX];
};

static void judge_processes(struct verification *verification, struct process_lists *lists)
{
    struct camp_error error = { 0 };
    size_t before = list_pids(lists->before), count = 0, after;
    double expected = 0, reported = 0;

    camp_process_list(NULL, lists->processes, sizeof lists->processes[0], PROCESSES_MAX, &count,
                      &error);
    after = list_pids(lists->after);
    if (has_failed(verification, "list-processes", &error))
        return;
    for (size_t i = 0; i < count; i++)
        lists->listed[i] = lists->processes[i].pid;
    qsort(lists->listed, count, sizeof lists->listed[0], by_pid);
    for (size_t i = 0; i < before; i++) {
        if (!holds(lists->after, after, lists->before[i]))
            continue;
        expected++;
        reported += holds(lists->listed, count, lists->before[i]);
    }
    /* A process that is only in the library's list started or exited between the two others. */
    if (after == before && count > before)
        reported += (double)(count - before);
    decide(verification, "list-processes", expected, reported, 0);
}

/* Finds the processes of this executable. One of them must be this process. */
static void judge_find(struct verification *verification, struct process_lists *lists)
{
    static char path[UTF8_PATH_SIZE];
    const char *folder_end;
    struct camp_error error = { 0 };
    size_t count = 0;
    double found = 0;

    GetModuleFileNameA(NULL, path, sizeof path);
    folder_end = strrchr(path, '\\');
    camp_process_find(NULL, folder_end != NULL ? folder_end + 1 : path, lists->processes,
                      sizeof lists->processes[0], PROCESSES_MAX, &count, &error);
    for (size_t i = 0; i < count; i++)
        found += lists->processes[i].pid == (int32_t)GetCurrentProcessId();
    if (!has_failed(verification, "list-executable", &error))
        decide(verification, "list-executable", 1, found, 0);
}

void verify_process_list(struct verification *verification)
{
    struct process_lists *lists = malloc(sizeof *lists);
    const struct camp_error error = { .message = "no memory for lists of processes" };

    if (lists == NULL) {
        trial_succeeded(verification, CAMP_E_NOMEM, &error, NULL);
        return;
    }
    judge_processes(verification, lists);
    judge_find(verification, lists);
    free(lists);
}

/* The frequency follows the work of the CPU, so only a lower bound is sure. */
void verify_frequency(struct verification *verification)
{
    struct camp_error error = { 0 };
    uint64_t hz = 0;

    if (is_of_wine(verification, "cpu-frequency", "does not know the frequency of a CPU"))
        return;
    camp_cpu_frequency_hz(NULL, 0, &hz, &error);
    if (!has_failed(verification, "cpu-frequency", &error))
        decide_between(verification, "cpu-frequency", 100, (double)hz / 1e6, 0, ANY);
}
