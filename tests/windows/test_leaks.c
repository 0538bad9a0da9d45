/* A thousand rounds of everything, and a thousand reloads of the DLL, leave no handle and no memory
 * behind. */
#include "machine.h"

#include <camp/system.h>

#define ROUNDS 1000

/* The system gives each new object the first free handle, so a leaked one moves the next. */
static uintptr_t next_handle(void)
{
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL);

    assert_non_null(event);
    CloseHandle(event);
    return (uintptr_t)event;
}

/* Bytes of the process heap that are in use. */
static uint64_t heap_bytes(void)
{
    PROCESS_HEAP_ENTRY entry = { 0 };
    uint64_t bytes = 0;

    HeapLock(GetProcessHeap());
    while (HeapWalk(GetProcessHeap(), &entry))
        if ((entry.wFlags & PROCESS_HEAP_ENTRY_BUSY) != 0)
            bytes += entry.cbData;
    HeapUnlock(GetProcessHeap());
    return bytes;
}

static void read_everything(const struct camp_process *own)
{
    static struct camp_process_usage usages[512];
    static struct camp_process processes[512];
    static struct camp_network networks[64];
    static struct camp_thread threads[512];
    static struct camp_cpu cpus[512];
    static struct camp_disk disks[64];
    static char text[4096];
    struct camp_reader reader = { { 0 } };
    struct camp_memory memory;
    struct camp_kernel kernel;
    struct camp_system system;
    struct camp_task task;
    uint64_t ns;
    size_t n;

    assert_int_equal(camp_cpu_read_all(NULL, cpus, sizeof cpus[0], 512, &n, NULL), CAMP_OK);
    assert_int_equal(camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, NULL),
                     CAMP_OK);
    assert_int_equal(camp_network_read_all(NULL, networks, sizeof networks[0], 64, &n, NULL),
                     CAMP_OK);
    assert_int_equal(camp_disk_read_all(NULL, 0, disks, sizeof disks[0], 64, &n, NULL), CAMP_OK);
    assert_int_equal(camp_kernel_read(NULL, &kernel, sizeof kernel, NULL), CAMP_OK);
    assert_int_equal(camp_process_list(NULL, processes, sizeof processes[0], 512, &n, NULL),
                     CAMP_OK);
    assert_int_equal(camp_process_read(NULL, own, CAMP_TASK_ALL, &task, sizeof task, NULL),
                     CAMP_OK);
    assert_int_equal(
        camp_process_read_all(NULL, CAMP_TASK_ALL, usages, sizeof usages[0], 512, &n, NULL),
        CAMP_OK);
    assert_int_equal(camp_thread_list(NULL, own, threads, sizeof threads[0], 512, &n, NULL),
                     CAMP_OK);
    assert_int_equal(camp_thread_read(NULL, &threads[0], CAMP_TASK_ALL, &task, sizeof task, NULL),
                     CAMP_OK);
    assert_int_equal(camp_reader_open_process(&reader, NULL, own, NULL), CAMP_OK);
    assert_int_equal(camp_reader_process(&reader, &task, sizeof task, NULL), CAMP_OK);
    camp_reader_close(&reader);
    assert_int_equal(camp_system_read(NULL, CAMP_SYSTEM_ALL, &system, sizeof system, NULL),
                     CAMP_OK);
    assert_int_equal(
        camp_process_text(NULL, own, CAMP_TEXT_EXECUTABLE, text, sizeof text, &n, NULL), CAMP_OK);
    camp_pid_cpu_ns(own->pid, &ns);
}

static void a_thousand_rounds_leave_no_handle_and_no_memory(void **state)
{
    const struct camp_process own = own_process();
    uintptr_t handle;
    uint64_t bytes;

    (void)state;
    for (int i = 0; i < 3; i++)
        read_everything(&own); /* what the system itself allocates at the first calls */
    handle = next_handle();
    bytes = heap_bytes();
    for (int i = 0; i < ROUNDS; i++)
        read_everything(&own);
    assert_int_equal(next_handle(), handle);
    assert_in_range(heap_bytes(), 0, bytes + ROUNDS);
}

/* Loads the DLL, reads a number by it, and unloads it. */
static void use_dll(const char *path)
{
    HMODULE dll = LoadLibraryA(path);
    int (*count)(const struct camp_source *, size_t *, struct camp_error *) =
        (void *)GetProcAddress(dll, "camp_cpu_count");
    const char *(*version)(void) = (void *)GetProcAddress(dll, "camp_version");
    size_t cpus = 0;

    assert_non_null(dll);
    assert_non_null(count);
    assert_non_null(version);
    assert_string_equal(version(), camp_version());
    assert_int_equal(count(NULL, &cpus, NULL), CAMP_OK);
    assert_true(cpus >= 1);
    assert_true(FreeLibrary(dll));
}

static void a_thousand_reloads_of_the_dll_leave_no_handle(void **state)
{
    const char *path = getenv("CAMP_DLL");
    uintptr_t handle;

    (void)state;
    assert_non_null(path);
    use_dll(path);
    handle = next_handle();
    for (int i = 0; i < ROUNDS; i++)
        use_dll(path);
    assert_null(GetModuleHandleA(path));
    assert_int_equal(next_handle(), handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_rounds_leave_no_handle_and_no_memory),
        cmocka_unit_test(a_thousand_reloads_of_the_dll_leave_no_handle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
