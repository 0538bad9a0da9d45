/* What camp.exe, whose path is in CAMP_EXE, does to its rights and to the console, which other
 * programs use after it. */
#include "machine.h"

#define PATIENCE_MS 60000

static HANDLE start(const char *arguments)
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

    snprintf(line, sizeof line, "\"%s\" %s", getenv("CAMP_EXE"), arguments);
    assert_true(CreateProcessA(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process));
    CloseHandle(process.hThread);
    CloseHandle(nothing);
    return process.hProcess;
}

static void stop(HANDLE process)
{
    TerminateProcess(process, 0);
    WaitForSingleObject(process, PATIENCE_MS);
    CloseHandle(process);
}

/* Returns the attributes of SeDebugPrivilege in a process, or 0 if it is not there. */
static DWORD debug_privilege(HANDLE process)
{
    _Alignas(
        TOKEN_PRIVILEGES) char bytes[sizeof(TOKEN_PRIVILEGES) + 64 * sizeof(LUID_AND_ATTRIBUTES)];
    const TOKEN_PRIVILEGES *all = (const TOKEN_PRIVILEGES *)bytes;
    DWORD size, attributes = 0;
    HANDLE token;
    LUID wanted;

    assert_true(LookupPrivilegeValueW(NULL, L"SeDebugPrivilege", &wanted));
    assert_true(OpenProcessToken(process, TOKEN_QUERY, &token));
    assert_true(GetTokenInformation(token, TokenPrivileges, bytes, sizeof bytes, &size));
    for (DWORD i = 0; i < all->PrivilegeCount; i++)
        if (all->Privileges[i].Luid.LowPart == wanted.LowPart)
            attributes = all->Privileges[i].Attributes;
    CloseHandle(token);
    return attributes;
}

static bool enables_the_privilege(const char *arguments, DWORD wait_ms)
{
    HANDLE process = start(arguments);
    bool is_enabled = false;

    for (DWORD waited = 0; waited < wait_ms && !is_enabled; waited += 20) {
        Sleep(20);
        is_enabled = (debug_privilege(process) & SE_PRIVILEGE_ENABLED) != 0;
    }
    assert_int_equal(WaitForSingleObject(process, 0), WAIT_TIMEOUT);
    stop(process);
    return is_enabled;
}

static void only_commands_that_open_processes_enable_the_right_to_open_all(void **state)
{
    static const char *const without[] = { "load cpu --duration 600", "load sleep --duration 600",
                                           "probe --rate 1 --duration 600" };

    (void)state;
    if (getenv("CAMP_EXE") == NULL) {
        printf("skipped, not passed: CAMP_EXE names no camp.exe\n");
        skip();
    }
    if ((debug_privilege(GetCurrentProcess()) & SE_PRIVILEGE_ENABLED) != 0) {
        printf("skipped, not passed: children inherit the right that is enabled here\n");
        skip();
    }
    assert_true(enables_the_privilege("check 600", PATIENCE_MS));
    assert_true(enables_the_privilege("get memory.total_bytes 600 2", PATIENCE_MS));
    for (size_t i = 0; i < COUNT(without); i++)
        assert_false(enables_the_privilege(without[i], 2000));
}

static void the_code_page_of_the_console_is_restored(void **state)
{
    const UINT before = GetConsoleOutputCP();
    const UINT other = 850;
    HANDLE process;

    (void)state;
    if (getenv("CAMP_EXE") == NULL) {
        printf("skipped, not passed: CAMP_EXE names no camp.exe\n");
        skip();
    }
    if (before == 0) {
        printf("skipped, not passed: no console here; tests/windows/commands makes one\n");
        skip();
    }
    assert_true(SetConsoleOutputCP(other));
    process = start("get memory.total_bytes 0.5 600");
    for (DWORD waited = 0; waited < PATIENCE_MS && GetConsoleOutputCP() == other; waited += 20)
        Sleep(20);
    assert_int_equal(GetConsoleOutputCP(), CP_UTF8); /* the test would see nothing otherwise */
    stop(process);
    assert_true(SetConsoleOutputCP(other));
    process = start("get memory.total_bytes");
    assert_int_equal(WaitForSingleObject(process, PATIENCE_MS), WAIT_OBJECT_0);
    CloseHandle(process);
    assert_int_equal(GetConsoleOutputCP(), other);
    SetConsoleOutputCP(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_commands_that_open_processes_enable_the_right_to_open_all),
        cmocka_unit_test(the_code_page_of_the_console_is_restored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
