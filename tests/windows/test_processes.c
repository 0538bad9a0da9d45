/* Processes and threads: children of this program, and its own threads. */
#include "machine.h"

#include <camp/system.h>

#define MOST 512
#define CHILD_MS 30000

static struct camp_process processes[MOST];
static struct camp_thread threads[MOST];

struct child {
    HANDLE process;
    struct camp_process identity;
    WCHAR path[MAX_PATH];
};

/* Starts a copy of this program, which sleeps. A copy with another name is made if `name` is not
 * NULL. */
static struct child start_child(const WCHAR *name)
{
    WCHAR own[MAX_PATH], folder[MAX_PATH], line[] = L"child sleep";
    STARTUPINFOW startup = { .cb = sizeof startup };
    PROCESS_INFORMATION information;
    struct child child = { 0 };

    assert_true(GetModuleFileNameW(NULL, own, MAX_PATH) > 0);
    wcscpy(child.path, own);
    if (name != NULL) {
        assert_true(GetTempPathW(MAX_PATH, folder) > 0);
        assert_true(wcslen(folder) + wcslen(name) < MAX_PATH);
        wcscat(wcscpy(child.path, folder), name);
        assert_true(CopyFileW(own, child.path, FALSE));
    }
    assert_true(
        CreateProcessW(child.path, line, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &information));
    CloseHandle(information.hThread);
    child.process = information.hProcess;
    assert_int_equal(camp_process_identify(NULL, (int32_t)information.dwProcessId, &child.identity,
                                           sizeof child.identity, NULL),
                     CAMP_OK);
    return child;
}

static void end_child(struct child *child, const WCHAR *name)
{
    TerminateProcess(child->process, 0);
    assert_int_equal(WaitForSingleObject(child->process, 10000), WAIT_OBJECT_0);
    CloseHandle(child->process);
    if (name != NULL)
        DeleteFileW(child->path);
}

static void the_processes_are_listed_by_pid_with_their_identities(void **state)
{
    const struct camp_process own = own_process();
    static struct camp_pid pids[MOST];
    size_t count, pid_count, found = 0;

    (void)state;
    assert_int_equal(camp_process_list(NULL, processes, sizeof processes[0], MOST, &count, NULL),
                     CAMP_OK);
    for (size_t i = 0; i < count; i++) {
        assert_true(processes[i].pid > (i == 0 ? 0 : processes[i - 1].pid));
        found += processes[i].pid == own.pid && processes[i].start == own.start;
    }
    assert_int_equal(found, 1);
    assert_int_equal(camp_pid_list(NULL, pids, sizeof pids[0], MOST, &pid_count, NULL), CAMP_OK);
    assert_true(pid_count >= 1);
    assert_int_equal(camp_process_list(NULL, processes, sizeof processes[0], 0, &count, NULL),
                     CAMP_E_SPACE);
    assert_true(count >= 1);
}

static void all_processes_are_read_in_one_call(void **state)
{
    static struct camp_process_usage usages[MOST];
    const struct camp_process own = own_process();
    size_t count, found = 0;

    (void)state;
    assert_int_equal(
        camp_process_read_all(NULL, CAMP_TASK_ALL, usages, sizeof usages[0], MOST, &count, NULL),
        CAMP_OK);
    for (size_t i = 0; i < count; i++) {
        assert_true(usages[i].process.pid > (i == 0 ? 0 : usages[i - 1].process.pid));
        assert_int_equal(usages[i].process.start, usages[i].task.start);
        if (usages[i].process.pid == own.pid && usages[i].process.start == own.start) {
            assert_string_equal(usages[i].task.name, "test_processes.exe");
            found++;
        }
    }
    assert_int_equal(found, 1);
}

static void a_process_knows_its_name_parent_memory_and_threads(void **state)
{
    const struct camp_process own = own_process();
    struct child child = start_child(NULL);
    struct camp_task task;

    (void)state;
    assert_int_equal(
        camp_process_read(NULL, &child.identity, CAMP_TASK_ALL, &task, sizeof task, NULL), CAMP_OK);
    end_child(&child, NULL);
    assert_string_equal(task.name, "test_processes.exe");
    assert_int_equal(task.parent, own.pid);
    assert_int_equal(task.start, child.identity.start);
    assert_true(task.start > own.start);
    assert_true(task.threads >= 1);
    assert_true(task.resident_bytes >= 1u << 16);
    assert_true(task.virtual_bytes >= task.resident_bytes);
}

static void counts_that_wine_does_not_have_are_unknown(void **state)
{
    const struct camp_process own = own_process();
    struct camp_task task;
    uint64_t cpu_ns;

    (void)state;
    need_wine();
    assert_int_equal(camp_process_read(NULL, &own, CAMP_TASK_ALL, &task, sizeof task, NULL),
                     CAMP_OK);
    assert_int_equal(task.known, CAMP_TASK_USER | CAMP_TASK_SYSTEM | CAMP_TASK_VIRTUAL |
                                     CAMP_TASK_RESIDENT | CAMP_TASK_THREADS | CAMP_TASK_NAME |
                                     CAMP_TASK_PARENT);
    assert_int_equal(task.split_provenance, CAMP_UNKNOWN);
    assert_int_equal(task.handles + task.faults + task.switches + task.read_bytes, 0);
    assert_int_equal(camp_process_cpu_ns(NULL, &own, &cpu_ns, NULL), CAMP_E_NOTSUP);
    assert_int_equal(camp_pid_cpu_ns(own.pid, &cpu_ns), CAMP_E_NOTSUP);
}

static void the_time_of_a_process_grows_with_its_load(void **state)
{
    const struct camp_process own = own_process();
    struct camp_task before, after;
    uint64_t grown, elapsed;

    (void)state;
    assert_int_equal(camp_process_read(NULL, &own, CAMP_TASK_USER, &before, sizeof before, NULL),
                     CAMP_OK);
    burn_ms(500);
    assert_int_equal(camp_process_read(NULL, &own, CAMP_TASK_USER, &after, sizeof after, NULL),
                     CAMP_OK);
    grown = after.user_ns + after.system_ns - before.user_ns - before.system_ns;
    elapsed = after.time_ns - before.time_ns;
    assert_in_range(grown, 1, elapsed + 40000000u);
}

static void a_process_with_a_name_of_unicode_is_found_by_it(void **state)
{
    static const WCHAR name[] = L"gr\u00f6\u00dfe-\u65e5\u672c.exe";
    struct child child = start_child(name);
    struct camp_task task;
    size_t count, count_of_capitals, count_of_none;
    int r;

    (void)state;
    r = camp_process_find(NULL,
                          "gr\xc3\xb6\xc3\x9f"
                          "e-\xe6\x97\xa5\xe6\x9c\xac.exe",
                          processes, sizeof processes[0], MOST, &count, NULL);
    camp_process_read(NULL, &child.identity, CAMP_TASK_NAME, &task, sizeof task, NULL);
    camp_process_find(NULL,
                      "GR\xc3\x96\xc3\x9f"
                      "E-\xe6\x97\xa5\xe6\x9c\xac.EXE",
                      NULL, sizeof processes[0], 0, &count_of_capitals, NULL);
    camp_process_find(NULL, "no such.exe", NULL, sizeof processes[0], 0, &count_of_none, NULL);
    end_child(&child, name);
    assert_int_equal(r, CAMP_OK);
    assert_int_equal(count, 1);
    assert_int_equal(processes[0].pid, child.identity.pid);
    assert_string_equal(task.name, "gr\xc3\xb6\xc3\x9f"
                                   "e-\xe6\x97\xa5\xe6\x9c\xac.exe");
    assert_int_equal(count_of_capitals, 1);
    assert_int_equal(count_of_none, 0);
    assert_int_equal(
        camp_process_find(NULL, "\xff.exe", processes, sizeof processes[0], MOST, &count, NULL),
        CAMP_E_INVALID);
}

static void the_executable_of_a_process_is_its_path(void **state)
{
    static const WCHAR name[] = L"caf\u00e9.exe";
    struct child child = start_child(name);
    char expected[3 * MAX_PATH], path[3 * MAX_PATH], start[4];
    struct camp_error error;
    size_t length, whole;
    int r, cut, line;

    (void)state;
    WideCharToMultiByte(CP_UTF8, 0, child.path, -1, expected, sizeof expected, NULL, NULL);
    r = camp_process_text(NULL, &child.identity, CAMP_TEXT_EXECUTABLE, path, sizeof path, &length,
                          NULL);
    cut = camp_process_text(NULL, &child.identity, CAMP_TEXT_EXECUTABLE, start, sizeof start,
                            &whole, &error);
    line = camp_process_text(NULL, &child.identity, CAMP_TEXT_COMMAND_LINE, path, sizeof path,
                             &whole, NULL);
    end_child(&child, name);
    assert_int_equal(r, CAMP_OK);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(path, expected, length);
    assert_int_equal(cut, CAMP_E_SPACE);
    assert_int_equal(whole, length);
    assert_memory_equal(start, expected, sizeof start);
    assert_int_equal(line, is_wine() ? CAMP_E_NOTSUP : CAMP_OK); /* test_real.c has its text */
    assert_int_equal(camp_process_text(NULL, &child.identity, CAMP_TEXT_EXECUTABLE, path,
                                       sizeof path, &length, NULL),
                     CAMP_E_GONE);
}

static void a_process_that_has_ended_is_gone(void **state)
{
    struct camp_reader reader = { { 0 } };
    struct child child = start_child(NULL);
    struct camp_process later = child.identity;
    struct camp_task task;
    struct camp_error error;
    uint64_t cpu_ns;

    (void)state;
    later.start++;
    assert_int_equal(camp_process_read(NULL, &later, 0, &task, sizeof task, &error), CAMP_E_GONE);
    assert_non_null(strstr(error.message, "another"));
    assert_int_equal(camp_reader_open_process(&reader, NULL, &later, NULL), CAMP_E_GONE);
    assert_int_equal(camp_reader_open_process(&reader, NULL, &child.identity, NULL), CAMP_OK);
    assert_int_equal(camp_reader_process(&reader, &task, sizeof task, NULL), CAMP_OK);
    assert_int_equal(task.start, child.identity.start);
    end_child(&child, NULL);
    assert_int_equal(camp_reader_process(&reader, &task, sizeof task, NULL), CAMP_E_GONE);
    assert_int_equal(camp_process_read(NULL, &child.identity, 0, &task, sizeof task, NULL),
                     CAMP_E_GONE);
    assert_int_equal(camp_pid_cpu_ns(child.identity.pid, &cpu_ns), CAMP_E_GONE);
    camp_reader_close(&reader);
    camp_reader_close(&reader);
    assert_int_equal(camp_reader_process(&reader, &task, sizeof task, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_pid_cpu_ns(child.identity.pid, &cpu_ns), CAMP_E_GONE);
}

static HANDLE stop;

static DWORD WINAPI wait_in_thread(void *unused)
{
    (void)unused;
    WaitForSingleObject(stop, INFINITE);
    return 0;
}

static DWORD WINAPI burn_in_thread(void *unused)
{
    (void)unused;
    burn_ms(400);
    WaitForSingleObject(stop, INFINITE);
    return 0;
}

static size_t list_own_threads(void)
{
    const struct camp_process own = own_process();
    size_t count;

    assert_int_equal(camp_thread_list(NULL, &own, threads, sizeof threads[0], MOST, &count, NULL),
                     CAMP_OK);
    for (size_t i = 1; i < count; i++)
        assert_true(threads[i].tid > threads[i - 1].tid);
    return count;
}

static struct camp_thread thread_of(DWORD tid)
{
    size_t count = list_own_threads();

    for (size_t i = 0; i < count; i++)
        if (threads[i].tid == (int32_t)tid)
            return threads[i];
    fail_msg("thread %lu is not listed", tid);
    return threads[0];
}

static void the_threads_of_a_process_are_listed(void **state)
{
    size_t before = list_own_threads();
    struct camp_thread identity;
    struct camp_task task;
    HANDLE handles[3];
    DWORD tids[3];

    (void)state;
    stop = CreateEventW(NULL, TRUE, FALSE, NULL);
    for (int i = 0; i < 3; i++)
        handles[i] = CreateThread(NULL, 0, wait_in_thread, NULL, 0, &tids[i]);
    assert_int_equal(list_own_threads(), before + 3);
    identity = thread_of(tids[1]);
    assert_int_equal(camp_thread_read(NULL, &identity, CAMP_TASK_ALL, &task, sizeof task, NULL),
                     CAMP_OK);
    assert_int_equal(task.start, identity.start);
    assert_int_equal(task.threads, before + 3);
    SetEvent(stop);
    WaitForMultipleObjects(3, handles, TRUE, 10000);
    for (int i = 0; i < 3; i++)
        CloseHandle(handles[i]);
    for (int i = 0; i < 100 && list_own_threads() != before; i++)
        Sleep(20);
    assert_int_equal(list_own_threads(), before);
    assert_int_equal(camp_thread_read(NULL, &identity, 0, &task, sizeof task, NULL), CAMP_E_GONE);
    CloseHandle(stop);
}

static void the_time_of_a_thread_is_its_own(void **state)
{
    struct camp_task busy, idle;
    struct camp_thread identity;
    HANDLE handles[2];
    DWORD tids[2];

    (void)state;
    stop = CreateEventW(NULL, TRUE, FALSE, NULL);
    handles[0] = CreateThread(NULL, 0, burn_in_thread, NULL, 0, &tids[0]);
    handles[1] = CreateThread(NULL, 0, wait_in_thread, NULL, 0, &tids[1]);
    Sleep(1000);
    identity = thread_of(tids[0]);
    assert_int_equal(camp_thread_read(NULL, &identity, CAMP_TASK_USER, &busy, sizeof busy, NULL),
                     CAMP_OK);
    identity = thread_of(tids[1]);
    assert_int_equal(camp_thread_read(NULL, &identity, CAMP_TASK_USER, &idle, sizeof idle, NULL),
                     CAMP_OK);
    SetEvent(stop);
    WaitForMultipleObjects(2, handles, TRUE, 10000);
    CloseHandle(handles[0]);
    CloseHandle(handles[1]);
    CloseHandle(stop);
    assert_true(busy.user_ns + busy.system_ns > idle.user_ns + idle.system_ns);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_processes_are_listed_by_pid_with_their_identities),
        cmocka_unit_test(all_processes_are_read_in_one_call),
        cmocka_unit_test(a_process_knows_its_name_parent_memory_and_threads),
        cmocka_unit_test(counts_that_wine_does_not_have_are_unknown),
        cmocka_unit_test(the_time_of_a_process_grows_with_its_load),
        cmocka_unit_test(a_process_with_a_name_of_unicode_is_found_by_it),
        cmocka_unit_test(the_executable_of_a_process_is_its_path),
        cmocka_unit_test(a_process_that_has_ended_is_gone),
        cmocka_unit_test(the_threads_of_a_process_are_listed),
        cmocka_unit_test(the_time_of_a_thread_is_its_own),
    };

    (void)argv;
    if (argc > 1) {
        Sleep(CHILD_MS);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
