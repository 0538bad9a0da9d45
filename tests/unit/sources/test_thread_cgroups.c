/* Which of several hierarchies has the cgroups of threads. */
#include "sources/containers/thread_cgroups.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Asserts which of two folders, first/ of version 1 and second/ of version 2, has the cgroups of
 * threads: their names, or NULL. */
static void assert_chosen(const char *folder, bool has_first, bool has_second, const char *expected)
{
    char text[512] = "", whole[128];
    char *mount;
    FILE *file;
    bool is_v1;

    if (has_second)
        snprintf(text, sizeof text, "cgroup2 %s/second cgroup2 rw 0 0\n", folder);
    if (has_first)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "cgroup %s/first cgroup rw,cpu,cpuacct 0 0\n", folder);
    snprintf(text + strlen(text), sizeof text - strlen(text), "proc /proc proc rw 0 0\n");
    file = fmemopen(text, strlen(text), "r");
    assert_non_null(file);
    is_v1 = thread_cgroups_choose(file, &mount);
    fclose(file);
    snprintf(whole, sizeof whole, "%s/%s", folder, expected != NULL ? expected : "");
    if (expected == NULL)
        assert_null(mount);
    else
        assert_string_equal(mount, whole);
    assert_int_equal(is_v1, expected != NULL && strcmp(expected, "first") == 0);
    free(mount);
}

static void cgroups_of_threads_are_where_the_cpu_controller_is_unless_there_are_none(void **state)
{
    char folder[] = "/tmp/camp-cgroups-XXXXXX", path[64];

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, i == 0 ? "first" : "second");
        assert_int_equal(mkdir(path, 0700), 0);
    }
    assert_chosen(folder, false, false, NULL);
    assert_chosen(folder, false, true, "second");
    assert_chosen(folder, true, false, "first");
    assert_chosen(folder, true, true, "first");
    snprintf(path, sizeof path, "%s/second/a", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_chosen(folder, true, true, "second");
    snprintf(path, sizeof path, "%s/first/a", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_chosen(folder, true, true, "first");
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s/a", folder, i == 0 ? "first" : "second");
        rmdir(path);
        *strrchr(path, '/') = '\0';
        rmdir(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cgroups_of_threads_are_where_the_cpu_controller_is_unless_there_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
