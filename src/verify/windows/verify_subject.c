/* A subject shares memory and two events with its parent. It ends when its parent ends. */
#include "verify_subject.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "load/load_tools.h"
#include "program/command.h"

#define PATIENCE_MS 30000
#define SIZE_MAX_OF_PLAN 256u
#define SIZE_MAX_OF_TRUTH 512u
/* After this time the subject sleeps, if its state is unknown. */
#define SETTLE_NS (5u * NS_PER_MS)

struct subject_shared {
    HANDLE start, over; /* events, whose handles the subject inherits */
    int result;
    struct camp_error error;
    struct act_record record;
    _Alignas(max_align_t) unsigned char plan[SIZE_MAX_OF_PLAN];
    _Alignas(max_align_t) unsigned char truth[SIZE_MAX_OF_TRUTH];
};

_Static_assert(sizeof(struct load_cpu_plan) <= SIZE_MAX_OF_PLAN, "a plan fits");
_Static_assert(sizeof(struct load_io_plan) <= SIZE_MAX_OF_PLAN, "a plan fits");
_Static_assert(sizeof(struct load_cpu_truth) <= SIZE_MAX_OF_TRUTH, "a truth fits");
_Static_assert(sizeof(struct load_io_truth) <= SIZE_MAX_OF_TRUTH, "a truth fits");

static int act_memory(const void *plan, void *ret_truth, struct camp_error *error)
{
    volatile unsigned char *memory =
        VirtualAlloc(NULL, ACT_MEMORY_BYTES, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    SYSTEM_INFO system;

    (void)plan, (void)ret_truth;
    if (memory == NULL)
        return windows_failed(error, GetLastError(), "memory of a load");
    GetSystemInfo(&system);
    for (size_t at = 0; at < ACT_MEMORY_BYTES; at += system.dwPageSize)
        memory[at] = 1;
    return CAMP_OK;
}

static int act_handles(const void *plan, void *ret_truth, struct camp_error *error)
{
    (void)plan, (void)ret_truth;
    for (int i = 0; i < ACT_COUNT; i++)
        if (CreateEventW(NULL, FALSE, FALSE, NULL) == NULL)
            return windows_failed(error, GetLastError(), "an event of a load");
    return CAMP_OK;
}

static DWORD WINAPI sleep_for_ever(void *unused)
{
    (void)unused;
    Sleep(INFINITE);
    return 0;
}

static int act_threads(const void *plan, void *ret_truth, struct camp_error *error)
{
    (void)plan, (void)ret_truth;
    for (int i = 0; i < ACT_THREADS_MADE; i++)
        if (CreateThread(NULL, 0, sleep_for_ever, NULL, 0, NULL) == NULL)
            return windows_failed(error, GetLastError(), "a thread of a load");
    return CAMP_OK;
}

static int act_sleeps(const void *plan, void *ret_truth, struct camp_error *error)
{
    (void)plan, (void)ret_truth, (void)error;
    for (int i = 0; i < ACT_COUNT; i++)
        Sleep(1);
    return CAMP_OK;
}

static load_function *const acts[] = {
    [ACT_CPU] = load_cpu,        [ACT_FILE] = load_io,        [ACT_MEMORY] = act_memory,
    [ACT_HANDLES] = act_handles, [ACT_THREADS] = act_threads, [ACT_SLEEPS] = act_sleeps,
};

static struct act_record now_of_self(void)
{
    const struct load_faults faults = load_faults();

    return (struct act_record){ load_process_ns(),
                                now_ns(CLOCK_MONOTONIC),
                                { faults.has_all, faults.all } };
}

static void perform(struct subject_shared *shared, load_function *act)
{
    const struct act_record before = now_of_self();
    struct act_record after;

    shared->result = act(shared->plan, shared->truth, &shared->error);
    after = now_of_self();
    after.own_ns -= before.own_ns;
    after.wall_ns -= before.wall_ns;
    after.faults.count -= before.faults.count;
    shared->record = after;
}

int child_subject(const struct child_role *role)
{
    struct subject_shared *shared = section_map(role->section);
    HANDLE both[2];

    if (shared == NULL || role->numbers[0] >= sizeof acts / sizeof acts[0])
        return STATUS_FAILURE;
    both[0] = shared->start;
    both[1] = role->parent;
    load_process_ns(); /* measures the rate of the cycles */
    for (;;) {
        SetEvent(shared->over);
        if (WaitForMultipleObjects(2, both, FALSE, INFINITE) != WAIT_OBJECT_0)
            return STATUS_OK;
        perform(shared, acts[role->numbers[0]]);
    }
}

/* Waits until the subject sleeps. */
static int wait_asleep(struct subject *subject, struct camp_error *error)
{
    struct camp_task task;
    int r = camp_process_identify(NULL, (int32_t)subject->child.pid, &subject->process,
                                  sizeof subject->process, error);

    for (unsigned i = 0; i < PATIENCE_MS && r == CAMP_OK; i++) {
        r = camp_process_read(NULL, &subject->process, CAMP_TASK_STATE, &task, sizeof task, error);
        if (r == CAMP_OK && !(task.known & CAMP_TASK_STATE))
            return sleep_until(now_ns(CLOCK_MONOTONIC) + SETTLE_NS) ? CAMP_OK : CAMP_E_GONE;
        if (r == CAMP_OK && task.state == 'S')
            return CAMP_OK;
        if (!sleep_until(now_ns(CLOCK_MONOTONIC) + NS_PER_MS))
            break;
    }
    return r != CAMP_OK ? r : camp_fail(error, CAMP_E_GONE, 0, "a load did not fall asleep");
}

static int wait_over(struct subject *subject, struct camp_error *error)
{
    const HANDLE both[] = { subject->shared->over, subject->child.process };

    if (WaitForMultipleObjects(2, both, FALSE, PATIENCE_MS) != WAIT_OBJECT_0 || stop_requested)
        return camp_fail(error, CAMP_E_GONE, 0, "stopped, or a load did not end in time");
    return wait_asleep(subject, error);
}

int subject_open(struct subject *ret, enum act act, const void *plan, size_t plan_size,
                 struct camp_error *error)
{
    SECURITY_ATTRIBUTES inherited = { sizeof inherited, NULL, TRUE };
    struct subject_shared *shared;

    *ret = (struct subject){ .started_ns = 0 };
    clock_has_cycles(); /* measures the rate of the cycles, which the child gets */
    shared = section_create(sizeof *shared, &ret->section);
    if (shared == NULL)
        return windows_failed(error, GetLastError(), "memory shared with a load");
    ret->shared = shared;
    shared->start = CreateEventW(&inherited, FALSE, FALSE, NULL);
    shared->over = CreateEventW(&inherited, FALSE, FALSE, NULL);
    if (shared->start == NULL || shared->over == NULL)
        return windows_failed(error, GetLastError(), "an event shared with a load");
    if (plan != NULL)
        memcpy(shared->plan, plan, plan_size);
    ret->started_ns = now_ns(CLOCK_MONOTONIC);
    if (!child_start(&ret->child, "subject", ret->section, act, 0))
        return windows_failed(error, GetLastError(), "a process for a load");
    ret->created_ns = now_ns(CLOCK_MONOTONIC);
    return wait_over(ret, error);
}

int subject_do(struct subject *subject, struct camp_error *error)
{
    int r;

    SetEvent(subject->shared->start);
    r = wait_over(subject, error);
    if (r != CAMP_OK || subject->shared->result == CAMP_OK)
        return r;
    if (error != NULL)
        *error = subject->shared->error;
    return subject->shared->result;
}

const struct act_record *subject_record(const struct subject *subject)
{
    return &subject->shared->record;
}

const void *subject_truth(const struct subject *subject)
{
    return subject->shared->truth;
}

void subject_end(struct subject *subject)
{
    if (subject->child.process != NULL) {
        TerminateProcess(subject->child.process, 0);
        WaitForSingleObject(subject->child.process, PATIENCE_MS);
        CloseHandle(subject->child.process);
    }
    if (subject->shared != NULL) {
        if (subject->shared->start != NULL)
            CloseHandle(subject->shared->start);
        if (subject->shared->over != NULL)
            CloseHandle(subject->shared->over);
        UnmapViewOfFile(subject->shared);
    }
    if (subject->section != NULL)
        CloseHandle(subject->section);
    *subject = (struct subject){ .started_ns = 0 };
}

static void read_task(struct observed *observed, struct camp_task *ret)
{
    if (observed->library.code == CAMP_OK)
        camp_process_read(NULL, &observed->subject.process, CAMP_TASK_ALL, ret, sizeof *ret,
                          &observed->library);
}

int observe(struct observed *ret, enum act act, const void *plan, size_t plan_size,
            struct camp_error *error)
{
    int r = subject_open(&ret->subject, act, plan, plan_size, error);

    ret->library = (struct camp_error){ .code = CAMP_OK };
    if (r == CAMP_OK)
        read_task(ret, &ret->before);
    if (r == CAMP_OK)
        r = subject_do(&ret->subject, error);
    if (r == CAMP_OK)
        read_task(ret, &ret->after);
    return r;
}
