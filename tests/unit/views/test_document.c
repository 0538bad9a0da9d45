/* A document that is filled row by row. */
#include "views/document.h"

#include <camp/camp.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct field fields[] = { { "id" }, { "name" } };

enum { HEAD, ROWS };

static const struct table tables[] = {
    [HEAD] = DOCUMENT_ONE("head", TABLE_INLINE, fields),
    [ROWS] = DOCUMENT_ROWS("rows", fields),
};

static const struct record layout = DOCUMENT_LAYOUT("camp.made/1", tables, ROWS);

static void an_output_document_keeps_its_rows_and_texts_while_it_grows(void **state)
{
    struct document document = { 0 };
    const struct table *rows = &document.tables[ROWS];

    (void)state;
    document_start(&document, &layout);
    for (unsigned i = 0; i < 1000; i++) {
        const struct cell cells[] = { cell_natural(i),
                                      cell_text(document_text(&document, "row %u", i)) };

        DOCUMENT_ADD(&document, ROWS, cells);
    }
    assert_int_equal(document_finish(&document), CAMP_OK);
    assert_int_equal(document.record.tables[ROWS].row_count, 1000);
    assert_int_equal(document.record.tables[HEAD].row_count, 0);
    assert_int_equal(document.record.main_table, ROWS);
    assert_int_equal(rows->cells[2 * 3].natural, 3);
    assert_string_equal(rows->cells[2 * 999 + 1].text, "row 999");
    document_release(&document);
}

static void a_restarted_output_document_has_neither_rows_nor_notes(void **state)
{
    const struct cell cells[] = { cell_natural(1), cell_unknown() };
    struct document document = { 0 };

    (void)state;
    document_start(&document, &layout);
    DOCUMENT_ADD(&document, ROWS, cells);
    document_note(&document, "note %d", 1);
    document_start(&document, &layout);
    assert_int_equal(document.tables[ROWS].row_count, 0);
    assert_null(document.record.notes);
    document_release(&document);
}

static void the_missing_cells_of_a_row_are_unknown(void **state)
{
    const struct cell cells[] = { cell_natural(1) };
    struct document document = { 0 };

    (void)state;
    document_start(&document, &layout);
    DOCUMENT_ADD(&document, HEAD, cells);
    assert_int_equal(document.tables[HEAD].cells[0].natural, 1);
    assert_int_equal(document.tables[HEAD].cells[1].kind, CELL_UNKNOWN);
    document_release(&document);
}

static void a_document_keeps_any_number_of_notes(void **state)
{
    struct document document = { 0 };

    (void)state;
    document_start(&document, &layout);
    assert_null(document.record.notes);
    for (int i = 0; i < 200; i++)
        document_note(&document, "note %d", i);
    assert_string_equal(document.record.notes[199], "note 199");
    assert_null(document.record.notes[200]);
    document_start(&document, &layout);
    assert_null(document.record.notes);
    document_release(&document);
}

static void rows_with_the_largest_sort_keys_are_kept_in_their_order(void **state)
{
    uint64_t keys[] = { 5, 9, 9, 1, 7 };
    size_t rows[] = { 4, 0, 2, 1, 3 };

    (void)state;
    assert_int_equal(rows_with_most(rows, 5, 3, keys), 3);
    assert_int_equal(rows[0], 1);
    assert_int_equal(rows[1], 2);
    assert_int_equal(rows[2], 4);
    assert_int_equal(rows_with_most(rows, 3, 0, keys), 3);
    assert_int_equal(rows_with_most(rows, 3, 8, keys), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_output_document_keeps_its_rows_and_texts_while_it_grows),
        cmocka_unit_test(a_restarted_output_document_has_neither_rows_nor_notes),
        cmocka_unit_test(the_missing_cells_of_a_row_are_unknown),
        cmocka_unit_test(a_document_keeps_any_number_of_notes),
        cmocka_unit_test(rows_with_the_largest_sort_keys_are_kept_in_their_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
