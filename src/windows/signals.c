/*
 * Standard descriptors, the end of a command, and sleeps. Windows has no signals: it calls a
 * handler in a thread of its own when the user presses Ctrl+C or Ctrl+Break, closes the console
 * window, logs off, or shuts the computer down.
 */
#include "program/command.h"
#include "windows.h"

#include "counters/clock.h"

#include <errno.h>
#include <fcntl.h>

volatile sig_atomic_t stop_requested;

/* Missing in the headers of mingw-w64 10. */
#ifndef CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
#define CREATE_WAITABLE_TIMER_HIGH_RESOLUTION 0x2
#endif

static HANDLE stop;

HANDLE stop_event(void)
{
    return stop;
}

static UINT code_page_before;

/* The code page is that of the console, which other programs use later. */
static void restore_code_page(void)
{
    SetConsoleOutputCP(code_page_before);
}

/* Passes the event on. The next handler is that of the system, which ends the process. */
static BOOL WINAPI restore_before_end(DWORD event)
{
    (void)event;
    restore_code_page();
    return FALSE;
}

static void choose_code_page(void)
{
    code_page_before = GetConsoleOutputCP();
    if (code_page_before == 0 || code_page_before == CP_UTF8 || !SetConsoleOutputCP(CP_UTF8))
        return;
    atexit(restore_code_page);
    SetConsoleCtrlHandler(restore_before_end, TRUE);
}

void prepare_program(void)
{
    /* Files and pipes get the same bytes on every system: no carriage return before a newline. */
    _fmode = _O_BINARY;
    _setmode(STDIN_FILENO, _O_BINARY);
    _setmode(STDOUT_FILENO, _O_BINARY);
    _setmode(STDERR_FILENO, _O_BINARY);
    /* The manifest (camp.manifest) makes UTF-8 the code page of names and arguments. The C library
     * of mingw-w64 knows no UTF-8 in wide characters, so the locale stays "C". */
    choose_code_page();
}

/* A child process inherits no handler. */
void restore_signals(void)
{
}

/* After the handler of a closed window returns, the system ends the process, so the handler waits
 * for the command to end. Windows gives it 5 seconds. */
static BOOL WINAPI request_stop(DWORD event)
{
    stop_requested = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT ? SIGINT : SIGTERM;
    SetEvent(stop);
    if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT)
        Sleep(5000);
    return TRUE;
}

void stop_on_signals(void)
{
    if (stop == NULL)
        stop = CreateEventW(NULL, TRUE, FALSE, NULL);
    SetConsoleCtrlHandler(request_stop, TRUE);
}

/* Waits for the timer, or for the stop event. Returns EINTR for the latter. */
static int wait_for(HANDLE timer)
{
    const HANDLE both[] = { timer, stop };
    const DWORD r = WaitForMultipleObjects(stop != NULL ? 2 : 1, both, FALSE, INFINITE);

    return r == WAIT_OBJECT_0 + 1 ? EINTR : r == WAIT_OBJECT_0 ? 0 : EINVAL;
}

int windows_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                            struct timespec *unused)
{
    const uint64_t end_ns = ns_of_timespec(*until), start_ns = now_ns(CLOCK_MONOTONIC);
    /* A negative time is from now, in units of 100 ns. */
    LARGE_INTEGER due = { .QuadPart = -(LONGLONG)((end_ns - start_ns + 99) / 100) };
    HANDLE timer;
    int r = EINVAL;

    (void)flags;
    (void)unused;
    if (clock != CLOCK_MONOTONIC)
        return EINVAL;
    if (end_ns <= start_ns)
        return stop_requested ? EINTR : 0;
    /* Windows 10, 1803, has timers that do not end at the tick. */
    timer =
        CreateWaitableTimerExW(NULL, NULL, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, TIMER_ALL_ACCESS);
    if (timer == NULL)
        timer = CreateWaitableTimerW(NULL, TRUE, NULL);
    if (timer == NULL)
        return EINVAL;
    if (SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE))
        r = wait_for(timer);
    CloseHandle(timer);
    return r;
}
