/* Laws about the numbers that Wine does not have. On Wine all are skipped: nobody has seen them
 * hold yet. An owner of a machine with Windows runs this program to see whether they do. */
#include "machine.h"

#include <camp/system.h>

#include <intrin.h>

#define MOST_CPUS 512
#define MOST_DISKS 64
#define PAGE 4096u
#define PAGES 1000u
#define MIB (1u << 20)

static void need_windows(void)
{
    if (!is_wine())
        return;
    printf("Wine does not have this number\n");
    skip();
}

static struct camp_task read_self(void)
{
    const struct camp_process own = own_process();
    struct camp_task task;

    assert_int_equal(camp_process_read(NULL, &own, CAMP_TASK_ALL, &task, sizeof task, NULL),
                     CAMP_OK);
    return task;
}

static double seconds_of_counter(void)
{
    LARGE_INTEGER counter, frequency;

    QueryPerformanceCounter(&counter);
    QueryPerformanceFrequency(&frequency);
    return (double)counter.QuadPart / (double)frequency.QuadPart;
}

static void the_rate_of_the_cycles_is_that_of_the_time_stamp_counter(void **state)
{
    struct camp_kernel kernel;
    double seconds, rate;
    uint64_t cycles;

    (void)state;
    need_windows();
    assert_int_equal(camp_kernel_read(NULL, &kernel, sizeof kernel, NULL), CAMP_OK);
    assert_true((kernel.known & CAMP_KERNEL_CYCLES) != 0);
    seconds = seconds_of_counter();
    cycles = __rdtsc();
    Sleep(1000);
    seconds = seconds_of_counter() - seconds;
    rate = (double)(__rdtsc() - cycles) / seconds;
    printf("registry %llu Hz, measured %.0f Hz\n", (unsigned long long)kernel.cycles_hz, rate);
    assert_true(rate > 0.998 * (double)kernel.cycles_hz && rate < 1.002 * (double)kernel.cycles_hz);
}

static void a_load_is_measured_by_cycles_and_sampled_by_ticks(void **state)
{
    struct camp_task before, after;
    uint64_t elapsed, cpu, sampled;

    (void)state;
    need_windows();
    SetPriorityClass(GetCurrentProcess(), HIGH_PRIORITY_CLASS);
    before = read_self();
    burn_ms(2000);
    after = read_self();
    elapsed = after.time_ns - before.time_ns;
    cpu = after.cpu_ns - before.cpu_ns;
    sampled = after.sampled_ns - before.sampled_ns;
    printf("elapsed %llu, cycles %llu, ticks %llu ns\n", (unsigned long long)elapsed,
           (unsigned long long)cpu, (unsigned long long)sampled);
    assert_int_equal(after.cpu_provenance, CAMP_MEASURED);
    assert_in_range(cpu, elapsed * 9 / 10, elapsed * 101 / 100);
    assert_in_range(sampled, elapsed * 8 / 10, elapsed + 40000000u);
}

static void the_idle_cycles_of_a_cpu_are_never_more_than_the_time(void **state)
{
    static struct camp_cpu before[MOST_CPUS], after[MOST_CPUS];
    size_t count;

    (void)state;
    need_windows();
    assert_int_equal(camp_cpu_read_all(NULL, before, sizeof before[0], MOST_CPUS, &count, NULL),
                     CAMP_OK);
    Sleep(2000);
    assert_int_equal(camp_cpu_read_all(NULL, after, sizeof after[0], MOST_CPUS, &count, NULL),
                     CAMP_OK);
    assert_true((after[0].known & CAMP_CPU_IDLE_CYCLES) != 0);
    assert_true(after[0].idle_cycles_ns > before[0].idle_cycles_ns);
    for (size_t i = 1; i < count; i++) {
        uint64_t elapsed = after[i].time_ns - before[i].time_ns;
        uint64_t sum = after[i].user_ns + after[i].system_ns + after[i].idle_ns + after[i].irq_ns +
                       after[i].softirq_ns - before[i].user_ns - before[i].system_ns -
                       before[i].idle_ns - before[i].irq_ns - before[i].softirq_ns;

        assert_in_range(after[i].idle_cycles_ns - before[i].idle_cycles_ns, 0u,
                        elapsed * 101 / 100);
        assert_in_range(sum, elapsed - 100000000u, elapsed + 100000000u);
    }
}

static void touching_pages_causes_page_faults_and_commits_memory(void **state)
{
    struct camp_task before, after;
    volatile char *bytes;

    (void)state;
    need_windows();
    before = read_self();
    bytes = VirtualAlloc(NULL, PAGES * PAGE, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
    assert_non_null(bytes);
    for (size_t i = 0; i < PAGES; i++)
        bytes[i * PAGE] = 1;
    after = read_self();
    VirtualFree((void *)bytes, 0, MEM_RELEASE);
    assert_in_range(after.faults - before.faults, PAGES, 3 * PAGES);
    assert_in_range(after.committed_bytes - before.committed_bytes, PAGES * PAGE, 2 * PAGES * PAGE);
}

static void open_handles_are_counted(void **state)
{
    struct camp_task before, after;
    HANDLE events[10];

    (void)state;
    need_windows();
    before = read_self();
    for (size_t i = 0; i < COUNT(events); i++)
        events[i] = CreateEventW(NULL, FALSE, FALSE, NULL);
    after = read_self();
    for (size_t i = 0; i < COUNT(events); i++)
        CloseHandle(events[i]);
    assert_int_equal(after.handles - before.handles, COUNT(events));
}

static void each_sleep_is_a_context_switch(void **state)
{
    struct camp_task before, after;

    (void)state;
    need_windows();
    before = read_self();
    for (int i = 0; i < 50; i++)
        Sleep(1);
    after = read_self();
    assert_true(after.switches - before.switches >= 50);
    assert_int_equal(after.state, 'R');
}

static void the_start_of_a_process_is_its_age_before_now(void **state)
{
    struct camp_task task;
    FILETIME now;
    uint64_t age;

    (void)state;
    need_windows();
    task = read_self();
    GetSystemTimeAsFileTime(&now);
    age = (((uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime) - task.start) * 100;
    assert_true((task.known & CAMP_TASK_START) != 0);
    assert_in_range(task.started_ns + age, (GetTickCount64() - 1000) * 1000000,
                    (GetTickCount64() + 1000) * 1000000);
}

/* Writes 16 MiB to a file on the volume of the temporary folder, past all caches. */
static void write_file(char letter[4])
{
    char folder[MAX_PATH], path[MAX_PATH];
    void *bytes = VirtualAlloc(NULL, MIB, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
    DWORD written;
    HANDLE file;

    assert_true(GetTempPathA(MAX_PATH, folder) > 0);
    assert_true(GetTempFileNameA(folder, "cmp", 0, path) != 0);
    snprintf(letter, 4, "%c:", folder[0]);
    file = CreateFileA(path, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS,
                       FILE_FLAG_NO_BUFFERING | FILE_FLAG_WRITE_THROUGH | FILE_FLAG_DELETE_ON_CLOSE,
                       NULL);
    assert_true(file != INVALID_HANDLE_VALUE);
    for (int i = 0; i < 16; i++)
        assert_true(WriteFile(file, bytes, MIB, &written, NULL));
    CloseHandle(file);
    VirtualFree(bytes, 0, MEM_RELEASE);
}

static void written_bytes_are_counted_by_the_process_the_volume_and_a_drive(void **state)
{
    static struct camp_disk before[MOST_DISKS], after[MOST_DISKS];
    struct camp_task task_before, task_after;
    bool volume = false, drive = false;
    size_t count;
    char letter[4];

    (void)state;
    need_windows();
    assert_int_equal(
        camp_disk_read_all(NULL, 0, before, sizeof before[0], MOST_DISKS, &count, NULL), CAMP_OK);
    task_before = read_self();
    write_file(letter);
    task_after = read_self();
    assert_int_equal(camp_disk_read_all(NULL, 0, after, sizeof after[0], MOST_DISKS, &count, NULL),
                     CAMP_OK);
    assert_in_range(task_after.written_bytes - task_before.written_bytes, 16 * MIB, 17 * MIB);
    for (size_t i = 0; i < count; i++) {
        bool grown = after[i].written_bytes - before[i].written_bytes >= 16 * MIB &&
                     after[i].writes > before[i].writes && after[i].busy_ns > before[i].busy_ns;

        drive = drive || (grown && after[i].kind == CAMP_DISK_WHOLE);
        volume = volume || (grown && strcmp(after[i].name, letter) == 0);
    }
    assert_true(volume);
    assert_true(drive);
}

static void the_counts_of_the_system_include_those_of_this_process(void **state)
{
    struct camp_system before, after;
    struct camp_task mine, mine_later;
    uint64_t hz;

    (void)state;
    need_windows();
    assert_int_equal(camp_system_read(NULL, CAMP_SYSTEM_ALL, &before, sizeof before, NULL),
                     CAMP_OK);
    mine = read_self();
    for (int i = 0; i < 50; i++)
        Sleep(1);
    mine_later = read_self();
    assert_int_equal(camp_system_read(NULL, CAMP_SYSTEM_ALL, &after, sizeof after, NULL), CAMP_OK);
    assert_true((uint32_t)(after.context_switches - before.context_switches) >=
                mine_later.switches - mine.switches);
    assert_true((uint32_t)(after.faults - before.faults) >= mine_later.faults - mine.faults);
    assert_true(after.interrupts > before.interrupts);
    assert_true(after.running >= 1);
    assert_int_equal(camp_cpu_frequency_hz(NULL, 0, &hz, NULL), CAMP_OK);
    assert_in_range(hz, 100000000u, 10000000000u);
}

static void memory_has_a_commit_charge_below_its_limit(void **state)
{
    struct camp_memory memory;

    (void)state;
    need_windows();
    assert_int_equal(camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, NULL),
                     CAMP_OK);
    assert_int_equal(memory.known, CAMP_MEMORY_TOTAL | CAMP_MEMORY_AVAILABLE |
                                       CAMP_MEMORY_SWAP_TOTAL | CAMP_MEMORY_SWAP_FREE |
                                       CAMP_MEMORY_COMMITTED | CAMP_MEMORY_COMMIT_LIMIT);
    assert_in_range(memory.committed_bytes, 1u, memory.commit_limit_bytes);
    assert_in_range(memory.commit_limit_bytes, memory.total_bytes / 2,
                    memory.total_bytes + memory.swap_total_bytes);
    assert_true(memory.swap_free_bytes <= memory.swap_total_bytes);
}

static void the_command_line_is_that_of_the_program(void **state)
{
    const struct camp_process own = own_process();
    static char line[3 * 32767], expected[3 * 32767];
    size_t length;

    (void)state;
    need_windows();
    WideCharToMultiByte(CP_UTF8, 0, GetCommandLineW(), -1, expected, sizeof expected, NULL, NULL);
    assert_int_equal(
        camp_process_text(NULL, &own, CAMP_TEXT_COMMAND_LINE, line, sizeof line, &length, NULL),
        CAMP_OK);
    assert_int_equal(length, strlen(expected) + 1);
    assert_string_equal(line, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_of_the_cycles_is_that_of_the_time_stamp_counter),
        cmocka_unit_test(a_load_is_measured_by_cycles_and_sampled_by_ticks),
        cmocka_unit_test(the_idle_cycles_of_a_cpu_are_never_more_than_the_time),
        cmocka_unit_test(touching_pages_causes_page_faults_and_commits_memory),
        cmocka_unit_test(open_handles_are_counted),
        cmocka_unit_test(each_sleep_is_a_context_switch),
        cmocka_unit_test(the_start_of_a_process_is_its_age_before_now),
        cmocka_unit_test(written_bytes_are_counted_by_the_process_the_volume_and_a_drive),
        cmocka_unit_test(the_counts_of_the_system_include_those_of_this_process),
        cmocka_unit_test(the_command_line_is_that_of_the_program),
        cmocka_unit_test(memory_has_a_commit_charge_below_its_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
