/* Verifies what Windows knows of a process: handles, threads, switches, its state, age and name. */
#include "verify_trials.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "program/command.h"

#include <camp/system.h>

#include <math.h>

#define THREADS_MAX 1024
#define AGE_NS (1500ull * NS_PER_MS)
#define CLOCK_MS 35.0 /* the wall clock, of the start and of now, changes at ticks */

void verify_handles(struct verification *verification)
{
    struct observed observed = { .before = { .known = 0 } };
    struct camp_error error = { 0 };
    int r = observe(&observed, ACT_HANDLES, NULL, 0, &error);

    if (trial_succeeded(verification, r, &error, NULL) &&
        is_observed(verification, "handles", &observed, CAMP_TASK_HANDLES, "handles"))
        decide(verification, "handles", ACT_COUNT,
               (double)observed.after.handles - (double)observed.before.handles, 2);
    subject_end(&observed.subject);
}

static double listed_threads(const struct subject *subject, struct camp_error *error)
{
    static struct camp_thread threads[THREADS_MAX];
    size_t count = 0;

    camp_thread_list(NULL, &subject->process, threads, sizeof threads[0], THREADS_MAX, &count,
                     error);
    return (double)count;
}

void verify_threads(struct verification *verification)
{
    struct camp_task before = { .known = 0 }, after = { .known = 0 };
    struct camp_error error = { 0 }, library = { 0 }, list_error = { 0 };
    struct subject subject;
    double listed = 0;
    int r = subject_open(&subject, ACT_THREADS, NULL, 0, &error);

    if (r == CAMP_OK) {
        camp_process_read(NULL, &subject.process, CAMP_TASK_THREADS, &before, sizeof before,
                          &library);
        listed = -listed_threads(&subject, &list_error);
        r = subject_do(&subject, &error);
    }
    if (r == CAMP_OK && library.code == CAMP_OK)
        camp_process_read(NULL, &subject.process, CAMP_TASK_THREADS, &after, sizeof after,
                          &library);
    if (r == CAMP_OK && list_error.code == CAMP_OK)
        listed += listed_threads(&subject, &list_error);
    if (trial_succeeded(verification, r, &error, NULL)) {
        if (!has_failed(verification, "threads", &library) &&
            is_known(verification, "threads", before.known & after.known, CAMP_TASK_THREADS,
                     "threads"))
            decide(verification, "threads", ACT_THREADS_MADE,
                   (double)after.threads - (double)before.threads, 0);
        if (!has_failed(verification, "threads-listed", &list_error))
            decide(verification, "threads-listed", ACT_THREADS_MADE, listed, 0);
    }
    subject_end(&subject);
}

static void judge_system(struct verification *verification, const struct camp_system *before,
                         const struct camp_system *after, const struct camp_error *error)
{
    const uint32_t known = before->known & after->known;

    if (!has_failed(verification, "system-switches", error) &&
        is_known(verification, "system-switches", known, CAMP_SYSTEM_CONTEXT_SWITCHES, "switches"))
        decide_between(verification, "system-switches", ACT_COUNT,
                       (double)(uint32_t)(after->context_switches - before->context_switches), 0,
                       ANY);
    if (!has_failed(verification, "system-running", error) &&
        is_known(verification, "system-running", known, CAMP_SYSTEM_RUNNING, "running threads"))
        decide_between(verification, "system-running", 1, (double)after->running, 0, ANY);
}

void verify_sleeps(struct verification *verification)
{
    struct camp_system before = { .known = 0 }, after = { .known = 0 };
    struct observed observed = { .before = { .known = 0 } };
    struct camp_error error = { 0 }, system_error = { 0 };
    int r;

    camp_system_read(NULL, CAMP_SYSTEM_ALL, &before, sizeof before, &system_error);
    r = observe(&observed, ACT_SLEEPS, NULL, 0, &error);
    if (system_error.code == CAMP_OK)
        camp_system_read(NULL, CAMP_SYSTEM_ALL, &after, sizeof after, &system_error);
    if (trial_succeeded(verification, r, &error, NULL)) {
        if (is_observed(verification, "switches", &observed, CAMP_TASK_SWITCHES, "switches"))
            decide_between(verification, "switches", ACT_COUNT,
                           (double)(uint32_t)(observed.after.switches - observed.before.switches),
                           0, ANY);
        if (is_observed(verification, "process-state", &observed, CAMP_TASK_STATE,
                        "the states of threads"))
            decide(verification, "process-state", 1, observed.after.state == 'S', 0);
        judge_system(verification, &before, &after, &system_error);
    }
    subject_end(&observed.subject);
}

/* The file name without its folder and without ".exe". */
static void copy_name(char ret[CAMP_NAME_SIZE], const char *path, size_t length)
{
    const char *name = path;

    for (size_t i = 0; i < length; i++)
        if (path[i] == '\\' || path[i] == '/')
            name = path + i + 1;
    length -= (size_t)(name - path);
    if (length > 4 && _strnicmp(name + length - 4, ".exe", 4) == 0)
        length -= 4;
    snprintf(ret, CAMP_NAME_SIZE, "%.*s", (int)length, name);
}

static bool is_same_name(const char *own, const char *path, size_t length)
{
    char first[CAMP_NAME_SIZE], second[CAMP_NAME_SIZE];

    copy_name(first, own, strlen(own));
    copy_name(second, path, length);
    return _stricmp(first, second) == 0;
}

static void judge_name(struct verification *verification, const struct subject *subject)
{
    static char own[UTF8_PATH_SIZE], path[UTF8_PATH_SIZE];
    struct camp_error error = { 0 };
    struct camp_task task;
    size_t length = 0;

    GetModuleFileNameA(NULL, own, sizeof own);
    camp_process_read(NULL, &subject->process, CAMP_TASK_NAME | CAMP_TASK_PARENT, &task,
                      sizeof task, &error);
    if (error.code == CAMP_OK)
        camp_process_text(NULL, &subject->process, CAMP_TEXT_EXECUTABLE, path, sizeof path, &length,
                          &error);
    if (!has_failed(verification, "process-name", &error))
        decide(verification, "process-name", 1,
               task.parent == (int32_t)GetCurrentProcessId() &&
                   is_same_name(own, task.name, strlen(task.name)) &&
                   is_same_name(own, path, length < sizeof path ? length : sizeof path),
               0);
}

/* The command line of this program, which need not be asked of a subject. */
static void judge_arguments(struct verification *verification)
{
    static char own[UTF8_PATH_SIZE], reported[UTF8_PATH_SIZE]; /* no longer than a path */
    struct camp_process itself;
    struct camp_error error = { 0 };
    size_t length = 0;

    if (is_of_wine(verification, "process-arguments", "does not report command lines"))
        return;
    WideCharToMultiByte(CP_UTF8, 0, GetCommandLineW(), -1, own, sizeof own, NULL, NULL);
    if (camp_process_identify(NULL, (int32_t)GetCurrentProcessId(), &itself, sizeof itself,
                              &error) == CAMP_OK)
        camp_process_text(NULL, &itself, CAMP_TEXT_COMMAND_LINE, reported, sizeof reported, &length,
                          &error);
    if (!has_failed(verification, "process-arguments", &error))
        decide(verification, "process-arguments", 1,
               length == strlen(own) + 1 && memcmp(own, reported, length) == 0, 0);
}

static double age_by_start_ms(const struct camp_task *task)
{
    FILETIME now;

    GetSystemTimeAsFileTime(&now);
    return ((double)((uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime) -
            (double)task->start) /
           1e4;
}

void verify_age(struct verification *verification)
{
    struct subject subject;
    struct camp_error error = { 0 }, library = { 0 };
    struct camp_task task = { .known = 0 };
    int r = subject_open(&subject, ACT_SLEEPS, NULL, 0, &error);

    sleep_until(subject.started_ns + AGE_NS);
    if (r == CAMP_OK)
        camp_process_read(NULL, &subject.process, CAMP_TASK_START, &task, sizeof task, &library);
    if (trial_succeeded(verification, r, &error, &library)) {
        const double age = (double)(now_ns(CLOCK_MONOTONIC) - subject.created_ns) / MS;
        const double above = (double)(subject.created_ns - subject.started_ns) / MS + CLOCK_MS;

        decide_between(verification, "process-start", age, age_by_start_ms(&task), CLOCK_MS, above);
        if (is_known(verification, "process-started", task.known, CAMP_TASK_START,
                     "the time since boot"))
            decide_between(verification, "process-started", age,
                           (double)GetTickCount64() - (double)task.started_ns / MS, CLOCK_MS,
                           above);
        judge_name(verification, &subject);
        judge_arguments(verification);
    }
    subject_end(&subject);
}
