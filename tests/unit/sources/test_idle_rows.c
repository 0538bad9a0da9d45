/*
 * Frames of threads with each kind of rows of idle threads (enum idle_rows), over many intervals
 * with random events, compared with a simple model.
 *
 * The model has the true account of each thread. Threads start, change their state, sleep, exit,
 * are missing in a snapshot, and reuse the tid of a thread that has exited. A final reading may
 * come late. In each interval:
 *
 * - the times of the rows are those of the accounts, in each state: of each thread (IDLE_EACH), of
 *   each process (IDLE_BY_PROCESS), or of each thread that has a row (IDLE_OMITTED)
 * - after IDLE_OMITTED, a reader that repeats the last idle row of a thread without a row knows the
 *   state of each idle thread, and repeats no row of a thread that is not there
 * - frame_size() is the number of threads
 */
#include "sources/machine/cpus_states.h"
#include "sources/machine/idle_threads.h"
#include "sources/source.h"

#include "../scripted_session.h"

#include <stdio.h>

#define TIDS 200
#define INTERVALS 20000
#define THREADS_OF_PROCESS 4
#define PARENTS 60
#define INTERVAL_NS 100000
#define BEFORE_NS 5 /* a snapshot starts so long after the end of the interval */

struct model_thread {
    struct camp_thread_states now;
    uint64_t told[CAMP_STATE_COUNT]; /* the times that rows have had */
    int missing;                     /* snapshots that will not have the thread */
    int final_in; /* > 0: exited; its final reading comes so many snapshots later */
    bool lives;
    bool ended_late; /* after the last snapshot had listed it; the row comes in this interval */
};

static struct model_thread threads[TIDS];                /* by tid */
static uint64_t expected[TIDS][CAMP_STATE_COUNT];        /* what they did in this interval */
static uint64_t shown[TIDS][CAMP_STATE_COUNT];           /* the same by the rows of the frame */
static bool has_row[TIDS], idles[TIDS], is_listed[TIDS]; /* in this interval */
static int repeated[TIDS];                /* the state that a reader repeats, or -1 */
static uint32_t alike[TIDS][PARENTS + 1]; /* idle threads in rows of several, by pid and parent */
static size_t omitted_rows, alike_rows, gone_rows, repeated_late;

static unsigned random_below(unsigned limit)
{
    static uint64_t seed = 88172645463325252u;

    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % limit;
}

/* The linker replaces these functions by those below (--wrap). */
int __wrap_camp_states_open(struct camp_states **ret, uint32_t options, struct camp_error *error);
void __wrap_camp_states_close(struct camp_states *session);
int __wrap_camp_states_known(const struct camp_states *session, struct camp_states_known *ret,
                             size_t size, struct camp_error *error);
int __wrap_camp_states_losses(const struct camp_states *session, struct camp_states_losses *ret,
                              size_t size, struct camp_error *error);
int __wrap_cpus_states_open(struct cpus_states **ret, struct camp_error *error);
void __wrap_cpus_states_close(struct cpus_states *cpus);
int __wrap_cpus_states_read(struct cpus_states *cpus, struct camp_states *session,
                            struct camp_error *error);
const struct frame *__wrap_cpus_states_frame(const struct cpus_states *cpus);
uint64_t __wrap_source_clock_ns(clockid_t clock);

int __wrap_camp_states_open(struct camp_states **ret, uint32_t options, struct camp_error *error)
{
    (void)options, (void)error;
    *ret = NULL;
    return CAMP_OK;
}

void __wrap_camp_states_close(struct camp_states *session)
{
    (void)session;
}

int __wrap_camp_states_known(const struct camp_states *session, struct camp_states_known *ret,
                             size_t size, struct camp_error *error)
{
    (void)session, (void)error;
    memset(ret, 0xff, size);
    return CAMP_OK;
}

int __wrap_camp_states_losses(const struct camp_states *session, struct camp_states_losses *ret,
                              size_t size, struct camp_error *error)
{
    (void)session, (void)error;
    memset(ret, 0, size);
    return CAMP_OK;
}

int __wrap_cpus_states_open(struct cpus_states **ret, struct camp_error *error)
{
    (void)error;
    *ret = NULL;
    return CAMP_OK;
}

void __wrap_cpus_states_close(struct cpus_states *cpus)
{
    (void)cpus;
}

int __wrap_cpus_states_read(struct cpus_states *cpus, struct camp_states *session,
                            struct camp_error *error)
{
    (void)cpus, (void)session, (void)error;
    return CAMP_OK;
}

const struct frame *__wrap_cpus_states_frame(const struct cpus_states *cpus)
{
    static const struct frame none = { 0 };

    (void)cpus;
    return &none;
}

uint64_t __wrap_source_clock_ns(clockid_t clock)
{
    (void)clock;
    return script.now - BEFORE_NS;
}

static void advance(struct model_thread *thread, uint64_t time_ns)
{
    thread->now.state_ns[thread->now.state] += time_ns - thread->now.time_ns;
    thread->now.time_ns = time_ns;
}

/* Rows must now have the times of the thread up to now.time_ns. */
static void tell(int tid)
{
    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        expected[tid][i] += threads[tid].now.state_ns[i] - threads[tid].told[i];
        threads[tid].told[i] = threads[tid].now.state_ns[i];
    }
}

static void start(int tid, uint64_t begin_ns)
{
    threads[tid] = (struct model_thread){ .lives = true };
    threads[tid].now = (struct camp_thread_states){ .tid = tid,
                                                    .pid = tid - tid % THREADS_OF_PROCESS,
                                                    .parent = 1 + (int32_t)random_below(PARENTS),
                                                    .state = random_below(CAMP_STATE_COUNT),
                                                    .count = 1,
                                                    .begin_ns = begin_ns,
                                                    .time_ns = begin_ns };
    snprintf(threads[tid].now.name, sizeof threads[tid].now.name, "t%d", tid);
}

static void finish(int tid)
{
    threads[tid].final_in = 0;
    threads[tid].lives = false;
    script_add_exit(&script.exits, threads[tid].now);
    tell(tid);
}

/* One interval of a thread. `end_ns` is the time of its reading, if it does something. */
static void live(int tid, uint64_t end_ns)
{
    struct model_thread *thread = &threads[tid];
    const unsigned choice = random_below(100);

    script.living[tid].tid = 0;
    script.idle[tid] = false;
    if (thread->ended_late) {
        tell(tid);
        thread->ended_late = false;
    }
    if (thread->final_in > 0 && --thread->final_in == 0)
        finish(tid);
    if (thread->final_in > 0 || (!thread->lives && choice >= 10))
        return;
    if (!thread->lives) {
        start(tid, thread->now.time_ns + 1 > end_ns - 1000 ? end_ns - 1 : end_ns - 1000);
    } else if (choice < 3 && thread->missing == 0) { /* exits; its tid may be used again at once */
        advance(thread, end_ns - 2000);
        thread->final_in = (int)random_below(3);
        if (thread->final_in == 0)
            finish(tid);
        if (thread->final_in == 0 && random_below(2) == 0)
            start(tid, end_ns - 1000);
    } else if (choice < 4 && script.known[tid].is_known) {
        thread->missing = 1;
    } else if (choice < 20 || thread->missing == 1) {
        advance(thread, end_ns - 1500);
        thread->now.state = random_below(CAMP_STATE_COUNT);
        if (choice == 5)
            thread->now.parent = 1 + (int32_t)random_below(PARENTS);
    } else if (script.known[tid].is_known && thread->missing == 0) {
        script.idle[tid] = idles[tid] = true;
    }
    if (!thread->lives || thread->final_in > 0)
        return;
    if (thread->missing > 0) {
        thread->missing--;
        idles[tid] = script.idle[tid] = false;
        return;
    }
    advance(thread, script.idle[tid] ? script.now : end_ns);
    is_listed[tid] = true;
    script_list(thread->now);
    script.idle[tid] = idles[tid];
    tell(tid);
    if (choice >= 98) { /* exits while the snapshot is taken */
        advance(thread, script.now + 3000);
        script_add_exit(&script.exits_of_listing, thread->now);
        thread->lives = false;
        thread->ended_late = true;
    }
}

static void see_row(const struct frame *frame, size_t row)
{
    const struct entity *entity = &frame->entities[row];
    const int tid = (int)entity->id;
    const uint64_t *values = frame_values(frame, row);
    const uint32_t only = frame->only_states[row];
    uint64_t sum = 0;

    assert_in_range(tid, 0, TIDS - 1);
    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        shown[tid][i] += values[i];
        sum += values[i];
    }
    assert_int_equal(sum, frame->elapsed_ns[row]);
    gone_rows += (entity->flags & ENTITY_GONE) != 0;
    alike_rows += (entity->flags & ENTITY_ALIKE) != 0;
    alike[entity->pid][entity->parent] += (entity->flags & ENTITY_ALIKE) != 0 ? entity->count : 0;
    has_row[tid] = true;
    repeated[tid] = -1;
    if (only != 0) {
        assert_int_equal(values[only - 1], sum);
        if ((entity->flags & (ENTITY_ENDED | ENTITY_GONE | ENTITY_NEW)) == 0 &&
            frame_times(sum, frame->end_ns - frame->start_ns) == 1)
            repeated[tid] = (int)only - 1;
        else
            repeated_late++;
    }
}

static void add_to_process(uint64_t sums[TIDS][CAMP_STATE_COUNT])
{
    for (int tid = 0; tid < TIDS; tid++) {
        const int pid = tid - tid % THREADS_OF_PROCESS;

        for (int i = 0; i < CAMP_STATE_COUNT && pid != tid; i++) {
            sums[pid][i] += sums[tid][i];
            sums[tid][i] = 0;
        }
    }
}

static void check(const struct frame *frame, enum idle_rows idle)
{
    uint64_t living = 0, ended = 0;

    if (frame->omitted == 0)
        memset(repeated, 0xff, sizeof repeated);
    memset(shown, 0, sizeof shown);
    memset(has_row, 0, sizeof has_row);
    memset(alike, 0, sizeof alike);
    for (size_t i = 0; i < frame->entity_count; i++) {
        see_row(frame, i);
        ended += (frame->entities[i].flags & ENTITY_ENDED) != 0;
    }
    for (int tid = 1; tid < TIDS; tid++) {
        living += is_listed[tid];
        if (idle == IDLE_BY_PROCESS && idles[tid])
            alike[threads[tid].now.pid][threads[tid].now.parent]--;
        if (idle == IDLE_OMITTED && !has_row[tid]) {
            assert_true(!is_listed[tid] || idles[tid]);
            memset(expected[tid], 0, sizeof expected[tid]);
            omitted_rows += is_listed[tid];
        }
        if (idle == IDLE_OMITTED && (!is_listed[tid] || !has_row[tid]))
            assert_int_equal(repeated[tid], is_listed[tid] ? (int)threads[tid].now.state : -1);
    }
    assert_int_equal(frame_size(frame), living + ended);
    if (idle == IDLE_BY_PROCESS) {
        add_to_process(expected);
        add_to_process(shown);
    }
    for (int pid = 0; pid < TIDS; pid++) {
        for (int parent = 0; parent <= PARENTS; parent++)
            assert_int_equal(alike[pid][parent], 0);
    }
    assert_memory_equal(shown, expected, sizeof shown);
}

static void rows_of_idle_threads_have_the_times_of_a_model(void **state)
{
    const volatile sig_atomic_t stop = 0;
    struct source *source = NULL;
    enum idle_rows idle = IDLE_EACH;

    (void)state;
    memset(repeated, 0xff, sizeof repeated);
    script.now = 1000000;
    assert_int_equal(threads_source_open(0, &stop, &source, NULL), CAMP_OK);
    for (int n = 0; n < INTERVALS; n++) {
        const struct frame *frame = NULL;

        /* A short interval now and then has idle rows that cannot be repeated. */
        script.now += random_below(20) == 0 ? INTERVAL_NS / 10 : INTERVAL_NS;
        memset(expected, 0, sizeof expected);
        memset(idles, 0, sizeof idles);
        memset(is_listed, 0, sizeof is_listed);
        for (int tid = 1; tid < TIDS; tid++)
            live(tid, script.now + random_below(2000));
        if (random_below(10) == 0)
            idle = (enum idle_rows)random_below(3);
        source_set_idle(source, idle);
        assert_int_equal(source->next(source, 0, &frame, NULL), CAMP_OK);
        check(frame, idle == IDLE_OMITTED && frame->omitted == 0 ? IDLE_EACH : idle);
    }
    source_close(source);
    script_release();
    printf("%zu rows were omitted, %zu were of several threads, %zu of threads that were gone\n",
           omitted_rows, alike_rows, gone_rows);
    assert_true(omitted_rows > 100000 && alike_rows > 100000 && gone_rows > 1000 &&
                repeated_late > 1000);
}

/* A snapshot that is repeated shows a thread twice. */
static void the_later_reading_of_a_thread_counts(void **state)
{
    struct recent_threads recent = { 0 };
    struct recent_thread thread = { .entity = { .id = 7 }, .time_ns = 100 };

    (void)state;
    assert_int_equal(recent_threads_add(&recent, &thread), CAMP_OK);
    thread.time_ns = 200;
    assert_int_equal(recent_threads_add(&recent, &thread), CAMP_OK);
    thread.entity.id = 5;
    assert_int_equal(recent_threads_add(&recent, &thread), CAMP_OK);
    recent_threads_start_interval(&recent);
    assert_int_equal(recent.last.count, 2);
    assert_int_equal(recent.last.threads[0].entity.id, 5);
    assert_int_equal(recent.last.threads[1].time_ns, 200);
    recent_threads_forget(&recent, 7);
    recent_threads_forget(&recent, 6);
    assert_true(recent.last.threads[1].is_done && !recent.last.threads[0].is_done);
    recent_threads_release(&recent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_idle_threads_have_the_times_of_a_model),
        cmocka_unit_test(the_later_reading_of_a_thread_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
