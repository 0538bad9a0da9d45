/*
 * Memory, as the paper validated it: steps of 976 KiB, each page of them written to.
 *
 * Resident size: the kernel counts pages in batches, up to 63 pages of each thread off (CPU, since
 * 6.2), at both ends; over all steps that is little of each. Free memory is the machine's: the
 * median of ACTS acts is compared with the steps, within the scatter of the acts, because other
 * processes allocate and free memory, too. The kernel does not count pages on a CPU's own list as
 * free, often dozens of MiB. So the pages that came from these lists are read in /proc/zoneinfo,
 * and WARM_UP acts empty the lists first.
 */
#include "verify.h"

#include "program/command.h"
#include "verify_subject.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEP_BYTES (976u * 1024u)
#define STEPS 16u /* an act: 15 MiB, in some 4 ms */
#define ACTS 41u
#define WARM_UP 8u
#define BATCH_PAGES 63.0
#define KIB 1024.0
#define MEDIAN_LOW 13u  /* of 41 values in order, the 14th and the 28th */
#define MEDIAN_HIGH 27u /* hold the median between them, in 97 of 100 cases */
#define SURELY_LOW 7u   /* the 8th and the 34th, in all but 2 of 100,000 (the binomial law) */
#define SURELY_HIGH 33u
#define TABLE_PAGES 512.0 /* pages of memory that one page of a page table maps, on 64 bits */

struct steps_plan {
    unsigned steps;
};

static int act_steps(const void *plan, void *truth, struct camp_error *error)
{
    const struct steps_plan *steps = plan;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    (void)truth;
    for (unsigned i = 0; i < steps->steps; i++) {
        unsigned char *used =
            mmap(NULL, STEP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (used == MAP_FAILED) {
            snprintf(error->message, sizeof error->message, "no memory for a step of 976 KiB");
            return CAMP_E_NOMEM;
        }
        madvise(used, STEP_BYTES, MADV_NOHUGEPAGE);
        for (size_t at = 0; at < STEP_BYTES; at += page)
            *(volatile unsigned char *)(used + at) = 1;
    }
    return CAMP_OK;
}

struct memory_trial {
    struct subject subject;
    struct steps_plan plan;
    struct camp_task before, after;
    double batch_bytes;      /* the error of one reading of free memory */
    double used_bytes[ACTS]; /* of the machine's free memory and the CPUs' lists, in each act */
    double faults;           /* by getrusage over the acts */
    struct act_record most;  /* upper bounds (verify_subject.h) */
    int result, free_result; /* of the library */
    struct camp_error error, free_error;
};

static int by_size(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;

    return first < second ? -1 : first > second;
}

static void read_free(struct memory_trial *trial, struct camp_memory *ret)
{
    if (trial->free_result == CAMP_OK)
        trial->free_result = camp_memory_read(NULL, CAMP_MEMORY_TOTAL | CAMP_MEMORY_FREE, ret,
                                              sizeof *ret, &trial->free_error);
}

/* A sum over all CPUs and zones of /proc/zoneinfo, in bytes: "count:" has the pages on the CPUs'
 * own lists, and "vm stats threshold:" how many pages a CPU may count on its own before it updates
 * the common count. 0: the kernel does not report it. */
static double zone_bytes(const char *name)
{
    FILE *file = fopen("/proc/zoneinfo", "r");
    double pages = 0;
    char line[160];

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *text = line + strspn(line, " ");

        if (strncmp(text, name, strlen(name)) == 0)
            pages += strtod(text + strlen(name), NULL);
    }
    if (file != NULL)
        fclose(file);
    return pages * (double)sysconf(_SC_PAGESIZE);
}

static int measure_act(struct memory_trial *trial, struct camp_error *error)
{
    const uint32_t wanted = CAMP_TASK_SIZE | CAMP_TASK_FAULTS;
    struct act_record mark;
    struct camp_memory before = { 0 }, after = { 0 };
    int r = CAMP_OK;

    for (unsigned i = 0; i < WARM_UP && r == CAMP_OK; i++)
        r = subject_do(&trial->subject, error);
    trial->batch_bytes = zone_bytes("vm stats threshold:");
    mark = subject_mark(&trial->subject);
    trial->result = camp_process_read(NULL, &trial->subject.process, wanted, &trial->before,
                                      sizeof trial->before, &trial->error);
    for (unsigned i = 0; i < ACTS && r == CAMP_OK; i++) {
        double listed = zone_bytes("count:");

        read_free(trial, &before);
        r = subject_do(&trial->subject, error);
        read_free(trial, &after);
        listed -= zone_bytes("count:");
        trial->used_bytes[i] = (double)before.free_bytes - (double)after.free_bytes + listed;
        trial->faults += (double)subject_record(&trial->subject)->minor_faults;
    }
    if (trial->result == CAMP_OK)
        trial->result = camp_process_read(NULL, &trial->subject.process, wanted, &trial->after,
                                          sizeof trial->after, &trial->error);
    if (r == CAMP_OK)
        r = subject_since(&trial->subject, &mark, &trial->most, error);
    return r;
}

static void judge_process(struct verification *verification, const struct memory_trial *trial)
{
    double steps = (double)trial->plan.steps * ACTS, page = (double)sysconf(_SC_PAGESIZE);

    if (trial->result != CAMP_OK) {
        decide_failure(verification, "memory-resident", trial->result, &trial->error);
        decide_failure(verification, "memory-virtual", trial->result, &trial->error);
        decide_failure(verification, "faults-minor", trial->result, &trial->error);
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
    double step = (double)trial->plan.steps * KIB, page = (double)sysconf(_SC_PAGESIZE);

    if (trial->free_result != CAMP_OK) {
        decide_failure(verification, "memory-free", trial->free_result, &trial->free_error);
        return;
    }
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
    /* sysinfo(2) lacks these, so the library reads /proc/meminfo. */
    int r = camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, &error);

    if (r != CAMP_OK)
        decide_failure(verification, "memory-total", r, &error);
    else
        decide(verification, "memory-total", expected / KIB / KIB,
               (double)memory.total_bytes / KIB / KIB, 0);
}

static void run_memory(struct verification *verification)
{
    struct memory_trial trial = { .subject = SUBJECT_NONE, .plan = { STEPS } };
    struct camp_memory memory;
    struct camp_error error = { 0 };
    int r;

    /* At most an eighth of what is available. */
    if (camp_memory_read(NULL, CAMP_MEMORY_AVAILABLE, &memory, sizeof memory, NULL) == CAMP_OK)
        while (trial.plan.steps > 1 && (uint64_t)trial.plan.steps * STEP_BYTES * (ACTS + WARM_UP) >
                                           memory.available_bytes / 8)
            trial.plan.steps /= 2;
    judge_total(verification);
    r = subject_open(&trial.subject, act_steps, &trial.plan, 0, &error);
    if (r == CAMP_OK)
        r = measure_act(&trial, &error);
    if (r != CAMP_OK) {
        trial_not_tested(verification, &error);
    } else {
        judge_process(verification, &trial);
        judge_free(verification, &trial);
    }
    subject_end(&trial.subject);
}

static const struct row_spec rows[] = {
    { "memory-resident", "KiB", "growth of the resident size by a step : 976 KiB" },
    { "memory-virtual", "KiB", "growth of the virtual size by a step : 976 KiB" },
    { "memory-free", "KiB", "free memory taken by a step : 976 KiB" },
    { "memory-total", "MiB", "physical memory : sysconf(_SC_PHYS_PAGES)" },
    { "faults-minor", "faults", "of the process that took the steps : getrusage" },
};
static const struct trial trials[] = { { rows, sizeof rows / sizeof *rows, run_memory } };
const struct trial_list memory_trials = { trials, sizeof trials / sizeof *trials };
