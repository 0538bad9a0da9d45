/*
 * Tests the stacks of sleeps with a process of known functions, which sleep for known times in
 * known calls. The file is compiled with frame pointers, and the functions make system calls
 * without the functions of libc, which have no frame: their callers would be missing.
 */
#include "causes_session.h"
#include "disk_file.h"

#include "symbols/symbols.h"

#include <sys/syscall.h>

#define ROUNDS 20
#define LONG_NS 4000000L
#define SHORT_NS 100000L
#define LEAST_NS 1000000u /* of a sleep with stacks, in the tests that have short ones, too */

enum {
    SLEEP_LONG,
    SLEEP_LONGER,
    READ_A_PIPE,
    SLEEP_SHORT,
    FUNCTIONS,
    TOUCH_PAGES = FUNCTIONS,
    ALL
};

static const char *const functions[ALL] = { "sleep_long", "sleep_longer", "read_a_pipe",
                                            "sleep_short", "touch_pages" };

struct plan {
    int ask[2], pipe[2], end[2];
    int file;
    pid_t writer;
    uint32_t is_done;
    struct stretch slept[FUNCTIONS]; /* sums, by the process' own clocks */
};

#if defined(__x86_64__)
static inline __attribute__((always_inline)) long call(long number, long a, long b, long c)
{
    long ret;

    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return ret;
}
#else
static inline __attribute__((always_inline)) long call(long number, long a, long b, long c)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
}
#endif

/* Such a function is never inlined, and does something after its call, so that the call is no jump.
 */
#define FRAME __attribute__((noinline))

static volatile long results;

static FRAME void sleep_for(long ns)
{
    const struct timespec time = { 0, ns };

    results += call(SYS_nanosleep, (long)&time, 0, 0);
}

static FRAME void sleep_long(const struct plan *plan)
{
    (void)plan;
    sleep_for(LONG_NS);
    results++;
}

static FRAME void sleep_longer(const struct plan *plan)
{
    (void)plan;
    sleep_for(3 * LONG_NS);
    results++;
}

static FRAME void sleep_short(const struct plan *plan)
{
    (void)plan;
    sleep_for(SHORT_NS);
    results++;
}

static FRAME void read_a_pipe(const struct plan *plan)
{
    char byte;

    results += write(plan->ask[1], "", 1);
    results += call(SYS_read, plan->pipe[0], (long)&byte, 1);
}

static void add(struct stretch *sum, const struct stretch *stretch)
{
    sum->wall_ns += stretch->wall_ns;
    sum->cpu_ns += stretch->cpu_ns;
    sum->run_delay_ns += stretch->run_delay_ns;
}

/* Tells the parent, and waits until it has read the stacks and the symbols of this process. */
static void wait_for_the_end(struct plan *plan)
{
    char byte;

    __atomic_store_n(&plan->is_done, 1, __ATOMIC_SEQ_CST);
    (void)!read(plan->end[0], &byte, 1);
}

static void sleep_in_functions(void *truth)
{
    static void (*const acts[FUNCTIONS])(const struct plan *) = { sleep_long, sleep_longer,
                                                                  read_a_pipe, sleep_short };
    struct plan *plan = truth;

    for (int i = 0; i < ROUNDS * FUNCTIONS; i++) {
        struct stretch stretch;

        begin_stretch(&stretch);
        acts[i % FUNCTIONS](plan);
        end_stretch(&stretch);
        add(&plan->slept[i % FUNCTIONS], &stretch);
    }
    wait_for_the_end(plan);
}

/* The sleeps of one group, by the functions in their stacks. */
struct by_function {
    struct symbols *symbols;
    uint32_t group;
    uint64_t ns[ALL], sleeps[ALL];
    uint64_t state_ns[CAMP_STATE_COUNT];
};

static bool has_function(struct by_function *sums, const struct camp_sleep_stack *stack,
                         const char *name)
{
    for (uint32_t i = 0; i < stack->user_count; i++) {
        uint32_t frame;

        assert_true(symbols_add(sums->symbols, stack->pid, stack->user[i], i > 0, &frame));
        assert_true(symbols_find(sums->symbols));
        if (strcmp(symbols_name(sums->symbols, frame), name) == 0)
            return true;
    }
    return false;
}

static void add_stack(void *context, const struct camp_sleep_stack *stack)
{
    struct by_function *sums = context;

    if (stack->group != sums->group)
        return;
    assert_true(stack->state < CAMP_STATE_COUNT);
    assert_int_equal(stack->flags, 0);
    assert_true(stack->kernel_count > 0);
    sums->state_ns[stack->state] += stack->sleep_ns;
    for (size_t i = 0; i < ALL; i++) {
        if (has_function(sums, stack, functions[i])) {
            sums->ns[i] += stack->sleep_ns;
            sums->sleeps[i] += stack->count;
        }
    }
}

static void read_stacks(struct by_function *sums, struct camp_states *session)
{
    struct camp_error error;

    symbols_start(sums->symbols);
    if (camp_states_visit_stacks(session, add_stack, sums, &error) != CAMP_OK)
        fail_msg("%s", error.message);
}

/* Starts a process that answers each byte after a time. */
static pid_t start_writer(const struct plan *plan)
{
    const pid_t pid = fork();
    char byte;

    assert_true(pid >= 0);
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(plan->ask[0], &byte, 1) == 1 && usleep(LONG_NS / 1000) == 0 &&
           write(plan->pipe[1], "", 1) == 1)
        continue;
    _exit(0);
}

static struct plan *make_plan(void)
{
    struct plan *plan = shared_memory(sizeof *plan);

    assert_int_equal(pipe(plan->ask), 0);
    assert_int_equal(pipe(plan->pipe), 0);
    assert_int_equal(pipe(plan->end), 0);
    plan->writer = start_writer(plan);
    return plan;
}

static void release_plan(struct plan *plan)
{
    assert_int_equal(kill(plan->writer, SIGKILL), 0);
    assert_int_equal(waitpid(plan->writer, NULL, 0), plan->writer);
    for (int i = 0; i < 2; i++) {
        close(plan->ask[i]);
        close(plan->pipe[i]);
        close(plan->end[i]);
    }
    munmap(plan, sizeof *plan);
}

/* Starts a child with the stacks of its sleeps from `least_ns` on, and reads them when the child
 * has done its work. */
static struct by_function stacks_of(struct camp_states *session, struct plan *plan,
                                    void act(void *), uint64_t least_ns, size_t number,
                                    pid_t *ret_child)
{
    struct by_function sums = { .symbols = symbols_make(NULL) };
    struct camp_error error;
    struct causes causes;
    char name[CAMP_STATES_NAME_SIZE];

    assert_non_null(sums.symbols);
    assert_int_equal(camp_states_stacks_from(session, least_ns, 1, &error), CAMP_OK);
    *ret_child = start_named(session, number, act, plan);
    while (!__atomic_load_n(&plan->is_done, __ATOMIC_SEQ_CST))
        usleep(1000);
    snprintf(name, sizeof name, "why%zu-%d", number, getpid());
    causes = (struct causes){ .group_count = 0 };
    assert_int_equal(camp_states_groups(session, causes.groups, sizeof causes.groups[0], 64,
                                        &causes.group_count, &error),
                     CAMP_OK);
    sums.group = group_of_name(&causes, name);
    read_stacks(&sums, session);
    return sums;
}

static void each_function_has_the_time_for_which_it_slept(void **state)
{
    struct camp_states *session = open_states_or_skip(CAMP_STATES_CULPRITS | CAMP_STATES_STACKS);
    struct plan *plan = make_plan();
    pid_t child;
    struct by_function sums = stacks_of(session, plan, sleep_in_functions, LEAST_NS, 0, &child);

    (void)state;
    for (size_t i = 0; i < FUNCTIONS; i++) {
        const struct stretch *slept = &plan->slept[i];

        print_message("%s: %.3f ms in %llu sleeps; by its own clocks %.3f to %.3f ms\n",
                      functions[i], (double)sums.ns[i] / 1e6, (unsigned long long)sums.sleeps[i],
                      (double)least_asleep_ns(slept) / 1e6, (double)slept->wall_ns / 1e6);
        assert_at_most(functions[i], sums.ns[i], slept->wall_ns, 0);
        if (i != SLEEP_SHORT) /* of sleeps whose wakeup had no event the stack is missing */
            assert_at_least(functions[i], sums.ns[i], least_asleep_ns(slept),
                            slept->wall_ns * (ROUNDS - sums.sleeps[i]) / ROUNDS +
                                least_asleep_ns(slept) / 100);
    }
    assert_true(sums.sleeps[SLEEP_LONG] >= ROUNDS / 2);
    assert_true(sums.sleeps[READ_A_PIPE] >= ROUNDS / 2);
    symbols_release(sums.symbols);
    (void)!write(plan->end[1], "", 1);
    reap_well(child);
    release_plan(plan);
    close_states(session);
}

static void the_stacks_of_all_sleeps_add_up_to_their_states(void **state)
{
    struct camp_states *session = open_states_or_skip(CAMP_STATES_CULPRITS | CAMP_STATES_STACKS);
    struct plan *plan = make_plan();
    struct threads ended = { 0 };
    struct camp_thread_states last;
    pid_t child;
    struct by_function sums = stacks_of(session, plan, sleep_in_functions, 0, 1, &child);
    uint64_t unseen, missing = 0;

    (void)state;
    (void)!write(plan->end[1], "", 1);
    reap_well(child);
    last = last_of(session, &ended, child);
    read_stacks(&sums, session); /* the rest, without names */
    release_plan(plan);
    free(ended.of);
    symbols_release(sums.symbols);
    unseen = close_states(session);
    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        if (!is_asleep(i))
            continue;
        print_message("%s: %llu of %llu ns\n", camp_state_name(i),
                      (unsigned long long)sums.state_ns[i], (unsigned long long)last.state_ns[i]);
        assert_at_most(camp_state_name(i), sums.state_ns[i], last.state_ns[i], 0);
        if (i == CAMP_STATE_TIMER ||
            i == CAMP_STATE_PIPE) /* a new thread is asleep before it runs */
            missing += last.state_ns[i] - sums.state_ns[i];
    }
    if (unseen == 0)
        assert_int_equal(missing, 0);
    else
        assert_at_most("without stack", missing, 0, unseen * 4 * LONG_NS);
}

static FRAME void touch_pages(const char *memory)
{
    for (unsigned i = 0; i < PAGES; i++)
        results += *(const volatile char *)&memory[i * PAGE_BYTES];
}

static void touch_a_file(void *truth)
{
    struct plan *plan = truth;
    const char *memory = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ, MAP_PRIVATE, plan->file, 0);

    if (memory == MAP_FAILED || madvise((void *)memory, PAGES * PAGE_BYTES, MADV_RANDOM) != 0)
        _exit(1);
    touch_pages(memory);
    wait_for_the_end(plan);
}

static void a_page_fault_has_the_stack_that_touched_the_page(void **state)
{
    struct camp_states *session = open_states_or_skip(CAMP_STATES_CULPRITS | CAMP_STATES_STACKS);
    struct plan *plan = make_plan();
    struct by_function sums;
    uint64_t faults_ns;
    pid_t child;

    (void)state;
    plan->file = file_on_disk("", 1);
    sums = stacks_of(session, plan, touch_a_file, 0, 2, &child);
    symbols_release(sums.symbols);
    faults_ns = sums.state_ns[CAMP_STATE_DATA_FAULT];
    print_message("faults %.3f ms, of these in touch_pages() %.3f ms\n", (double)faults_ns / 1e6,
                  (double)sums.ns[TOUCH_PAGES] / 1e6);
    assert_true(faults_ns > 0);
    assert_at_most("in touch_pages()", sums.ns[TOUCH_PAGES], faults_ns, 0);
    assert_at_least("in touch_pages()", sums.ns[TOUCH_PAGES], faults_ns - faults_ns / 10, 0);
    (void)!write(plan->end[1], "", 1);
    reap_well(child);
    close(plan->file);
    release_plan(plan);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_function_has_the_time_for_which_it_slept),
        cmocka_unit_test(the_stacks_of_all_sleeps_add_up_to_their_states),
        cmocka_unit_test(a_page_fault_has_the_stack_that_touched_the_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
