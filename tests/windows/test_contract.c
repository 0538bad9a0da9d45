/* The contract of all functions that read: errors of wrong arguments, and several threads at once.
 */
#include "machine.h"

#include <camp/system.h>

#define READERS 4
#define ROUNDS 100

static void a_result_that_is_null_is_invalid(void **state)
{
    const struct camp_process process = own_process();
    const struct camp_thread thread = { process.pid, 4, 0 };
    struct camp_reader reader;

    (void)state;
    assert_int_equal(camp_cpu_count(NULL, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_cpu_list(NULL, NULL, 0, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_cpu_read(NULL, 0, NULL, 0, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_cpu_read_all(NULL, NULL, 0, 0, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_memory_read(NULL, 0, NULL, 0, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_network_read(NULL, "lo", NULL, 0, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_network_read_all(NULL, NULL, 0, 0, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_disk_read(NULL, "sda", NULL, 0, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_disk_read_all(NULL, 0, NULL, 0, 0, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_pid_list(NULL, NULL, 0, 0, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_process_identify(NULL, 1, NULL, 0, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_process_list(NULL, NULL, 0, 0, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_process_find(NULL, "sh", NULL, 0, 0, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_process_read(NULL, &process, 0, NULL, 0, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_thread_list(NULL, &process, NULL, 0, 0, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_thread_read(NULL, &thread, 0, NULL, 0, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_pid_cpu_ns(1, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_process_cpu_ns(NULL, &process, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_kernel_read(NULL, NULL, 0, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_reader_open_cpus(NULL, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_reader_open_memory(NULL, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_reader_open_networks(NULL, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_reader_open_disks(NULL, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_reader_open_process(NULL, NULL, &process, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_reader_open_process(&reader, NULL, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_system_read(NULL, 0, NULL, 0, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_cpu_frequency_hz(NULL, 0, NULL, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_process_text(NULL, &process, CAMP_TEXT_EXECUTABLE, NULL, 1, NULL, NULL),
                     CAMP_E_INVALID);
}

static void a_source_of_files_is_not_supported(void **state)
{
    const struct camp_source source = { "/proc", "/sys" };
    struct camp_process process = { .pid = 4 };
    struct camp_thread thread = { .pid = 4, .tid = 4 };
    struct camp_reader reader = { { 0 } };
    static struct camp_network networks[1];
    struct camp_kernel kernel;
    struct camp_disk disks[1];
    struct camp_cpu cpus[1];
    struct camp_error error;
    struct camp_task task;
    struct camp_pid pid;
    int32_t id;
    size_t n;

    (void)state;
    assert_int_equal(camp_cpu_count(&source, &n, &error), CAMP_E_NOTSUP);
    assert_non_null(strstr(error.message, "pass no source"));
    assert_int_equal(camp_cpu_list(&source, &id, 1, &n, NULL), CAMP_E_NOTSUP);
    assert_int_equal(camp_cpu_read(&source, 0, cpus, sizeof cpus[0], NULL), CAMP_E_NOTSUP);
    assert_int_equal(camp_cpu_read_all(&source, cpus, sizeof cpus[0], 1, &n, NULL), CAMP_E_NOTSUP);
    assert_int_equal(
        camp_memory_read(&source, 0, &(struct camp_memory){ 0 }, sizeof(struct camp_memory), NULL),
        CAMP_E_NOTSUP);
    assert_int_equal(camp_network_read(&source, "x", networks, sizeof networks[0], NULL),
                     CAMP_E_NOTSUP);
    assert_int_equal(camp_network_read_all(&source, networks, sizeof networks[0], 1, &n, NULL),
                     CAMP_E_NOTSUP);
    assert_int_equal(camp_disk_read(&source, "C:", disks, sizeof disks[0], NULL), CAMP_E_NOTSUP);
    assert_int_equal(camp_disk_read_all(&source, 0, disks, sizeof disks[0], 1, &n, NULL),
                     CAMP_E_NOTSUP);
    assert_int_equal(camp_pid_list(&source, &pid, sizeof pid, 1, &n, NULL), CAMP_E_NOTSUP);
    assert_int_equal(camp_process_identify(&source, 4, &process, sizeof process, NULL),
                     CAMP_E_NOTSUP);
    assert_int_equal(camp_process_list(&source, &process, sizeof process, 1, &n, NULL),
                     CAMP_E_NOTSUP);
    assert_int_equal(camp_process_find(&source, "x", &process, sizeof process, 1, &n, NULL),
                     CAMP_E_NOTSUP);
    assert_int_equal(camp_process_read(&source, &process, 0, &task, sizeof task, NULL),
                     CAMP_E_NOTSUP);
    assert_int_equal(camp_thread_list(&source, &process, &thread, sizeof thread, 1, &n, NULL),
                     CAMP_E_NOTSUP);
    assert_int_equal(camp_thread_read(&source, &thread, 0, &task, sizeof task, NULL),
                     CAMP_E_NOTSUP);
    assert_int_equal(camp_kernel_read(&source, &kernel, sizeof kernel, NULL), CAMP_E_NOTSUP);
    assert_int_equal(camp_reader_open_cpus(&reader, &source, NULL), CAMP_E_NOTSUP);
    assert_int_equal(camp_reader_open_process(&reader, &source, &process, NULL), CAMP_E_NOTSUP);
    assert_int_equal(
        camp_system_read(&source, 0, &(struct camp_system){ 0 }, sizeof(struct camp_system), NULL),
        CAMP_E_NOTSUP);
    assert_int_equal(camp_fork_count(NULL, &(uint64_t){ 0 }, &error), CAMP_E_NOTSUP);
}

/* Each thread reads its own process. Returns the number of readings that were wrong. */
static DWORD WINAPI read_often(void *unused)
{
    const struct camp_process own = own_process();
    struct camp_task task;
    struct camp_cpu cpu;
    uint64_t earlier = 0;
    DWORD wrong = 0;

    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        wrong += camp_process_read(NULL, &own, CAMP_TASK_ALL, &task, sizeof task, NULL) < 0 ||
                 task.start != own.start || task.threads < 2 || task.time_ns < earlier;
        earlier = task.time_ns;
        wrong += camp_cpu_read(NULL, CAMP_CPU_TOTAL, &cpu, sizeof cpu, NULL) < 0 ||
                 cpu.cpu != CAMP_CPU_TOTAL || cpu.idle_ns == 0;
    }
    return wrong;
}

static void several_threads_may_read_at_the_same_time(void **state)
{
    HANDLE threads[READERS];
    DWORD wrong;

    (void)state;
    for (int i = 0; i < READERS; i++)
        threads[i] = CreateThread(NULL, 0, read_often, NULL, CREATE_SUSPENDED, NULL);
    for (int i = 0; i < READERS; i++)
        ResumeThread(threads[i]);
    WaitForMultipleObjects(READERS, threads, TRUE, 60000);
    for (int i = 0; i < READERS; i++) {
        assert_true(GetExitCodeThread(threads[i], &wrong));
        assert_int_equal(wrong, 0);
        CloseHandle(threads[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_that_is_null_is_invalid),
        cmocka_unit_test(a_source_of_files_is_not_supported),
        cmocka_unit_test(several_threads_may_read_at_the_same_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
