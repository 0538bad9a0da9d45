/*
 * Page faults that wait for a file: major faults.
 *
 * The load maps a file whose pages are not in memory, and touches one page after the other, without
 * read-ahead (MADV_RANDOM). Each touch is a fault that the disk has to serve. Before each pass the
 * pages are unmapped (MADV_DONTNEED) and removed from the page cache (posix_fadvise(2)).
 * getrusage(2) counts how many had to wait; none where the file cannot leave memory (tmpfs, or
 * another process uses it).
 *
 * The load's own code touches a page by reading one byte. In a call, write(2) of that byte to a
 * pipe lets the kernel touch it.
 */
#include "load.h"

#include "counters/error.h"
#include "counters/units.h"
#include "load_tools.h"
#include "program/command.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGES_MAX 1000000000u

struct fault_run {
    const struct load_fault_plan *plan;
    struct load_fault_truth *truth;
    size_t page_bytes;
    size_t pages; /* of the mapping */
    char *mapped; /* NULL: not yet */
    int file;
    int ends[2];          /* the pipe for touches in a call */
    uint64_t deadline_ns; /* 0: none */
};

static const char *name_of(const struct load_fault_plan *plan)
{
    return plan->file != NULL ? plan->file : load_folder();
}

static int open_file(struct fault_run *run, struct camp_error *error)
{
    const struct load_fault_plan *plan = run->plan;
    uint64_t pages = plan->pages < LOAD_FAULT_FILE_PAGES ? plan->pages : LOAD_FAULT_FILE_PAGES;
    struct stat facts;

    run->file = plan->file != NULL ? open(plan->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                                   : load_make_filled(pages * run->page_bytes);
    if (run->file < 0 || fstat(run->file, &facts) != 0)
        return camp_fail_errno(error, errno, name_of(plan));
    if (!S_ISREG(facts.st_mode) || (uint64_t)facts.st_size < run->page_bytes)
        return camp_fail(error, CAMP_E_IO, 0, "%s is not a file of at least one page",
                         name_of(plan));
    pages = (uint64_t)facts.st_size / run->page_bytes;
    run->pages = (size_t)(pages < LOAD_FAULT_FILE_PAGES ? pages : LOAD_FAULT_FILE_PAGES);
    return CAMP_OK;
}

static int map_file(struct fault_run *run, struct camp_error *error)
{
    void *mapped = mmap(NULL, run->pages * run->page_bytes, PROT_READ, MAP_PRIVATE, run->file, 0);

    if (mapped == MAP_FAILED)
        return camp_fail_errno(error, errno, name_of(run->plan));
    run->mapped = mapped;
    if (madvise(mapped, run->pages * run->page_bytes, MADV_RANDOM) != 0)
        return camp_fail_errno(error, errno, "read-ahead that is off");
    if (run->plan->in_call && pipe2(run->ends, O_CLOEXEC) != 0)
        return camp_fail_errno(error, errno, "a pipe");
    return CAMP_OK;
}

/* False: a stop interrupted a call. */
static bool touch(const struct fault_run *run, const char *page)
{
    char byte;

    if (!run->plan->in_call) {
        (void)*(const volatile char *)page;
        return true;
    }
    return write(run->ends[1], page, 1) == 1 && read(run->ends[0], &byte, 1) == 1;
}

static void touch_timed(const struct fault_run *run, const char *page)
{
    uint64_t start_ns = now_ns(CLOCK_MONOTONIC), spent_ns;

    run->truth->pages += touch(run, page);
    spent_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    if (spent_ns > run->truth->longest_ns)
        run->truth->longest_ns = spent_ns;
}

static uint64_t major_faults(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_majflt : 0;
}

static bool has_more(const struct fault_run *run)
{
    return run->deadline_ns != 0 ? now_ns(CLOCK_MONOTONIC) < run->deadline_ns
                                 : run->truth->pages < run->plan->pages;
}

/* Each page once, or until the plan is done. */
static void pass(struct fault_run *run)
{
    struct load_fault_truth *truth = run->truth;
    uint64_t faults = major_faults(), own_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t start_ns = now_ns(CLOCK_MONOTONIC);

    for (size_t i = 0; i < run->pages && has_more(run) && !stop_requested; i++)
        touch_timed(run, run->mapped + i * run->page_bytes);
    truth->touch_ns += now_ns(CLOCK_MONOTONIC) - start_ns;
    truth->own_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - own_ns;
    truth->major_faults += major_faults() - faults;
}

static int run_passes(struct fault_run *run, struct camp_error *error)
{
    uint64_t start_ns = now_ns(CLOCK_MONOTONIC);
    int r = CAMP_OK;

    if (run->plan->duration_ns > 0)
        run->deadline_ns = start_ns + run->plan->duration_ns;
    while (r == CAMP_OK && has_more(run) && !stop_requested) {
        madvise(run->mapped, run->pages * run->page_bytes, MADV_DONTNEED);
        if (load_drop_from_memory(run->file))
            pass(run);
        else
            r = camp_fail_errno(error, errno, name_of(run->plan));
    }
    run->truth->wall_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    return r;
}

static void release(struct fault_run *run)
{
    if (run->mapped != NULL)
        munmap(run->mapped, run->pages * run->page_bytes);
    for (int i = 0; i < 2; i++)
        if (run->ends[i] >= 0)
            close(run->ends[i]);
    if (run->file >= 0)
        close(run->file);
}

int load_fault(const struct load_fault_plan *plan, struct load_fault_truth *ret,
               struct camp_error *error)
{
    struct fault_run run = { .plan = plan, .truth = ret, .file = -1, .ends = { -1, -1 } };
    int r;

    memset(ret, 0, sizeof *ret);
    if (plan->pages < 1 || plan->pages > PAGES_MAX)
        return camp_fail(error, CAMP_E_INVALID, 0, "1 to %u pages", PAGES_MAX);
    run.page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    r = open_file(&run, error);
    if (r == CAMP_OK)
        r = map_file(&run, error);
    if (r == CAMP_OK)
        r = run_passes(&run, error);
    release(&run);
    return r;
}
