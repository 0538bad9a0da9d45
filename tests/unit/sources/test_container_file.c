/* Tests what is read from the files of the runtimes of containers. */
#include "sources/containers/container_file.h"

#include "../tree.h"

#define ID "a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2"

static int parse(enum container_file kind, const char *text, struct container_names *ret)
{
    return container_file_parse(kind, text, strlen(text), ID, ret);
}

static void docker_names_the_container_without_its_slash(void **state)
{
    struct container_names names;

    (void)state;
    assert_int_equal(parse(CONTAINER_FILE_DOCKER,
                           "{\"Config\":{\"Name\":\"no\",\"Labels\":{\"Name\":\"no\","
                           "\"com.docker.compose.project\":\"shop\"}},\"Name\":\"/web\"}",
                           &names),
                     CAMP_OK);
    assert_string_equal(names.name, "web");
    assert_string_equal(names.project, "shop");
    assert_string_equal(names.pod, "");
}

static void annotations_of_both_kubernetes_runtimes_are_read(void **state)
{
    struct container_names names;

    (void)state;
    assert_int_equal(
        parse(CONTAINER_FILE_OCI,
              "{\"process\":{\"annotations\":{\"io.kubernetes.cri.sandbox-name\":\"no\"}},"
              "\"annotations\":{\"io.kubernetes.cri.container-name\":\"db\","
              "\"io.kubernetes.cri.sandbox-name\":\"db-0\",\"nested\":{\"a\":\"b\"},"
              "\"io.kubernetes.cri.sandbox-namespace\":\"shop\","
              "\"io.kubernetes.cri.container-type\":\"container\"}}",
              &names),
        CAMP_OK);
    assert_string_equal(names.in_pod, "db");
    assert_string_equal(names.pod, "db-0");
    assert_string_equal(names.space, "shop");
    assert_false(names.is_sandbox);
    assert_int_equal(parse(CONTAINER_FILE_OCI,
                           "{\"annotations\":{\"io.kubernetes.container.name\":\"POD\","
                           "\"io.kubernetes.pod.name\":\"db-0\","
                           "\"io.kubernetes.pod.namespace\":\"shop\"}}",
                           &names),
                     CAMP_OK);
    assert_string_equal(names.pod, "db-0");
    assert_true(names.is_sandbox);
}

static void a_storage_file_names_the_container_with_the_id(void **state)
{
    struct container_names names;

    (void)state;
    assert_int_equal(parse(CONTAINER_FILE_STORAGE,
                           "[{\"id\":\"1\",\"names\":[\"one\"]},{\"names\":[\"two\",\"alias\"],"
                           "\"metadata\":\"{\\\"id\\\":1}\",\"id\":\"" ID "\"},{\"id\":\"3\"}]",
                           &names),
                     CAMP_OK);
    assert_string_equal(names.name, "two");
    assert_int_equal(parse(CONTAINER_FILE_STORAGE, "[{\"id\":\"1\",\"names\":[\"one\"]}]", &names),
                     CAMP_E_GONE);
}

static void a_file_without_a_name_is_not_a_broken_file(void **state)
{
    struct container_names names;

    (void)state;
    assert_int_equal(parse(CONTAINER_FILE_DAEMON, "{\"a\":{\"data-root\":\"/b\"}}", &names),
                     CAMP_E_GONE);
    assert_int_equal(parse(CONTAINER_FILE_DAEMON, "{\"data-root\":\"/b c\"}", &names), CAMP_OK);
    assert_string_equal(names.name, "/b c");
    assert_int_equal(parse(CONTAINER_FILE_OCI, "{\"annotations\":{}}", &names), CAMP_E_GONE);
    assert_int_equal(parse(CONTAINER_FILE_DOCKER, "{\"Name\":\"\"}", &names), CAMP_E_GONE);
    assert_int_equal(parse(CONTAINER_FILE_DOCKER, "{\"Name\":[\"a\"]}", &names), CAMP_E_GONE);
}

static void a_broken_file_names_nothing(void **state)
{
    static const char *const texts[] = {
        "",      "{",          "[",    "{\"Name\":\"/web\"",       "{\"Name\":\"/web\"}}", "null",
        "\"a\"", "[\"Name\"]", "\x00", "{\"Name\":\"/\xff\xfe\"}",
    };
    struct container_names names;

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_int_equal(parse(CONTAINER_FILE_DOCKER, texts[i], &names), CAMP_E_FORMAT);
        assert_string_equal(names.name, "");
    }
}

/* Parses an object with a name and so many arrays within each other. */
static int parse_nested(int arrays, struct container_names *ret)
{
    char text[3000] = "{\"Name\":\"/web\",\"a\":", *end = text + strlen(text);

    for (int i = 0; i < arrays; i++)
        *end++ = '[';
    for (int i = 0; i < arrays; i++)
        *end++ = ']';
    *end++ = '}';
    return container_file_parse(CONTAINER_FILE_DOCKER, text, (size_t)(end - text), ID, ret);
}

static void nesting_length_and_names_are_limited(void **state)
{
    char *large;
    struct container_names names;

    (void)state;
    assert_int_equal(parse_nested(63, &names), CAMP_OK);
    assert_int_equal(parse_nested(64, &names), CAMP_E_FORMAT);
    large = malloc(CONTAINER_FILE_MOST + 1);
    assert_non_null(large);
    memset(large, ' ', CONTAINER_FILE_MOST + 1);
    memcpy(large, "{\"Name\":\"/web\"}", 15);
    assert_int_equal(
        container_file_parse(CONTAINER_FILE_DOCKER, large, CONTAINER_FILE_MOST, ID, &names),
        CAMP_OK);
    assert_int_equal(
        container_file_parse(CONTAINER_FILE_DOCKER, large, CONTAINER_FILE_MOST + 1, ID, &names),
        CAMP_E_FORMAT);
    memset(large, 'a', CONTAINER_FILE_MOST);
    memcpy(large, "{\"Name\":\"\\n", 11);
    memcpy(large + CONTAINER_FILE_MOST - 2, "\"}", 2);
    assert_int_equal(
        container_file_parse(CONTAINER_FILE_DOCKER, large, CONTAINER_FILE_MOST, ID, &names),
        CAMP_OK);
    assert_int_equal(strlen(names.name), CONTAINER_NAME_SIZE - 1);
    free(large);
}

static void a_name_has_no_nul(void **state)
{
    struct container_names names;

    (void)state;
    assert_int_equal(parse(CONTAINER_FILE_DOCKER, "{\"Name\":\"/web\\u0000x\"}", &names),
                     CAMP_E_GONE);
    assert_string_equal(names.name, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(docker_names_the_container_without_its_slash),
        cmocka_unit_test(annotations_of_both_kubernetes_runtimes_are_read),
        cmocka_unit_test(a_storage_file_names_the_container_with_the_id),
        cmocka_unit_test(a_file_without_a_name_is_not_a_broken_file),
        cmocka_unit_test(a_broken_file_names_nothing),
        cmocka_unit_test(nesting_length_and_names_are_limited),
        cmocka_unit_test(a_name_has_no_nul),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
