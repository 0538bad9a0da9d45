/* Parses texts of /proc/meminfo, valid and broken ones. */
#include "../tree.h"

#define KIB 1024ull

static void sizes_in_meminfo_are_converted_to_bytes(void **state)
{
    struct tree tree = stored_tree("vm-6.18");
    struct camp_memory memory;

    (void)state;
    assert_int_equal(
        camp_memory_read(source_of(&tree), CAMP_MEMORY_ALL, &memory, sizeof memory, NULL), CAMP_OK);
    assert_int_equal(memory.known, CAMP_MEMORY_ALL);
    assert_int_equal(memory.total_bytes, 24684096 * KIB);
    assert_true(memory.free_bytes < memory.total_bytes && memory.free_bytes > 0);
    assert_true(memory.available_bytes > memory.cached_bytes);
    assert_int_equal(memory.swap_total_bytes, 0);
}

static void fields_that_an_old_meminfo_lacks_are_unknown(void **state)
{
    struct tree tree = stored_tree("desktop-2.6.32");
    struct camp_memory memory;

    (void)state;
    assert_int_equal(
        camp_memory_read(source_of(&tree), CAMP_MEMORY_ALL, &memory, sizeof memory, NULL), CAMP_OK);
    assert_int_equal(memory.known,
                     CAMP_MEMORY_ALL & ~(CAMP_MEMORY_AVAILABLE | CAMP_MEMORY_COMMITTED |
                                         CAMP_MEMORY_COMMIT_LIMIT));
    assert_int_equal(memory.available_bytes, 0);
    assert_int_equal(memory.free_bytes, 312340 * KIB);
    assert_int_equal(memory.buffers_bytes, 201232 * KIB);
    assert_int_equal(memory.cached_bytes, 1523424 * KIB);
    assert_int_equal(memory.swap_total_bytes, 2097144 * KIB);
    assert_int_equal(memory.swap_free_bytes, 2097000 * KIB);
}

static int read_text(const char *text, struct camp_memory *ret)
{
    struct tree tree = text_tree("meminfo", text);
    int result = camp_memory_read(source_of(&tree), CAMP_MEMORY_FREE, ret, sizeof *ret, NULL);

    remove_tree(&tree);
    return result;
}

static void lines_of_meminfo_may_be_unknown_or_in_any_order(void **state)
{
    struct camp_memory memory;

    (void)state;
    assert_int_equal(read_text("SwapFree: 6 kB\nMemFree: 2 kB\nNew(thing): yes\nCachedX: 9 kB\n\n"
                               "Cached: 5 kB\nMemTotal: 1 kB\n",
                               &memory),
                     CAMP_OK);
    assert_int_equal(memory.known, CAMP_MEMORY_TOTAL | CAMP_MEMORY_FREE | CAMP_MEMORY_CACHED |
                                       CAMP_MEMORY_SWAP_FREE);
    assert_int_equal(memory.free_bytes, 2 * KIB);
    assert_int_equal(memory.cached_bytes, 5 * KIB);
    assert_int_equal(memory.swap_free_bytes, 6 * KIB);
}

static void the_stored_meminfo_of_another_machine_is_read_without_sysinfo(void **state)
{
    struct camp_memory memory;

    (void)state;
    /* sysinfo(2) would report the memory of this machine. */
    assert_int_equal(read_text("MemTotal: 1 kB\nMemFree: 1 kB\n", &memory), CAMP_OK);
    assert_int_equal(memory.free_bytes, KIB);
}

static void a_broken_meminfo_is_a_format_error(void **state)
{
    static const char *const texts[] = {
        "",
        "MemFree: 1 kB\n",                                 /* no MemTotal */
        "MemTotal: 1 kB\nMemFree: 12",                     /* truncated within a number */
        "MemTotal: 1 kB\nMemFree: -12 kB\n",               /* negative */
        "MemTotal: 1 kB\nMemFree:\n",                      /* no value */
        "MemTotal: 1 kB\nMemFree: 1 MB\n",                 /* another unit */
        "MemTotal: 1 kB\nMemFree: 18014398509481984 kB\n", /* 2^64 bytes */
        "MemTotal: 1 kB x\n",
    };
    struct camp_memory memory;

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        if (read_text(texts[i], &memory) != CAMP_E_FORMAT)
            fail_msg("\"%s\" was taken", texts[i]);
}

static void a_failed_memory_read_leaves_the_struct_of_the_caller_unchanged(void **state)
{
    struct camp_memory memory = { .known = 77 };

    (void)state;
    assert_int_equal(read_text("MemTotal: 1 kB\nMemFree: x\n", &memory), CAMP_E_FORMAT);
    assert_int_equal(memory.known, 77);
}

static void a_missing_meminfo_is_reported_as_gone(void **state)
{
    struct camp_source source = { .proc = "/nowhere" };
    struct camp_memory memory;
    struct camp_error error;

    (void)state;
    assert_int_equal(camp_memory_read(&source, CAMP_MEMORY_FREE, &memory, sizeof memory, &error),
                     CAMP_E_GONE);
    assert_non_null(strstr(error.message, "/nowhere/meminfo"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_in_meminfo_are_converted_to_bytes),
        cmocka_unit_test(fields_that_an_old_meminfo_lacks_are_unknown),
        cmocka_unit_test(lines_of_meminfo_may_be_unknown_or_in_any_order),
        cmocka_unit_test(the_stored_meminfo_of_another_machine_is_read_without_sysinfo),
        cmocka_unit_test(a_broken_meminfo_is_a_format_error),
        cmocka_unit_test(a_failed_memory_read_leaves_the_struct_of_the_caller_unchanged),
        cmocka_unit_test(a_missing_meminfo_is_reported_as_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
