/*
 * A million random events of threads, and a registry that is compared with a simple model of them.
 *
 * The model has the true account of each thread, and the time of the last reading that the session
 * passed to the registry: in a listing, by a wait or at the exit. After each snapshot, the sums of
 * the registry must equal the accounts up to these times, in each state, counter and group.
 *
 * Threads start, change their state, sleep through several snapshots, rename their process, call
 * exec(2), and exit. Tids and pids are reused at once. A snapshot may lack a thread, also several
 * times. A final reading may come at once, during a snapshot, or up to three snapshots later. From
 * time to time, all threads of a crowd exit together, and the ring of exits is full: then most of
 * them come as totals, two reads of exits later. Only the threads of a crowd are in totals, and
 * each crowd has its own name. So what a registry can only guess, which thread is in which total,
 * has one answer here. test_thread_registry.c has the other cases.
 */
#include "sources/machine/thread_registry.h"

#include "../scripted_session.h"
#include "sources/source.h"

#include <stdio.h>

#define EVENTS 1000000
#define TIDS 600
#define GROUPS 8
#define RING 6 /* the number of exits of a crowd for which the ring has space */

struct thread {
    struct camp_thread_states now; /* up to now.time_ns; the open state goes on */
    struct camp_thread_states told;
    uint64_t changed; /* number of its changes of state */
    uint64_t listed;  /* the same in the last listing */
    int missing;      /* snapshots that will not have the thread */
    int final_in;     /* > 0: it has exited, and the final reading comes after so many snapshots */
    bool lives, is_told, is_lacking; /* is_lacking: the last listing did not have it */
    bool has_execed; /* since the last listing; a second call would hide where it comes from */
};

/* What is accounted: states, counters, by group. */
struct sums {
    uint64_t states[GROUPS][CAMP_STATE_COUNT];
    uint64_t system_calls, cpu_ns, sampled_ns;
};

static struct thread threads[TIDS]; /* by tid */
static struct sums told, accounted;
static struct thread_registry registry;
static uint64_t now_ns_of_model, crowd, exits_read;
static unsigned rows, ended_rows, totals, exec_calls, late_finals, missed_once, reused;

static struct {
    struct camp_thread_states sum;
    uint64_t due; /* the read of exits that returns it */
} waiting_totals[64];
static size_t waiting_count;

static unsigned random_below(unsigned limit)
{
    static uint64_t seed = 88172645463325252u;

    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % limit;
}

static uint32_t group_of(const struct camp_thread_states *thread)
{
    return (uint32_t)thread->name[1] % GROUPS;
}

static int find_group(void *context, const struct camp_thread_states *before,
                      const struct camp_thread_states *thread, uint32_t *group)
{
    (void)context;
    if (before == NULL || strcmp(before->name, thread->name) != 0)
        *group = group_of(thread);
    return CAMP_OK;
}

static int add_row(void *context, const struct camp_thread_states *since, uint32_t group)
{
    uint64_t sum = 0;

    (void)context;
    assert_true(group < GROUPS);
    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        accounted.states[group][i] += since->state_ns[i];
        sum += since->state_ns[i];
    }
    assert_int_equal(sum, since->time_ns - since->begin_ns);
    accounted.system_calls += since->system_calls;
    accounted.cpu_ns += since->cpu_ns;
    accounted.sampled_ns += since->sampled_ns;
    rows++;
    ended_rows += (since->flags & CAMP_THREAD_ENDED) != 0;
    return CAMP_OK;
}

static int add_idle(void *context, uint32_t group, uint32_t state, uint64_t count, uint64_t wait_ns)
{
    (void)context;
    (void)count;
    accounted.states[group][state] += wait_ns;
    return CAMP_OK;
}

static int add_wait(void *context, const struct camp_states_wait *wait, uint32_t group)
{
    return add_idle(context, group, wait->state, 1, wait->elapsed_ns);
}

static void advance_to(struct thread *thread, uint64_t time_ns)
{
    struct camp_thread_states *now = &thread->now;
    const uint64_t passed = time_ns - now->time_ns;

    now->state_ns[now->state] += passed;
    if (now->state == CAMP_STATE_USER || now->state == CAMP_STATE_SYSTEM)
        now->cpu_ns += passed;
    now->time_ns = time_ns;
}

static void advance(struct thread *thread)
{
    advance_to(thread, now_ns_of_model);
}

/* The session passes a reading of a thread to the registry, which has its times up to then. */
static void tell(struct thread *thread)
{
    const struct camp_thread_states *now = &thread->now, *then = &thread->told;
    const uint32_t group = group_of(now);

    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        told.states[group][i] += now->state_ns[i] - then->state_ns[i];
    /* the counters of an older thread include the time before its first reading */
    if (then->time_ns == 0 && (now->flags & CAMP_THREAD_OLDER) != 0)
        then = now;
    told.system_calls += now->system_calls - then->system_calls;
    told.cpu_ns += now->cpu_ns - then->cpu_ns;
    told.sampled_ns += now->sampled_ns - then->sampled_ns;
    thread->told = *now;
}

static bool is_of_crowd(const struct thread *thread)
{
    return thread->now.name[0] == 'c';
}

static void start(int tid)
{
    struct thread *thread = &threads[tid];
    const unsigned kind = random_below(4);
    const int leader = tid - (int)random_below(3);

    now_ns_of_model++; /* no two threads have the same start */
    reused += thread->now.tid != 0;
    *thread = (struct thread){ .lives = true };
    thread->now = (struct camp_thread_states){ .tid = tid,
                                               .pid = tid,
                                               .parent = 1 + (int32_t)random_below(3),
                                               .count = 1,
                                               .begin_ns = now_ns_of_model,
                                               .time_ns = now_ns_of_model };
    if (leader > 0 && threads[leader].lives && threads[leader].now.pid == leader &&
        !is_of_crowd(&threads[leader]))
        thread->now.pid = leader;
    if (kind == 0 && thread->now.pid == tid)
        snprintf(thread->now.name, sizeof thread->now.name, "c%llu", (unsigned long long)crowd);
    else
        snprintf(thread->now.name, sizeof thread->now.name, "s%u", random_below(9));
    if (random_below(20) == 0 &&
        !is_of_crowd(thread)) { /* older than the session: counters include the time before */
        thread->now.flags = CAMP_THREAD_OLDER;
        thread->now.sampled_ns = 1000000;
    }
}

static void change_state(struct thread *thread)
{
    advance(thread);
    thread->now.state = random_below(CAMP_STATE_COUNT);
    thread->now.system_calls += is_of_crowd(thread) ? 0 : random_below(3);
    thread->now.sampled_ns += is_of_crowd(thread) ? 0 : random_below(10);
    if (!is_of_crowd(thread) && random_below(50) == 0)
        snprintf(thread->now.name, sizeof thread->now.name, "s%u", random_below(9));
    if (is_of_crowd(thread))
        thread->now.state = CAMP_STATE_USER;
    thread->changed++;
}

static void send_final(struct thread *thread, struct script_exits *exits)
{
    tell(thread);
    script_add_exit(exits, thread->now);
    thread->lives = false;
    thread->final_in = 0;
}

/* The final reading comes at once, or with a later snapshot. */
static void exit_single(struct thread *thread)
{
    advance(thread);
    if (random_below(3) != 0 || thread->is_lacking) {
        send_final(thread, &script.exits);
        return;
    }
    thread->final_in = 1 + (int)random_below(3);
    late_finals++;
}

/* All threads of the crowd exit. The ring has space for some; the others are added up by parent. */
static void exit_crowd(void)
{
    size_t singles = 0;

    for (int tid = 1; tid < TIDS; tid++) {
        struct thread *thread = &threads[tid];
        struct camp_thread_states *sum;
        size_t i = 0;

        if (!thread->lives || !is_of_crowd(thread))
            continue;
        advance(thread);
        if (singles++ < RING) {
            send_final(thread, &script.exits);
            continue;
        }
        while (i < waiting_count && (waiting_totals[i].sum.parent != thread->now.parent ||
                                     strcmp(waiting_totals[i].sum.name, thread->now.name) != 0))
            i++;
        if (i == waiting_count) {
            assert_true(waiting_count < 64);
            waiting_count++;
            waiting_totals[i].sum = (struct camp_thread_states){ .parent = thread->now.parent };
            waiting_totals[i].sum.flags = CAMP_THREAD_ENDED | CAMP_THREAD_TOTAL;
            memcpy(waiting_totals[i].sum.name, thread->now.name, sizeof thread->now.name);
            waiting_totals[i].due = exits_read + 2;
            totals++;
        }
        sum = &waiting_totals[i].sum;
        sum->count++;
        sum->time_ns += thread->now.time_ns - thread->now.begin_ns;
        for (int k = 0; k < CAMP_STATE_COUNT; k++)
            sum->state_ns[k] += thread->now.state_ns[k];
        sum->cpu_ns += thread->now.cpu_ns;
        thread->lives = false;
        tell(thread); /* early, but the check waits for totals */
    }
    crowd++;
}

/* The totals whose turn it is are in the ring before the next read of exits. */
static void release_totals(void)
{
    size_t kept = 0;

    exits_read++;
    for (size_t i = 0; i < waiting_count; i++) {
        if (waiting_totals[i].due <= exits_read)
            script_add_exit(&script.exits, waiting_totals[i].sum);
        else
            waiting_totals[kept++] = waiting_totals[i];
    }
    waiting_count = kept;
}

/* A thread other than the first thread of its process calls exec(2): it takes the tid of the first
 * thread, which exits with the tid of the other one. */
static void exec_thread(struct thread *thread)
{
    struct thread *first = &threads[thread->now.pid];
    const int32_t tid = thread->now.tid;
    struct thread last = *first;

    if (thread == first || !first->lives || first->now.pid != thread->now.pid ||
        first->now.tid != first->now.pid || first->final_in > 0 || thread->missing > 0 ||
        first->missing > 0 || first->has_execed)
        return;
    advance(&last);
    tell(&last);
    last.now.tid = tid;
    script_add_exit(&script.exits, last.now);
    *first = *thread;
    thread->lives = false;
    thread->now.tid = tid;
    first->now.tid = first->now.pid;
    first->has_execed = true;
    change_state(first);
    exec_calls++;
}

/* Before a snapshot: the threads that it lists, and those that it lacks. */
static void prepare_listing(void)
{
    for (int tid = 1; tid < TIDS; tid++) {
        struct thread *thread = &threads[tid];

        script.living[tid].tid = 0;
        if (!thread->lives || thread->now.tid != tid)
            continue;
        if (thread->final_in > 0 || thread->missing > 0) {
            if (thread->final_in > 0 && --thread->final_in == 0)
                send_final(thread, random_below(2) ? &script.exits : &script.exits_of_listing);
            thread->missing -= thread->missing > 0;
            thread->is_lacking = true;
            continue;
        }
        thread->is_lacking = false;
        if (thread->is_told && thread->changed == thread->listed && script.known[tid].is_known &&
            script_is_same(&script.known[tid].reading, &thread->now) &&
            thread->now.state != CAMP_STATE_USER && thread->now.state != CAMP_STATE_SYSTEM) {
            advance_to(thread, script.now);
            tell(thread);
            script.living[tid] = thread->now;
            script.idle[tid] = true;
            continue;
        }
        now_ns_of_model += random_below(2); /* a listing takes some time */
        advance(thread);
        tell(thread);
        script_list(thread->now);
        thread->listed = thread->changed;
        thread->is_told = true;
        thread->has_execed = false;
    }
}

static void check(void)
{
    assert_int_equal(accounted.system_calls, told.system_calls);
    assert_int_equal(accounted.cpu_ns, told.cpu_ns);
    assert_int_equal(accounted.sampled_ns, told.sampled_ns);
    for (int group = 0; group < GROUPS; group++) {
        for (int i = 0; i < CAMP_STATE_COUNT; i++)
            assert_int_equal(accounted.states[group][i], told.states[group][i]);
    }
}

static void count_living(uint64_t *ret_threads, uint64_t *ret_processes)
{
    *ret_threads = *ret_processes = 0;
    for (int tid = 1; tid < TIDS; tid++) {
        *ret_threads += script.known[tid].is_known && !script.known[tid].has_ended;
        *ret_processes += script.known[tid].is_known && !script.known[tid].has_ended &&
                          script.known[tid].reading.pid == tid;
    }
}

static void take_snapshot(void)
{
    uint64_t living, processes;

    release_totals();
    script.now = now_ns_of_model;
    prepare_listing();
    if (random_below(30) == 0)
        registry.regroups = true;
    assert_int_equal(thread_registry_read(&registry, NULL, NULL), CAMP_OK);
    registry.snapshot_ns = ++now_ns_of_model;
    count_living(&living, &processes);
    assert_int_equal(registry.threads, living);
    assert_int_equal(registry.processes, processes);
    if (waiting_count == 0 && script.exits.count == 0 && registry.held.count == 0)
        check();
}

static void do_event(struct thread *thread, int tid)
{
    const unsigned what = random_below(100);

    now_ns_of_model += random_below(3);
    if (!thread->lives || thread->final_in > 0) {
        if (!thread->lives)
            start(tid);
        return;
    }
    if (what < 70)
        change_state(thread);
    else if (what < 78 && !is_of_crowd(thread) && thread->missing == 0)
        exit_single(thread);
    else if (what < 84 && !is_of_crowd(thread))
        exec_thread(thread);
    else if (what < 88 && !is_of_crowd(thread) && !thread->is_lacking) {
        thread->missing = 1 + (int)random_below(3);
        missed_once++;
    }
}

static void run(bool tells_each_wait)
{
    const struct thread_user user = { .did = add_row,
                                      .waited = tells_each_wait ? add_wait : NULL,
                                      .idle = add_idle,
                                      .group = find_group };

    memset(threads, 0, sizeof threads);
    memset(&told, 0, sizeof told);
    memset(&accounted, 0, sizeof accounted);
    rows = ended_rows = totals = exec_calls = late_finals = missed_once = reused = 0;
    waiting_count = 0;
    now_ns_of_model = 1000;
    thread_registry_init(&registry, &user);
    registry.snapshot_ns = 0;
    for (int i = 0; i < EVENTS; i++) {
        const int tid = 1 + (int)random_below(TIDS - 1);

        do_event(&threads[tid], tid);
        if (random_below(2000) == 0)
            exit_crowd();
        if (random_below(300) == 0) {
            release_totals();
            assert_int_equal(thread_registry_read_exited(&registry, NULL, NULL), CAMP_OK);
        }
        if (random_below(200) == 0)
            take_snapshot();
    }
    for (int i = 0; i < 6; i++)
        take_snapshot();
    check();
    print_message("%u rows, %u of exited threads, %u totals, %u calls of exec, %u late final "
                  "readings, %u missing threads, %u reused tids\n",
                  rows, ended_rows, totals, exec_calls, late_finals, missed_once, reused);
    assert_true(totals > 100 && exec_calls > 100 && late_finals > 100 && missed_once > 100);
    thread_registry_release(&registry);
    script_release();
}

static void a_million_random_events_are_accounted_once_with_idle_threads_as_sums(void **state)
{
    (void)state;
    run(false);
}

static void a_million_random_events_are_accounted_once_with_each_idle_thread(void **state)
{
    (void)state;
    run(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_random_events_are_accounted_once_with_idle_threads_as_sums),
        cmocka_unit_test(a_million_random_events_are_accounted_once_with_each_idle_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
