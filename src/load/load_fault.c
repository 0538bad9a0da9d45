/*
 * Page faults at a file: on Linux major ones, for which the kernel must read the page from the
 * disk.
 *
 * The load maps a file and touches one page after the other. Before each pass the pages are evicted
 * (load_map_evict()). Linux counts the major faults, if the file can be evicted from the page
 * cache. Windows keeps the pages in memory and counts all page faults together.
 *
 * To touch a page, the load reads one byte of it. With in_call, it writes the byte to a pipe, so
 * that the kernel reads the byte, and the fault happens in a system call.
 */
#include "load_command.h"

#include "counters/error.h"
#include "load_pages.h"
#include "load_tools.h"

#include <stdio.h>
#include <string.h>

#define PAGES_MAX 1000000000u

struct fault_run {
    const struct load_fault_plan *plan;
    struct load_fault_truth *truth;
    struct load_map map;
    uint64_t deadline_ns; /* 0 if the plan has no duration */
};

static void touch_timed(const struct fault_run *run, size_t page)
{
    uint64_t start_ns = now_ns(CLOCK_MONOTONIC), spent_ns;

    run->truth->pages += load_map_touch(&run->map, page, run->plan->in_call);
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
    const struct load_faults before = load_faults();
    uint64_t own_ns = load_thread_ns(), start_ns = now_ns(CLOCK_MONOTONIC);
    struct load_faults after;

    for (size_t i = 0; i < run->map.pages && has_more(run) && !stop_requested; i++)
        touch_timed(run, i);
    truth->touch_ns += now_ns(CLOCK_MONOTONIC) - start_ns;
    truth->own_ns += load_thread_ns() - own_ns;
    truth->waited_ns = load_off_cpu_ns(truth->touch_ns, truth->own_ns);
    after = load_faults();
    truth->faults += after.all - before.all;
    truth->major_faults += after.major - before.major;
    truth->has_major = after.has_parts;
}

static int run_passes(struct fault_run *run, struct camp_error *error)
{
    uint64_t start_ns = now_ns(CLOCK_MONOTONIC);
    int r = CAMP_OK;

    if (run->plan->duration_ns > 0)
        run->deadline_ns = start_ns + run->plan->duration_ns;
    while (r == CAMP_OK && has_more(run) && !stop_requested) {
        r = load_map_evict(&run->map, error);
        if (r == CAMP_OK)
            pass(run);
    }
    run->truth->wall_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    return r;
}

int load_fault(const void *wanted, void *ret_truth, struct camp_error *error)
{
    const struct load_fault_plan *plan = wanted;
    struct load_fault_truth *ret = ret_truth;
    struct fault_run run = { .plan = plan, .truth = ret };
    int r;

    memset(ret, 0, sizeof *ret);
    if (plan->pages < 1 || plan->pages > PAGES_MAX)
        return camp_fail(error, CAMP_E_INVALID, 0, "1 to %u pages", PAGES_MAX);
    if (load_refusal(LOAD_PAGE_FAULTS) != NULL)
        return camp_fail(error, CAMP_E_NOTSUP, 0, "%s", load_refusal(LOAD_PAGE_FAULTS));
    r = load_map_open(&run.map, plan->file, plan->pages, LOAD_FAULT_FILE_PAGES, error);
    if (r == CAMP_OK)
        r = run_passes(&run, error);
    load_map_close(&run.map);
    return r;
}

#define TRUTH(member, ...) FACT(struct load_fault_truth, member, __VA_ARGS__)

static const struct fact facts[] = {
    TRUTH(pages, "pages", "touched"),
    TRUTH(faults, "page faults", "over touching them: getrusage(); GetProcessMemoryInfo()"),
    TRUTH(major_faults, "of these, major", "that waited for the disk: getrusage()",
          .known_if = offsetof(struct load_fault_truth, has_major)),
    TRUTH(touch_ns, "time of touching", "wall time"),
    TRUTH(own_ns, "of it on a CPU", "by the CPU clock of the thread"),
    TRUTH(waited_ns, "waited", "touch_ns - own_ns: for pages, and after that for a CPU"),
    TRUTH(longest_ns, "longest touch", "wall time of one page"),
    TRUTH(wall_ns, "wall time", "evicting the pages is in it"),
};

static void remark(const void *wanted, const void *ret_truth, char ret[REMARK_SIZE])
{
    const struct load_fault_truth *truth = ret_truth;

    (void)wanted;
    if (!stop_requested && !truth->has_major &&
        (double)truth->faults < NEARLY * (double)truth->pages)
        snprintf(ret, REMARK_SIZE, "only %llu page faults at %llu pages",
                 (unsigned long long)truth->faults, (unsigned long long)truth->pages);
    else if (!stop_requested && truth->has_major &&
             (double)truth->major_faults < NEARLY * (double)truth->pages)
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
                              "/var/tmp; on Windows in TEMP.)"),
        { "pages", 0, OPTION_COUNT, &plan.pages, "N", "How many pages to touch (4096).", 1, 1e9,
          NULL },
        LOAD_DURATION_OF("Run for this time, through the file of --pages again and again."),
        { "in-call", 0, OPTION_FLAG, &plan.in_call, NULL,
          "Let the kernel touch the pages, in a write: kernel faults instead of data faults.", 0, 0,
          NULL },
        LOAD_FORMAT,
    };
    struct load_fault_truth truth;
    const struct load_command command = { "fault", load_fault,         &plan, &truth,
                                          facts,   ARRAY_COUNT(facts), remark };
    int r = load_parse("Touches pages of a file that are not in memory, one after the other. On\n"
                       "Windows they are in memory, but not in that of the process.",
                       specs, ARRAY_COUNT(specs), argc, argv);

    return r == OPTIONS_GO_ON ? load_run(&command) : r;
}
