/* Cells that would be cut to the same text. */
#include "views/text_columns.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct field fields[] = { { "n", "n", "", 3, 0 }, { "name", "name", "", -20, 0 } };

/* The cell of the first row, in a column of this width, if the other rows have these texts. */
static void assert_shown(const char *expected, size_t width, const char *first, const char *second,
                         const char *third)
{
    const struct cell cells[] = { cell_natural(1),   cell_text(first), cell_natural(1),
                                  cell_text(second), cell_natural(1),  cell_text(third) };
    const struct table table = TABLE_OF_ROWS("t", fields, cells, 3);
    struct text_cell cell;

    text_cell_show(&cell, &cells[1], &fields[1]);
    text_cell_tell_apart(&cell, &table, 1, width);
    cell.bytes[cell.length] = '\0';
    assert_string_equal(cell.bytes, expected);
}

static void the_common_start_of_long_names_is_left_out(void **state)
{
    (void)state;
    assert_shown("\xe2\x80\xa6pg0", 20, "host=/run/clusters/shop/pg0",
                 "host=/run/clusters/shop/pg1", "mariadb /run/my/socket");
    assert_shown("\xe2\x80\xa6my1/socket", 16, "mariadb /srv/db/my1/socket",
                 "mariadb /srv/db/my2/socket", "host=db1");
}

static void names_that_fit_or_differ_before_the_cut_stay_whole(void **state)
{
    (void)state;
    assert_shown("host=/run/pg0", 20, "host=/run/pg0", "host=/run/pg1", "x");
    assert_shown("host=db1.example.org port=5432", 20, "host=db1.example.org port=5432",
                 "host=db2.example.org port=5432", "x");
    assert_shown("host=db1.example.org port=5432", 20, "host=db1.example.org port=5432",
                 "host=db1.example.org port=5432", "x");
    /* There is no place to part them. */
    assert_shown("abcdefghijklmnopqrstuvwx", 8, "abcdefghijklmnopqrstuvwx",
                 "abcdefghijklmnopqrstuvwy", "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_common_start_of_long_names_is_left_out),
        cmocka_unit_test(names_that_fit_or_differ_before_the_cut_stay_whole),
    };

    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
