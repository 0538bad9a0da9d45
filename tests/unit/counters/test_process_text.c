/* Texts of processes, of this process and of trees of files. */
#include "../process_tree.h"

#include <camp/system.h>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

static struct camp_process me(void)
{
    struct camp_process process;

    assert_int_equal(camp_process_identify(NULL, getpid(), &process, sizeof process, NULL),
                     CAMP_OK);
    return process;
}

/* A process 7 in a folder of its own, whose files a test writes. */
static char folder[64];
static const struct camp_process seven = { .pid = 7, .start = 5 };

static void write_file(const char *name, const char *bytes, size_t length)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/7/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static int make_process(void **state)
{
    static const char stat[] = "7 (seven) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 4096 1 0 0 0 0";
    char path[128];

    (void)state;
    strcpy(folder, "/tmp/camp-text-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/7", folder);
    if (mkdir(path, 0700) != 0)
        return 1;
    write_file("stat", stat, sizeof stat - 1);
    return 0;
}

static int remove_process(void **state)
{
    static const char *const names[] = { "stat",   "cmdline",      "cgroup",
                                         "status", "smaps_rollup", "exe" };
    char path[128];

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/7/%s", folder, names[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/7", folder);
    rmdir(path);
    return rmdir(folder);
}

static int read_seven(int text, char *ret, size_t capacity, size_t *ret_length)
{
    const struct camp_source source = { .proc = folder, .sys = folder };

    return camp_process_text(&source, &seven, text, ret, capacity, ret_length, NULL);
}

static void a_command_line_is_returned_with_all_its_bytes(void **state)
{
    static const char line[] = "a\0\x1b[31m\xff b\0";
    char text[64];
    size_t length;

    (void)state;
    write_file("cmdline", line, sizeof line - 1);
    assert_int_equal(read_seven(CAMP_TEXT_COMMAND_LINE, text, sizeof text, &length), CAMP_OK);
    assert_int_equal(length, sizeof line - 1);
    assert_memory_equal(text, line, length);
    write_file("cmdline", "", 0);
    assert_int_equal(read_seven(CAMP_TEXT_COMMAND_LINE, text, sizeof text, &length), CAMP_OK);
    assert_int_equal(length, 0);
}

static void a_text_that_is_too_long_returns_its_start_and_its_length(void **state)
{
    static char line[30000];
    char text[10];
    size_t length = 0;

    (void)state;
    memset(line, 'x', sizeof line);
    write_file("cmdline", line, sizeof line);
    memset(text, 0, sizeof text);
    assert_int_equal(read_seven(CAMP_TEXT_COMMAND_LINE, text, sizeof text - 1, &length),
                     CAMP_E_SPACE);
    assert_int_equal(length, sizeof line);
    assert_string_equal(text, "xxxxxxxxx");
    write_file("cgroup", "0::/user.slice\n", 15);
    assert_int_equal(read_seven(CAMP_TEXT_CGROUP, text, 5, &length), CAMP_E_SPACE);
    assert_int_equal(length, strlen("/user.slice"));
    assert_int_equal(read_seven(CAMP_TEXT_CGROUP, NULL, 0, &length), CAMP_E_SPACE);
    assert_int_equal(length, strlen("/user.slice"));
}

static void the_cgroup_is_that_of_version_2(void **state)
{
    static const char both[] = "9:name=systemd:/old\n4:memory:/a\n0::/user.slice/a b\n";
    char text[64] = "";
    size_t length = 77;

    (void)state;
    write_file("cgroup", both, sizeof both - 1);
    assert_int_equal(read_seven(CAMP_TEXT_CGROUP, text, sizeof text, &length), CAMP_OK);
    assert_int_equal(length, strlen("/user.slice/a b"));
    assert_memory_equal(text, "/user.slice/a b", length);
    write_file("cgroup", both, strlen("9:name=systemd:/old\n"));
    length = 77;
    assert_int_equal(read_seven(CAMP_TEXT_CGROUP, text, sizeof text, &length), CAMP_E_NOTSUP);
    assert_int_equal(length, 77);
}

static void the_user_is_the_effective_one_and_shared_pages_are_divided(void **state)
{
    static const char status[] = "Name:\tseven\nUid:\t1000\t33\t1000\t1000\nGid:\t1\t2\t3\t4\n";
    static const char smaps[] = "5592d79b2000-7fffc3309000 ---p 00000000 00:00 0 [rollup]\n"
                                "Rss:                1752 kB\nPss:                 189 kB\n"
                                "Pss_Dirty:           116 kB\n";
    const struct camp_source source = { .proc = folder, .sys = folder };
    uint32_t user_id = 77;
    uint64_t bytes = 77;

    (void)state;
    write_file("status", status, sizeof status - 1);
    assert_int_equal(camp_process_user_id(&source, &seven, &user_id, NULL), CAMP_OK);
    assert_int_equal(user_id, 33);
    write_file("status", "Uid:\t1000\t4294967296\t1\t1\n", 26);
    assert_int_equal(camp_process_user_id(&source, &seven, &user_id, NULL), CAMP_E_FORMAT);
    write_file("smaps_rollup", smaps, sizeof smaps - 1);
    assert_int_equal(camp_process_proportional_bytes(&source, &seven, &bytes, NULL), CAMP_OK);
    assert_int_equal(bytes, 189 * 1024);
    write_file("smaps_rollup", "Pss: 18014398509481984 kB\n", 26); /* 2^64 bytes */
    assert_int_equal(camp_process_proportional_bytes(&source, &seven, &bytes, NULL), CAMP_E_FORMAT);
    assert_int_equal(bytes, 189 * 1024);
}

static void what_a_process_does_not_have_is_not_supported(void **state)
{
    const struct camp_source source = { .proc = folder, .sys = folder };
    char text[64];
    size_t length;

    (void)state;
    assert_int_equal(read_seven(CAMP_TEXT_EXECUTABLE, text, sizeof text, &length), CAMP_E_NOTSUP);
    assert_int_equal(camp_process_user_id(&source, &seven, &(uint32_t){ 0 }, NULL), CAMP_E_NOTSUP);
    assert_int_equal(camp_process_proportional_bytes(&source, &seven, &(uint64_t){ 0 }, NULL),
                     CAMP_E_NOTSUP);
}

static void the_texts_of_another_process_with_the_same_pid_are_never_returned(void **state)
{
    const struct camp_source source = { .proc = folder, .sys = folder };
    const struct camp_process earlier = { .pid = 7, .start = 4 };
    char text[64];
    size_t length;

    (void)state;
    write_file("cmdline", "x", 2);
    assert_int_equal(camp_process_text(&source, &earlier, CAMP_TEXT_COMMAND_LINE, text, sizeof text,
                                       &length, NULL),
                     CAMP_E_GONE);
    assert_int_equal(camp_process_user_id(&source, &earlier, &(uint32_t){ 0 }, NULL), CAMP_E_GONE);
}

static void wrong_arguments_are_refused(void **state)
{
    char text[8];
    size_t length;

    (void)state;
    assert_int_equal(read_seven(-1, text, sizeof text, &length), CAMP_E_INVALID);
    assert_int_equal(read_seven(3, text, sizeof text, &length), CAMP_E_INVALID);
    assert_int_equal(read_seven(CAMP_TEXT_CGROUP, NULL, 1, &length), CAMP_E_INVALID);
    assert_int_equal(read_seven(CAMP_TEXT_CGROUP, text, sizeof text, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_process_user_id(NULL, NULL, &(uint32_t){ 0 }, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_process_user_id(NULL, &seven, NULL, NULL), CAMP_E_INVALID);
}

static void this_process_has_its_own_texts(void **state)
{
    const struct camp_process process = me();
    char text[4096], target[4096];
    size_t length = 0;
    uint32_t user_id;
    uint64_t bytes;
    struct camp_task task;
    const ssize_t own = readlink("/proc/self/exe", target, sizeof target);

    (void)state;
    assert_int_equal(
        camp_process_text(NULL, &process, CAMP_TEXT_EXECUTABLE, text, sizeof text, &length, NULL),
        CAMP_OK);
    assert_int_equal(length, own);
    assert_memory_equal(text, target, length);
    assert_int_equal(camp_process_user_id(NULL, &process, &user_id, NULL), CAMP_OK);
    assert_int_equal(user_id, geteuid());
    assert_int_equal(camp_process_proportional_bytes(NULL, &process, &bytes, NULL), CAMP_OK);
    assert_int_equal(camp_process_read(NULL, &process, CAMP_TASK_VIRTUAL, &task, sizeof task, NULL),
                     CAMP_OK);
    assert_in_range(bytes, 1, task.virtual_bytes);
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, make_process, remove_process)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(a_command_line_is_returned_with_all_its_bytes),
        IN_TREE(a_text_that_is_too_long_returns_its_start_and_its_length),
        IN_TREE(the_cgroup_is_that_of_version_2),
        IN_TREE(the_user_is_the_effective_one_and_shared_pages_are_divided),
        IN_TREE(what_a_process_does_not_have_is_not_supported),
        IN_TREE(the_texts_of_another_process_with_the_same_pid_are_never_returned),
        IN_TREE(wrong_arguments_are_refused),
        cmocka_unit_test(this_process_has_its_own_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
