/*
 * Verifies memory like the paper on CAMP (LISA '07): by steps of 976 KiB. The load writes to each
 * page of a step.
 *
 * Resident size: the kernel counts pages in batches. Each thread (since Linux 6.2, each CPU) may
 * have up to 63 pages that are not in the count yet. An act has many steps, so that this error is
 * small for each step. (An act is one run of the load: verify_subject.h.)
 *
 * Free memory is a number of the whole machine, and other processes change it too. So the median of
 * ACTS acts is compared with the size of the steps, and the allowed error comes from the scatter of
 * the acts. Each CPU has its own list of pages, often dozens of MiB, which the kernel does not
 * count as free. The number of pages in these lists is read from /proc/zoneinfo. WARM_UP acts
 * empty the lists first.
 */
#include "verify_trials.h"

#include "counters/error.h"
#include "verify_subject.h"
#include "verify_witness.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEP_BYTES (976u * 1024u)
#define STEPS 16u /* 16 steps are 15 MiB, and take about 4 ms. */
#define ACTS 41u
#define WARM_UP 8u
#define BATCH_PAGES 63.0
#define KIB 1024.0
/* In 97 of 100 cases, the true median is between the sorted values with these two indices (binomial
 * distribution). */
#define MEDIAN_LOW 13u
#define MEDIAN_HIGH 27u
/* In all but 2 of 100,000 cases, the true median is between the values with these two indices. */
#define SURELY_LOW 7u
#define SURELY_HIGH 33u
#define TABLE_PAGES 512.0 /* pages that one page of a page table maps, on 64-bit machines */

static int act_steps(const void *plan, void *truth, struct camp_error *error)
{
    const unsigned steps = *(const unsigned *)plan;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    (void)truth;
    for (unsigned i = 0; i < steps; i++) {
        unsigned char *used =
            mmap(NULL, STEP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (used == MAP_FAILED)
            return camp_fail(error, CAMP_E_NOMEM, errno, "no memory for a step of 976 KiB");
        madvise(used, STEP_BYTES, MADV_NOHUGEPAGE);
        for (size_t at = 0; at < STEP_BYTES; at += page)
            *(volatile unsigned char *)(used + at) = 1;
    }
    return CAMP_OK;
}

struct memory_trial {
    struct subject subject;
    unsigned steps;
    struct camp_task before, after;
    double batch_bytes; /* error of one reading of free memory */
    /* bytes that each act took from free memory and from the page lists of the CPUs */
    double used_bytes[ACTS];
    double faults; /* minor faults during the acts, by getrusage(2) */
    struct act_record
        most; /* upper bounds of the growth of the subject's counts (subject_since()) */
    struct camp_error task_error, free_error;
};

static int by_size(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;

    return first < second ? -1 : first > second;
}

static void read_free(struct memory_trial *trial, struct camp_memory *ret)
{
    if (trial->free_error.code == CAMP_OK)
        camp_memory_read(NULL, CAMP_MEMORY_TOTAL | CAMP_MEMORY_FREE, ret, sizeof *ret,
                         &trial->free_error);
}

/* Returns the sum of a number over all CPUs and zones, in bytes, or 0 if the kernel does not report
 * it. "count:" is the number of pages on the CPUs' own lists. "vm stats threshold:" is the number
 * of pages that a CPU may count before it updates the common count. */
static double zone_bytes(const char *name)
{
    return verify_sum_of("/proc/zoneinfo", name, 0) * (double)sysconf(_SC_PAGESIZE);
}

static int measure_act(struct memory_trial *trial, struct camp_error *error)
{
    const uint32_t wanted =
        CAMP_TASK_VIRTUAL | CAMP_TASK_RESIDENT | CAMP_TASK_MINOR_FAULTS | CAMP_TASK_MAJOR_FAULTS;
    struct act_record mark;
    struct camp_memory before = { 0 }, after = { 0 };
    int r = CAMP_OK;

    for (unsigned i = 0; i < WARM_UP && r == CAMP_OK; i++)
        r = subject_do(&trial->subject, error);
    trial->batch_bytes = zone_bytes("vm stats threshold:");
    mark = subject_mark(&trial->subject);
    subject_read(&trial->subject, wanted, &trial->before, &trial->task_error);
    for (unsigned i = 0; i < ACTS && r == CAMP_OK; i++) {
        double listed = zone_bytes("count:");

        read_free(trial, &before);
        r = subject_do(&trial->subject, error);
        read_free(trial, &after);
        listed -= zone_bytes("count:");
        trial->used_bytes[i] = (double)before.free_bytes - (double)after.free_bytes + listed;
        trial->faults += (double)subject_record(&trial->subject)->minor_faults;
    }
    subject_read(&trial->subject, wanted, &trial->after, &trial->task_error);
    if (r == CAMP_OK)
        r = subject_since(&trial->subject, &mark, &trial->most, error);
    return r;
}

static void judge_process(struct verification *verification, const struct memory_trial *trial)
{
    double steps = (double)trial->steps * ACTS, page = (double)sysconf(_SC_PAGESIZE);

    if (has_failed(verification, "memory-resident", &trial->task_error)) {
        has_failed(verification, "memory-virtual", &trial->task_error);
        has_failed(verification, "faults-minor", &trial->task_error);
        return;
    }
    decide(verification, "memory-resident", STEP_BYTES / KIB,
           ((double)trial->after.resident_bytes - (double)trial->before.resident_bytes) / steps /
               KIB,
           2 * BATCH_PAGES * page / steps / KIB);
    decide(verification, "memory-virtual", STEP_BYTES / KIB,
           ((double)trial->after.virtual_bytes - (double)trial->before.virtual_bytes) / steps / KIB,
           page / steps / KIB);
    decide_between(verification, "faults-minor", trial->faults,
                   (double)trial->after.minor_faults - (double)trial->before.minor_faults, 0,
                   (double)trial->most.minor_faults - trial->faults);
}

static void judge_free(struct verification *verification, struct memory_trial *trial)
{
    double *used = trial->used_bytes, reported, batch = 2 * trial->batch_bytes;
    double step = (double)trial->steps * KIB, page = (double)sysconf(_SC_PAGESIZE);

    if (has_failed(verification, "memory-free", &trial->free_error))
        return;
    qsort(used, ACTS, sizeof *used, by_size);
    reported = used[ACTS / 2];
    set_confidence(verification, "memory-free", (used[MEDIAN_HIGH] - used[MEDIAN_LOW]) / 2 / step);
    decide_between(verification, "memory-free", STEP_BYTES / KIB, reported / step,
                   (batch + used[SURELY_HIGH] - reported) / step,
                   (batch + reported - used[SURELY_LOW]) / step + STEP_BYTES / KIB / TABLE_PAGES +
                       page / step);
}

static void judge_total(struct verification *verification)
{
    double expected = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    struct camp_memory memory;
    struct camp_error error = { 0 };
    /* CAMP_MEMORY_ALL includes members that sysinfo(2) does not have, so the library reads
     * /proc/meminfo. */
    camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, &error);
    if (!has_failed(verification, "memory-total", &error))
        decide(verification, "memory-total", expected / KIB / KIB,
               (double)memory.total_bytes / KIB / KIB, 0);
}

void verify_memory(struct verification *verification)
{
    struct memory_trial trial = { .steps = STEPS };
    struct camp_memory memory;
    struct camp_error error = { 0 };
    int r;

    /* Together all steps may use at most an eighth of the available memory. */
    if (camp_memory_read(NULL, CAMP_MEMORY_AVAILABLE, &memory, sizeof memory, NULL) == CAMP_OK)
        while (trial.steps > 1 &&
               (uint64_t)trial.steps * STEP_BYTES * (ACTS + WARM_UP) > memory.available_bytes / 8)
            trial.steps /= 2;
    judge_total(verification);
    r = subject_open(&trial.subject, act_steps, &trial.steps, 0, &error);
    if (r == CAMP_OK)
        r = measure_act(&trial, &error);
    if (trial_succeeded(verification, r, &error, NULL)) {
        judge_process(verification, &trial);
        judge_free(verification, &trial);
    }
    subject_end(&trial.subject);
}
