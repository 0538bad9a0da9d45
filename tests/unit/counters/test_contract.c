/*
 * The contract of all functions that read: which error they return for which failure, that they
 * work in the child of fork(2) and on a small stack, and that no descriptor stays open.
 */
#include "wrong_arguments.h"

#include "../tree.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

/* The files that the functions read. */
static const char *const files[] = {
    "stat", "meminfo", "net/dev", "diskstats", "cpuinfo", "7/stat", "7/status", "7/task/7/stat",
};

/* Makes a folder in which each of the files has this text. With NULL, each is a folder. */
static void make_folder(char folder[PATH_MAX], const char *text)
{
    char path[PATH_MAX + 32];

    strcpy(folder, "/tmp/camp-contract-XXXXXX");
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < COUNT(files); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL;
             slash++) {
            *slash = '\0';
            assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
            *slash = '/';
        }
        if (text == NULL) {
            assert_int_equal(mkdir(path, 0755), 0);
        } else {
            FILE *file = fopen(path, "w");

            assert_non_null(file);
            assert_true(fputs(text, file) >= 0);
            assert_int_equal(fclose(file), 0);
        }
    }
}

static void remove_folder(const char *folder)
{
    static const char *const folders[] = { "7/task/7", "7/task", "7", "net" };
    char path[PATH_MAX + 32];

    for (size_t i = 0; i < COUNT(files); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        (void)remove(path);
    }
    for (size_t i = 0; i < COUNT(folders); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
        (void)rmdir(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* The result of each function, by what it reads. */
struct results {
    int of_file; /* and of a process */
    int of_several;
    int of_processes;
    int of_pids;
};

static int result_of(const struct results *results, enum reads reads)
{
    switch (reads) {
    case READS_SEVERAL:
        return results->of_several;
    case READS_PROCESSES:
        return results->of_processes;
    case READS_PIDS:
        return results->of_pids;
    default:
        return results->of_file;
    }
}

static void expect(const char *folder, struct results results)
{
    const struct camp_source source = { .proc = folder, .sys = "/nowhere" };

    for (size_t i = 0; i < COUNT(calls); i++) {
        const int wanted = result_of(&results, calls[i].reads);
        struct camp_error error = { 0 };
        int r = calls[i].call(&source, &error);

        if (r != wanted || (r < 0 && (error.code != r || error.message[0] == '\0')))
            fail_msg("%s: the result is %s (%s) instead of %s", calls[i].name, camp_result_name(r),
                     error.message, camp_result_name(wanted));
    }
}

static void a_folder_without_the_file_is_gone(void **state)
{
    (void)state;
    expect("/nowhere", (struct results){ CAMP_E_GONE, CAMP_OK, CAMP_E_GONE, CAMP_E_GONE });
}

static void a_file_of_another_format_is_a_format_error(void **state)
{
    char folder[PATH_MAX];

    (void)state;
    make_folder(folder, "no numbers\n");
    expect(folder, (struct results){ CAMP_E_FORMAT, CAMP_OK, CAMP_E_FORMAT, CAMP_OK });
    remove_folder(folder);
}

static void a_file_that_cannot_be_read_is_an_input_error(void **state)
{
    char folder[PATH_MAX];

    (void)state;
    make_folder(folder, NULL);
    expect(folder, (struct results){ CAMP_E_IO, CAMP_E_IO, CAMP_E_IO, CAMP_OK });
    remove_folder(folder);
}

static void a_folder_with_too_long_a_path_is_invalid_or_cannot_be_read(void **state)
{
    static char folder[2 * PATH_MAX];

    (void)state;
    memset(folder, 'a', sizeof folder - 1);
    expect(folder, (struct results){ CAMP_E_INVALID, CAMP_E_INVALID, CAMP_E_IO, CAMP_E_IO });
}

/* Undoes what a test has done to the process, even if the test failed. */
static struct rlimit descriptors;

static int remember_rights(void **state)
{
    (void)state;
    return getrlimit(RLIMIT_NOFILE, &descriptors);
}

static int restore_rights(void **state)
{
    (void)state;
    return seteuid(getuid()) == 0 ? setrlimit(RLIMIT_NOFILE, &descriptors) : -1;
}

static void without_descriptors_the_error_is_no_memory(void **state)
{
    const int next = open("/dev/null", O_RDONLY | O_CLOEXEC); /* the lowest that is not used */
    char folder[PATH_MAX];
    struct rlimit none = descriptors;

    (void)state;
    assert_true(next >= 0);
    close(next);
    make_folder(folder, "no numbers\n");
    none.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    expect(folder, (struct results){ CAMP_E_NOMEM, CAMP_E_NOMEM, CAMP_E_NOMEM, CAMP_E_NOMEM });
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &descriptors), 0);
    remove_folder(folder);
}

static void a_file_without_permission_is_a_permission_error(void **state)
{
    char folder[PATH_MAX];

    (void)state;
    make_folder(folder, "no numbers\n");
    assert_int_equal(chmod(folder, 0), 0);
    if (geteuid() == 0 && seteuid(65534) != 0) {
        assert_int_equal(chmod(folder, 0700), 0);
        remove_folder(folder);
        print_message("SKIP: this user namespace has no other user\n");
        skip();
    }
    expect(folder, (struct results){ CAMP_E_PERM, CAMP_OK, CAMP_E_PERM, CAMP_E_PERM });
    assert_int_equal(seteuid(getuid()), 0);
    assert_int_equal(chmod(folder, 0700), 0);
    remove_folder(folder);
}

static void the_message_names_the_argument_that_is_null(void **state)
{
    uint64_t number;
    uint32_t id;

    (void)state;
    expect_arguments_that_are_null_to_be_named();
    /* Other systems do not support these. */
    EXPECT_NULL_REFUSED("ret_count", camp_fork_count(NULL, NULL, &refusal));
    EXPECT_NULL_REFUSED("process", camp_process_user_id(NULL, NULL, &id, &refusal));
    EXPECT_NULL_REFUSED("ret_user_id", camp_process_user_id(NULL, &asked_process, NULL, &refusal));
    EXPECT_NULL_REFUSED("process", camp_process_proportional_bytes(NULL, NULL, &number, &refusal));
    EXPECT_NULL_REFUSED("ret_bytes",
                        camp_process_proportional_bytes(NULL, &asked_process, NULL, &refusal));
    EXPECT_NULL_REFUSED("ret", camp_linux_read(NULL, NULL, 0, &refusal));
    EXPECT_NULL_REFUSED("taskstats", camp_taskstats_open(NULL, &refusal));
    EXPECT_NULL_REFUSED("taskstats", camp_taskstats_read(NULL, NULL, 0, NULL, 0, &refusal));
    EXPECT_NULL_REFUSED("taskstats", camp_taskstats_listen(NULL, &refusal));
    EXPECT_NULL_REFUSED("taskstats", camp_taskstats_exits(NULL, NULL, 0, 0, NULL, &refusal));
}

static void taskstats_of_the_size_0_are_refused(void **state)
{
    struct camp_taskstats session = CAMP_TASKSTATS_NONE;
    struct camp_taskstat task;
    const int32_t pid = 1;

    (void)state;
    EXPECT_REFUSAL(camp_taskstats_read(&session, &pid, 1, &task, 0, &refusal), "size");
}

static void a_call_without_an_array_counts(void **state)
{
    (void)state;
    /* an emulator replaces what /proc has of the test itself */
    expect_calls_without_space_to_count(getppid());
}

static void the_message_names_the_number_that_is_out_of_range(void **state)
{
    (void)state;
    expect_numbers_out_of_range_to_be_named();
}

static struct camp_reader inherited;

static int read_often(void)
{
    static struct camp_cpu cpus[1025];

    for (int i = 0; i < 200; i++)
        if (camp_reader_cpus(&inherited, cpus, sizeof cpus[0], COUNT(cpus), &count, NULL) !=
                CAMP_OK ||
            read_cpus(NULL, NULL) == CAMP_E_FORMAT)
            return 1;
    return 0;
}

static void parent_and_child_of_fork_read_independently(void **state)
{
    int status, here;
    pid_t child;

    (void)state;
    assert_int_equal(camp_reader_open_cpus(&inherited, NULL, NULL), CAMP_OK);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int r = read_often();

        camp_reader_close(&inherited);
        _exit(r);
    }
    here = read_often();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(here, 0);
    assert_int_equal(read_often(), 0); /* the child closed its copy only */
    camp_reader_close(&inherited);
}

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif

/* Each call must work, or fail, on a stack of 96 KiB, of which libc uses a part. */
#define STACK_BYTES (96 * 1024)

#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer) ||   \
    HAS_FEATURE(memory_sanitizer)
static void a_call_needs_less_than_96_kib_of_stack(void **state)
{
    (void)state;
    print_message("SKIP: this build has larger stack frames\n");
    skip();
}
#else
static void *call_all(void *argument)
{
    const struct camp_source *source = argument;
    struct camp_kernel kernel;

    for (size_t i = 0; i < COUNT(calls); i++) {
        struct camp_error error;

        (void)calls[i].call(source, &error);
        (void)calls[i].call(NULL, &error);
    }
    (void)camp_kernel_read(NULL, &kernel, sizeof kernel, NULL);
    return argument;
}

static void a_call_needs_less_than_96_kib_of_stack(void **state)
{
    struct camp_source source = { .sys = "/nowhere" };
    char folder[PATH_MAX];
    pthread_attr_t attributes;
    pthread_t caller;
    void *done = NULL;

    (void)state;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    if (pthread_attr_setstacksize(&attributes, STACK_BYTES) != 0) {
        print_message("SKIP: threads have larger stacks here\n");
        skip();
    }
    make_folder(folder, "no numbers\n");
    source.proc = folder;
    assert_int_equal(pthread_create(&caller, &attributes, call_all, &source), 0);
    assert_int_equal(pthread_join(caller, &done), 0);
    assert_ptr_equal(done, &source);
    pthread_attr_destroy(&attributes);
    remove_folder(folder);
}
#endif

static void handle(int number)
{
    (void)number;
}

/* Without the handler's effect, each wait would take an hour, and the test would time out. */
static void a_signal_handler_ends_the_wait_of_a_percentage(void **state)
{
    const struct sigaction action = { .sa_handler = handle };
    const struct itimerval in_50_ms = { .it_value = { .tv_usec = 50000 } };
    struct camp_process sleeper = { .pid = (int32_t)fork() };
    struct camp_task_utilisation its_use;
    struct camp_utilisation use;
    struct sigaction before;

    (void)state;
    if (sleeper.pid == 0)
        for (;;)
            pause();
    assert_int_equal(camp_process_identify(NULL, sleeper.pid, &sleeper, sizeof sleeper, NULL),
                     CAMP_OK);
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &in_50_ms, NULL), 0);
    assert_int_equal(
        camp_cpu_utilisation(NULL, CAMP_CPU_TOTAL, 3600 * 1000, NULL, NULL, &use, sizeof use, NULL),
        CAMP_OK);
    assert_int_equal(setitimer(ITIMER_REAL, &in_50_ms, NULL), 0);
    assert_int_equal(
        camp_process_utilisation(NULL, &sleeper, 3600 * 1000, NULL, &its_use, sizeof its_use, NULL),
        CAMP_OK);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_true(use.elapsed_ns > 0 && its_use.elapsed_ns > 0);
    assert_int_equal(kill(sleeper.pid, SIGKILL), 0);
    assert_int_equal(waitpid(sleeper.pid, NULL, 0), sleeper.pid);
}

static void no_descriptor_stays_open(void **state)
{
    const int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int after;

    (void)state;
    close(before);
    for (size_t i = 0; i < COUNT(calls); i++)
        (void)calls[i].call(NULL, NULL);
    after = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(after);
    assert_int_equal(after, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_without_the_file_is_gone),
        cmocka_unit_test(a_file_of_another_format_is_a_format_error),
        cmocka_unit_test(a_file_that_cannot_be_read_is_an_input_error),
        cmocka_unit_test(a_folder_with_too_long_a_path_is_invalid_or_cannot_be_read),
        cmocka_unit_test_setup_teardown(without_descriptors_the_error_is_no_memory, remember_rights,
                                        restore_rights),
        cmocka_unit_test_setup_teardown(a_file_without_permission_is_a_permission_error,
                                        remember_rights, restore_rights),
        cmocka_unit_test(the_message_names_the_argument_that_is_null),
        cmocka_unit_test(taskstats_of_the_size_0_are_refused),
        cmocka_unit_test(a_call_without_an_array_counts),
        cmocka_unit_test(the_message_names_the_number_that_is_out_of_range),
        cmocka_unit_test(parent_and_child_of_fork_read_independently),
        cmocka_unit_test(a_call_needs_less_than_96_kib_of_stack),
        cmocka_unit_test(a_signal_handler_ends_the_wait_of_a_percentage),
        cmocka_unit_test(no_descriptor_stays_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
