/* The contract of all functions that read: errors of wrong arguments, and several threads at once.
 */
#include "../unit/counters/wrong_arguments.h"
#include "machine.h"

#define READERS 4
#define ROUNDS 100

static void the_message_names_the_argument_that_is_null(void **state)
{
    (void)state;
    expect_arguments_that_are_null_to_be_named();
}

static void a_call_without_an_array_counts(void **state)
{
    (void)state;
    expect_calls_without_space_to_count((int32_t)GetCurrentProcessId());
}

static void the_message_names_the_number_that_is_out_of_range(void **state)
{
    (void)state;
    expect_numbers_out_of_range_to_be_named();
}

static void a_source_of_files_is_not_supported(void **state)
{
    const struct camp_source source = { "/proc", "/sys" };
    struct camp_error advice;

    (void)state;
    assert_int_equal(camp_cpu_count(&source, &count, &advice), CAMP_E_NOTSUP);
    assert_non_null(strstr(advice.message, "pass no source"));
    for (size_t i = 0; i < COUNT(calls); i++) {
        struct camp_error error = { 0 };
        int r = calls[i].call(&source, &error);

        if (r != CAMP_E_NOTSUP || error.code != r || error.message[0] == '\0')
            fail_msg("%s: the result is %s (%s)", calls[i].name, camp_result_name(r),
                     error.message);
    }
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
        cmocka_unit_test(the_message_names_the_argument_that_is_null),
        cmocka_unit_test(a_call_without_an_array_counts),
        cmocka_unit_test(the_message_names_the_number_that_is_out_of_range),
        cmocka_unit_test(a_source_of_files_is_not_supported),
        cmocka_unit_test(several_threads_may_read_at_the_same_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
