/* Names and numbers in the triangle, on terminals of any size. */
#include "barry_drawing.h"

static void a_full_character_cell_of_a_triangle_is_labelled_with_its_number_of_dots(void **state)
{
    char *text;

    (void)state;
    for (size_t i = 0; i < 20; i++)
        points[i] = point(0.2, 0.4, 0.4, NULL);
    text = draw(20, 80, 24, true);
    assert_non_null(strstr(text, "⣿ 20 "));
    assert_non_null(strstr(text, "\n20 dots; fullest cell 20\n"));
    free(text);
    points[0].name = "cc1";
    points[1].name = "other";
    text = draw(20, 80, 24, true);
    assert_non_null(strstr(text, "⣿ cc1 +19 "));
    assert_null(strstr(text, " 20 ")); /* no separate label has the number of points */
    assert_null(strstr(text, "other"));
    free(text);
}

static void the_first_dots_are_labelled_with_their_names(void **state)
{
    char *text;

    (void)state;
    points[0] = point(0.2, 0.4, 0.4, "first");
    points[1] =
        /* the label is left of the triangle */
        point(0.1, 0.9, 0, "outside");
    /* The side of the triangle is between the dot and the label. */
    points[2] = point(0.9, 0.1, 0, "beyond");
    for (size_t i = 3; i < 20; i++)
        points[i] = point(0, (double)i / 20, 1 - (double)i / 20, "many");
    text = draw(20, 80, 24, false);
    assert_non_null(strstr(text, ". first"));
    assert_non_null(strstr(text, "outside ."));
    assert_non_null(strstr(text, "beyond ."));
    free(text);
    points[0] = point(0.9, 0.05, 0.05, "within");
    text = draw(1, 40, HEIGHT + 3, false);
    assert_non_null(strstr(text, ".\\ within"));
    free(text);
}

static void only_some_of_many_neighbouring_dots_are_labelled(void **state)
{
    size_t count = 0;
    char *text;

    (void)state;
    for (size_t i = 0; i < 20; i++)
        points[i] = point((double)i / 20, 1 - (double)i / 20, 0, "name");
    text = draw(20, 80, 24, true);
    for (const char *at = text; (at = strstr(at, "name")) != NULL; at++)
        count++;
    assert_int_equal(count, 21 / 3 + 1);
    free(text);
}

static void the_left_side_of_a_triangle_has_a_label_at_each_quarter_without_a_dot(void **state)
{
    char *text;

    (void)state;
    points[0] = point(0.75, 0.25, 0, NULL);
    text = draw(1, 80, 24, true);
    assert_non_null(strstr(text, " 25% +"));
    assert_non_null(strstr(text, " 50% +"));
    assert_null(strstr(text, "75%"));
    free(text);
}

static void a_small_picture_names_the_corners_of_its_triangle(void **state)
{
    char *text;

    (void)state;
    text = draw(0, 14, 10, true);
    assert_non_null(strstr(text, "\nidle   waiting\n0 dots\n"));
    free(text);
    text = draw(0, 6, 6, true);
    assert_string_equal(text, "  CPU\n"
                              "  /\\\n"
                              " /  \\\n"
                              "/____\\\n"
                              "id wai\n"
                              "0 dots\n");
    free(text);
}

static void the_text_under_a_triangle_reports_unaccounted_time(void **state)
{
    char *text;

    (void)state;
    points[0] = point(0.1, 0.4, 0.4, "half");
    points[0].weights.missing = 0.1;
    points[1] = point(0.8, 0.4, 0.0, NULL);
    points[1].name = "twice";
    points[1].weights.over = 0.2;
    points[2] = point(0.3, 0.2, 0.2, NULL);
    points[2].weights.left_out = 0.3;
    points[3] = point(0, 0, 0, "no time");
    points[4] = point(0, 0, 0, "no state");
    points[4].weights.missing = 1;
    text = draw(4, 80, 24, true);
    assert_non_null(strstr(text, "; 2 unaccounted, worst -20.0%; "));
    free(text);
    text = draw(5, 80, 24, true);
    assert_non_null(strstr(text, "half un 10.0%"));
    assert_non_null(strstr(text, "twice un -20.0%"));
    assert_non_null(strstr(text, "\n3 dots; 3 unaccounted, worst 100.0%; left out up to 30.0%; "
                                 "2 nowhere\n"));
    assert_null(strstr(text, "no "));
    assert_int_equal(dots_in(text, 24), 3);
    free(text);
}

static void control_characters_in_a_label_are_replaced(void **state)
{
    char *text;

    (void)state;
    points[0] = point(0.1, 0.45, 0.45,
                      "\033[2J\n\x7f\xff"
                      "é日本");
    text = draw(1, 80, 24, true);
    assert_non_null(strstr(text, " ?[2J???é日本"));
    free(text);
    text = draw(1, 80, 24, false);
    assert_non_null(strstr(text, ". ?[2J??????"));
    free(text);
}

static void a_label_is_not_cut_within_a_wide_character(void **state)
{
    char *text;

    (void)state;
    /* A label has at most 15 columns. The name has 16 columns, so the last character is left
     * out. */
    points[0] = point(0.1, 0.9, 0, "日本日本日本日本");
    text = draw(1, 80, 24, true);
    assert_non_null(strstr(text, " 日本日本日本日 "));
    free(text);
}

static void assert_fits(size_t count, size_t columns, size_t rows, bool utf8)
{
    char *text = draw(count, columns, rows, utf8);
    size_t lines = 0;
    wchar_t line[400];

    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    assert_int_equal(lines, rows);
    for (size_t i = 0; i < rows; i++) {
        take_line(text, i, line, 400);
        assert_in_range(wcswidth(line, 400), 0, columns);
    }
    free(text);
}

static void a_triangle_fits_into_a_terminal_of_any_size(void **state)
{
    static const size_t sizes[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 14, 21, 24, 40, 80, 133 };
    const size_t count = sizeof sizes / sizeof sizes[0];

    (void)state;
    srand(2);
    make_points(300, "日本語 name");
    for (size_t i = 0; i < count * count; i++) {
        const size_t columns = sizes[i / count], rows = sizes[i % count];

        assert_fits(300, columns, rows, true);
        assert_fits(300, columns, rows, false);
        assert_fits(0, columns, rows, true);
    }
}

static void too_little_space_for_a_triangle_is_reported(void **state)
{
    char *text;

    (void)state;
    text = draw(0, 0, 0, true);
    assert_string_equal(text, "");
    free(text);
    text = draw(5, 80, 4, true);
    assert_string_equal(text, "no room for a triangle of 5\n\n\n\n");
    free(text);
    text = draw(5, 3, 5, true);
    assert_string_equal(text, "no \n\n\n\n\n");
    free(text);
}

static void make_example(void)
{
    points[0] = point(0.9, 0.1, 0, "make");
    points[1] = point(0.6, 0.1, 0.3, "cc1");
    points[2] = point(0.6, 0.1, 0.3, "cc1");
    points[3] = point(0.1, 0, 0.9, "find");
    for (size_t i = 4; i < 30; i++)
        points[i] = point(0, 1, 0, "sshd");
}

static void a_small_triangle_is_drawn_exactly_as_expected(void **state)
{
    char *text;

    (void)state;
    make_example();
    text = draw(30, 40, 12, true);
    assert_string_equal(text, "                   CPU\n"
                              "              make ⡀\\\n"
                              "                  /  \\\n"
                              "             75% +    +\n"
                              "                /    ⠰ \\ cc1 +1\n"
                              "           50% +        +\n"
                              "              /          \\\n"
                              "         25% +            +\n"
                              "            /              \\\n"
                              "  sshd +25 ⣿___+____+___+___⠁ find\n"
                              "         idle            waiting\n"
                              "30 dots; fullest cell 26\n");
    free(text);
    text = draw(30, 40, 12, false);
    assert_string_equal(text, "                   CPU\n"
                              "              make .\\\n"
                              "                  /  \\\n"
                              "             75% +    +\n"
                              "                /    : \\ cc1 +1\n"
                              "           50% +        +\n"
                              "              /          \\\n"
                              "         25% +            +\n"
                              "            /              \\\n"
                              "  sshd +25 @___+____+___+___. find\n"
                              "         idle            waiting\n"
                              "30 dots; fullest cell 26; .1 :2 o4 O8 @1\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_character_cell_of_a_triangle_is_labelled_with_its_number_of_dots),
        cmocka_unit_test(the_first_dots_are_labelled_with_their_names),
        cmocka_unit_test(only_some_of_many_neighbouring_dots_are_labelled),
        cmocka_unit_test(the_left_side_of_a_triangle_has_a_label_at_each_quarter_without_a_dot),
        cmocka_unit_test(a_small_picture_names_the_corners_of_its_triangle),
        cmocka_unit_test(the_text_under_a_triangle_reports_unaccounted_time),
        cmocka_unit_test(control_characters_in_a_label_are_replaced),
        cmocka_unit_test(a_label_is_not_cut_within_a_wide_character),
        cmocka_unit_test(a_triangle_fits_into_a_terminal_of_any_size),
        cmocka_unit_test(too_little_space_for_a_triangle_is_reported),
        cmocka_unit_test(a_small_triangle_is_drawn_exactly_as_expected),
    };

    setlocale(LC_CTYPE, "C.UTF-8"); /* needed for names with characters beyond ASCII */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
