/* The copy of the kernel's types for the relocations, tested with a synthetic kernel. */
#include "microstates/linux/relocations.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct btfs {
    struct btf *kernel, *object, *copy;
};

static int positive(int id)
{
    assert_true(id > 0);
    return id;
}

static void field(struct btf *btf, const char *name, int type, uint32_t bit, uint32_t bits)
{
    assert_int_equal(btf__add_field(btf, name, type, bit, bits), 0);
}

/* Adds a structure with one member of type int. */
static int add_structure(struct btf *btf, const char *name, const char *member)
{
    const int number = positive(btf__add_int(btf, "int", 4, BTF_INT_SIGNED));
    const int structure = positive(btf__add_struct(btf, name, 4));

    field(btf, member, number, 0, 0);
    return structure;
}

static void begin(struct btfs *btfs)
{
    *btfs = (struct btfs){ btf__new_empty(), btf__new_empty(), NULL };
    assert_non_null(btfs->kernel);
    assert_non_null(btfs->object);
}

static void end(struct btfs *btfs)
{
    btf__free(btfs->kernel);
    btf__free(btfs->object);
    btf__free(btfs->copy);
}

/* Copies the kernel's types by the file that libbpf would read. */
static void copy_types(struct btfs *btfs)
{
    struct bpf_object_open_opts options = { .sz = sizeof options };
    struct kernel_types *kernel = camp_kernel_types_of_btf(btfs->kernel);
    struct relocations types;

    assert_non_null(kernel);
    camp_relocations_open(&types, &options);
    assert_true(types.file >= 0);
    assert_string_equal(options.btf_custom_path, types.path);
    camp_relocations_fill(&types, kernel, btfs->object);
    camp_kernel_types_close(kernel);
    btfs->copy = btf__parse_raw(types.path);
    assert_non_null(btfs->copy);
    camp_relocations_close(&types);
    assert_int_equal(types.file, -1);
}

static const char *name_of(const struct btf *btf, uint32_t offset)
{
    return btf__name_by_offset(btf, offset);
}

static const struct btf_type *copied(const struct btfs *btfs, int id)
{
    const struct btf_type *type = btf__type_by_id(btfs->copy, (uint32_t)id);

    assert_non_null(type);
    return type;
}

static bool is_left_out(const struct btfs *btfs, int id)
{
    const struct btf_type *type = btf__type_by_id(btfs->copy, (uint32_t)id);

    return type == NULL || (btf_is_ptr(type) && type->type == 0);
}

/* Asserts that the type has this member, the number of which is `index`. */
static const struct btf_member *member(const struct btfs *btfs, int id, unsigned index,
                                       const char *name)
{
    const struct btf_type *type = copied(btfs, id);

    assert_true(btf_is_struct(type) || btf_is_union(type));
    assert_true(index < btf_vlen(type));
    assert_string_equal(name_of(btfs->copy, btf_members(type)[index].name_off), name);
    return &btf_members(type)[index];
}

static void types_that_the_programs_know_keep_their_number_and_the_others_are_left_out(void **state)
{
    struct btfs btfs;
    int other, known, later;

    (void)state;
    begin(&btfs);
    other = add_structure(btfs.kernel, "other", "member");
    known = add_structure(btfs.kernel, "known", "member");
    later = add_structure(btfs.kernel, "later", "member");
    add_structure(btfs.object, "known", "member");
    add_structure(btfs.object, "absent", "member");
    copy_types(&btfs);
    assert_true(is_left_out(&btfs, other));
    assert_true(is_left_out(&btfs, later));
    assert_int_equal(btf__find_by_name_kind(btfs.copy, "known", BTF_KIND_STRUCT), known);
    assert_int_equal(copied(&btfs, known)->size, 4);
    assert_int_equal(member(&btfs, known, 0, "member")->type, known - 1);
    assert_true(btf_is_int(copied(&btfs, known - 1)));
    assert_int_equal(btf_int_encoding(copied(&btfs, known - 1)), BTF_INT_SIGNED);
    assert_int_equal(btf_int_bits(copied(&btfs, known - 1)), 32);
    assert_true(btf__find_by_name_kind(btfs.copy, "absent", BTF_KIND_STRUCT) < 0);
    end(&btfs);
}

static void a_structure_keeps_only_the_members_that_the_programs_know(void **state)
{
    struct btfs btfs;
    int number, large, structure;

    (void)state;
    begin(&btfs);
    number = positive(btf__add_int(btfs.kernel, "u64", 8, 0));
    large = positive(btf__add_struct(btfs.kernel, "large", 64));
    structure = positive(btf__add_struct(btfs.kernel, "task", 104));
    field(btfs.kernel, "unknown", number, 0, 0);
    field(btfs.kernel, "embedded", large, 64, 0);
    field(btfs.kernel, "start", number, 640, 0);
    field(btfs.kernel, "last", number, 704, 0);
    add_structure(btfs.object, "task", "start");
    copy_types(&btfs);
    assert_int_equal(btf_vlen(copied(&btfs, structure)), 1);
    assert_int_equal(copied(&btfs, structure)->size, 104);
    assert_int_equal(member(&btfs, structure, 0, "start")->offset, 640);
    assert_true(is_left_out(&btfs, large));
    end(&btfs);
}

static void bitfields_keep_their_offset_and_size(void **state)
{
    struct btfs btfs;
    int number, structure;

    (void)state;
    begin(&btfs);
    number = positive(btf__add_int(btfs.kernel, "unsigned int", 4, 0));
    structure = positive(btf__add_struct(btfs.kernel, "task", 8));
    field(btfs.kernel, "a", number, 0, 1);
    field(btfs.kernel, "in_iowait", number, 35, 1);
    add_structure(btfs.object, "task", "in_iowait");
    copy_types(&btfs);
    member(&btfs, structure, 0, "in_iowait");
    assert_int_equal(btf_vlen(copied(&btfs, structure)), 1);
    assert_int_equal(btf_member_bit_offset(copied(&btfs, structure), 0), 35);
    assert_int_equal(btf_member_bitfield_size(copied(&btfs, structure), 0), 1);
    end(&btfs);
}

static void members_of_a_structure_without_a_name_are_found(void **state)
{
    struct btfs btfs;
    int number, inner, outer, structure;

    (void)state;
    begin(&btfs);
    number = positive(btf__add_int(btfs.kernel, "int", 4, 0));
    inner = positive(btf__add_struct(btfs.kernel, NULL, 8));
    field(btfs.kernel, "unknown", number, 0, 0);
    field(btfs.kernel, "fn", number, 32, 0);
    outer = positive(btf__add_union(btfs.kernel, NULL, 8));
    field(btfs.kernel, NULL, inner, 0, 0);
    structure = positive(btf__add_struct(btfs.kernel, "block", 16));
    field(btfs.kernel, NULL, outer, 64, 0);
    add_structure(btfs.object, "block", "fn");
    copy_types(&btfs);
    assert_int_equal(member(&btfs, structure, 0, "")->type, outer);
    assert_int_equal(member(&btfs, structure, 0, "")->offset, 64);
    assert_true(btf_is_union(copied(&btfs, outer)));
    assert_int_equal(member(&btfs, outer, 0, "")->type, inner);
    assert_int_equal(btf_vlen(copied(&btfs, inner)), 1);
    assert_int_equal(member(&btfs, inner, 0, "fn")->offset, 32);
    end(&btfs);
}

/* As cred.euid, whose type is a typedef of a structure without a name in the kernel. */
static void types_of_members_are_followed_through_typedefs_qualifiers_and_arrays(void **state)
{
    struct btfs btfs;
    int number, typedef_, structure, constant, euid, array, pid, pointer;

    (void)state;
    begin(&btfs);
    number = positive(btf__add_int(btfs.kernel, "unsigned int", 4, 0));
    typedef_ = positive(btf__add_typedef(btfs.kernel, "uid_t", number));
    structure = positive(btf__add_struct(btfs.kernel, NULL, 4));
    field(btfs.kernel, "val", typedef_, 0, 0);
    constant = positive(btf__add_const(btfs.kernel, structure));
    euid = positive(btf__add_typedef(btfs.kernel, "kuid_t", constant));
    array = positive(btf__add_array(btfs.kernel, number, euid, 3));
    pid = positive(btf__add_struct(btfs.kernel, "far", 4));
    pointer = positive(btf__add_ptr(btfs.kernel, pid));
    positive(btf__add_struct(btfs.kernel, "cred", 24));
    field(btfs.kernel, "euid", array, 0, 0);
    field(btfs.kernel, "far", pointer, 128, 0);
    add_structure(btfs.object, "cred", "euid");
    add_structure(btfs.object, "user", "val");
    add_structure(btfs.object, "place", "far");
    copy_types(&btfs);
    assert_int_equal(member(&btfs, pointer + 1, 0, "euid")->type, array);
    assert_int_equal(member(&btfs, pointer + 1, 1, "far")->type, pointer);
    assert_int_equal(btf_array(copied(&btfs, array))->type, euid);
    assert_int_equal(btf_array(copied(&btfs, array))->nelems, 3);
    assert_int_equal(btf__resolve_size(btfs.copy, (uint32_t)array), 12);
    assert_int_equal(copied(&btfs, euid)->type, constant);
    assert_int_equal(copied(&btfs, constant)->type, structure);
    assert_int_equal(member(&btfs, structure, 0, "val")->type, typedef_);
    assert_int_equal(copied(&btfs, typedef_)->type, number);
    /* What a pointer points to is a type of its own, which is needed only by its name. */
    assert_true(btf_is_ptr(copied(&btfs, pointer)));
    assert_true(is_left_out(&btfs, pid));
    end(&btfs);
}

static void suffixes_of_names_are_ignored_as_libbpf_does(void **state)
{
    struct btfs btfs;
    int suffixed, other, same;

    (void)state;
    begin(&btfs);
    suffixed = add_structure(btfs.kernel, "task___old", "member");
    other = add_structure(btfs.kernel, "task____old", "member");
    same = add_structure(btfs.kernel, "file", "member");
    add_structure(btfs.kernel, "last", "member");
    add_structure(btfs.object, "task", "member");
    add_structure(btfs.object, "task_", "member");
    add_structure(btfs.object, "file___since_7", "member");
    add_structure(btfs.object, "last", "member");
    copy_types(&btfs);
    member(&btfs, suffixed, 0, "member");
    member(&btfs, same, 0, "member");
    assert_true(is_left_out(&btfs, other));
    end(&btfs);
}

static void enumerations_keep_their_values(void **state)
{
    struct btfs btfs;
    int small, large;

    (void)state;
    begin(&btfs);
    small = positive(btf__add_enum(btfs.kernel, "kinds", 4));
    assert_int_equal(btf__add_enum_value(btfs.kernel, "KIND_A", 1), 0);
    assert_int_equal(btf__add_enum_value(btfs.kernel, "KIND_B", 7), 0);
    large = positive(btf__add_enum64(btfs.kernel, "sizes", 8, false));
    assert_int_equal(btf__add_enum64_value(btfs.kernel, "SIZE", 1ull << 40), 0);
    positive(btf__add_enum(btfs.object, "kinds", 4));
    positive(btf__add_enum64(btfs.object, "sizes", 8, false));
    copy_types(&btfs);
    assert_int_equal(btf_vlen(copied(&btfs, small)), 2);
    assert_string_equal(name_of(btfs.copy, btf_enum(copied(&btfs, small))[1].name_off), "KIND_B");
    assert_int_equal(btf_enum(copied(&btfs, small))[1].val, 7);
    assert_string_equal(name_of(btfs.copy, btf_enum64(copied(&btfs, large))[0].name_off), "SIZE");
    assert_int_equal(btf_enum64_value(btf_enum64(copied(&btfs, large))), 1ull << 40);
    end(&btfs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            types_that_the_programs_know_keep_their_number_and_the_others_are_left_out),
        cmocka_unit_test(a_structure_keeps_only_the_members_that_the_programs_know),
        cmocka_unit_test(bitfields_keep_their_offset_and_size),
        cmocka_unit_test(members_of_a_structure_without_a_name_are_found),
        cmocka_unit_test(types_of_members_are_followed_through_typedefs_qualifiers_and_arrays),
        cmocka_unit_test(suffixes_of_names_are_ignored_as_libbpf_does),
        cmocka_unit_test(enumerations_keep_their_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
