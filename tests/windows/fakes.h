/*
 * Fakes of what Wine does not have: libcamp, linked statically, calls these functions instead of
 * those of the system.
 *
 * The tests that use them show what camp does with such a result; they cannot show that Windows
 * returns it. So the name of each begins with "faked".
 */
#pragma once

#include "counters/windows/native.h"
#include "machine.h"

#include <psapi.h>
#include <winioctl.h>

#define FAKE_GROUPS 2
#define FAKE_CPUS 2 /* in each group */
#define FAKE_MHZ 2000u
#define FAKE_BOOT_TIME 134000000000000000ll
#define FAKE_PID 1000
#define FAKE_HANDLE ((HANDLE)(uintptr_t)0x7000)

/* What the fakes return. Each test changes what it needs. */
struct fakes {
    int groups; /* FAKE_GROUPS, or 1 */
    bool registry_has_mhz;
    bool process_can_be_opened;
    bool process_has_ended;    /* but is still open somewhere */
    bool pid_is_reused;        /* after the table was read */
    int tables_read;           /* how often the table of processes was read */
    const WCHAR *command_line; /* NULL: a Windows that does not report it */
    uint64_t process_cycles;
    uint64_t thread_cycles;
    uint64_t idle_cycles; /* of CPU 0; CPU n has n seconds more */
    bool first_cpu_is_never_idle;
    struct native_cpu cpu;
    bool disks_count;
    DISK_PERFORMANCE disk;
    int32_t page_files; /* NTSTATUS */
};

extern struct fakes fakes;

/* Space for the table of processes that a test makes. */
struct fake_process {
    struct native_process process;
    struct native_thread threads[3];
};

extern struct fake_process fake_table[3];

/* Further processes that can be opened, also after they ended. fakes_reset() forgets them. */
struct fake_opened {
    int pid; /* 0: there is none */
    int64_t create_time;
    uint64_t cycles;
    int64_t kernel_time, user_time;
};

extern struct fake_opened fake_opened[3];

/* Sets all to a running system, in which process FAKE_PID has two threads. */
void fakes_reset(void);

/* How many handles are open. */
extern int fake_handles;
