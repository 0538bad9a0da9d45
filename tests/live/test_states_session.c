/* Tests sessions of microstates: missing permission, two sessions at the same time, and that a
 * killed session leaves nothing in the kernel. */
#include "states_session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <pthread.h>
#include <string.h>

#define PROGRAMS_MAX 64

/* Lists the BPF programs that a process has open, and returns their number. */
static size_t programs_of(pid_t pid, uint32_t ret[PROGRAMS_MAX])
{
    char pattern[64], line[256];
    size_t count = 0;
    glob_t found;

    snprintf(pattern, sizeof pattern, "/proc/%d/fdinfo/*", pid);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "r");

        while (file != NULL && fgets(line, sizeof line, file) != NULL) {
            if (count < PROGRAMS_MAX && sscanf(line, "prog_id: %u", &ret[count]) == 1)
                count++;
        }
        if (file != NULL)
            fclose(file);
    }
    globfree(&found);
    return count;
}

/* Returns -1 if the program does not exist. */
static int is_the_switch(uint32_t program)
{
    struct bpf_prog_info info = { 0 };
    uint32_t size = sizeof info;
    int descriptor = bpf_prog_get_fd_by_id(program), is;

    if (descriptor < 0)
        return errno == ENOENT ? -1 : 0;
    is = bpf_obj_get_info_by_fd(descriptor, &info, &size) == 0 &&
         strcmp(info.name, "on_switch") == 0;
    close(descriptor);
    return is;
}

/* The file has ranges such as "0-3,8-11". */
static uint32_t last_possible_cpu(void)
{
    FILE *file = fopen("/sys/devices/system/cpu/possible", "r");
    char text[4096] = "";
    size_t at;

    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    at = strcspn(text, "\n");
    while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
        at--;
    return (uint32_t)strtoul(text + at, NULL, 10);
}

static void there_is_an_account_for_each_possible_cpu(void **state)
{
    struct camp_states *session;
    uint32_t entries = 0;

    (void)state;
    session = open_states_or_skip(0);
    for (int descriptor = 0; descriptor < 256; descriptor++) {
        struct bpf_map_info info = { 0 };
        uint32_t size = sizeof info;

        if (bpf_obj_get_info_by_fd(descriptor, &info, &size) == 0 && strcmp(info.name, "cpus") == 0)
            entries = info.max_entries;
    }
    camp_states_close(session);
    /* The numbers of the possible CPUs may have gaps. */
    assert_int_equal(entries, last_possible_cpu() + 1);
}

static void hold_a_session(void *ready)
{
    struct camp_states *session;

    if (camp_states_open(&session, 0, NULL) != CAMP_OK)
        _exit(1);
    if (write(*(int *)ready, "", 1) == 1)
        pause();
}

static void a_killed_session_leaves_no_bpf_program_in_the_kernel(void **state)
{
    uint32_t programs[PROGRAMS_MAX];
    size_t count, switches = 0, left;
    uint64_t began_ns;
    int ready[2];
    char byte;
    pid_t child;

    (void)state;
    camp_states_close(open_states_or_skip(0));
    assert_int_equal(pipe(ready), 0);
    child = start(hold_a_session, &ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    count = programs_of(child, programs);
    for (size_t i = 0; i < count; i++)
        switches += is_the_switch(programs[i]) == 1;
    assert_true(switches > 0);

    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    began_ns = now_ns(CLOCK_MONOTONIC);
    do { /* The kernel removes the programs after the process has exited. */
        left = 0;
        for (size_t k = 0; k < count; k++)
            left += is_the_switch(programs[k]) != -1;
    } while (left > 0 && wait_on(began_ns));
    assert_int_equal(left, 0);
    close(ready[0]);
    close(ready[1]);
}

/* Uses a clock that needs no system call, because two sessions do not see a system call at the same
 * moment. */
static void burn_and_sleep(void *truth)
{
    struct stretch *own = truth;

    begin_stretch(own);
    for (int i = 0; i < 50; i++) {
        burn(CLOCK_MONOTONIC, NS_PER_MS);
        usleep(2000);
    }
    end_stretch(own);
}

static void two_concurrent_sessions_report_the_same_states(void **state)
{
    struct camp_states *sessions[] = { open_states_or_skip(0), open_states_or_skip(0) };
    struct camp_thread_states last[2];
    struct stretch *own = shared_memory(sizeof *own);
    uint64_t steal = steal_ns(), tolerance;
    pid_t child = start(burn_and_sleep, own);

    (void)state;
    reap_well(child);
    for (int i = 0; i < 2; i++) {
        struct threads ended = { 0 };

        last[i] = last_of(sessions[i], &ended, child);
        free(ended.of);
        close_states(sessions[i]);
    }
    tolerance = tolerance_of(&last[0]) + stolen_since(steal);
    assert_at_least("timer", last[0].state_ns[CAMP_STATE_TIMER], least_asleep_ns(own), tolerance);
    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        assert_near(camp_state_name(i), last[0].state_ns[i], last[1].state_ns[i], tolerance);
    munmap(own, sizeof *own);
}

static void *yield_forever(void *unused)
{
    (void)unused;
    for (;;)
        sched_yield();
    return NULL;
}

static void take_turns(void *unused)
{
    pthread_t thread;

    stay_on(last_cpu());
    if (pthread_create(&thread, NULL, yield_forever, NULL) != 0)
        _exit(1);
    yield_forever(unused);
}

/* The first switch that a session sees makes the accounts of two threads. If both had the same
 * begin_ns, and were of one process, their readings would be confused. */
static void two_threads_of_a_process_have_different_begin_times(void **state)
{
    const pid_t child = start(take_turns, NULL);

    (void)state;
    for (int round = 0; round < 5; round++) {
        struct camp_states *session = open_states_or_skip(0);
        uint64_t begin_ns[2];
        size_t found = 0;
        struct threads threads;

        do {
            threads = read_threads(session);
            found = 0;
            for (size_t i = 0; i < threads.count; i++) {
                if (threads.of[i].pid == child && found < 2)
                    begin_ns[found++] = threads.of[i].begin_ns;
            }
            free(threads.of);
        } while (found < 2);
        assert_int_not_equal(begin_ns[0], begin_ns[1]);
        close_states(session);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void the_error_for_an_ordinary_user_names_the_missing_capabilities(void **state)
{
    int status;
    pid_t child;

    (void)state;
    camp_states_close(open_states_or_skip(0));
    child = fork();
    if (child == 0) {
        struct camp_states *session = NULL;
        struct camp_error error = { 0 };
        int r;

        if (setgroups(0, NULL) != 0 || setresuid(65534, 65534, 65534) != 0)
            _exit(2);
        r = camp_states_open(&session, 0, &error);
        fprintf(stderr, "%s\n", error.message);
        _exit(r == CAMP_E_PERM && session == NULL && strstr(error.message, "CAP_BPF") != NULL &&
                      strstr(error.message, "CAP_PERFMON") != NULL
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
        print_message("skipped, not passed: may not become another user\n");
        skip();
    }
    assert_int_equal(status, 0);
}

/* The child shares the descriptors of the session, and closes its own. */
static void a_child_that_closes_the_session_of_its_parent_does_not_end_it(void **state)
{
    struct camp_states *session = open_states_or_skip(CAMP_STATES_NO_SYSCALLS);
    struct camp_thread_states last;
    struct threads ended = { 0 };
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        camp_states_close(session);
        _exit(0);
    }
    reap_well(child);
    last = last_of(session, &ended, child);
    assert_int_equal(last.flags & (CAMP_THREAD_ENDED | CAMP_THREAD_OLDER), CAMP_THREAD_ENDED);
    assert_int_equal(sum_ns(&last), last.time_ns - last.begin_ns);
    free(ended.of);
    close_states(session);
}

static void an_unknown_option_is_refused(void **state)
{
    struct camp_states *session = NULL;

    (void)state;
    assert_int_equal(camp_states_open(&session, 1u << 31, NULL), CAMP_E_INVALID);
    assert_null(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_session_leaves_no_bpf_program_in_the_kernel),
        cmocka_unit_test(there_is_an_account_for_each_possible_cpu),
        cmocka_unit_test(two_concurrent_sessions_report_the_same_states),
        cmocka_unit_test(two_threads_of_a_process_have_different_begin_times),
        cmocka_unit_test(the_error_for_an_ordinary_user_names_the_missing_capabilities),
        cmocka_unit_test(a_child_that_closes_the_session_of_its_parent_does_not_end_it),
        cmocka_unit_test(an_unknown_option_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
