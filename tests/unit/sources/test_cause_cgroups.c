/* Which cgroups are in the watched one, by a folder that stands for its directory. The session is
 * none: no thread has run. */
#include "sources/causes/cause_cgroups.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define WATCHED 5 /* number of its group */

/* Returns the inode number that a directory has in its own list. */
static uint64_t id_of(const char *path)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    uint64_t id = 0;

    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL)
        id = strcmp(entry->d_name, ".") == 0 ? entry->d_ino : id;
    closedir(directory);
    return id;
}

static uint32_t group_of(struct cause_cgroups *cgroups, uint64_t id, bool has_exited)
{
    uint32_t group = UINT32_MAX;

    assert_true(cause_cgroups_find(cgroups, id, has_exited, &group));
    return group;
}

static void a_cgroup_that_was_made_after_a_reading_is_found_in_the_next(void **state)
{
    char folder[] = "/tmp/camp-cgroups-XXXXXX", inside[64];
    struct cause_cgroups cgroups = { .group = WATCHED };
    uint64_t id;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(inside, sizeof inside, "%s/inside", folder);
    cgroups.folder = strdup(folder);
    cgroups.watched = id_of(folder);
    cause_cgroups_start(&cgroups);
    assert_int_equal(group_of(&cgroups, cgroups.watched, false), WATCHED);
    assert_int_equal(group_of(&cgroups, UINT64_MAX, false), CAUSE_GROUPS);
    assert_int_equal(mkdir(inside, 0700), 0);
    id = id_of(inside);
    assert_int_equal(group_of(&cgroups, id, false), CAUSE_GROUPS);
    cause_cgroups_start(&cgroups);
    assert_int_equal(group_of(&cgroups, id, true), CAUSE_GROUPS);
    assert_int_equal(group_of(&cgroups, id, false), WATCHED);
    assert_int_equal(group_of(&cgroups, UINT64_MAX, false), CAUSE_GROUPS);
    assert_int_equal(rmdir(inside), 0);
    assert_int_equal(rmdir(folder), 0);
    cause_cgroups_start(&cgroups);
    assert_int_equal(group_of(&cgroups, id, false), WATCHED);
    cause_cgroups_release(&cgroups);
}

static void without_a_watched_cgroup_no_cgroup_is_in_it(void **state)
{
    struct cause_cgroups cgroups = { 0 };

    (void)state;
    assert_int_equal(group_of(&cgroups, 1, false), CAUSE_GROUPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cgroup_that_was_made_after_a_reading_is_found_in_the_next),
        cmocka_unit_test(without_a_watched_cgroup_no_cgroup_is_in_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
