/* libcamp reports the unknown ones as unknown: see the uses of camp_is_imitation(). A test compares
 * this table with what camp get shows on Wine. */
#include "imitation.h"

#include "windows.h"

#define ZERO "0"
#define NOTHING "an error"
#define UNSAID "nothing about the host's counts"

const struct imitated imitated_by_wine[] = {
    { "cpu.user_ns", "the host's, with nice time", "the same, in steps of 10 ms" },
    { "cpu.system_ns", "the host's, with interrupts, I/O wait and steal",
      "the same, in steps of 10 ms" },
    { "cpu.idle_ns", "the host's", "the same, in steps of 10 ms" },
    { "cpu.irq_ns", ZERO, NULL },
    { "cpu.softirq_ns", ZERO, NULL },
    { "cpu.idle_cycles_ns", "no function", NULL },
    { "cpu.*.frequency_hz", "a constant", NULL },
    { "memory.available_bytes", "an estimate: free, buffers and caches of the host", "the same" },
    { "memory.swap_total_bytes", NOTHING, NULL },
    { "memory.swap_free_bytes", NOTHING, NULL },
    { "memory.committed_bytes", "memory in use on the host", NULL },
    { "memory.commit_limit_bytes", "memory and swap of the host", NULL },
    { "disk.*.reads", NOTHING, NULL },
    { "disk.*.read_bytes", NOTHING, NULL },
    { "disk.*.read_ns", NOTHING, NULL },
    { "disk.*.writes", NOTHING, NULL },
    { "disk.*.written_bytes", NOTHING, NULL },
    { "disk.*.write_ns", NOTHING, NULL },
    { "disk.*.in_flight", NOTHING, NULL },
    { "disk.*.busy_ns", NOTHING, NULL },
    { "process.*.cpu_ns", NOTHING, NULL },
    { "process.*.user_ns", "a part of the host's measured time", "the same, provenance unknown" },
    { "process.*.system_ns", "a part of the host's measured time", "the same, provenance unknown" },
    { "process.*.sampled_ns", "a part of the host's measured time", NULL },
    { "process.*.faults", ZERO, NULL },
    { "process.*.committed_bytes", ZERO, NULL },
    { "process.*.handles", "a multiple of 32", NULL },
    { "process.*.switches", ZERO, NULL },
    { "process.*.read_bytes", ZERO, NULL },
    { "process.*.written_bytes", ZERO, NULL },
    { "process.*.other_bytes", ZERO, NULL },
    { "process.*.cycles", NOTHING, NULL },
    { "process.*.started_ns", "the boot is the start of Wine", NULL },
    { "process.*.state", "the same for every thread", NULL },
    { "kernel.tick_hz", "64, whatever the host's tick is", NULL },
    { "kernel.accounting", UNSAID, NULL },
    { "kernel.irq_time", UNSAID, NULL },
    { "kernel.short_idle_sampled", UNSAID, NULL },
    { "kernel.cycles_hz", "a rate, but counts no cycles", NULL },
    { "system.boot_time_ns", "the start of Wine", NULL },
    { "system.context_switches", ZERO, NULL },
    { "system.interrupts", ZERO, NULL },
    { "system.running", "the same state for every thread", NULL },
    { "system.faults", ZERO, NULL },
};

const size_t imitated_by_wine_count = sizeof imitated_by_wine / sizeof imitated_by_wine[0];

const char *wine_version(void)
{
    typedef const char *function(void);
    const HMODULE native = GetModuleHandleW(L"ntdll.dll");
    const FARPROC found = native != NULL ? GetProcAddress(native, "wine_get_version") : NULL;
    function *version;

    if (found == NULL)
        return NULL;
    memcpy(&version, &found, sizeof version);
    return version();
}

bool is_wine(void)
{
    return wine_version() != NULL;
}
