#include "views/summary_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct vector {
    const char *kind, *text;
    struct summary summary;
} vectors[] = {
#include "summary_vectors.h"
};

static void the_sentences_are_those_of_the_page(void **state)
{
    char text[SUMMARY_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        summary_text(&vectors[i].summary, vectors[i].kind, text);
        assert_string_equal(text, vectors[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sentences_are_those_of_the_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
