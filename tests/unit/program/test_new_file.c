/* New files: complete or not there, and never instead of another one. */
#include "program/new_file.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef int opener(struct new_file *ret, const char *path);

static opener *const openers[] = { new_file_open, new_file_open_part };

#define EACH_OPENER(open_one)                                                                      \
    for (opener *const *open_one = openers; open_one < openers + 2; open_one++)

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "new-file-XXXXXX");
    return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink("new");
    return chdir("..") != 0 || rmdir(folder) != 0;
}

static size_t count_files(void)
{
    DIR *here = opendir(".");
    const struct dirent *entry;
    size_t count = 0;

    assert_non_null(here);
    while ((entry = readdir(here)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(here);
    return count;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static void assert_text(const char *path, const char *text)
{
    char found[64] = "";
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    fread(found, 1, sizeof found - 1, file);
    fclose(file);
    assert_string_equal(found, text);
}

static void a_file_has_its_name_when_it_is_finished(void **state)
{
    (void)state;
    EACH_OPENER(open_one)
    {
        struct new_file file;
        struct stat status;

        assert_int_equal((*open_one)(&file, "new"), 0);
        assert_true(fputs("text", file.stream) >= 0);
        assert_int_equal(access("new", F_OK), -1);
        assert_int_equal(new_file_finish(&file), 0);
        assert_text("new", "text");
        assert_int_equal(stat("new", &status), 0);
        assert_int_equal(status.st_mode & 0777, 0600);
        assert_int_equal(status.st_nlink, 1);
        assert_int_equal(count_files(), 1);
        assert_int_equal(unlink("new"), 0);
    }
}

static void a_file_is_never_replaced(void **state)
{
    (void)state;
    EACH_OPENER(open_one)
    {
        struct new_file file;

        assert_int_equal((*open_one)(&file, "new"), 0);
        write_text("new", "mine");
        assert_true(fputs("text", file.stream) >= 0);
        assert_int_equal(new_file_finish(&file), EEXIST);
        assert_text("new", "mine");
        assert_int_equal((*open_one)(&file, "new"), EEXIST);
        assert_int_equal(count_files(), 1);
        assert_int_equal(unlink("new"), 0);
    }
}

static void a_discarded_file_leaves_nothing(void **state)
{
    (void)state;
    EACH_OPENER(open_one)
    {
        struct new_file file;

        assert_int_equal((*open_one)(&file, "new"), 0);
        assert_true(fputs("text", file.stream) >= 0);
        new_file_discard(&file);
        new_file_discard(&file);
        assert_int_equal(count_files(), 0);
        assert_int_equal((*open_one)(&file, "none/new"), ENOENT);
        assert_int_equal(count_files(), 0);
    }
}

static void a_temporary_name_differs_each_time(void **state)
{
    struct new_file one, another;

    (void)state;
    assert_int_equal(new_file_open_part(&one, "new"), 0);
    assert_int_equal(new_file_open_part(&another, "new"), 0);
    assert_string_not_equal(one.part, another.part);
    new_file_discard(&one);
    assert_int_equal(count_files(), 1);
    new_file_discard(&another);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_its_name_when_it_is_finished),
        cmocka_unit_test(a_file_is_never_replaced),
        cmocka_unit_test(a_discarded_file_leaves_nothing),
        cmocka_unit_test(a_temporary_name_differs_each_time),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
