/*
 * What Windows' native interface reports (NtQuerySystemInformation() of ntdll.dll): the records
 * that the headers of the system declare in part only, or not at all.
 *
 * Microsoft documents the function and most of these records, and says that they may change. The
 * layouts below have been the same since Windows 7; the static assertions keep them as they are.
 * All times are in units of 100 ns. A moment is counted from 1601-01-01 UTC, as in FILETIME.
 */
#pragma once

#include <winsock2.h>

#include <windows.h>

#include <winternl.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NS_PER_WINDOWS_UNIT 100u

/* Numbers of enum SYSTEM_INFORMATION_CLASS. */
#define OF_PERFORMANCE 2
#define OF_TIME_OF_DAY 3
#define OF_PROCESSES 5
#define OF_CPU_TIMES 8
#define OF_PAGE_FILES 18

/* Number of enum PROCESSINFOCLASS, since Windows 8.1: a UNICODE_STRING, and its text after it. */
#define OF_COMMAND_LINE 60

/* One CPU of a processor group. kernel_time contains the other times, but user_time. */
struct native_cpu {
    int64_t idle_time;
    int64_t kernel_time;
    int64_t user_time;
    int64_t deferred_call_time; /* deferred procedure calls (DPC) */
    int64_t interrupt_time;
    uint32_t interrupts;
    uint32_t padding;
};

struct native_time_of_day {
    int64_t boot_time; /* moves with the clock, if that is set */
    int64_t current_time;
    int64_t time_zone_bias;
    uint32_t time_zone;
    uint32_t reserved;
    uint64_t boot_time_bias;
    uint64_t sleep_time_bias;
};

/* Later versions of Windows append fields. */
struct native_performance {
    int64_t idle_time;
    int64_t transferred_bytes[3];
    uint32_t operations[3];
    uint32_t memory[4];
    uint32_t page_faults;
    uint32_t caches[58];
    uint32_t context_switches;
    uint32_t buffer_fills[2];
    uint32_t system_calls;
    uint8_t appended[200];
};

/* The numbers are pages. */
struct native_page_file {
    uint32_t next; /* bytes to the next record; 0 in the last */
    uint32_t total;
    uint32_t in_use;
    uint32_t peak;
    UNICODE_STRING name;
};

struct native_thread {
    int64_t kernel_time;
    int64_t user_time;
    int64_t create_time;
    uint32_t wait_time;
    void *start_address;
    HANDLE process;
    HANDLE thread;
    int32_t priority;
    int32_t base_priority;
    uint32_t context_switches;
    uint32_t state;
    uint32_t wait_reason;
};

struct native_process {
    uint32_t next; /* bytes to the next record; 0 in the last */
    uint32_t threads;
    int64_t private_working_set;
    uint32_t hard_faults;
    uint32_t most_threads;
    uint64_t cycles;
    int64_t create_time;
    int64_t user_time;
    int64_t kernel_time;
    UNICODE_STRING image_name;
    int32_t base_priority;
    HANDLE process;
    HANDLE parent;
    uint32_t handles;
    uint32_t session;
    uintptr_t key;
    size_t peak_virtual_bytes;
    size_t virtual_bytes;
    uint32_t page_faults;
    size_t peak_resident_bytes;
    size_t resident_bytes;
    size_t pools[4];
    size_t page_file_bytes;
    size_t peak_page_file_bytes;
    size_t private_bytes;
    int64_t operations[3];
    uint64_t read_bytes;
    uint64_t written_bytes;
    uint64_t other_bytes;
    struct native_thread thread[];
};

_Static_assert(sizeof(struct native_cpu) == 48, "the record of a CPU");
_Static_assert(sizeof(struct native_time_of_day) == 48, "the record of the clock");
_Static_assert(offsetof(struct native_performance, page_faults) == 60, "the record of counts");
_Static_assert(offsetof(struct native_performance, appended) == 312, "the record of counts");
#ifdef _WIN64
_Static_assert(offsetof(struct native_process, create_time) == 32, "the record of a process");
_Static_assert(offsetof(struct native_process, process) == 80, "the record of a process");
_Static_assert(offsetof(struct native_process, private_bytes) == 200, "the record of a process");
_Static_assert(offsetof(struct native_process, thread) == 256, "the record of a process");
_Static_assert(offsetof(struct native_thread, context_switches) == 64, "the record of a thread");
_Static_assert(sizeof(struct native_thread) == 80, "the record of a thread");
_Static_assert(offsetof(struct native_page_file, name) == 16, "the record of a page file");
#else
_Static_assert(offsetof(struct native_process, thread) == 184, "the record of a process");
_Static_assert(sizeof(struct native_thread) == 64, "the record of a thread");
#endif

/* Declared here, because the headers of mingw-w64 lack them. */
NTSTATUS NTAPI NtQuerySystemInformationEx(int of, void *input, ULONG input_size, void *ret,
                                          ULONG size, ULONG *ret_size);
NTSTATUS NTAPI RtlGetVersion(RTL_OSVERSIONINFOW *version);
#define NATIVE_INVALID_CLASS ((NTSTATUS)0xC0000003)   /* STATUS_INVALID_INFO_CLASS */
#define NATIVE_LENGTH_MISMATCH ((NTSTATUS)0xC0000004) /* STATUS_INFO_LENGTH_MISMATCH */

static inline bool native_failed(NTSTATUS status)
{
    return status < 0;
}

/* Returns a time of the system, which is in units of 100 ns, in ns. */
static inline uint64_t ns_of_native(int64_t time)
{
    return time > 0 ? (uint64_t)time * NS_PER_WINDOWS_UNIT : 0;
}

static inline uint32_t id_of(HANDLE handle)
{
    return (uint32_t)(uintptr_t)handle;
}
