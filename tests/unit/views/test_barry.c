/* Each dot of the triangle on a terminal is at its position, and no dot is lost. */
#include "barry_drawing.h"

static wchar_t character_at(const char *text, size_t row, size_t column)
{
    wchar_t line[400];

    take_line(text, row, line, 400);
    return column < wcslen(line) ? line[column] : L' ';
}

static void assert_drawn_at(struct barry_point drawn, size_t row, size_t column)
{
    char *text;

    points[0] = drawn;
    text = draw(1, 40, HEIGHT + 3, false);
    assert_int_equal(character_at(text, row, column), L'.');
    free(text);
    text = draw(1, 40, HEIGHT + 3, true);
    assert_int_equal(dots_of(character_at(text, row, column)), 1);
    assert_int_equal(dots_in(text, HEIGHT + 3), 1);
    free(text);
}

static void a_dot_with_a_share_of_100_percent_is_at_a_corner_of_the_triangle(void **state)
{
    (void)state;
    assert_drawn_at(point(1, 0, 0, NULL), 1, MIDDLE);
    assert_drawn_at(point(0, 1, 0, NULL), HEIGHT, LEFT);
    assert_drawn_at(point(0, 0, 1, NULL), HEIGHT, LEFT + 2 * HEIGHT - 1);
}

static void a_dot_with_equal_shares_is_in_the_centre_of_the_triangle(void **state)
{
    (void)state;
    assert_drawn_at(point(1.0 / 3, 1.0 / 3, 1.0 / 3, NULL), 1 + 2 * HEIGHT / 3, MIDDLE);
    assert_drawn_at(point(0.5, 0.25, 0.25, NULL), 1 + HEIGHT / 2, MIDDLE);
    assert_drawn_at(point(0, 0.5, 0.5, NULL), HEIGHT, MIDDLE);
}

static void a_point_sets_the_nearest_braille_dot_of_its_character_cell(void **state)
{
    char *text;

    (void)state;
    points[0] = point(0, 1, 0, NULL);
    points[1] = point(0, 0, 1, NULL);
    text = draw(2, 40, HEIGHT + 3, true);
    assert_int_equal(character_at(text, HEIGHT, LEFT), L'⡀');
    assert_int_equal(character_at(text, HEIGHT, LEFT + 2 * HEIGHT - 1), L'⢀');
    free(text);
}

/* Rounding moves no dot out of the triangle, whatever the height of the triangle. */
static void a_dot_with_shares_of_only_two_corners_is_on_a_side_of_the_triangle(void **state)
{
    (void)state;
    for (size_t height = 2; height < 50; height++) {
        for (size_t side = 0; side < 2; side++) {
            for (int i = 1; i <= 40; i++) {
                const double share = i / 40.0;
                wchar_t line[400];
                char *text;

                points[0] =
                    side == 0 ? point(share, 1 - share, 0, NULL) : point(share, 0, 1 - share, NULL);
                text = draw(1, 2 * height, height + 3, true);
                for (size_t row = 1; row <= height; row++) {
                    size_t column = height - row; /* column of the left side in this row */

                    take_line(text, row, line, 400);
                    for (size_t at = 0; line[at] != L'\0'; at++) {
                        if (dots_of(line[at]) > 0 && i < 40)
                            assert_int_equal(at, side == 0 ? column : 2 * height - 1 - column);
                    }
                }
                free(text);
            }
        }
    }
}

static void a_triangle_drawn_in_text_has_a_dot_for_each_entity(void **state)
{
    char *text;

    (void)state;
    for (size_t count = 0; count <= 8; count++) {
        for (size_t i = 0; i < count; i++)
            points[i] = point(0.5, 0.25, 0.25, NULL);
        text = draw(count, 40, HEIGHT + 3, true);
        assert_int_equal(dots_of(character_at(text, 1 + HEIGHT / 2, MIDDLE)), count);
        free(text);
    }
    srand(1);
    make_points(60, "a name that takes room");
    text = draw(60, 190, 96, true); /* large enough that no cell is full */
    assert_null(strstr(text, "fullest"));
    assert_int_equal(dots_in(text, 96), 60);
    assert_non_null(strstr(text, "\n60 dots\n"));
    free(text);
}

static void without_utf_8_one_character_stands_for_several_dots(void **state)
{
    static const char expected[] = " .::oooo"
                                   "OOOOOOOO"
                                   "@@@@";

    (void)state;
    for (size_t count = 1; expected[count] != '\0'; count++) {
        char *text;

        for (size_t i = 0; i < count; i++)
            points[i] = point(0.5, 0.25, 0.25, NULL);
        text = draw(count, 40, HEIGHT + 3, false);
        assert_int_equal(character_at(text, 1 + HEIGHT / 2, MIDDLE), expected[count]);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dot_with_a_share_of_100_percent_is_at_a_corner_of_the_triangle),
        cmocka_unit_test(a_dot_with_equal_shares_is_in_the_centre_of_the_triangle),
        cmocka_unit_test(a_point_sets_the_nearest_braille_dot_of_its_character_cell),
        cmocka_unit_test(a_dot_with_shares_of_only_two_corners_is_on_a_side_of_the_triangle),
        cmocka_unit_test(a_triangle_drawn_in_text_has_a_dot_for_each_entity),
        cmocka_unit_test(without_utf_8_one_character_stands_for_several_dots),
    };

    setlocale(LC_CTYPE, "C.UTF-8"); /* needed for names with characters beyond ASCII */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
