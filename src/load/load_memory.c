/*
 * Memory allocated in steps of known size.
 *
 * Each step is an anonymous mapping of whole pages, each written to once: only then does a minor
 * fault give it a frame. MADV_NOHUGEPAGE keeps that one fault a page; with huge pages one fault
 * gives many. getrusage(2) counts the faults of this process exactly (at each fault, no sampling),
 * mincore(2) says which pages are resident. Nothing is freed before the end.
 */
#include "load.h"

#include "counters/error.h"
#include "counters/units.h"
#include "program/command.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define STEP_MAX_BYTES (1ull << 40)
#define MINCORE_PAGES 4096u

static uint64_t minor_faults(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_minflt : 0;
}

static size_t resident_bytes(unsigned char *memory, size_t bytes, size_t page)
{
    unsigned char flags[MINCORE_PAGES];
    size_t resident = 0, at;

    for (at = 0; at < bytes; at += MINCORE_PAGES * page) {
        size_t span = bytes - at < MINCORE_PAGES * page ? bytes - at : MINCORE_PAGES * page;
        size_t i;

        if (mincore(memory + at, span, flags) != 0)
            return resident;
        for (i = 0; i < span / page; i++)
            resident += flags[i] & 1 ? page : 0;
    }
    return resident;
}

/* Writes to each page. Returns how many, fewer when a stop was requested. (Not instrumented: the
 * address sanitizer's shadow pages would fault as well.) */
__attribute__((no_sanitize("address"))) static size_t touch(unsigned char *memory, size_t bytes,
                                                            size_t page)
{
    size_t at;

    for (at = 0; at < bytes && !stop_requested; at += page)
        *(volatile unsigned char *)(memory + at) = 1;
    return at / page;
}

static void touch_step(unsigned char *memory, size_t bytes, size_t page, struct load_step *step)
{
    uint64_t faults = minor_faults();

    step->touched_pages = touch(memory, bytes, page);
    step->minor_faults = minor_faults() - faults;
    step->bytes = step->touched_pages * page;
    step->resident_bytes = resident_bytes(memory, bytes, page);
}

static void account_step(struct load_memory_truth *truth, struct load_step *step)
{
    truth->steps++;
    truth->bytes += step->bytes;
    truth->pages += step->touched_pages;
    truth->minor_faults += step->minor_faults;
    truth->resident_bytes += step->resident_bytes;
    step->number = truth->steps;
    step->held_bytes = truth->bytes;
    truth->each[truth->steps - 1] = *step;
}

static int run_steps(const struct load_memory_plan *plan, size_t bytes, size_t page, void **memory,
                     struct load_memory_truth *ret, struct camp_error *error)
{
    while (ret->steps < plan->steps && !stop_requested) {
        struct load_step step = { 0 };
        void *taken = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (taken == MAP_FAILED)
            return camp_fail_errno(error, errno, "memory of the next step");
        memory[ret->steps] = taken;
        if (!plan->huge)
            madvise(taken, bytes, MADV_NOHUGEPAGE);
        touch_step(taken, bytes, page, &step);
        account_step(ret, &step);
        if (plan->each_step != NULL && !plan->each_step(plan->context, &step))
            break;
        if (plan->pause_ns > 0)
            sleep_until(now_ns(CLOCK_MONOTONIC) + plan->pause_ns);
    }
    return CAMP_OK;
}

/* Keeps the machine from swapping and from killing for lack of memory. */
static int check_available(uint64_t wanted_bytes, struct camp_error *error)
{
    struct camp_memory memory;
    uint64_t most;

    if (camp_memory_read(NULL, CAMP_MEMORY_AVAILABLE, &memory, sizeof memory, NULL) != CAMP_OK ||
        !(memory.known & CAMP_MEMORY_AVAILABLE))
        return CAMP_OK;
    most = memory.available_bytes / 10 * 9;
    if (wanted_bytes <= most)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "%llu bytes are more than nine tenths of what is available now: at most %llu",
                     (unsigned long long)wanted_bytes, (unsigned long long)most);
}

int load_memory(const struct load_memory_plan *plan, struct load_memory_truth *ret,
                struct camp_error *error)
{
    void *memory[LOAD_STEPS_MAX] = { NULL };
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes;
    uint64_t step_bytes, start_ns;
    int r;

    memset(ret, 0, sizeof *ret);
    if (plan->steps < 1 || plan->steps > LOAD_STEPS_MAX || plan->step_bytes < 1 ||
        plan->step_bytes > STEP_MAX_BYTES)
        return camp_fail(error, CAMP_E_INVALID, 0, "1 to %u steps of 1 byte to 1 TiB",
                         LOAD_STEPS_MAX);
    step_bytes = (plan->step_bytes + page - 1) / page * page;
    r = check_available(step_bytes * plan->steps, error);
    if (r != CAMP_OK)
        return r;
    bytes = (size_t)step_bytes;
    if (bytes != step_bytes)
        return camp_fail(error, CAMP_E_INVALID, 0, "a step of 4 GiB or more takes a 64-bit camp");
    ret->page_bytes = page;
    start_ns = now_ns(CLOCK_MONOTONIC);
    r = run_steps(plan, bytes, page, memory, ret, error);
    if (r == CAMP_OK && plan->duration_ns > 0)
        sleep_until(start_ns + plan->duration_ns);
    ret->wall_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    for (size_t i = 0; i < LOAD_STEPS_MAX && memory[i] != NULL; i++)
        munmap(memory[i], bytes);
    return r;
}
