/* How camp.exe, whose path is in CAMP_EXE, ends when the user presses Ctrl+C. All processes of a
 * console get that event, so this test has a console of its own, and ignores the event itself. */
#include "machine.h"

#define PAGE "test_stop.html"
#define CONTROL_EXIT 0xC000013A

static BOOL WINAPI ignore(DWORD event)
{
    return event == CTRL_C_EVENT;
}

static HANDLE start(void)
{
    SECURITY_ATTRIBUTES inherited = { .nLength = sizeof inherited, .bInheritHandle = TRUE };
    HANDLE nothing =
        CreateFileA("NUL", GENERIC_READ | GENERIC_WRITE, 0, &inherited, OPEN_EXISTING, 0, NULL);
    STARTUPINFOA startup = { .cb = sizeof startup,
                             .dwFlags = STARTF_USESTDHANDLES,
                             .hStdInput = nothing,
                             .hStdOutput = nothing,
                             .hStdError = nothing };
    PROCESS_INFORMATION process;
    char line[1024];

    snprintf(line, sizeof line, "\"%s\" check 600 --report " PAGE, getenv("CAMP_EXE"));
    assert_true(CreateProcessA(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process));
    CloseHandle(process.hThread);
    CloseHandle(nothing);
    return process.hProcess;
}

static DWORD end_of(HANDLE process)
{
    DWORD status = 0;

    if (WaitForSingleObject(process, 60000) != WAIT_OBJECT_0) {
        TerminateProcess(process, 99);
        WaitForSingleObject(process, INFINITE);
    }
    assert_true(GetExitCodeProcess(process, &status));
    CloseHandle(process);
    return status;
}

/* Whether the system ended the process, which had no handler yet. */
static bool is_too_early(DWORD status)
{
    return status == CONTROL_EXIT || (is_wine() && status == 0);
}

static DWORD status_after_event(DWORD delay_ms)
{
    DWORD status;
    HANDLE process = start();
    BOOL was_sent;

    Sleep(delay_ms);
    was_sent = GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0);
    if (!was_sent)
        TerminateProcess(process, 98);
    status = end_of(process);
    assert_true(was_sent);
    return status;
}

static void ctrl_c_ends_the_interval_of_camp_check_and_it_writes_its_report(void **state)
{
    DWORD status = CONTROL_EXIT;

    (void)state;
    if (getenv("CAMP_EXE") == NULL) {
        printf("skipped, not passed: CAMP_EXE names no camp.exe\n");
        skip();
    }
    FreeConsole();
    assert_true(AllocConsole());
    SetConsoleCtrlHandler(NULL, FALSE); /* a parent that ignores Ctrl+C passes that on */
    SetConsoleCtrlHandler(ignore, TRUE);
    DeleteFileA(PAGE);
    /* On a busy machine the program may need longer until it has its handler. */
    for (DWORD delay_ms = 500; is_too_early(status) && delay_ms < 30000; delay_ms *= 2)
        status = status_after_event(delay_ms);
    assert_int_equal(status, is_wine() ? 3 : 0); /* on Wine nothing is measured */
    assert_true(DeleteFileA(PAGE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ctrl_c_ends_the_interval_of_camp_check_and_it_writes_its_report),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
