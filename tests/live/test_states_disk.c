/* Law 4: waits for a disk and for pages, against the clock of who waits. */
#include "disk_file.h"

#include <sys/resource.h>

#define READS 64u

struct waiter {
    int file;
    size_t cpu;
    uint64_t wall_ns, cpu_ns; /* by its own clocks */
    uint64_t major_faults;    /* as it ends */
};

static void begin_waiting(struct waiter *waiter)
{
    waiter->wall_ns = now_ns(CLOCK_MONOTONIC);
    waiter->cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void end_waiting(struct waiter *waiter)
{
    struct rusage usage;

    waiter->wall_ns = now_ns(CLOCK_MONOTONIC) - waiter->wall_ns;
    waiter->cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - waiter->cpu_ns;
    getrusage(RUSAGE_SELF, &usage);
    waiter->major_faults = (uint64_t)usage.ru_majflt;
}

/* The last numbers of a child that waits for pages of a file. */
static struct camp_thread_states watch(void wait(void *waiter), struct waiter *waiter)
{
    struct camp_states *session = open_states_or_skip(0);
    struct waiter *shared = shared_memory(sizeof *shared);
    struct threads ended = { 0 };
    struct camp_thread_states last;
    pid_t child;

    *shared = *waiter;
    child = start(wait, shared);
    reap_well(child);
    last = last_of(session, &ended, child);
    *waiter = *shared;
    munmap(shared, sizeof *shared);
    close(waiter->file);
    free(ended.of);
    close_states(session);
    return last;
}

/* A sleep of this kind, the CPU and its run queue are all of what it did by its own clock, which
 * does not see its beginning and its end. */
static void assert_waited(const struct camp_thread_states *last, enum camp_state kind,
                          const struct waiter *waiter)
{
    uint64_t slept = last->state_ns[kind], queue = last->state_ns[CAMP_STATE_RUN_QUEUE];
    uint64_t unwatched = last->time_ns - last->start_ns - waiter->wall_ns;

    print_message("%s %.3f ms, on a CPU %.3f, run queue %.3f; by its own clock %.3f of %.3f\n",
                  camp_state_name((int)kind), (double)slept / 1e6, (double)on_cpu_ns(last) / 1e6,
                  (double)queue / 1e6, (double)waiter->wall_ns / 1e6,
                  (double)(last->time_ns - last->start_ns) / 1e6);
    assert_at_least(camp_state_name((int)kind), slept, NS_PER_US, 0);
    assert_at_least("sleep, CPU and run queue", slept + on_cpu_ns(last) + queue, waiter->wall_ns,
                    near_ns(waiter->wall_ns, 2));
    assert_at_most("sleep, CPU and run queue", slept + on_cpu_ns(last) + queue, waiter->wall_ns,
                   near_ns(waiter->wall_ns, 2) + unwatched);
}

/* More than a moment, or than its clock did not see. */
static void assert_no_other_sleep(const struct camp_thread_states *last, enum camp_state kind,
                                  const struct waiter *waiter)
{
    uint64_t unwatched = last->time_ns - last->start_ns - waiter->wall_ns;

    for (int i = CAMP_STATE_TEXT_FAULT; i < CAMP_STATE_COUNT; i++) {
        if (i != (int)kind && i != CAMP_STATE_RUN_QUEUE)
            assert_at_most(camp_state_name(i), last->state_ns[i], NEAR_NS, unwatched);
    }
}

/* ------------------------------------------------------------------------------- A disk -- */

static void read_directly(void *truth)
{
    struct waiter *self = truth;

    stay_on(self->cpu);
    begin_waiting(self);
    read_blocks(self->file, READS);
    end_waiting(self);
}

static void a_reader_waits_for_its_disk(void **state)
{
    struct waiter reader = { .file = file_on_disk("", 1), .cpu = last_cpu() };
    struct camp_thread_states last = watch(read_directly, &reader);

    (void)state;
    assert_waited(&last, CAMP_STATE_DISK, &reader);
    assert_at_least("disk", last.state_ns[CAMP_STATE_DISK], reader.wall_ns / 50, 0);
    assert_no_other_sleep(&last, CAMP_STATE_DISK, &reader);
    assert_at_least("read", last.read_bytes, READS * BLOCK_BYTES, 0);
}

static void burn_for_ever(void *cpu)
{
    stay_on(*(size_t *)cpu);
    for (;;)
        now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Where the kernel's iowait is 0, because the CPU is never idle: the reader waits as before, and
 * for the CPU as well. */
static void a_hog_beside_a_reader_does_not_hide_its_waits(void **state)
{
    struct waiter reader = { .file = file_on_disk("", 1), .cpu = last_cpu() };
    uint64_t steal = steal_ns(), waited, off;
    pid_t hog = start(burn_for_ever, &reader.cpu);
    struct camp_thread_states last = watch(read_directly, &reader);

    (void)state;
    kill(hog, SIGKILL);
    waitpid(hog, NULL, 0);
    waited = last.state_ns[CAMP_STATE_DISK] + last.state_ns[CAMP_STATE_RUN_QUEUE];
    off = reader.wall_ns - reader.cpu_ns;
    print_message("off its CPU by its own clocks %.3f ms, run queue by the scheduler's %.3f\n",
                  (double)off / 1e6, (double)last.run_delay_ns / 1e6);
    assert_waited(&last, CAMP_STATE_DISK, &reader);
    assert_at_least("disk and run queue", waited, off,
                    near_ns(reader.wall_ns, 2) + stolen_since(steal));
    assert_at_most("disk and run queue", waited, off,
                   near_ns(reader.wall_ns, 2) + last.time_ns - last.start_ns - reader.wall_ns);
    assert_no_other_sleep(&last, CAMP_STATE_DISK, &reader);
}

/* -------------------------------------------------------------------------- Text faults -- */

#if defined(__x86_64__)
static const uint8_t just_return[] = { 0xc3 };

static void call_pages(void *truth)
{
    struct waiter *self = truth;
    char *pages = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, self->file, 0);

    if (pages == MAP_FAILED || madvise(pages, PAGES * PAGE_BYTES, MADV_RANDOM) != 0)
        _exit(1);
    begin_waiting(self);
    for (unsigned i = 0; i < PAGES; i += 4)
        ((void (*)(void))(uintptr_t)(pages + i * PAGE_BYTES))();
    end_waiting(self);
}
#endif

/* Of other pages, and of those that a call touches: test_load_sleep.c. */
static void who_runs_into_a_page_that_is_not_there_waits_in_a_text_fault(void **state)
{
    (void)state;
#if defined(__x86_64__)
    struct waiter waiter = { .file = file_on_disk(just_return, sizeof just_return) };
    struct camp_thread_states last = watch(call_pages, &waiter);

    assert_int_equal(last.major_faults, waiter.major_faults);
    /* Code is read ahead, whatever is advised. */
    assert_at_least("major faults", waiter.major_faults, 1, 0);
    assert_waited(&last, CAMP_STATE_TEXT_FAULT, &waiter);
    assert_no_other_sleep(&last, CAMP_STATE_TEXT_FAULT, &waiter);
#else
    print_message("skipped, not passed: no code of this processor here\n");
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_waits_for_its_disk),
        cmocka_unit_test(a_hog_beside_a_reader_does_not_hide_its_waits),
        cmocka_unit_test(who_runs_into_a_page_that_is_not_there_waits_in_a_text_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
