/* The index of the kernel's types, tested with synthetic types and with those of this kernel. */
#include "microstates/linux/kernel_types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SIZE_MOST (64u << 20) /* of the types of a kernel */

/* Returns types of each kind, each of which has a name if it may have one. The number of the last
 * one is set in *ret_last. */
static struct btf *all_kinds(int *ret_last)
{
    struct btf *btf = btf__new_empty();
    int number, function, variable;

    assert_non_null(btf);
    number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
    assert_true(btf__add_float(btf, "float", 4) > 0);
    assert_true(btf__add_ptr(btf, number) > 0);
    assert_true(btf__add_array(btf, number, number, 7) > 0);
    assert_true(btf__add_struct(btf, "task", 8) > 0);
    assert_int_equal(btf__add_field(btf, "a", number, 0, 0), 0);
    assert_int_equal(btf__add_field(btf, "b", number, 32, 0), 0);
    assert_true(btf__add_union(btf, "task", 4) > 0);
    assert_int_equal(btf__add_field(btf, "c", number, 0, 0), 0);
    assert_true(btf__add_enum(btf, "kinds", 4) > 0);
    assert_int_equal(btf__add_enum_value(btf, "KIND", 1), 0);
    assert_true(btf__add_enum64(btf, "sizes", 8, false) > 0);
    assert_int_equal(btf__add_enum64_value(btf, "SIZE", 1), 0);
    assert_true(btf__add_fwd(btf, "later", BTF_FWD_STRUCT) > 0);
    assert_true(btf__add_typedef(btf, "alias", number) > 0);
    assert_true(btf__add_volatile(btf, number) > 0);
    assert_true(btf__add_const(btf, number) > 0);
    assert_true(btf__add_restrict(btf, number) > 0);
    assert_true(btf__add_type_tag(btf, "user", number) > 0);
    function = btf__add_func_proto(btf, number);
    assert_int_equal(btf__add_func_param(btf, "x", number), 0);
    assert_int_equal(btf__add_func_param(btf, "y", number), 0);
    assert_true(btf__add_func(btf, "task", BTF_FUNC_STATIC, function) > 0);
    variable = btf__add_var(btf, "variable", BTF_VAR_STATIC, number);
    assert_true(btf__add_datasec(btf, ".data", 4) > 0);
    assert_int_equal(btf__add_datasec_var_info(btf, variable, 0, 4), 0);
    assert_true(btf__add_decl_tag(btf, "tag", variable, -1) > 0);
    *ret_last = btf__add_struct(btf, "last", 0);
    return btf;
}

static void assert_same(const struct kernel_types *types, const struct btf *btf)
{
    assert_int_equal(camp_kernel_type_count(types), btf__type_cnt(btf));
    for (uint32_t i = 1; i < btf__type_cnt(btf); i++) {
        const struct btf_type *type = camp_kernel_type(types, i);

        assert_memory_equal(type, btf__type_by_id(btf, i), sizeof *type);
        assert_string_equal(camp_kernel_name(types, type->name_off),
                            btf__name_by_offset(btf, type->name_off));
    }
}

static void types_of_each_kind_are_found_by_number_name_and_kind(void **state)
{
    int last;
    struct btf *btf = all_kinds(&last);
    uint32_t size;
    const void *bytes = btf__raw_data(btf, &size);
    struct kernel_types *types[] = { camp_kernel_types_of(bytes, size),
                                     camp_kernel_types_of_btf(btf) };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_non_null(types[i]);
        assert_same(types[i], btf);
        for (unsigned kind = 1; kind < 20; kind++) {
            const int id = btf__find_by_name_kind(btf, "task", kind);

            assert_int_equal(camp_kernel_type_find(types[i], "task", kind), id > 0 ? id : 0);
        }
        assert_int_equal(camp_kernel_type_find(types[i], "last", BTF_KIND_STRUCT), last);
        assert_int_equal(camp_kernel_type_find(types[i], "none", BTF_KIND_STRUCT), 0);
        assert_int_equal(btf_kind(camp_kernel_type(types[i], 0)), BTF_KIND_UNKN);
        camp_kernel_types_close(types[i]);
    }
    btf__free(btf);
}

static void flavors_of_a_type_are_found(void **state)
{
    /* The last name has the same hash as the first one. */
    static const char *const names[] = { "task", "task___old", "task____old", "task_", "taskdgto" };
    struct btf *btf = btf__new_empty();
    struct kernel_types *types;
    uint32_t id;

    (void)state;
    assert_non_null(btf);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(btf__add_struct(btf, names[i], 0), i + 1);
    types = camp_kernel_types_of_btf(btf);
    assert_non_null(types);
    id = camp_kernel_type_next_flavor(types, "task___new", 0);
    assert_int_equal(id, 2);
    id = camp_kernel_type_next_flavor(types, "task___new", id);
    assert_int_equal(id, 1);
    assert_int_equal(camp_kernel_type_next_flavor(types, "task___new", id), 0);
    assert_int_equal(camp_kernel_type_next_flavor(types, "task_", 0), 4);
    assert_int_equal(camp_kernel_type_next_flavor(types, "task_", 4), 0);
    assert_int_equal(camp_kernel_type_find(types, "task___old", BTF_KIND_STRUCT), 2);
    assert_int_equal(camp_kernel_type_find(types, "task___new", BTF_KIND_STRUCT), 0);
    camp_kernel_types_close(types);
    btf__free(btf);
}

static void bytes_that_are_no_types_are_refused(void **state)
{
    int last;
    struct btf *btf = all_kinds(&last);
    uint32_t size;
    const void *bytes = btf__raw_data(btf, &size);
    char *copy = malloc(size);
    struct btf_header *header = (struct btf_header *)copy;
    struct btf_type *first;

    (void)state;
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    assert_null(camp_kernel_types_of(copy, CAMP_BTF_HEADER_SIZE - 1));
    assert_null(camp_kernel_types_of(copy, size - 1));
    copy[0] ^= 1;
    assert_null(camp_kernel_types_of(copy, size));
    copy[0] ^= 1;
    first = (struct btf_type *)(copy + header->hdr_len + header->type_off);
    first->info = 31u << 24; /* a kind that does not exist */
    assert_null(camp_kernel_types_of(copy, size));
    memcpy(copy, bytes, size);
    first->name_off = header->str_len;
    assert_null(camp_kernel_types_of(copy, size));
    memcpy(copy, bytes, size);
    copy[header->hdr_len + header->str_off + header->str_len - 1] = 'x'; /* has no end */
    assert_null(camp_kernel_types_of(copy, size));
    memcpy(copy, bytes, size);
    header->type_len -= 4; /* The last type is cut. */
    assert_null(camp_kernel_types_of(copy, size));
    header->type_len = sizeof *first; /* The first type is longer. */
    assert_null(camp_kernel_types_of(copy, size));
    free(copy);
    btf__free(btf);
}

/* libbpf reads the same file in its own way. A file that camp did not understand would be read by
 * libbpf as well, so it is also read here. */
static void the_types_of_this_kernel_are_those_that_libbpf_reads(void **state)
{
    struct btf *btf = btf__load_vmlinux_btf();
    struct kernel_types *types[2] = { NULL };
    FILE *file = fopen("/sys/kernel/btf/vmlinux", "re");
    char *bytes = malloc(SIZE_MOST);

    (void)state;
    assert_non_null(bytes);
    if (btf == NULL || file == NULL) {
        if (file != NULL)
            fclose(file);
        btf__free(btf);
        free(bytes);
        print_message("skipped, not passed: this kernel has no BTF\n");
        skip();
    }
    types[0] = camp_kernel_types_of(bytes, fread(bytes, 1, SIZE_MOST, file));
    fclose(file);
    assert_int_equal(camp_kernel_types_open(&types[1], NULL), CAMP_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_non_null(types[i]);
        assert_same(types[i], btf);
        assert_int_equal(camp_kernel_type_find(types[i], "task_struct", BTF_KIND_STRUCT),
                         btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT));
        camp_kernel_types_close(types[i]);
    }
    free(bytes);
    btf__free(btf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_of_each_kind_are_found_by_number_name_and_kind),
        cmocka_unit_test(flavors_of_a_type_are_found),
        cmocka_unit_test(bytes_that_are_no_types_are_refused),
        cmocka_unit_test(the_types_of_this_kernel_are_those_that_libbpf_reads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
