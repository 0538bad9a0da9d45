/* Compares waits for a disk and for pages with the waiting thread's own clocks. */
#include "disk_file.h"

#include <sys/resource.h>

#define READS 64u

struct waiter {
    int file;
    size_t cpu;
    struct stretch own;
    uint64_t major_faults;
    uint64_t stolen_ns;
};

static void end_waiting(struct waiter *waiter)
{
    struct rusage usage;

    end_stretch(&waiter->own);
    getrusage(RUSAGE_SELF, &usage);
    waiter->major_faults = (uint64_t)usage.ru_majflt;
}

/* Returns the last record of a child that runs `wait`. */
static struct camp_thread_states watch(void wait(void *waiter), struct waiter *waiter)
{
    struct camp_states *session = open_states_or_skip(0);
    struct waiter *shared = shared_memory(sizeof *shared);
    struct threads ended = { 0 };
    struct camp_thread_states last;
    uint64_t steal = steal_ns();
    pid_t child;

    *shared = *waiter;
    child = start(wait, shared);
    reap_well(child);
    last = last_of(session, &ended, child);
    *waiter = *shared;
    waiter->stolen_ns = stolen_since(steal);
    munmap(shared, sizeof *shared);
    close(waiter->file);
    free(ended.of);
    close_states(session);
    return last;
}

/* Returns the life of the thread outside of its own clock readings. */
static uint64_t outside_ns(const struct camp_thread_states *last, const struct waiter *waiter)
{
    return last->time_ns - last->start_ns - waiter->own.wall_ns;
}

/* Asserts that the time in this sleep is within the bounds of the thread's own clocks, and that CPU
 * time and run-queue time are those of the scheduler. Between its clock readings, the thread must
 * have no other sleep. */
static void assert_waited(const struct camp_thread_states *last, enum camp_state kind,
                          const struct waiter *waiter)
{
    const uint64_t slept = last->state_ns[kind], outside = outside_ns(last, waiter);
    const uint64_t tolerance = tolerance_of(last);

    print_message(
        "%s %.3f ms, by its own clocks %.3f to %.3f; outside of them %.3f, tolerance %.3f\n",
        camp_state_name((int)kind), (double)slept / 1e6,
        (double)least_asleep_ns(&waiter->own) / 1e6,
        (double)less(waiter->own.wall_ns, waiter->own.cpu_ns) / 1e6, (double)outside / 1e6,
        (double)tolerance / 1e6);
    assert_at_least(camp_state_name((int)kind), slept, 1, 0);
    assert_at_least(camp_state_name((int)kind), slept, least_asleep_ns(&waiter->own),
                    tolerance + waiter->stolen_ns);
    assert_at_most(camp_state_name((int)kind), slept, less(waiter->own.wall_ns, waiter->own.cpu_ns),
                   tolerance + outside);
    assert_scheduled(last, waiter->stolen_ns, 0);
    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        if (i != (int)kind && is_asleep(i))
            assert_at_most(camp_state_name(i), last->state_ns[i], outside, 0);
    }
}

static void read_directly(void *truth)
{
    struct waiter *self = truth;

    stay_on(self->cpu);
    begin_stretch(&self->own);
    read_blocks(self->file, READS);
    end_waiting(self);
}

static void the_time_that_a_reader_waits_for_its_disk_is_reported_as_disk(void **state)
{
    struct waiter reader = { .file = file_on_disk("", 1), .cpu = last_cpu() };
    struct camp_thread_states last = watch(read_directly, &reader);

    (void)state;
    assert_waited(&last, CAMP_STATE_DISK, &reader);
    assert_at_least("read", last.read_bytes, READS * BLOCK_BYTES, 0);
}

static void burn_for_ever(void *cpu)
{
    stay_on(*(size_t *)cpu);
    for (;;)
        now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* On a CPU that is never idle, the kernel's iowait is 0. The reader still waits for its disk, and
 * also for the CPU. */
static void a_busy_thread_on_the_same_cpu_does_not_hide_the_disk_waits_of_a_reader(void **state)
{
    struct waiter reader = { .file = file_on_disk("", 1), .cpu = last_cpu() };
    pid_t hog = start(burn_for_ever, &reader.cpu);
    struct camp_thread_states last = watch(read_directly, &reader);
    uint64_t waited, off;

    (void)state;
    kill(hog, SIGKILL);
    waitpid(hog, NULL, 0);
    waited = last.state_ns[CAMP_STATE_DISK] + waited_for_cpu_ns(&last);
    off = less(reader.own.wall_ns, reader.own.cpu_ns);
    print_message("off its CPU by its own clocks %.3f ms, disk and run queue %.3f\n",
                  (double)off / 1e6, (double)waited / 1e6);
    assert_waited(&last, CAMP_STATE_DISK, &reader);
    assert_at_least("disk and run queue", waited, off, tolerance_of(&last) + reader.stolen_ns);
    assert_at_most("disk and run queue", waited, off,
                   tolerance_of(&last) + outside_ns(&last, &reader));
}

#if defined(__x86_64__)
static const uint8_t just_return[] = { 0xc3 };

static void call_pages(void *truth)
{
    struct waiter *self = truth;
    char *pages = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, self->file, 0);

    if (pages == MAP_FAILED || madvise(pages, PAGES * PAGE_BYTES, MADV_RANDOM) != 0)
        _exit(1);
    begin_stretch(&self->own);
    for (unsigned i = 0; i < PAGES; i += 4)
        ((void (*)(void))(uintptr_t)(pages + i * PAGE_BYTES))();
    end_waiting(self);
}
#endif

/* test_load_sleep.c tests faults of data pages and of pages that a system call touches. */
static void executing_a_page_that_is_not_in_memory_is_reported_as_a_text_fault(void **state)
{
    (void)state;
#if defined(__x86_64__)
    struct waiter waiter = { .file = file_on_disk(just_return, sizeof just_return) };
    struct camp_thread_states last = watch(call_pages, &waiter);

    assert_int_equal(last.major_faults, waiter.major_faults);
    /* The kernel reads code ahead despite madvise(2), so one fault may fetch all pages. */
    assert_at_least("major faults", waiter.major_faults, 1, 0);
    assert_waited(&last, CAMP_STATE_TEXT_FAULT, &waiter);
#else
    print_message("skipped, not passed: no code of this processor here\n");
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_time_that_a_reader_waits_for_its_disk_is_reported_as_disk),
        cmocka_unit_test(a_busy_thread_on_the_same_cpu_does_not_hide_the_disk_waits_of_a_reader),
        cmocka_unit_test(executing_a_page_that_is_not_in_memory_is_reported_as_a_text_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
