/*
 * Major page faults: the kernel must read the page from a file.
 *
 * The load maps a file whose pages are not in memory and touches one page after the other. There is
 * no read-ahead (MADV_RANDOM), so the disk must serve each fault. Before each pass the pages are
 * unmapped (MADV_DONTNEED) and evicted from the page cache (posix_fadvise(2)). If the file cannot
 * be evicted, because it is on tmpfs or in use by another process, there are no major faults.
 * getrusage(2) counts the major faults.
 *
 * To touch a page, the load reads one byte of it. With in_call, it writes the byte to a pipe by
 * write(2), so that the kernel reads the byte, and the fault happens in a system call.
 */
#include "load_command.h"

#include "counters/error.h"
#include "load_tools.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGES_MAX 1000000000u

struct fault_run {
    const struct load_fault_plan *plan;
    struct load_fault_truth *truth;
    size_t page_bytes;
    size_t pages;
    char *mapped;
    int file;
    int ends[2];          /* of the pipe for plan->in_call */
    uint64_t deadline_ns; /* 0 if the plan has no duration */
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

/* Returns false if a signal interrupted write(2) or read(2). */
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

static bool has_more(const struct fault_run *run)
{
    return run->deadline_ns != 0 ? now_ns(CLOCK_MONOTONIC) < run->deadline_ns
                                 : run->truth->pages < run->plan->pages;
}

/* Touches each page of the file once, but stops when the plan is done. */
static void pass(struct fault_run *run)
{
    struct load_fault_truth *truth = run->truth;
    const long faults = load_usage(RUSAGE_THREAD).ru_majflt;
    uint64_t own_ns = now_ns(CLOCK_THREAD_CPUTIME_ID), start_ns = now_ns(CLOCK_MONOTONIC);

    for (size_t i = 0; i < run->pages && has_more(run) && !stop_requested; i++)
        touch_timed(run, run->mapped + i * run->page_bytes);
    truth->touch_ns += now_ns(CLOCK_MONOTONIC) - start_ns;
    truth->own_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - own_ns;
    truth->waited_ns = load_off_cpu_ns(truth->touch_ns, truth->own_ns);
    truth->major_faults += (uint64_t)(load_usage(RUSAGE_THREAD).ru_majflt - faults);
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

int load_fault(const void *wanted, void *ret_truth, struct camp_error *error)
{
    const struct load_fault_plan *plan = wanted;
    struct load_fault_truth *ret = ret_truth;
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

#define TRUTH(member, ...) FACT(struct load_fault_truth, member, __VA_ARGS__)

static const struct fact facts[] = {
    TRUTH(pages, "pages", "touched"),
    TRUTH(major_faults, "major faults", "getrusage() over touching them"),
    TRUTH(touch_ns, "time of touching", "wall time"),
    TRUTH(own_ns, "of it on a CPU", "CLOCK_THREAD_CPUTIME_ID, measured"),
    TRUTH(waited_ns, "waited", "touch_ns - own_ns: for pages, and after that for a CPU"),
    TRUTH(longest_ns, "longest touch", "wall time of one page"),
    TRUTH(wall_ns, "wall time", "putting the pages out of memory is in it"),
};

static void remark(const void *wanted, const void *ret_truth, char ret[REMARK_SIZE])
{
    const struct load_fault_truth *truth = ret_truth;

    (void)wanted;
    if (!stop_requested && (double)truth->major_faults < NEARLY * (double)truth->pages)
        snprintf(ret, REMARK_SIZE,
                 "only %llu of %llu pages were not in memory: this file stays in memory",
                 (unsigned long long)truth->major_faults, (unsigned long long)truth->pages);
}

int load_fault_command(int argc, char **argv)
{
    struct load_fault_plan plan = { .pages = 4096 };
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_FILE, &plan.file,
                      .help = "The file to map and read. (Default: a new file in TMPDIR or "
                              "/var/tmp.)"),
        { "pages", 0, OPTION_COUNT, &plan.pages, "N", "How many pages to touch (4096).", 1, 1e9,
          NULL },
        LOAD_DURATION_OF("Run for this time, through the file of --pages again and again."),
        { "in-call", 0, OPTION_FLAG, &plan.in_call, NULL,
          "Let the kernel touch the pages, in write(2): kernel faults instead of data faults.", 0,
          0, NULL },
        LOAD_FORMAT,
    };
    struct load_fault_truth truth;
    const struct load_command command = { "fault", load_fault,         &plan, &truth,
                                          facts,   ARRAY_COUNT(facts), remark };
    int r = load_parse("Touches pages of a file that are not in memory, one after the other.",
                       specs, ARRAY_COUNT(specs), argc, argv);

    return r == OPTIONS_GO_ON ? load_run(&command) : r;
}
