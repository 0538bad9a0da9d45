/* A subject shares memory and two semaphores with its parent. */
#include "verify_subject.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "load/load_tools.h"
#include "program/command.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS (30ull * NS_PER_S)
/* bytes in a unit of ru_inblock and ru_oublock: task_io_get_inblock() in
 * include/linux/task_io_accounting_ops.h */
#define RUSAGE_BLOCK 512u

struct subject_shared {
    sem_t start, over;
    uint64_t started_ns;
    bool only_reads;        /* The subject is woken only to read its clocks, not for an act. */
    struct act_record last; /* the last reading of the subject's clocks and counts */
    int result;
    struct camp_error error;
    struct act_record record;
    _Alignas(max_align_t) unsigned char truth[];
};

static struct act_record now_of_self(void)
{
    struct act_record now = { 0 };
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        now.read_bytes = RUSAGE_BLOCK * (uint64_t)usage.ru_inblock;
        now.written_bytes = RUSAGE_BLOCK * (uint64_t)usage.ru_oublock;
        now.minor_faults = (uint64_t)usage.ru_minflt;
        now.major_faults = (uint64_t)usage.ru_majflt;
        now.voluntary_switches = (uint64_t)usage.ru_nvcsw;
        now.involuntary_switches = (uint64_t)usage.ru_nivcsw;
    }
    now.wall_ns = now_ns(CLOCK_MONOTONIC);
    now.own_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    return now;
}

static struct act_record record_between(const struct act_record *a, const struct act_record *b)
{
    return (struct act_record){
        .own_ns = b->own_ns - a->own_ns,
        .wall_ns = b->wall_ns - a->wall_ns,
        .read_bytes = b->read_bytes - a->read_bytes,
        .written_bytes = b->written_bytes - a->written_bytes,
        .minor_faults = b->minor_faults - a->minor_faults,
        .major_faults = b->major_faults - a->major_faults,
        .voluntary_switches = b->voluntary_switches - a->voluntary_switches,
        .involuntary_switches = b->involuntary_switches - a->involuntary_switches,
    };
}

static void subject_run(struct subject_shared *shared, pid_t parent, load_function *act,
                        const void *plan)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent)
        _exit(0);
    /* A page fault between a reading of the clocks and the next sleep would not be recorded. So
     * this first reading touches all pages that later readings need. */
    shared->last = now_of_self();
    for (;;) {
        struct act_record before, after;

        sem_post(&shared->over);
        while (sem_wait(&shared->start) != 0)
            if (stop_requested)
                _exit(0);
        before = now_of_self();
        shared->last = before;
        if (shared->only_reads)
            continue;
        shared->result = act(plan, shared->truth, &shared->error);
        after = now_of_self();
        shared->record = record_between(&before, &after);
        shared->record.start_delay_ns = before.wall_ns - shared->started_ns;
        shared->last = after;
    }
}

/* Waits until the act is over and the subject sleeps on the semaphore `start`. */
static int wait_over(struct subject *subject, struct camp_error *error)
{
    const uint64_t until = now_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    struct camp_task task;

    if (!load_semaphore_wait(&subject->shared->over, until))
        return camp_fail(error, CAMP_E_GONE, 0, "stopped, or a load did not end in time");
    do {
        int r = camp_process_identify(NULL, (int32_t)subject->pid, &subject->process,
                                      sizeof subject->process, error);

        if (r == CAMP_OK)
            r = camp_process_read(NULL, &subject->process, CAMP_TASK_STATE, &task, sizeof task,
                                  error);
        if (r != CAMP_OK)
            return r;
        if (task.state == 'S')
            return CAMP_OK;
    } while (sleep_until(now_ns(CLOCK_MONOTONIC) + NS_PER_MS / 4) &&
             now_ns(CLOCK_MONOTONIC) < until);
    return camp_fail(error, CAMP_E_GONE, 0, "stopped, or a load did not fall asleep");
}

int subject_open(struct subject *subject, load_function *act, const void *plan, size_t truth_size,
                 struct camp_error *error)
{
    struct subject_shared *shared;
    pid_t parent = getpid();

    *subject = (struct subject){ .size = sizeof *shared + truth_size };
    shared = mmap(NULL, subject->size, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (shared == MAP_FAILED)
        return camp_fail_errno(error, errno, "memory shared with a load");
    subject->shared = shared;
    sem_init(&shared->start, 1, 0);
    sem_init(&shared->over, 1, 0);
    subject->pid = fork();
    if (subject->pid == 0)
        subject_run(shared, parent, act, plan);
    if (subject->pid < 0)
        return camp_fail_errno(error, errno, "a process for a load");
    return wait_over(subject, error);
}

void subject_start(struct subject *subject)
{
    subject->shared->started_ns = now_ns(CLOCK_MONOTONIC);
    sem_post(&subject->shared->start);
}

int subject_wait(struct subject *subject, struct camp_error *error)
{
    int r = wait_over(subject, error);

    if (!subject->shared->only_reads) /* the record is of the last act */
        subject->shared->record.until_asleep_ns =
            now_ns(CLOCK_MONOTONIC) - subject->shared->last.wall_ns;
    if (r == CAMP_OK && subject->shared->result != CAMP_OK) {
        r = subject->shared->result;
        if (error != NULL)
            *error = subject->shared->error;
    }
    return r;
}

int subject_do(struct subject *subject, struct camp_error *error)
{
    subject_start(subject);
    return subject_wait(subject, error);
}

struct act_record subject_mark(const struct subject *subject)
{
    return subject->shared->last;
}

int subject_since(struct subject *subject, const struct act_record *mark, struct act_record *ret,
                  struct camp_error *error)
{
    int r;

    subject->shared->only_reads = true;
    r = subject_do(subject, error);
    subject->shared->only_reads = false;
    if (r == CAMP_OK)
        *ret = record_between(mark, &subject->shared->last);
    return r;
}

const void *subject_truth(const struct subject *subject)
{
    return subject->shared->truth;
}

const struct act_record *subject_record(const struct subject *subject)
{
    return &subject->shared->record;
}

void subject_end(struct subject *subject)
{
    if (subject->pid > 0) {
        kill(subject->pid, SIGKILL);
        while (waitpid(subject->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    if (subject->shared != NULL)
        munmap(subject->shared, subject->size);
    *subject = (struct subject){ 0 };
}

void subject_read(const struct subject *subject, uint32_t wanted, struct camp_task *ret,
                  struct camp_error *library)
{
    if (library->code == CAMP_OK &&
        camp_process_read(NULL, &subject->process, wanted, ret, sizeof *ret, library) == CAMP_OK &&
        (ret->known & wanted) != wanted)
        camp_fail(library, CAMP_E_NOTSUP, 0,
                  "this kernel does not count it, or you lack the permission to read it");
}

int observed_open(struct observed *observed, size_t count, load_function *act, const void *plan,
                  size_t truth_size, uint32_t wanted, struct camp_error *library,
                  struct camp_error *error)
{
    int r = CAMP_OK;

    for (size_t i = 0; i < count && r == CAMP_OK; i++)
        r = subject_open(&observed[i].subject, act, plan, truth_size, error);
    for (size_t i = 0; i < count && r == CAMP_OK; i++) {
        observed[i].mark = subject_mark(&observed[i].subject);
        subject_read(&observed[i].subject, wanted, &observed[i].before, library);
    }
    return r;
}

int observed_act(struct observed *observed, size_t count, uint32_t wanted,
                 struct camp_error *library, struct camp_error *error)
{
    int r = CAMP_OK;

    for (size_t i = 0; i < count; i++)
        subject_start(&observed[i].subject);
    for (size_t i = 0; i < count && r == CAMP_OK; i++)
        r = subject_wait(&observed[i].subject, error);
    for (size_t i = 0; i < count && r == CAMP_OK; i++)
        subject_read(&observed[i].subject, wanted, &observed[i].after, library);
    return r;
}

int observed_bound(struct observed *observed, size_t count, struct camp_error *error)
{
    int r = CAMP_OK;

    for (size_t i = 0; i < count && r == CAMP_OK; i++)
        r = subject_since(&observed[i].subject, &observed[i].mark, &observed[i].most, error);
    return r;
}

int observe(struct observed *observed, size_t count, load_function *act, const void *plan,
            size_t truth_size, uint32_t wanted, struct camp_error *library,
            struct camp_error *error)
{
    int r = observed_open(observed, count, act, plan, truth_size, wanted, library, error);

    if (r == CAMP_OK)
        r = observed_act(observed, count, wanted, library, error);
    return r == CAMP_OK ? observed_bound(observed, count, error) : r;
}
