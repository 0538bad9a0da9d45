/*
 * CPU time measured in cycles.
 *
 * Theory: at each switch of threads, and at the start and the end of interrupts, Windows reads the
 * CPU's cycle counter and charges the cycles since the last reading to the thread, its process, or
 * the idle thread of the CPU. Interrupts and deferred calls are charged to nobody. On x86 the
 * counter is the time-stamp counter, whose rate is constant on all CPUs since about 2008, whatever
 * the frequency of the cores.
 *
 * The rate is the "~MHz" of the registry, which the kernel measures when it boots. Not guaranteed
 * are: that it is exact (it has whole MHz, so each time is wrong by one factor, of up to 0.05 % at
 * 2,000 MHz), and that a virtual machine keeps it when it moves to another host. The rate is not
 * measured again here, although that would be more exact: the times are since the start of the
 * process, so a rate that differs by 0.001 % between two readings would shift the second by 1 ms
 * for each 100 s of CPU time.
 *
 * On arm64 the counter follows the frequency of the core, so cycles are no time, and the rate is
 * unknown.
 */
#include "shared.h"

#include "../units.h"

#define CPU_KEY L"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0"

uint64_t camp_cycles_hz(void)
{
#if defined(__x86_64__) || defined(__i386__)
    DWORD mhz = 0, size = sizeof mhz;

    if (!camp_is_imitation() && RegGetValueW(HKEY_LOCAL_MACHINE, CPU_KEY, L"~MHz", RRF_RT_REG_DWORD,
                                             NULL, &mhz, &size) == ERROR_SUCCESS)
        return (uint64_t)mhz * 1000000u;
#endif
    return 0;
}

uint64_t camp_ns_of_cycles(uint64_t cycles, uint64_t hz)
{
    return cycles / hz * NS_PER_S + cycles % hz * NS_PER_S / hz;
}

HANDLE camp_process_open(int32_t pid)
{
    return OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, (DWORD)pid);
}

HANDLE camp_thread_open(int32_t tid)
{
    return OpenThread(THREAD_QUERY_LIMITED_INFORMATION, FALSE, (DWORD)tid);
}

/* The error of a process that cannot be opened. ERROR_INVALID_PARAMETER means that there is none.
 */
static int code_of_open(uint32_t system_error)
{
    return system_error == ERROR_INVALID_PARAMETER ? CAMP_E_GONE
                                                   : camp_fail_windows(NULL, system_error, "");
}

/* A process that has ended can be opened as long as another program has it open. */
static int read_cycles(HANDLE process, uint64_t *ret_cycles)
{
    if (WaitForSingleObject(process, 0) == WAIT_OBJECT_0)
        return CAMP_E_GONE;
    /* 0 cycles mean that the system does not count them, because a process has run before it is
     * there. */
    *ret_cycles = 0;
    return QueryProcessCycleTime(process, ret_cycles) && *ret_cycles != 0 ? CAMP_OK : CAMP_E_NOTSUP;
}

int camp_pid_cpu_ns(int32_t pid, uint64_t *ret_ns)
{
    uint64_t hz = camp_cycles_hz(), cycles = 0;
    HANDLE process;
    int r;

    if (pid <= 0 || ret_ns == NULL)
        return CAMP_E_INVALID;
    process = camp_process_open(pid);
    if (process == NULL)
        return code_of_open(GetLastError());
    r = read_cycles(process, &cycles);
    CloseHandle(process);
    if (r == CAMP_OK && hz == 0)
        r = CAMP_E_NOTSUP;
    if (r == CAMP_OK)
        *ret_ns = camp_ns_of_cycles(cycles, hz);
    return r;
}

bool camp_was_created_at(HANDLE process, uint64_t start)
{
    FILETIME create, end, kernel, user;

    return GetProcessTimes(process, &create, &end, &kernel, &user) &&
           ((uint64_t)create.dwHighDateTime << 32 | create.dwLowDateTime) == start;
}

static int fail_cycles(int code, int32_t pid, struct camp_error *error)
{
    if (code == CAMP_E_GONE)
        return camp_fail(error, code, 0, "process %d has ended; list the processes again",
                         (int)pid);
    if (code == CAMP_E_PERM)
        return camp_fail(error, code, 0,
                         "process %d: its cycles may not be read; run as its "
                         "user, or as an administrator",
                         (int)pid);
    if (code == CAMP_E_NOTSUP)
        return camp_fail(error, code, 0,
                         "this system does not count the cycles of processes, or "
                         "their rate is unknown");
    return camp_fail(error, code, 0, "process %d cannot be opened; try again later", (int)pid);
}

int camp_process_cpu_opened(int32_t pid, HANDLE opened, uint64_t *ret_ns, struct camp_error *error)
{
    uint64_t hz = camp_cycles_hz(), cycles = 0;
    int r = opened != NULL ? read_cycles(opened, &cycles) : CAMP_E_PERM;

    if (r == CAMP_OK && hz == 0)
        r = CAMP_E_NOTSUP;
    if (r < 0)
        return fail_cycles(r, pid, error);
    *ret_ns = camp_ns_of_cycles(cycles, hz);
    return CAMP_OK;
}

int camp_process_cpu_ns(const struct camp_source *source, const struct camp_process *process,
                        uint64_t *ret_ns, struct camp_error *error)
{
    HANDLE opened;
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, process, ret_ns) || camp_is_outside(error, process->pid, 1, INT32_MAX))
        return CAMP_E_INVALID;
    if (camp_cycles_hz() == 0)
        return fail_cycles(CAMP_E_NOTSUP, process->pid, error);
    opened = camp_process_open(process->pid);
    if (opened == NULL)
        return fail_cycles(code_of_open(GetLastError()), process->pid, error);
    r = camp_was_created_at(opened, process->start)
            ? camp_process_cpu_opened(process->pid, opened, ret_ns, error)
            : fail_cycles(CAMP_E_GONE, process->pid, error);
    CloseHandle(opened);
    return r;
}
