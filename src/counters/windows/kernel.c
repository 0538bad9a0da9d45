/*
 * How Windows counts CPU time.
 *
 * Theory: the clock interrupt charges one tick to the thread that it interrupts, as user or kernel
 * time, and to the CPU, as user, kernel, interrupt, deferred-call or idle time. The tick is the
 * largest period of the clock (GetSystemTimeAdjustment(): 15.6 ms on most machines); programs that
 * ask for shorter periods make the clock interrupt more often, but the times still grow by ticks.
 * Beside that, the scheduler adds up the CPU's cycles between two switches (cycles.c): measured.
 */
#include "shared.h"

#include "../platform.h"
#include "../units.h"
#include "../usual.h"

#include <stdio.h>
#include <string.h>

/* Wine has the times of the processes and CPUs from Linux, which prints them in units of 1/100 s.
 */
#define TICK_OF_IMITATION_NS (NS_PER_S / 100)
#define TICK_MOST_OFTEN_NS (NS_PER_S / 64)

bool camp_is_imitation(void)
{
    HMODULE native = GetModuleHandleW(L"ntdll.dll");

    return native != NULL && GetProcAddress(native, "wine_get_version") != NULL;
}

uint64_t camp_tick_ns(void)
{
    DWORD adjustment, increment;
    BOOL no_adjustment;

    if (camp_is_imitation())
        return TICK_OF_IMITATION_NS;
    if (!GetSystemTimeAdjustment(&adjustment, &increment, &no_adjustment) || increment == 0)
        return TICK_MOST_OFTEN_NS;
    return (uint64_t)increment * NS_PER_WINDOWS_UNIT;
}

/* The boot time that Wine reports is the start of its own server. */
int64_t camp_boot_time(void)
{
    struct native_time_of_day time = { 0 };
    ULONG length;

    if (camp_is_imitation() ||
        native_failed(NtQuerySystemInformation(OF_TIME_OF_DAY, &time, sizeof time, &length)))
        return 0;
    return time.boot_time;
}

static const char *machine(void)
{
    SYSTEM_INFO info;

    GetNativeSystemInfo(&info);
    switch (info.wProcessorArchitecture) {
    case PROCESSOR_ARCHITECTURE_AMD64:
        return "x86_64";
    case PROCESSOR_ARCHITECTURE_INTEL:
        return "i686";
    case 12: /* PROCESSOR_ARCHITECTURE_ARM64, which old headers lack */
        return "aarch64";
    default:
        return "unknown";
    }
}

/* GetVersionEx() reports an old version to programs without a manifest, this function never. */
static void copy_release(char *ret, size_t capacity)
{
    RTL_OSVERSIONINFOW version = { .dwOSVersionInfoSize = sizeof version };

    RtlGetVersion(&version);
    snprintf(ret, capacity, "%lu.%lu.%lu", (unsigned long)version.dwMajorVersion,
             (unsigned long)version.dwMinorVersion, (unsigned long)version.dwBuildNumber);
}

/* On an imitation, the host counts the time. How it does that, Windows' interface does not show. */
static void fill_accounting(struct camp_kernel *kernel)
{
    if (camp_is_imitation())
        return;
    *kernel = camp_usual.kernel;
    kernel->known |= CAMP_KERNEL_TICK;
    kernel->tick_hz = (uint32_t)(NS_PER_S / camp_tick_ns());
    kernel->cycles_hz = camp_cycles_hz();
    if (kernel->cycles_hz != 0)
        kernel->known |= CAMP_KERNEL_CYCLES;
}

int camp_kernel_read(const struct camp_source *source, struct camp_kernel *ret, size_t size,
                     struct camp_error *error)
{
    struct camp_kernel kernel = { 0 };
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    fill_accounting(&kernel);
    kernel.known |= CAMP_KERNEL_IMITATION;
    kernel.imitation = camp_is_imitation();
    strcpy(kernel.system, "Windows");
    copy_release(kernel.release, sizeof kernel.release);
    strcpy(kernel.machine, machine());
    camp_hand_out(ret, size, &kernel, sizeof kernel);
    return CAMP_OK;
}
