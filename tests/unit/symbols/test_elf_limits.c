/* What a hostile ELF file may cost: notes, names and sections that never end. */
#include "symbols/elf_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#define SECTIONS 8
#define ZEROS 65536u /* 5,461 empty notes */
#define SYMBOLS 60000u

/* The head of a file, followed by what the sections have. */
struct head {
    Elf64_Ehdr header;
    Elf64_Shdr sections[SECTIONS];
    struct {
        Elf32_Nhdr head;
        char name[4];
        uint8_t build_id[8];
    } note;
    char names[8];
};

static struct head make_head(uint16_t sections)
{
    struct head head = {
        .header = { .e_type = ET_DYN,
                    .e_shoff = offsetof(struct head, sections),
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = sections },
        .note = { .head = { 4, 8, NT_GNU_BUILD_ID }, .name = "GNU", .build_id = { 1 } },
        .names = "\0named",
    };

    memcpy(head.header.e_ident, ELFMAG, SELFMAG);
    head.header.e_ident[EI_CLASS] = ELFCLASS64;
    head.header.e_ident[EI_DATA] =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    return head;
}

static struct elf_file file_of(const struct head *head, const void *rest, size_t size)
{
    struct elf_file file;
    const int descriptor = memfd_create("elf", MFD_CLOEXEC);

    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, head, sizeof *head), sizeof *head);
    if (rest != NULL)
        assert_int_equal(write(descriptor, rest, size), size);
    else
        assert_int_equal(ftruncate(descriptor, (off_t)(sizeof *head + size)), 0);
    assert_true(elf_file_read(&file, descriptor));
    return file;
}

/* Returns the length of the build id that is in the last of `sections` sections; the sections
 * before it are the same zeros. */
static size_t build_id_behind(uint16_t sections, uint32_t zeros)
{
    struct head head = make_head(sections);
    uint8_t id[ELF_BUILD_ID_MOST];
    struct elf_file file;
    size_t length;

    for (int i = 0; i < sections - 1; i++)
        head.sections[i] =
            (Elf64_Shdr){ .sh_type = SHT_NOTE, .sh_offset = sizeof head, .sh_size = zeros };
    head.sections[sections - 1] = (Elf64_Shdr){ .sh_type = SHT_NOTE,
                                                .sh_offset = offsetof(struct head, note),
                                                .sh_size = sizeof head.note };
    file = file_of(&head, NULL, ZEROS);
    length = elf_file_build_id(&file, id);
    assert_true(length == 0 || id[0] == 1);
    close(file.descriptor);
    return length;
}

static void a_build_id_is_found_among_10000_notes_of_all_sections(void **state)
{
    (void)state;
    assert_int_equal(build_id_behind(1, ZEROS), 8);
    assert_int_equal(build_id_behind(2, ZEROS), 8);
    assert_int_equal(build_id_behind(8, 4096), 8);
    assert_int_equal(build_id_behind(3, ZEROS), 0);
}

static void a_note_that_is_cut_off_is_no_build_id(void **state)
{
    struct head head = make_head(1);
    uint8_t id[ELF_BUILD_ID_MOST];
    struct elf_file file;

    (void)state;
    head.sections[0] = (Elf64_Shdr){ .sh_type = SHT_NOTE,
                                     .sh_offset = offsetof(struct head, note),
                                     .sh_size = sizeof head.note - 1 };
    file = file_of(&head, NULL, 0);
    assert_int_equal(elf_file_build_id(&file, id), 0);
    close(file.descriptor);
}

/* Looks for a function that is behind `nameless` symbols that have the same address and no name.
 * Returns the steps that are left. */
static uint64_t find_behind(size_t nameless, uint64_t steps, const char *expected)
{
    struct head head = make_head(2);
    struct elf_wanted wanted = { .address = 0x1008 };
    Elf64_Sym *symbols = calloc(nameless + 1, sizeof *symbols);
    struct elf_file file;

    assert_non_null(symbols);
    for (size_t i = 0; i <= nameless; i++)
        symbols[i] = (Elf64_Sym){ .st_name = i == nameless,
                                  .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
                                  .st_shndx = 1,
                                  .st_value = 0x1000,
                                  .st_size = 0x10 };
    head.sections[0] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
                                     .sh_offset = sizeof head,
                                     .sh_size = (nameless + 1) * sizeof *symbols,
                                     .sh_link = 1 };
    head.sections[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
                                     .sh_offset = offsetof(struct head, names),
                                     .sh_size = sizeof head.names };
    file = file_of(&head, symbols, (nameless + 1) * sizeof *symbols);
    free(symbols);
    assert_int_equal(elf_file_functions(&file, &wanted, 1, &steps), expected[0] != '\0');
    assert_string_equal(wanted.name, expected);
    close(file.descriptor);
    return steps;
}

static void a_read_of_a_name_costs_1000_steps(void **state)
{
    (void)state;
    assert_int_equal(find_behind(0, 5000, "named"), 5000 - 1002);
    assert_int_equal(find_behind(100, ELF_STEPS, "named"), ELF_STEPS - 101 * 1002);
    assert_int_equal(find_behind(0, 1002, "named"), 0);
    assert_int_equal(find_behind(0, 1001, ""), 0);
    assert_int_equal(find_behind(1000, 0, ""), 0);
}

static void names_that_cost_more_than_the_budget_are_not_read(void **state)
{
    (void)state;
    assert_int_equal(find_behind(SYMBOLS, ELF_STEPS, ""), 0);
}

static void segments_are_read_once_for_all_addresses(void **state)
{
    struct head head = make_head(1);
    Elf64_Phdr segments[2] = {
        { .p_type = PT_LOAD, .p_vaddr = 0x1000, .p_filesz = 0x100 },
        { .p_type = PT_LOAD, .p_offset = 0x100, .p_vaddr = 0x8000, .p_filesz = 0x100 },
    };
    struct elf_file file;
    uint64_t address;

    (void)state;
    head.header.e_phoff = sizeof head;
    head.header.e_phnum = 2;
    file = file_of(&head, segments, sizeof segments);
    assert_int_equal(ftruncate(file.descriptor, 0), 0);
    assert_true(elf_file_address(&file, 0x10, &address));
    assert_int_equal(address, 0x1010);
    assert_true(elf_file_address(&file, 0x110, &address));
    assert_int_equal(address, 0x8010);
    assert_false(elf_file_address(&file, 0x200, &address));
    close(file.descriptor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_build_id_is_found_among_10000_notes_of_all_sections),
        cmocka_unit_test(a_note_that_is_cut_off_is_no_build_id),
        cmocka_unit_test(a_read_of_a_name_costs_1000_steps),
        cmocka_unit_test(names_that_cost_more_than_the_budget_are_not_read),
        cmocka_unit_test(segments_are_read_once_for_all_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
