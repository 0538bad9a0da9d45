/* The sleeps that have not ended: their calls and times, and what is at their other ends, in a
 * folder in place of /proc. */
#include "../commands/synthetic_causes.h"
#include "microstates/calls.h"
#include "sources/causes/open_chain.h"
#include "sources/causes/open_sleeps.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLDER "/tmp/camp-open-XXXXXX"

static char folder[] = FOLDER;

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "%s", FOLDER);
    assert_non_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

__attribute__((format(printf, 2, 3))) static void write_file(const char *path, const char *format,
                                                             ...)
{
    char whole[128];
    va_list arguments;
    FILE *file;

    snprintf(whole, sizeof whole, "%s/%s", folder, path);
    file = fopen(whole, "we");
    assert_non_null(file);
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    fclose(file);
}

/* A process with one thread, which is in `state`, and sleeps in read(2) of descriptor 0. */
static void make_process(int pid, const char *name, char state, int threads, const char *object)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%d", folder, pid);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/%d/task", folder, pid);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/%d/task/%d", folder, pid, pid);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/%d/fd", folder, pid);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%d/task/%d/syscall", pid, pid);
    write_file(path, "%d 0x0 0x7ffc 0x400 0x0 0x0 0x0 0x7ffc80 0x7f0012\n", (int)SYS_read);
    snprintf(path, sizeof path, "%d/comm", pid);
    write_file(path, "%s\n", name);
    snprintf(path, sizeof path, "%d/stat", pid);
    write_file(path,
               "%d (%s) %c 1 1 1 0 -1 4194304 100 0 0 0 1 1 0 0 20 0 %d 0 5000 1000000 200 "
               "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
               pid, name, state, threads);
    snprintf(path, sizeof path, "%s/%d/fd/0", folder, pid);
    assert_int_equal(symlink(object, path), 0);
}

static void open_end(int pid, int descriptor, const char *object)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%d/fd/%d", folder, pid, descriptor);
    assert_int_equal(symlink(object, path), 0);
}

static void the_call_of_a_thread_is_parsed_and_any_other_text_is_unknown(void **state)
{
    static const char *const others[] = { "",
                                          "running\n",
                                          "0",
                                          "0 ",
                                          "0 0x\n",
                                          "0 0x5\n",
                                          "-2 0x1 0x2\n",
                                          "9999999999 0x1 0x2",
                                          "x 0x1 0x2",
                                          "0 5 0x2" };
    uint64_t arguments[OPEN_CALL_ARGUMENTS];
    int32_t call;

    (void)state;
    assert_true(open_call_parse("7 0x3 0xffff 0x5 0x0 0x0 0x0 0x7ffc 0x7f00\n", &call, arguments));
    assert_int_equal(call, 7);
    assert_int_equal(arguments[0], 3);
    assert_int_equal(arguments[1], 0xffff);
    assert_int_equal(arguments[2], 5);
    assert_true(open_call_parse("7 0x3 0xffff", &call, arguments));
    assert_int_equal(arguments[0], 3);
    assert_int_equal(arguments[1], 0); /* it may be cut */
    assert_true(open_call_parse("-1 0x7ffc 0x7f00\n", &call, arguments));
    assert_int_equal(call, -1);
    assert_int_equal(arguments[0], 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_false(open_call_parse(others[i], &call, arguments));
        assert_int_equal(call, CALL_UNKNOWN);
        assert_int_equal(arguments[0], 0);
    }
}

static void the_calls_of_open_sleeps_add_up_to_their_states(void **state)
{
    static const struct open_sleep asleep[] = {
        { .pid = 7, .tid = 7, .state = CAMP_STATE_PIPE, .is_whole = true, .most_ns = 40 },
        { .pid = 7, .tid = 8, .state = CAMP_STATE_PIPE, .most_ns = 20 },
        { .pid = 7, .tid = 9, .state = CAMP_STATE_PIPE, .most_ns = 10 },
        { .pid = 7, .tid = 10, .state = CAMP_STATE_LOCK, .most_ns = 5 },
    };
    struct causes *causes = make_causes();
    struct open_sleeps sleeps = { 0 };
    struct call_list calls = { 0 };
    uint64_t of_pipe = 0, of_lock = 0;

    (void)state;
    causes->rows.count = 0;
    add_row(causes, DB, CAMP_STATE_PIPE, CAUSE_NOT_ENDED, 0, 57);
    add_row(causes, DB, CAMP_STATE_LOCK, CAUSE_NOT_ENDED, 0, 8);
    add_row(causes, WRITER, CAMP_STATE_PIPE, CAUSE_NOT_ENDED, 0, 99);
    make_folder();
    make_process(7, "db", 'S', 1, "pipe:[100]");
    for (size_t i = 0; i < 4; i++)
        open_sleeps_note(&sleeps, &asleep[i]);
    assert_true(open_sleeps_calls(&sleeps, causes, DB, 7, folder, &calls));
    assert_int_equal(calls.items[0].call, SYS_read);
    assert_int_equal(calls.items[0].sleep_ns, 40);
    assert_int_equal(calls.items[0].count, 1);
    for (size_t i = 0; i < calls.count; i++) {
        of_pipe += calls.items[i].state == CAMP_STATE_PIPE ? calls.items[i].sleep_ns : 0;
        of_lock += calls.items[i].state == CAMP_STATE_LOCK ? calls.items[i].sleep_ns : 0;
    }
    assert_int_equal(of_pipe, 57);
    assert_int_equal(of_lock, 8);
    assert_int_equal(calls.items[1].call, CALL_UNKNOWN);
    remove_folder();
    open_sleeps_release(&sleeps);
    free(calls.items);
    release_causes(causes);
}

/* Returns the chain from the sleep of process 7 in read(2) of descriptor 0. */
static size_t chain_of(struct open_step steps[OPEN_CHAIN_MAX])
{
    const struct camp_call_sleeps first = { .pid = 7, .call = SYS_read, .state = CAMP_STATE_PIPE };
    struct cause_objects objects = { 0 };
    const size_t count = open_chain(steps, &first, &objects, folder);

    cause_objects_release(&objects);
    return count;
}

static void a_chain_of_open_sleeps_goes_on_at_the_other_ends(void **state)
{
    struct open_step steps[OPEN_CHAIN_MAX];

    (void)state;
    if (camp_call_name(SYS_read) == NULL)
        skip();
    make_folder();
    make_process(7, "reader", 'S', 1, "pipe:[100]");
    make_process(8, "relay", 'S', 1, "pipe:[101]");
    make_process(9, "writer", 'R', 1, "/dev/null");
    open_end(8, 1, "pipe:[100]");
    open_end(9, 1, "pipe:[101]");
    assert_int_equal(chain_of(steps), 3);
    assert_string_equal(steps[0].names.object, "pipe:[100]");
    assert_string_equal(steps[1].who, "relay (8)");
    assert_int_equal(steps[1].does, OPEN_WAITS);
    assert_string_equal(steps[1].names.call, "read");
    assert_int_equal(steps[1].call.state, CAMP_STATE_PIPE);
    assert_string_equal(steps[2].who, "writer (9)");
    assert_int_equal(steps[2].does, OPEN_RUNS);
    remove_folder();
}

static void a_chain_of_open_sleeps_ends_at_a_circle_and_at_several_threads(void **state)
{
    struct open_step steps[OPEN_CHAIN_MAX];

    (void)state;
    if (camp_call_name(SYS_read) == NULL)
        skip();
    make_folder();
    make_process(7, "reader", 'S', 1, "pipe:[100]");
    make_process(8, "writer", 'S', 1, "pipe:[101]");
    open_end(8, 1, "pipe:[100]");
    open_end(7, 1, "pipe:[101]");
    assert_int_equal(chain_of(steps), 3);
    assert_int_equal(steps[2].does, OPEN_CIRCLE);
    assert_int_equal(steps[2].pid, 7);
    remove_folder();
    make_folder();
    make_process(7, "reader", 'S', 1, "pipe:[100]");
    make_process(8, "writer", 'S', 5, "pipe:[101]");
    open_end(8, 1, "pipe:[100]");
    assert_int_equal(chain_of(steps), 2);
    assert_int_equal(steps[1].does, OPEN_MANY);
    assert_int_equal(steps[1].threads, 5);
    remove_folder();
}

static void make_lock_waiter(int pid, const char *name, const char *object)
{
    char path[128];

    make_process(pid, name, 'S', 1, object);
    snprintf(path, sizeof path, "%d/task/%d/syscall", pid, pid);
    write_file(path, "%d 0x0 0x2 0x0 0x0 0x0 0x0 0x7ffc80 0x7f0012\n", (int)SYS_flock);
}

/* db (7) hangs in a pipe, web (20) waits for the lock of a file, and pool (30) for work. */
static void open_sleeps_of_the_subject_and_for_file_locks_are_named(void **state)
{
    static const struct open_sleep asleep[] = {
        { .pid = 30,
          .group = 0,
          .state = CAMP_STATE_LOCK,
          .threads = 9,
          .is_whole = true,
          .most_ns = 900 },
        { .pid = 20, .tid = 20, .group = 0, .state = CAMP_STATE_LOCK, .most_ns = 95 },
        { .pid = 7,
          .group = DB,
          .state = CAMP_STATE_PIPE,
          .threads = 1,
          .is_whole = true,
          .most_ns = 100 },
    };
    struct causes *causes = make_causes();
    struct cause_objects objects = { 0 };
    struct open_sleeps sleeps = { 0 };

    (void)state;
    if (camp_call_name(SYS_flock) == NULL)
        skip();
    causes->rows.count = 0;
    memset(causes->state_ns, 0, sizeof causes->state_ns);
    add_row(causes, DB, CAMP_STATE_PIPE, CAUSE_NOT_ENDED, 0, 100);
    add_row(causes, DB, CAMP_STATE_DISK, CAUSE_NOT_ENDED, 0, 1); /* of a thread that nobody saw */
    add_row(causes, 0, CAMP_STATE_LOCK, CAUSE_NOT_ENDED, 0, 960);
    make_folder();
    make_process(7, "db", 'S', 1, "pipe:[100]");
    make_process(8, "writer", 'T', 1, "/dev/null");
    open_end(8, 1, "pipe:[100]");
    make_lock_waiter(20, "web", "/run/db.lock");
    make_process(30, "pool", 'S', 9, "/dev/null");
    write_file("locks", "2: FLOCK  ADVISORY  WRITE 8 fe:00:5 0 EOF\n"
                        "2: -> FLOCK  ADVISORY  WRITE 20 fe:00:5 0 EOF\n");
    for (size_t i = 0; i < 3; i++)
        open_sleeps_note(&sleeps, &asleep[i]);
    assert_true(open_facts_fill(causes, &sleeps, DB, &objects, folder));
    assert_int_equal(causes->open_calls.count, 4);
    assert_int_equal(causes->open_calls.items[0].sleep_ns, 100);
    assert_string_equal(causes->open_facts[0].names.object, "pipe:[100]");
    assert_string_equal(causes->open_facts[0].other_end, "with writer (8)");
    assert_int_equal(causes->open_facts[0].holder, 8);
    assert_string_equal(causes->open_facts[1].who, "web (20)");
    assert_string_equal(causes->open_facts[1].names.call, "flock");
    assert_int_equal(causes->open_facts[1].state_ns, 95);
    assert_int_equal(causes->open_calls.items[1].sleep_ns, 60); /* the pool has the other 900 */
    assert_int_equal(causes->open_calls.items[2].call, CALL_UNKNOWN);
    assert_int_equal(causes->open_calls.items[2].state, CAMP_STATE_DISK);
    assert_int_equal(causes->open_facts[3].group, CAUSE_GROUPS);
    assert_int_equal(causes->open_facts[3].does, OPEN_STOPS);
    assert_string_equal(causes->open_facts[3].who, "writer (8)");
    remove_folder();
    open_sleeps_release(&sleeps);
    cause_objects_release(&objects);
    release_causes(causes);
}

/* Processes 100 to 100 + IDLE - 1 wait in futex(2) for work; the last one waits for a lock. */
#define IDLE (OPEN_SLEEPS_READ + 50)

static void make_futex_waiters(void)
{
    char path[128];

    for (int pid = 100; pid < 100 + IDLE; pid++) {
        make_process(pid, "idle", 'S', 1, "/dev/null");
        snprintf(path, sizeof path, "%d/task/%d/syscall", pid, pid);
        write_file(path, "%d 0x7f00 0x80 0x%x 0x0 0x0 0x0 0x7ffc80 0x7f0012\n", (int)SYS_futex,
                   pid < 100 + IDLE - 1 ? 0 : 2);
    }
}

/* Reads an interval through which the processes slept, except for `woken`. Returns how many of them
 * need not be read any more. */
static size_t read_futex_waiters(struct open_sleeps *sleeps, int woken)
{
    struct causes *causes = make_causes();
    struct cause_objects objects = { 0 };
    size_t ret = 0;

    sleeps->count = 0;
    for (int pid = 100; pid < 100 + IDLE; pid++) {
        if (pid != woken)
            open_sleeps_note(sleeps, &(struct open_sleep){ .pid = pid,
                                                           .state = CAMP_STATE_LOCK,
                                                           .is_whole = true,
                                                           .most_ns = 100 });
    }
    assert_true(open_facts_fill(causes, sleeps, CAUSE_GROUPS, &objects, folder));
    for (size_t i = 0; i < sleeps->process_count; i++)
        ret += sleeps->processes[i].known == OPEN_WITHOUT_LOCK;
    /* The owner of the last one is unknown, too: its memory cannot be read. */
    assert_in_range(causes->unowned.threads, ret, ret + 1);
    cause_objects_release(&objects);
    release_causes(causes);
    return ret;
}

static void a_process_that_sleeps_for_no_lock_is_read_once(void **state)
{
    struct open_sleeps sleeps = { 0 };
    char path[128];

    (void)state;
    if (camp_call_name(SYS_futex) == NULL)
        skip();
    make_folder();
    make_futex_waiters();
    assert_int_equal(read_futex_waiters(&sleeps, 0), OPEN_SLEEPS_READ - OPEN_SLEEPS_LATE - 1);
    assert_int_equal(sleeps.processes[IDLE - 1].known, OPEN_READ);
    assert_int_equal(read_futex_waiters(&sleeps, 0), OPEN_SLEEPS_READ - 1);
    assert_int_equal(read_futex_waiters(&sleeps, 0), IDLE - 1);
    snprintf(path, sizeof path, "%s/100/task/100/syscall", folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(read_futex_waiters(&sleeps, 0), IDLE - 1);
    assert_int_equal(read_futex_waiters(&sleeps, 100), IDLE - 2);
    assert_int_equal(read_futex_waiters(&sleeps, 0), IDLE - 2); /* it slept again, and is read */
    assert_int_equal(sleeps.processes[0].known, OPEN_READ);
    open_sleeps_release(&sleeps);
    remove_folder();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_call_of_a_thread_is_parsed_and_any_other_text_is_unknown),
        cmocka_unit_test(the_calls_of_open_sleeps_add_up_to_their_states),
        cmocka_unit_test(open_sleeps_of_the_subject_and_for_file_locks_are_named),
        cmocka_unit_test(a_process_that_sleeps_for_no_lock_is_read_once),
        cmocka_unit_test(a_chain_of_open_sleeps_goes_on_at_the_other_ends),
        cmocka_unit_test(a_chain_of_open_sleeps_ends_at_a_circle_and_at_several_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
