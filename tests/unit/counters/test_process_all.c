/* All processes read in one call, from fixtures. */
#include "../process_tree.h"
#include "../tree.h"

#define LINE " (x) S 2 100 100 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0\n"

static void each_process_of_the_list_has_the_values_that_it_has_when_read_alone(void **state)
{
    static const uint32_t wanted[] = { 0, CAMP_TASK_CPU, CAMP_TASK_NAME, CAMP_TASK_ALL };
    struct camp_process_usage usages[8];
    struct camp_process processes[8];
    size_t count, listed;

    (void)state;
    assert_int_equal(
        camp_process_list(tree("tree"), processes, sizeof processes[0], 8, &listed, NULL), CAMP_OK);
    for (size_t i = 0; i < COUNT(wanted); i++) {
        assert_int_equal(camp_process_read_all(tree("tree"), wanted[i], usages, sizeof usages[0], 8,
                                               &count, NULL),
                         CAMP_OK);
        assert_int_equal(count, listed);
        for (size_t k = 0; k < count; k++) {
            struct camp_task alone = read_task("tree", usages[k].process.pid, wanted[i]);

            assert_memory_equal(&usages[k].process, &processes[k], sizeof processes[k]);
            assert_true(usages[k].task.time_ns > 0);
            alone.time_ns = usages[k].task.time_ns;
            assert_memory_equal(&usages[k].task, &alone, sizeof alone);
        }
    }
}

static void an_array_that_is_too_short_gets_the_first_processes(void **state)
{
    struct camp_process_usage usages[3] = { [2] = { .process = { .pid = -5 } } };
    size_t count;

    (void)state;
    assert_int_equal(camp_process_read_all(tree("tree"), CAMP_TASK_ALL, usages, sizeof usages[0], 2,
                                           &count, NULL),
                     CAMP_E_SPACE);
    assert_int_equal(count, 4);
    assert_int_equal(usages[0].process.pid, 2);
    assert_int_equal(usages[1].process.pid, 100);
    assert_string_equal(usages[1].task.name, read_task("tree", 100, 0).name);
    assert_int_equal(usages[2].process.pid, -5);
    assert_int_equal(
        camp_process_read_all(tree("tree"), CAMP_TASK_ALL, NULL, sizeof usages[0], 0, &count, NULL),
        CAMP_E_SPACE);
    assert_int_equal(count, 4);
}

/* The size is that of the caller's element. */
static void an_element_may_be_shorter_or_longer_than_that_of_the_library(void **state)
{
    struct longer {
        struct camp_process_usage usage;
        uint64_t later;
    } longer[4];
    struct camp_process shorter[4];
    size_t count;

    (void)state;
    memset(longer, 0xff, sizeof longer);
    assert_int_equal(
        camp_process_read_all(tree("tree"), 0, &longer[0].usage, sizeof longer[0], 4, &count, NULL),
        CAMP_OK);
    assert_int_equal(longer[3].usage.process.pid, 4194304);
    assert_int_equal(longer[3].later, 0);
    assert_int_equal(camp_process_read_all(tree("tree"), 0,
                                           (struct camp_process_usage *)(void *)shorter,
                                           sizeof shorter[0], 4, &count, NULL),
                     CAMP_OK);
    assert_int_equal(shorter[3].start, 9);
    assert_int_equal(camp_process_read_all(tree("tree"), 0, &longer[0].usage,
                                           sizeof(struct camp_process) - 1, 4, &count, NULL),
                     CAMP_E_INVALID);
}

/* Folder 8 has no file: its process exited after /proc was listed. */
static void a_process_that_exits_meanwhile_is_left_out(void **state)
{
    struct tree made = text_tree("7/stat", "7" LINE);
    struct camp_process_usage usages[2];
    char path[PATH_MAX + 16];
    size_t count;

    (void)state;
    snprintf(path, sizeof path, "%s/8", made.folder);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(camp_process_read_all(source_of(&made), CAMP_TASK_ALL, usages,
                                           sizeof usages[0], 2, &count, NULL),
                     CAMP_OK);
    assert_int_equal(count, 1);
    assert_int_equal(usages[0].process.pid, 7);
    assert_int_equal(rmdir(path), 0);
    remove_tree(&made);
}

static void a_damaged_file_fails_the_call_and_is_named(void **state)
{
    struct tree made = text_tree("7/stat", "no numbers\n");
    struct camp_process_usage usages[2];
    struct camp_error error;
    size_t count;

    (void)state;
    assert_int_equal(
        camp_process_read_all(source_of(&made), 0, usages, sizeof usages[0], 2, &count, &error),
        CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, "7/stat"));
    remove_tree(&made);
}

static void write_io(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs("read_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n", file);
    assert_int_equal(fclose(file), 0);
}

/* Undoes what the test has done to the process, even if the test failed. */
static int restore_user(void **state)
{
    (void)state;
    return seteuid(getuid());
}

static void a_process_that_refuses_a_file_stays_in_the_list_without_its_fields(void **state)
{
    const uint32_t of_io = CAMP_TASK_READ_BYTES | CAMP_TASK_WRITTEN_BYTES;
    struct tree made = text_tree("7/stat", "7" LINE);
    struct camp_process_usage usage;
    char path[PATH_MAX + 16];
    size_t count;

    (void)state;
    snprintf(path, sizeof path, "%s/7/io", made.folder);
    write_io(path);
    assert_int_equal(camp_process_read_all(source_of(&made), CAMP_TASK_ALL, &usage, sizeof usage, 1,
                                           &count, NULL),
                     CAMP_OK);
    assert_int_equal(usage.task.known & of_io, of_io);
    assert_int_equal(chmod(path, 0), 0);
    snprintf(path, sizeof path, "%s/7", made.folder);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(chmod(made.folder, 0755), 0);
    if (geteuid() == 0 && seteuid(65534) != 0) {
        print_message("SKIP: this user namespace has no other user\n");
        skip();
    }
    assert_int_equal(camp_process_read_all(source_of(&made), CAMP_TASK_ALL, &usage, sizeof usage, 1,
                                           &count, NULL),
                     CAMP_OK);
    assert_int_equal(seteuid(getuid()), 0);
    assert_int_equal(count, 1);
    assert_int_equal(usage.task.known & of_io, 0);
    assert_int_equal(usage.task.read_bytes, 0);
    assert_int_equal(usage.task.start, 4711);
    snprintf(path, sizeof path, "%s/7/io", made.folder);
    assert_int_equal(unlink(path), 0);
    remove_tree(&made);
}

/* Without a source, the CPU time comes from the clock of the process. */
static void the_running_processes_have_their_cpu_clocks(void **state)
{
    static struct camp_process_usage usages[4096];
    size_t count, own = 0;

    (void)state;
    assert_int_equal(camp_process_read_all(NULL, CAMP_TASK_CPU, usages, sizeof usages[0],
                                           COUNT(usages), &count, NULL),
                     CAMP_OK);
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || usages[i - 1].process.pid < usages[i].process.pid);
        assert_int_equal(usages[i].process.start, usages[i].task.start);
        if (usages[i].process.pid == getpid()) {
            own++;
            assert_int_equal(usages[i].task.cpu_resolution_ns, 1);
            assert_true(usages[i].task.cpu_ns > 0);
        }
    }
    assert_int_equal(own, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_process_of_the_list_has_the_values_that_it_has_when_read_alone),
        cmocka_unit_test(an_array_that_is_too_short_gets_the_first_processes),
        cmocka_unit_test(an_element_may_be_shorter_or_longer_than_that_of_the_library),
        cmocka_unit_test(a_process_that_exits_meanwhile_is_left_out),
        cmocka_unit_test(a_damaged_file_fails_the_call_and_is_named),
        cmocka_unit_test_teardown(
            a_process_that_refuses_a_file_stays_in_the_list_without_its_fields, restore_user),
        cmocka_unit_test(the_running_processes_have_their_cpu_clocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
