/* Names of addresses: mappings, the kernel's list, and ELF files, also damaged ones. */
#include "symbols/elf_file.h"
#include "symbols/kernel_symbols.h"
#include "symbols/process_maps.h"
#include "symbols/symbols.h"

#include "../tree.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

static void mappings_are_parsed_and_damaged_lines_are_left_out(void **state)
{
    char text[] = "1000-2000 r--p 00000000 fe:01 12 /bin/a\n"
                  "2000-3000 r-xp 00001000 fe:01 12                         /bin/a b\n"
                  "2800-4000 r-xp 00001000 fe:01 12 /bin/overlaps\n"
                  "5000-4000 r-xp 00001000 fe:01 12 /bin/backwards\n"
                  "6000-7000 r-xp\n"
                  "-1-8000 r-xp 00000000 fe:01 12 /bin/signed\n"
                  "7000-8000 r-xp 00000000 00:00 0 \n"
                  "9000-a000 r-xp 00000000 00:00 0 [vdso]\n"
                  "b000-c000 r-xp 00000000 fe:01 99999999999999999999999 /bin/large\n"
                  "d000-e000 r-xp 00000000 fe:01 7";
    struct process_maps maps = { 0 };

    (void)state;
    assert_true(process_maps_parse(&maps, text, strlen(text)));
    assert_int_equal(maps.count, 4);
    assert_string_equal(maps.items[0].path, "/bin/a b");
    assert_int_equal(maps.items[0].device_major, 0xfe);
    assert_int_equal(maps.items[0].inode, 12);
    assert_int_equal(maps.items[0].offset, 0x1000);
    assert_string_equal(maps.items[1].path, "");
    assert_string_equal(maps.items[2].path, "[vdso]");
    assert_int_equal(maps.items[3].inode, 7);
    assert_null(process_maps_find(&maps, 0x1fff));
    assert_ptr_equal(process_maps_find(&maps, 0x2000), &maps.items[0]);
    assert_ptr_equal(process_maps_find(&maps, 0x2fff), &maps.items[0]);
    assert_null(process_maps_find(&maps, 0x3000));
    assert_null(process_maps_find(&maps, 0xe000));
    free(maps.items);
}

static struct kernel_symbols read_kernel(const char *text)
{
    struct kernel_symbols symbols;
    char path[] = "/tmp/camp-kallsyms-XXXXXX";
    const int file = mkstemp(path);

    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    assert_true(kernel_symbols_read(&symbols, path));
    unlink(path);
    return symbols;
}

static void functions_of_the_kernel_have_names(void **state)
{
    struct kernel_symbols symbols = read_kernel("ffffffff81000100 T second\n"
                                                "ffffffff81000000 t first\n"
                                                "ffffffff81000000 T alias\n"
                                                "ffffffff81000080 D data\n"
                                                "nonsense\n\n"
                                                "ffffffffc0000000 t of_module\t[ext4]\n");

    (void)state;
    assert_false(symbols.is_hidden);
    assert_int_equal(symbols.count, 4);
    assert_string_equal(kernel_symbols_find(&symbols, 0xffffffff810000ff), "first");
    assert_string_equal(kernel_symbols_find(&symbols, 0xffffffff81000100), "second");
    assert_string_equal(kernel_symbols_find(&symbols, 0xffffffffc0000004), "of_module");
    assert_null(kernel_symbols_find(&symbols, 0xffffffff80ffffff));
    assert_null(kernel_symbols_find(&symbols, 0xffffffff82000000));
    kernel_symbols_release(&symbols);
}

static void hidden_addresses_of_the_kernel_are_no_names(void **state)
{
    struct kernel_symbols symbols = read_kernel("0000000000000000 T first\n"
                                                "0000000000000000 T second\n");

    (void)state;
    assert_true(symbols.is_hidden);
    assert_null(kernel_symbols_find(&symbols, 0xffffffff81000000));
    assert_null(kernel_symbols_find(&symbols, 0));
    kernel_symbols_release(&symbols);
}

/* A file with one loaded segment at the address 0x1000 (offset 0), a build id and two functions. */
struct elf {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    Elf64_Shdr sections[4]; /* none, symbols, names, note */
    Elf64_Sym symbols[5];
    Elf32_Nhdr note;
    char note_name[4];
    uint8_t build_id[8];
    char names[40];
};

static const char names[40] = "\0outer\0inner\0sizeless\0undefined\0";

static struct elf make_elf(uint8_t build_id, bool has_symbols)
{
    struct elf elf = {
        .header = { .e_type = ET_DYN,
                    .e_phoff = offsetof(struct elf, segment),
                    .e_shoff = offsetof(struct elf, sections),
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 1,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = 4 },
        .segment = { .p_type = PT_LOAD, .p_vaddr = 0x1000, .p_filesz = 0x1000 },
        .symbols = { { 0 },
                     { .st_name = 1, .st_value = 0x1100, .st_size = 0x100 },
                     { .st_name = 7, .st_value = 0x1180, .st_size = 0x10 },
                     { .st_name = 13, .st_value = 0x1190 },
                     { .st_name = 22, .st_value = 0x1300, .st_size = 0x100 } },
        .note = { 4, 8, NT_GNU_BUILD_ID },
        .note_name = "GNU",
    };

    memcpy(elf.header.e_ident, ELFMAG, SELFMAG);
    elf.header.e_ident[EI_CLASS] = ELFCLASS64;
    elf.header.e_ident[EI_DATA] =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    for (int i = 1; i < 5; i++) {
        elf.symbols[i].st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
        elf.symbols[i].st_shndx = i < 4 ? 1 : SHN_UNDEF;
    }
    elf.sections[1] = (Elf64_Shdr){ .sh_type = has_symbols ? SHT_SYMTAB : SHT_NULL,
                                    .sh_offset = offsetof(struct elf, symbols),
                                    .sh_size = sizeof elf.symbols,
                                    .sh_link = 2 };
    elf.sections[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
                                    .sh_offset = offsetof(struct elf, names),
                                    .sh_size = sizeof elf.names };
    elf.sections[3] = (Elf64_Shdr){ .sh_type = SHT_NOTE,
                                    .sh_offset = offsetof(struct elf, note),
                                    .sh_size = sizeof elf.note + 4 + 8 };
    memset(elf.build_id, build_id, sizeof elf.build_id);
    memcpy(elf.names, names, sizeof names);
    return elf;
}

static int file_of(const struct elf *elf, size_t size)
{
    const int file = memfd_create("elf", MFD_CLOEXEC);

    assert_true(file >= 0);
    assert_int_equal(write(file, elf, size), size);
    return file;
}

static void the_innermost_function_that_contains_an_address_is_found(void **state)
{
    struct elf_wanted wanted[] = { { .address = 0x10ff }, { .address = 0x1100 },
                                   { .address = 0x1185 }, { .address = 0x1190 },
                                   { .address = 0x1200 }, { .address = 0x1310 } };
    const struct elf elf = make_elf(1, true);
    const int descriptor = file_of(&elf, sizeof elf);
    struct elf_file file;
    uint8_t id[ELF_BUILD_ID_MOST];
    uint64_t address;

    (void)state;
    assert_true(elf_file_read(&file, descriptor));
    assert_int_equal(elf_file_functions(&file, wanted, 6, &(uint64_t){ ELF_STEPS }), 3);
    assert_string_equal(wanted[0].name, "");
    assert_string_equal(wanted[1].name, "outer");
    assert_string_equal(wanted[2].name, "inner");
    assert_string_equal(wanted[3].name, "outer");
    assert_string_equal(wanted[4].name, "");
    assert_string_equal(wanted[5].name, "");
    assert_int_equal(elf_file_build_id(&file, id), 8);
    assert_int_equal(id[7], 1);
    assert_true(elf_file_address(&file, 0x123, &address));
    assert_int_equal(address, 0x1123);
    assert_false(elf_file_address(&file, 0x1000, &address));
    close(descriptor);
}

static void a_damaged_file_has_no_functions(void **state)
{
    struct elf elf = make_elf(1, true);
    struct elf_wanted wanted = { .address = 0x1100 };
    struct elf_file file;
    int descriptor;

    (void)state;
    for (size_t size = 0; size < sizeof elf.header; size += 7) { /* cut within the header */
        descriptor = file_of(&elf, size);
        assert_false(elf_file_read(&file, descriptor));
        close(descriptor);
    }
    elf.sections[2].sh_offset = UINT64_MAX - 1; /* names behind the end */
    elf.sections[3].sh_offset = sizeof elf - 1;
    elf.segment.p_offset = UINT64_MAX;
    descriptor = file_of(&elf, sizeof elf);
    assert_true(elf_file_read(&file, descriptor));
    assert_int_equal(elf_file_functions(&file, &wanted, 1, &(uint64_t){ ELF_STEPS }), 0);
    assert_int_equal(elf_file_build_id(&file, (uint8_t[ELF_BUILD_ID_MOST]){ 0 }), 0);
    assert_false(elf_file_address(&file, 0, &wanted.address));
    close(descriptor);
    elf = make_elf(1, true);
    elf.sections[1].sh_size = UINT64_MAX;
    elf.header.e_shnum = UINT16_MAX;
    elf.names[1 + 5] = 'x'; /* "outer" and "inner" are one name then */
    descriptor = file_of(&elf, sizeof elf);
    assert_true(elf_file_read(&file, descriptor));
    assert_int_equal(elf_file_functions(&file, &wanted, 1, &(uint64_t){ ELF_STEPS }), 0);
    close(descriptor);
}

static void write_elf(const char *path, const struct elf *elf)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(elf, sizeof *elf, 1, file), 1);
    fclose(file);
}

/* A folder like /proc, in which process 7 has mapped a file, and one like /usr/lib/debug/.build-id.
 */
struct scene {
    char folder[64], elf[128], proc[128], debugging[128];
};

static void write_maps(const struct scene *scene, uint64_t inode)
{
    char path[160];
    struct stat status;
    FILE *file;

    assert_int_equal(stat(scene->elf, &status), 0);
    snprintf(path, sizeof path, "%s/7/maps", scene->proc);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "400000-401000 r-xp 00000000 %x:%x %llu %s\n", major(status.st_dev),
            minor(status.st_dev), (unsigned long long)(inode != 0 ? inode : status.st_ino),
            scene->elf);
    fprintf(file, "500000-501000 r-xp 00000000 00:00 0 [vdso]\n");
    fprintf(file, "600000-601000 r-xp 00000000 00:00 0 \n");
    fclose(file);
}

static struct scene make_scene(const struct elf *elf)
{
    struct scene scene = { .folder = "/tmp/camp-symbols-XXXXXX" };
    char path[200];

    assert_non_null(mkdtemp(scene.folder));
    snprintf(scene.elf, sizeof scene.elf, "%s/pro;gram", scene.folder);
    snprintf(scene.proc, sizeof scene.proc, "%s/proc", scene.folder);
    snprintf(scene.debugging, sizeof scene.debugging, "%s/debug", scene.folder);
    write_elf(scene.elf, elf);
    assert_int_equal(mkdir(scene.proc, 0700), 0);
    snprintf(path, sizeof path, "%s/7", scene.proc);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/7/root", scene.proc);
    assert_int_equal(symlink("/", path), 0);
    assert_int_equal(mkdir(scene.debugging, 0700), 0);
    snprintf(path, sizeof path, "%s/02", scene.debugging);
    assert_int_equal(mkdir(path, 0700), 0);
    write_maps(&scene, 0);
    return scene;
}

static void remove_scene(const struct scene *scene)
{
    char command[128];

    snprintf(command, sizeof command, "rm -r '%s'", scene->folder);
    assert_int_equal(system(command), 0);
}

static void assert_frame(const struct scene *scene, uint64_t address, bool is_return,
                         const char *name)
{
    const struct symbols_places places = { .proc = scene->proc,
                                           .kallsyms = "/dev/null",
                                           .debugging = scene->debugging };
    struct symbols *symbols = symbols_make(&places);
    uint32_t frame;

    assert_non_null(symbols);
    symbols_start(symbols);
    assert_true(symbols_add(symbols, 7, address, is_return, &frame));
    assert_true(symbols_find(symbols));
    assert_string_equal(symbols_name(symbols, frame), name);
    symbols_release(symbols);
}

static void assert_named(const struct scene *scene, uint64_t address, const char *name)
{
    assert_frame(scene, address, false, name);
}

static void a_frame_is_its_function_or_its_place(void **state)
{
    const struct elf elf = make_elf(2, true);
    const struct scene scene = make_scene(&elf);

    (void)state;
    assert_named(&scene, 0x400185, "inner");
    assert_named(&scene, 0x400180, "inner");
    assert_frame(&scene, 0x400180, true, "outer"); /* the call is its last instruction */
    assert_named(&scene, 0x400010, "pro;gram+0x1010");
    assert_named(&scene, 0x500010, "[vdso]");
    assert_named(&scene, 0x600010, "[unknown]");
    assert_named(&scene, 0x700010, "[unknown]");
    remove_scene(&scene);
}

static void a_file_that_is_not_the_mapped_one_has_no_functions(void **state)
{
    const struct elf elf = make_elf(2, true);
    const struct scene scene = make_scene(&elf);

    (void)state;
    write_maps(&scene, 1);
    assert_named(&scene, 0x400185, "pro;gram+0x185");
    assert_int_equal(unlink(scene.elf), 0);
    assert_int_equal(mkfifo(scene.elf, 0600), 0); /* opening it would wait for a writer */
    write_maps(&scene, 0);
    assert_named(&scene, 0x400185, "pro;gram+0x185");
    remove_scene(&scene);
}

static void a_stripped_file_has_the_functions_of_its_debugging_file_only(void **state)
{
    const struct elf stripped = make_elf(2, false), own = make_elf(2, true),
                     other = make_elf(3, true);
    const struct scene scene = make_scene(&stripped);
    char path[200];

    (void)state;
    assert_named(&scene, 0x400185, "pro;gram+0x1185");
    snprintf(path, sizeof path, "%s/02/02020202020202.debug", scene.debugging);
    write_elf(path, &own);
    assert_named(&scene, 0x400185, "inner");
    write_elf(path, &other);
    assert_named(&scene, 0x400185, "pro;gram+0x1185");
    remove_scene(&scene);
}

static __attribute__((noinline)) void *where_this_returns(void)
{
    return __builtin_return_address(0);
}

static void a_return_address_is_in_the_function_of_its_call(void **state)
{
    const struct symbols_places places = { .kallsyms = "/dev/null" };
    struct symbols *symbols = symbols_make(&places);
    uint32_t frames[2];

    (void)state;
    assert_non_null(symbols);
    symbols_watch(symbols, getpid());
    symbols_start(symbols);
    assert_true(symbols_add(symbols, getpid(), (uint64_t)(uintptr_t)where_this_returns(), true,
                            &frames[0]));
    assert_true(symbols_add(symbols, 0, 0xffffffff81000000, true, &frames[1]));
    assert_true(symbols_find(symbols));
    assert_string_equal(symbols_name(symbols, frames[0]), __func__);
    assert_string_equal(symbols_name(symbols, frames[1]), "[kernel]_[k]");
    assert_false(symbols_hides_kernel(symbols));
    symbols_release(symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mappings_are_parsed_and_damaged_lines_are_left_out),
        cmocka_unit_test(functions_of_the_kernel_have_names),
        cmocka_unit_test(hidden_addresses_of_the_kernel_are_no_names),
        cmocka_unit_test(the_innermost_function_that_contains_an_address_is_found),
        cmocka_unit_test(a_damaged_file_has_no_functions),
        cmocka_unit_test(a_frame_is_its_function_or_its_place),
        cmocka_unit_test(a_file_that_is_not_the_mapped_one_has_no_functions),
        cmocka_unit_test(a_stripped_file_has_the_functions_of_its_debugging_file_only),
        cmocka_unit_test(a_return_address_is_in_the_function_of_its_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
