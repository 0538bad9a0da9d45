/* Tests the time of traps with page faults that a child causes itself and whose number it knows. */
#include "states_session.h"

#include <fcntl.h>
#include <string.h>

#define PAGES 4096u
#define CLEARED_AT_ONCE 64u
#define BURN_NS (50 * (uint64_t)NS_PER_MS)

/* What the child measured itself, in ns of the monotonic clock, as traps are. The CPU clock of a
 * thread is not used: under emulation it can stand still from one tick to the next. */
struct touches {
    uint64_t touch_ns; /* touches PAGES pages, each of which is a fault */
    uint64_t clear_ns; /* clears CLEARED_AT_ONCE pages in memory; the shortest of many times */
};

static char *map_fresh(size_t bytes)
{
    char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED)
        _exit(1);
    madvise(pages, bytes, MADV_NOHUGEPAGE); /* fails on a kernel without huge pages */
    return pages;
}

static uint64_t clear_some(char *pages, size_t bytes)
{
    const uint64_t start = now_ns(CLOCK_MONOTONIC);

    for (size_t i = 0; i < bytes; i += sizeof(uint64_t))
        *(volatile uint64_t *)(void *)(pages + i) = 0;
    return now_ns(CLOCK_MONOTONIC) - start;
}

/* Between its stops the child causes faults by its own code, uses the CPU without faults, and
 * causes faults in a system call. */
static void touch_pages(void *truth)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = PAGES * page;
    const int zero = open("/dev/zero", O_RDONLY);
    struct touches *touches = truth, own = { 0, UINT64_MAX };
    char *first = map_fresh(bytes), *second = map_fresh(bytes);

    raise(SIGSTOP);
    own.touch_ns = now_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; i < bytes; i += page)
        *(volatile char *)(first + i) = 1;
    own.touch_ns = now_ns(CLOCK_MONOTONIC) - own.touch_ns;
    for (size_t i = 0; i < bytes; i += CLEARED_AT_ONCE * page) {
        const uint64_t ns = clear_some(first + i, CLEARED_AT_ONCE * page);

        own.clear_ns = ns < own.clear_ns ? ns : own.clear_ns;
    }
    *touches = own;
    raise(SIGSTOP);
    burn(CLOCK_THREAD_CPUTIME_ID, BURN_NS);
    raise(SIGSTOP);
    if (read(zero, second, bytes) != (ssize_t)bytes)
        _exit(1);
    raise(SIGSTOP);
}

struct growth {
    uint64_t trap_ns, user_ns, cpu_ns, faults;
};

static struct growth grown(const struct camp_thread_states *then,
                           const struct camp_thread_states *now)
{
    const struct growth ret = {
        now->state_ns[CAMP_STATE_TRAP] - then->state_ns[CAMP_STATE_TRAP],
        now->state_ns[CAMP_STATE_USER] - then->state_ns[CAMP_STATE_USER],
        now->cpu_ns - then->cpu_ns,
        now->minor_faults + now->major_faults - then->minor_faults - then->major_faults,
    };

    print_message("trap %.3f ms, user %.3f, CPU %.3f; %llu faults\n", (double)ret.trap_ns / 1e6,
                  (double)ret.user_ns / 1e6, (double)ret.cpu_ns / 1e6,
                  (unsigned long long)ret.faults);
    assert_int_equal(sum_ns(now), now->time_ns - now->begin_ns);
    return ret;
}

/* A trap contains the clearing of the new page, and is part of the time that the thread needs to
 * touch the page. */
static void assert_traps(const struct growth *touched, const struct touches *own)
{
    const uint64_t clear_ns = own->clear_ns / CLEARED_AT_ONCE;

    print_message("a fault: trap %llu ns of %llu ns; to clear a page takes %llu ns\n",
                  (unsigned long long)(touched->trap_ns / touched->faults),
                  (unsigned long long)(own->touch_ns / PAGES), (unsigned long long)clear_ns);
    assert_in_range(touched->faults, PAGES, UINT64_MAX);
    assert_in_range(touched->trap_ns, PAGES * clear_ns,
                    own->touch_ns + (touched->faults - PAGES) * (own->touch_ns / PAGES));
}

static struct camp_states *open_with_traps_or_skip(void)
{
    struct camp_states *session = open_states_or_skip(0);

    if ((states_measured(session) & 1u << CAMP_STATE_TRAP) == 0) {
        print_message("skipped, not passed: this kernel does not show the time of traps\n");
        camp_states_close(session);
        skip();
    }
    return session;
}

static void only_page_faults_in_user_code_are_reported_as_traps(void **state)
{
    struct camp_states *session = open_with_traps_or_skip();
    struct touches *own = shared_memory(sizeof *own);
    pid_t child = start(touch_pages, own);
    struct camp_thread_states at[4];
    struct growth touched, burned, called;

    (void)state;
    for (int i = 0; i < 4; i++)
        at[i] = stopped(session, child);
    reap_well(child);
    touched = grown(&at[0], &at[1]);
    assert_traps(&touched, own);
    burned = grown(&at[1], &at[2]);
    assert_in_range(burned.user_ns, 1, UINT64_MAX);
    if (burned.faults == 0)
        assert_int_equal(burned.trap_ns, 0);
    called = grown(&at[2], &at[3]);
    assert_in_range(called.faults, PAGES, UINT64_MAX);
    if (called.faults == PAGES)
        assert_int_equal(called.trap_ns, 0);
    munmap(own, sizeof *own);
    close_states(session);
}

/* Time that a child spent neither on the CPU nor stopped. */
static uint64_t waited_ns(const struct camp_thread_states *then,
                          const struct camp_thread_states *now)
{
    static const int others[] = { CAMP_STATE_USER, CAMP_STATE_SYSTEM, CAMP_STATE_TRAP,
                                  CAMP_STATE_STOPPED };
    uint64_t ret = now->time_ns - then->time_ns;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ret -= now->state_ns[others[i]] - then->state_ns[others[i]];
    return ret;
}

static void without_system_call_accounting_traps_are_user_time(void **state)
{
    struct camp_states *session = open_states_or_skip(CAMP_STATES_NO_SYSCALLS);
    struct touches *own = shared_memory(sizeof *own);
    pid_t child = start(touch_pages, own);
    struct camp_thread_states before = stopped(session, child), after = stopped(session, child);
    const uint64_t waited = waited_ns(&before, &after);

    (void)state;
    assert_in_range(waited, 0, after.time_ns - before.time_ns);
    assert_int_equal(after.known_states & 1u << CAMP_STATE_TRAP, 0);
    assert_int_equal(after.state_ns[CAMP_STATE_TRAP], 0);
    assert_in_range(after.state_ns[CAMP_STATE_USER] - before.state_ns[CAMP_STATE_USER],
                    waited < own->touch_ns ? (own->touch_ns - waited) / 2 : 0, UINT64_MAX);
    for (int i = 0; i < 2; i++)
        stopped(session, child);
    reap_well(child);
    munmap(own, sizeof *own);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_page_faults_in_user_code_are_reported_as_traps),
        cmocka_unit_test(without_system_call_accounting_traps_are_user_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
