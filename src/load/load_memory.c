/*
 * Memory that is allocated in steps of known size.
 *
 * Each step is memory of whole pages. The load writes to each page once, which causes one page
 * fault per page, or with huge pages one fault for many pages. No memory is freed before the end.
 */
#include "load_command.h"

#include "counters/error.h"
#include "load_pages.h"
#include "load_tools.h"

#include <string.h>

#define STEP_MAX_BYTES (1ull << 40)

/* Writes to each page until a stop is requested. Returns the number of pages written to. The
 * address sanitizer is off, because its own memory would cause more faults. */
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
    struct load_faults before, after;

    /* The code of these functions shall not cause faults between the two readings. */
    touch(memory, 0, page);
    load_faults();
    before = load_faults();
    step->touched_pages = touch(memory, bytes, page);
    after = load_faults();
    step->faults = after.all - before.all;
    step->minor_faults = after.minor - before.minor;
    step->has_faults = after.has_all;
    step->has_parts = after.has_parts;
    step->bytes = step->touched_pages * page;
    step->has_resident = load_pages_resident(memory, bytes, page, &step->resident_bytes);
}

static void account_step(struct load_memory_truth *truth, struct load_step *step)
{
    truth->step_count++;
    truth->bytes += step->bytes;
    truth->pages += step->touched_pages;
    truth->faults += step->faults;
    truth->minor_faults += step->minor_faults;
    truth->resident_bytes += step->resident_bytes;
    truth->has_faults = step->has_faults;
    truth->has_parts = step->has_parts;
    truth->has_resident = step->has_resident;
    step->number = truth->step_count;
    step->held_bytes = truth->bytes;
    truth->each[truth->step_count - 1] = *step;
}

static int run_steps(const struct load_memory_plan *plan, size_t bytes, size_t page, void **memory,
                     struct load_memory_truth *ret, struct camp_error *error)
{
    while (ret->step_count < plan->steps && !stop_requested) {
        struct load_step step = { 0 };
        void *step_memory = load_pages_take(bytes, plan->huge);

        if (step_memory == NULL)
            return camp_fail(error, CAMP_E_NOMEM, 0,
                             "no memory for the next step; give a smaller --step");
        memory[ret->step_count] = step_memory;
        touch_step(step_memory, bytes, page, &step);
        account_step(ret, &step);
        if (plan->each_step != NULL && !plan->each_step(plan->context, &step))
            break;
        if (plan->pause_ns > 0)
            sleep_until(now_ns(CLOCK_MONOTONIC) + plan->pause_ns);
    }
    return CAMP_OK;
}

/* Refuses an amount of memory that could make the kernel swap or kill processes. */
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

int load_memory(const void *wanted, void *ret_truth, struct camp_error *error)
{
    const struct load_memory_plan *plan = wanted;
    struct load_memory_truth *ret = ret_truth;
    void *memory[LOAD_STEPS_MAX] = { NULL };
    size_t page = load_page_bytes(), bytes;
    uint64_t step_bytes, start_ns;
    int r;

    memset(ret, 0, sizeof *ret);
    if (plan->steps < 1 || plan->steps > LOAD_STEPS_MAX || plan->step_bytes < 1 ||
        plan->step_bytes > STEP_MAX_BYTES)
        return camp_fail(error, CAMP_E_INVALID, 0, "1 to %u steps of 1 byte to 1 TiB",
                         LOAD_STEPS_MAX);
    if (plan->huge && load_refusal(LOAD_HUGE_PAGES) != NULL)
        return camp_fail(error, CAMP_E_NOTSUP, 0, "--huge: %s", load_refusal(LOAD_HUGE_PAGES));
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
        load_pages_release(memory[i], bytes);
    return r;
}

#define TRUTH(member, ...) FACT(struct load_memory_truth, member, __VA_ARGS__)
#define STEP(member, ...) FACT(struct load_step, member, __VA_ARGS__)
#define TRUTH_IF(flag) .known_if = offsetof(struct load_memory_truth, flag)
#define STEP_IF(flag) .known_if = offsetof(struct load_step, flag)

static const struct fact facts[] = {
    TRUTH(step_count, "steps", "taken"),
    TRUTH(bytes, "taken", "whole pages, written to"),
    TRUTH(pages, "pages", "written to once"),
    TRUTH(page_bytes, "page", "size of a page"),
    TRUTH(faults, "page faults", "over the writes: getrusage(); GetProcessMemoryInfo()",
          TRUTH_IF(has_faults)),
    TRUTH(minor_faults, "of these, minor", "that waited for no disk: getrusage()",
          TRUTH_IF(has_parts)),
    TRUTH(resident_bytes, "resident", "after each step: mincore(); QueryWorkingSetEx()",
          TRUTH_IF(has_resident)),
    TRUTH(wall_ns, "wall time", "pauses and checks included"),
};
static const struct fact step_facts[] = {
    STEP(number, "step", "from 1"),
    STEP(bytes, "bytes", "of this step"),
    STEP(held_bytes, "held", "of this step and all before"),
    STEP(touched_pages, "pages", "written to"),
    STEP(faults, "page faults", "over this step", STEP_IF(has_faults)),
    STEP(minor_faults, "minor faults", "of these", STEP_IF(has_parts)),
    STEP(resident_bytes, "resident", "of this step", STEP_IF(has_resident)),
};

int load_memory_command(int argc, char **argv)
{
    struct load_memory_plan plan = { .step_bytes = 976 * BYTES_PER_KIB, .steps = 2 };
    const struct option_spec specs[] = {
        { "step", 0, OPTION_SIZE, &plan.step_bytes, "SIZE",
          "The memory of each step (976K), rounded up to pages.", 1, 1099511627776.0, NULL },
        { "steps", 0, OPTION_COUNT, &plan.steps, "N", "The number of steps (2).", 1, LOAD_STEPS_MAX,
          NULL },
        { "pause", 0, OPTION_DURATION, &plan.pause_ns, "TIME",
          "Sleep for this time after each step (0).", 0, 2592000, NULL },
        LOAD_DURATION_OF("Hold the memory until this time after the start. Without it the load "
                         "ends after its steps."),
        { "huge", 0, OPTION_FLAG, &plan.huge, NULL, "Allow huge pages: fewer faults.", 0, 0, NULL },
        LOAD_FORMAT,
    };
    static struct load_memory_truth truth;
    static const struct load_rows rows = {
        "steps",    step_facts,           ARRAY_COUNT(step_facts),
        truth.each, sizeof truth.each[0], &truth.step_count
    };
    const struct load_command command = { "memory", load_memory,        &plan,        &truth,
                                          facts,    ARRAY_COUNT(facts), .rows = &rows };
    int r = load_parse("Takes memory in steps, and writes to each page.", specs, ARRAY_COUNT(specs),
                       argc, argv);

    return r == OPTIONS_GO_ON ? load_run(&command) : r;
}
