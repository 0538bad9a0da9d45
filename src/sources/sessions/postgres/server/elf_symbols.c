/*
 * Reads the section .dynsym with libelf. A server exports in this section the variables that its
 * extensions use, and strip(1) keeps the section.
 */
#include "elf_symbols.h"

#include "counters/error.h"

#include <gelf.h>
#include <stdbool.h>
#include <string.h>

#define SYMBOLS_MAX 1000000 /* limit for broken files; a server has some 10,000 symbols */
#define OWN_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

static bool is_readable(const GElf_Ehdr *header)
{
    const unsigned char order =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

    return header->e_ident[EI_DATA] == order &&
           (header->e_type == ET_EXEC || header->e_type == ET_DYN);
}

static bool find_image(Elf *elf, struct elf_image *image)
{
    size_t count = 0;

    image->low = UINT64_MAX;
    image->high = 0;
    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count && i < PN_XNUM; i++) {
        GElf_Phdr part;

        if (gelf_getphdr(elf, (int)i, &part) == NULL || part.p_type != PT_LOAD ||
            part.p_memsz > UINT64_MAX - part.p_vaddr)
            continue;
        if (part.p_vaddr < image->low)
            image->low = part.p_vaddr;
        if (part.p_vaddr + part.p_memsz > image->high)
            image->high = part.p_vaddr + part.p_memsz;
    }
    return image->low < image->high;
}

static void read_section(Elf *elf, Elf_Scn *section, const char *const *names, size_t count,
                         uint64_t *values)
{
    GElf_Shdr header;
    Elf_Data *data;

    if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_DYNSYM)
        return;
    data = elf_getdata(section, NULL);
    for (int i = 0; data != NULL && i < SYMBOLS_MAX; i++) {
        const char *name;
        GElf_Sym symbol;

        if (gelf_getsym(data, i, &symbol) == NULL)
            break;
        name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (name == NULL || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT ||
            symbol.st_shndx == SHN_UNDEF)
            continue;
        for (size_t j = 0; j < count; j++)
            values[j] = strcmp(name, names[j]) == 0 ? symbol.st_value : values[j];
    }
}

static int read_elf(Elf *elf, const char *const *names, size_t count, uint64_t *values,
                    struct elf_image *ret, struct camp_error *error)
{
    struct elf_image image;
    GElf_Ehdr header;

    if (elf == NULL || elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == NULL ||
        !is_readable(&header))
        return camp_fail(error, CAMP_E_FORMAT, 0, "no executable of this machine");
    if (header.e_ident[EI_CLASS] != OWN_CLASS)
        return camp_fail(
            error, CAMP_E_NOTSUP, 0,
            "the executable is a %d-bit program, whose memory a %d-bit camp cannot read",
            32 * header.e_ident[EI_CLASS], 32 * OWN_CLASS);
    if (!find_image(elf, &image))
        return camp_fail(error, CAMP_E_FORMAT, 0, "an executable without contents");
    image.entry = header.e_entry;
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section != NULL;
         section = elf_nextscn(elf, section))
        read_section(elf, section, names, count, values);
    *ret = image;
    return CAMP_OK;
}

int elf_symbols(int descriptor, const char *const *names, size_t count, uint64_t *values,
                struct elf_image *ret, struct camp_error *error)
{
    Elf *elf;
    int r;

    if (elf_version(EV_CURRENT) == EV_NONE)
        return camp_fail(error, CAMP_E_NOTSUP, 0, "libelf here is too old");
    memset(values, 0, count * sizeof *values);
    elf = elf_begin(descriptor, ELF_C_READ, NULL);
    r = read_elf(elf, names, count, values, ret, error);
    elf_end(elf);
    return r;
}
