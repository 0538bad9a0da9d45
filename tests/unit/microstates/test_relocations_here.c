/* The copy of the kernel's types for the relocations, tested with the types of this kernel and the
 * programs of microstates, and what happens if there can be no copy. */
#include "microstates/linux/culprits_layout.h"
#include "microstates/linux/layout.h"
#include "microstates/linux/relocations.h"
#include "states.skel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

/* A write beyond the limit would send SIGXFSZ to a program that does not ignore it. */
static void with_a_limit_on_the_size_of_files_libbpf_uses_the_types_of_the_kernel(void **state)
{
    struct bpf_object_open_opts options = { .sz = sizeof options };
    struct rlimit before, limited;
    struct relocations types;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    if (before.rlim_cur != RLIM_INFINITY) {
        print_message("skipped, not passed: the size of files is limited\n");
        skip();
    }
    limited = (struct rlimit){ 1 << 20, before.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limited), 0);
    camp_relocations_open(&types, &options);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(types.file, -1);
    assert_null(options.btf_custom_path);
    camp_relocations_close(&types);
}

static void if_the_types_cannot_be_written_the_path_is_that_of_all_types(void **state)
{
    struct bpf_object_open_opts options = { .sz = sizeof options };
    struct btf *object = btf__new_empty(), *all = btf__load_vmlinux_btf(), *read;
    struct kernel_types *kernel = NULL;
    struct rlimit before;
    struct relocations types;

    (void)state;
    assert_non_null(object);
    if (all == NULL || camp_kernel_types_open(&kernel, NULL) != CAMP_OK) {
        print_message("skipped, not passed: this kernel has no BTF\n");
        btf__free(object);
        btf__free(all);
        skip();
    }
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    camp_relocations_open(&types, &options);
    assert_true(types.file >= 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 0, before.rlim_max }), 0);
    camp_relocations_fill(&types, kernel, object);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    read = btf__parse_raw(options.btf_custom_path);
    assert_non_null(read);
    assert_int_equal(btf__type_cnt(read), btf__type_cnt(all));
    camp_relocations_close(&types);
    camp_kernel_types_close(kernel);
    btf__free(read);
    btf__free(all);
    btf__free(object);
}

static const struct btf_member *find_member(const struct btf *btf, const struct btf_type *type,
                                            const char *name)
{
    for (unsigned i = 0; i < btf_vlen(type); i++) {
        if (strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), name) == 0)
            return &btf_members(type)[i];
    }
    return NULL;
}

/* Compares a structure of the kernel with its copy, as to the members of a structure of the
 * programs. Returns the number of members that both have. */
static size_t compare_structures(const struct btf *object, const struct btf_type *known,
                                 const struct btf *kernel, const struct btf *copy, uint32_t id)
{
    const struct btf_type *from = btf__type_by_id(kernel, id), *to = btf__type_by_id(copy, id);
    size_t compared = 0;

    assert_non_null(to);
    assert_int_equal(btf_kind(to), btf_kind(from));
    assert_int_equal(to->size, from->size);
    for (unsigned i = 0; i < btf_vlen(known); i++) {
        const char *name = btf__name_by_offset(object, btf_members(known)[i].name_off);
        const struct btf_member *before = find_member(kernel, from, name);
        const struct btf_member *after = find_member(copy, to, name);

        assert_int_equal(before == NULL, after == NULL);
        if (before == NULL)
            continue;
        assert_int_equal(after->offset, before->offset);
        assert_int_equal(after->type, before->type);
        compared++;
    }
    return compared;
}

/* The programs of microstates find all members that they know at their real places. */
static void the_copy_has_the_places_of_all_members_that_the_programs_read(void **state)
{
    struct btf *kernel = btf__load_vmlinux_btf(), *copy;
    struct states_bpf *programs = states_bpf__open();
    struct bpf_object_open_opts options = { .sz = sizeof options };
    struct kernel_types *types = NULL;
    struct relocations relocations;
    const struct btf *object;
    size_t compared = 0;

    (void)state;
    assert_non_null(programs);
    if (kernel == NULL || camp_kernel_types_open(&types, NULL) != CAMP_OK) {
        print_message("skipped, not passed: this kernel has no BTF\n");
        states_bpf__destroy(programs);
        btf__free(kernel);
        skip();
    }
    object = bpf_object__btf(programs->obj);
    camp_relocations_open(&relocations, &options);
    assert_true(camp_relocations_write(relocations.file, types, object));
    copy = btf__parse_raw(relocations.path);
    assert_non_null(copy);
    assert_true(btf__type_cnt(copy) <= btf__type_cnt(kernel));
    for (uint32_t i = 1; i < btf__type_cnt(object); i++) {
        const struct btf_type *known = btf__type_by_id(object, i);
        const char *name = btf__name_by_offset(object, known->name_off);
        const int id = btf_is_struct(known) && name[0] != '\0'
                           ? btf__find_by_name_kind(kernel, name, BTF_KIND_STRUCT)
                           : -1;

        if (id > 0)
            compared += compare_structures(object, known, kernel, copy, (uint32_t)id);
    }
    print_message("%zu members are at their places\n", compared);
    assert_true(compared > 50);
    camp_relocations_close(&relocations);
    camp_kernel_types_close(types);
    states_bpf__destroy(programs);
    btf__free(copy);
    btf__free(kernel);
}

static void programs_with_too_many_names_have_no_copy(void **state)
{
    struct btf *object = btf__new_empty();
    const int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct kernel_types *kernel = camp_kernel_types_of_btf(object);

    (void)state;
    assert_non_null(kernel);
    assert_true(file >= 0);
    for (int i = 0; i < 600; i++) {
        char name[16];

        if (i == 500)
            assert_true(camp_relocations_write(file, kernel, object));
        snprintf(name, sizeof name, "known%d", i);
        assert_true(btf__add_struct(object, "known", 4) > 0);
        assert_int_equal(btf__add_field(object, name, 0, 0, 0), 0);
    }
    assert_false(camp_relocations_write(file, kernel, object));
    camp_kernel_types_close(kernel);
    btf__free(object);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_a_limit_on_the_size_of_files_libbpf_uses_the_types_of_the_kernel),
        cmocka_unit_test(if_the_types_cannot_be_written_the_path_is_that_of_all_types),
        cmocka_unit_test(the_copy_has_the_places_of_all_members_that_the_programs_read),
        cmocka_unit_test(programs_with_too_many_names_have_no_copy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
