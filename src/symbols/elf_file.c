#include "elf_file.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTIONS_MAX 65536u
#define SEGMENTS_MAX 1024u
#define NOTES_MOST 10000u /* of a file */
#define NOTES_SIZE 65536u /* of a section; more is left out */
#define SYMBOLS_AT_ONCE 2048u
#define NAME_STEPS 1000u /* of a read of a name */

/* Reads ret[size] at an offset. Returns false if the file does not have all of it. */
static bool read_at(const struct elf_file *file, uint64_t offset, void *ret, size_t size)
{
    size_t done = 0;

    if (offset > file->size || size > file->size - offset)
        return false;
    while (done < size) {
        const ssize_t length =
            pread(file->descriptor, (char *)ret + done, size - done, (off_t)(offset + done));

        if (length <= 0)
            return false;
        done += (size_t)length;
    }
    return true;
}

static bool read_section(const struct elf_file *file, uint32_t number, Elf64_Shdr *ret)
{
    Elf32_Shdr small;

    if (number >= file->section_count)
        return false;
    if (file->is_64)
        return read_at(file, file->sections_at + (uint64_t)number * sizeof *ret, ret, sizeof *ret);
    if (!read_at(file, file->sections_at + (uint64_t)number * sizeof small, &small, sizeof small))
        return false;
    *ret = (Elf64_Shdr){ .sh_name = small.sh_name,
                         .sh_type = small.sh_type,
                         .sh_offset = small.sh_offset,
                         .sh_size = small.sh_size,
                         .sh_link = small.sh_link,
                         .sh_entsize = small.sh_entsize };
    return true;
}

static bool read_segment(const struct elf_file *file, uint32_t number, Elf64_Phdr *ret)
{
    Elf32_Phdr small;

    if (file->is_64)
        return read_at(file, file->segments_at + (uint64_t)number * sizeof *ret, ret, sizeof *ret);
    if (!read_at(file, file->segments_at + (uint64_t)number * sizeof small, &small, sizeof small))
        return false;
    *ret = (Elf64_Phdr){ .p_type = small.p_type,
                         .p_offset = small.p_offset,
                         .p_vaddr = small.p_vaddr,
                         .p_filesz = small.p_filesz };
    return true;
}

/* A file with many sections has their number in the first of them. */
static void count_sections(struct elf_file *file, uint32_t stated)
{
    Elf64_Shdr first;

    file->section_count = stated;
    if (stated == 0 && file->sections_at != 0) {
        file->section_count = 1;
        stated = read_section(file, 0, &first) && first.sh_size < SECTIONS_MAX
                     ? (uint32_t)first.sh_size
                     : 0;
        file->section_count = stated;
    }
}

static void read_loads(struct elf_file *file)
{
    for (uint32_t i = 0; i < file->segment_count && file->load_count < ELF_LOADS_MOST; i++) {
        Elf64_Phdr segment;

        if (!read_segment(file, i, &segment))
            return;
        if (segment.p_type == PT_LOAD)
            file->loads[file->load_count++] = (struct elf_load){ .offset = segment.p_offset,
                                                                 .size = segment.p_filesz,
                                                                 .address = segment.p_vaddr };
    }
}

bool elf_file_read(struct elf_file *ret, int descriptor)
{
    const unsigned char order =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    struct stat status;
    union {
        Elf64_Ehdr large;
        Elf32_Ehdr small;
        unsigned char ident[EI_NIDENT];
    } header;

    *ret = (struct elf_file){ .descriptor = descriptor };
    if (fstat(descriptor, &status) != 0 || status.st_size < 0)
        return false;
    ret->size = (uint64_t)status.st_size;
    if (!read_at(ret, 0, &header.small, sizeof header.small) ||
        memcmp(header.ident, ELFMAG, SELFMAG) != 0 || header.ident[EI_DATA] != order)
        return false;
    ret->is_64 = header.ident[EI_CLASS] == ELFCLASS64;
    if (ret->is_64) {
        if (!read_at(ret, 0, &header.large, sizeof header.large) ||
            header.large.e_phentsize != sizeof(Elf64_Phdr))
            return false;
        ret->segments_at = header.large.e_phoff;
        ret->segment_count = header.large.e_phnum;
        ret->sections_at = header.large.e_shoff;
        count_sections(ret, header.large.e_shnum);
    } else if (header.ident[EI_CLASS] == ELFCLASS32) {
        if (header.small.e_phentsize != sizeof(Elf32_Phdr))
            return false;
        ret->segments_at = header.small.e_phoff;
        ret->segment_count = header.small.e_phnum;
        ret->sections_at = header.small.e_shoff;
        count_sections(ret, header.small.e_shnum);
    } else {
        return false;
    }
    if (ret->segment_count > SEGMENTS_MAX)
        ret->segment_count = SEGMENTS_MAX;
    read_loads(ret);
    return true;
}

bool elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *ret)
{
    for (uint32_t i = 0; i < file->load_count; i++) {
        const struct elf_load *load = &file->loads[i];

        if (offset >= load->offset && offset - load->offset < load->size) {
            *ret = load->address + (offset - load->offset);
            return true;
        }
    }
    return false;
}

static uint64_t rounded(uint64_t size)
{
    return (size + 3) & ~UINT64_C(3);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns the length of the build id in the notes at an offset, or 0. Each note takes one of *left,
 * and so does the call. */
static size_t find_build_id(const struct elf_file *file, uint64_t offset, uint64_t size,
                            uint32_t *left, uint8_t ret[ELF_BUILD_ID_MOST])
{
    static _Thread_local uint8_t notes[NOTES_SIZE];
    const uint64_t rest = offset < file->size ? file->size - offset : 0;
    Elf32_Nhdr note;

    --*left;
    size = smaller(smaller(size, rest), NOTES_SIZE);
    if (!read_at(file, offset, notes, (size_t)size))
        return 0;
    for (uint64_t at = 0; at + sizeof note <= size && *left > 0; --*left) {
        uint64_t name = at + sizeof note, value;

        memcpy(&note, notes + at, sizeof note);
        value = name + rounded(note.n_namesz);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" && note.n_descsz != 0 &&
            note.n_descsz <= ELF_BUILD_ID_MOST && value + note.n_descsz <= size &&
            memcmp(notes + name, "GNU", sizeof "GNU") == 0) {
            memcpy(ret, notes + value, note.n_descsz);
            return note.n_descsz;
        }
        at = value + rounded(note.n_descsz);
    }
    return 0;
}

/* The debugging file has its notes only in a section. */
size_t elf_file_build_id(const struct elf_file *file, uint8_t ret[ELF_BUILD_ID_MOST])
{
    uint32_t left = NOTES_MOST;
    size_t length = 0;
    Elf64_Shdr section;

    for (uint32_t i = 0; i < file->section_count && i < SECTIONS_MAX && length == 0 && left > 0;
         i++) {
        if (!read_section(file, i, &section))
            break;
        if (section.sh_type == SHT_NOTE)
            length = find_build_id(file, section.sh_offset, section.sh_size, &left, ret);
    }
    for (uint32_t i = 0; i < file->segment_count && length == 0 && left > 0; i++) {
        Elf64_Phdr segment;

        if (!read_segment(file, i, &segment))
            break;
        if (segment.p_type == PT_NOTE)
            length = find_build_id(file, segment.p_offset, segment.p_filesz, &left, ret);
    }
    return length;
}

/* One pass over a table of symbols. */
struct pass {
    const struct elf_file *file;
    Elf64_Shdr names; /* the section of the names */
    struct elf_wanted *wanted;
    size_t count, found;
    uint64_t *steps; /* that are left */
};

/* Returns false if fewer steps are left; then none are. */
static bool spend(const struct pass *pass, uint64_t steps)
{
    const bool has_them = *pass->steps >= steps;

    *pass->steps = has_them ? *pass->steps - steps : 0;
    return has_them;
}

/* Returns the index of the first wanted address that is not below `address`. */
static size_t first_from(const struct pass *pass, uint64_t address)
{
    size_t low = 0, high = pass->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (pass->wanted[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void copy_name(struct pass *pass, struct elf_wanted *wanted, const Elf64_Sym *symbol)
{
    const uint64_t left =
        symbol->st_name < pass->names.sh_size ? pass->names.sh_size - symbol->st_name : 0;
    const size_t size = left < ELF_NAME_SIZE ? (size_t)left : ELF_NAME_SIZE;
    char name[ELF_NAME_SIZE];

    if (size == 0 || pass->names.sh_offset > UINT64_MAX - symbol->st_name ||
        !spend(pass, NAME_STEPS))
        return;
    if (!read_at(pass->file, pass->names.sh_offset + symbol->st_name, name, size))
        return;
    if (memchr(name, '\0', size) == NULL) {
        if (size < ELF_NAME_SIZE)
            return;
        name[ELF_NAME_SIZE - 1] = '\0';
    }
    if (name[0] == '\0')
        return;
    pass->found += wanted->name[0] == '\0';
    memcpy(wanted->name, name, strlen(name) + 1);
    wanted->start = symbol->st_value;
}

/* Of functions that contain one another, the innermost one counts. */
static void take(struct pass *pass, const Elf64_Sym *symbol)
{
    const unsigned type = ELF64_ST_TYPE(symbol->st_info);

    if (!spend(pass, 1))
        return;
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_size == 0)
        return;
    for (size_t i = first_from(pass, symbol->st_value);
         i < pass->count && pass->wanted[i].address - symbol->st_value < symbol->st_size; i++) {
        struct elf_wanted *wanted = &pass->wanted[i];

        if (!spend(pass, 1))
            return;
        if (wanted->name[0] == '\0' || wanted->start < symbol->st_value)
            copy_name(pass, wanted, symbol);
    }
}

static Elf64_Sym widened(const Elf32_Sym *symbol)
{
    return (Elf64_Sym){ .st_name = symbol->st_name,
                        .st_info = symbol->st_info,
                        .st_shndx = symbol->st_shndx,
                        .st_value = symbol->st_value,
                        .st_size = symbol->st_size };
}

static void take_all(struct pass *pass, const Elf64_Shdr *section)
{
    const size_t size = pass->file->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    static _Thread_local union {
        Elf64_Sym large[SYMBOLS_AT_ONCE];
        Elf32_Sym small[SYMBOLS_AT_ONCE];
    } symbols;

    for (uint64_t left = section->sh_size / size, at = section->sh_offset;
         left > 0 && *pass->steps > 0;) {
        const size_t count = left < SYMBOLS_AT_ONCE ? (size_t)left : SYMBOLS_AT_ONCE;

        if (!read_at(pass->file, at, &symbols, count * size))
            return;
        for (size_t i = 0; i < count; i++) {
            const Elf64_Sym symbol =
                pass->file->is_64 ? symbols.large[i] : widened(&symbols.small[i]);

            take(pass, &symbol);
        }
        left -= count;
        at += count * size;
    }
}

size_t elf_file_functions(const struct elf_file *file, struct elf_wanted *wanted, size_t count,
                          uint64_t *steps)
{
    static const uint32_t types[] = { SHT_SYMTAB, SHT_DYNSYM };
    struct pass pass = { .file = file, .wanted = wanted, .count = count, .steps = steps };

    for (size_t t = 0; t < sizeof types / sizeof types[0] && count > 0; t++) {
        for (uint32_t i = 0; i < file->section_count && i < SECTIONS_MAX; i++) {
            Elf64_Shdr section;

            if (!read_section(file, i, &section))
                break;
            if (section.sh_type == types[t] && read_section(file, section.sh_link, &pass.names))
                take_all(&pass, &section);
        }
        if (pass.found == count) /* The other table has a part of this one. */
            break;
    }
    return pass.found;
}
