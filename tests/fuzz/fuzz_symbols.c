/* Parser: src/symbols/elf_file.c */
/* Parser: src/symbols/process_maps.c */
/* Parser: src/symbols/kernel_symbols.c */
/*
 * Parses any bytes as an ELF file, as the mappings of a process, or as the kernel's list of
 * functions; the first byte says which. Any process can map any file, under any name.
 */
#include "symbols/elf_file.h"
#include "symbols/kernel_symbols.h"
#include "symbols/process_maps.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WANTED 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file_of(const uint8_t *data, size_t size)
{
    static int descriptor = -1;

    if (descriptor < 0)
        descriptor = memfd_create("file", MFD_CLOEXEC);
    if (descriptor < 0 || ftruncate(descriptor, (off_t)size) < 0 ||
        pwrite(descriptor, data, size, 0) != (ssize_t)size)
        abort();
    return descriptor;
}

/* The first bytes of an ELF file, which random bytes seldom have. */
static void parse_elf(const uint8_t *data, size_t size, bool is_64)
{
    static const uint8_t magic[] = { 0x7f, 'E', 'L', 'F' };
    struct elf_wanted wanted[WANTED] = { 0 };
    uint8_t id[ELF_BUILD_ID_MOST], *bytes = malloc(size + 1);
    struct elf_file file;
    uint64_t address, steps = ELF_STEPS;
    size_t found = 0;

    if (bytes == NULL)
        abort();
    if (size > 0)
        memcpy(bytes, data, size);
    if (size > EI_DATA) {
        memcpy(bytes, magic, sizeof magic);
        bytes[EI_CLASS] = is_64 ? ELFCLASS64 : ELFCLASS32;
        bytes[EI_DATA] = ELFDATA2LSB;
    }
    for (uint64_t i = 0; i < WANTED; i++)
        wanted[i].address = i * i * 16;
    if (elf_file_read(&file, file_of(bytes, size))) {
        if (elf_file_build_id(&file, id) > sizeof id)
            abort();
        (void)elf_file_address(&file, 0x10, &address);
        found = elf_file_functions(&file, wanted, WANTED, &steps);
    }
    for (size_t i = 0; i < WANTED; i++) {
        if (memchr(wanted[i].name, '\0', sizeof wanted[i].name) == NULL ||
            (wanted[i].name[0] != '\0' && found-- == 0) ||
            (wanted[i].name[0] != '\0' && wanted[i].start > wanted[i].address))
            abort();
    }
    if (found != 0)
        abort();
    free(bytes);
}

static void parse_maps(const uint8_t *data, size_t size)
{
    struct process_maps maps = { .text = malloc(size + 1) };

    if (maps.text == NULL)
        abort();
    if (size > 0)
        memcpy(maps.text, data, size);
    if (!process_maps_parse(&maps, maps.text, size))
        abort();
    for (size_t i = 0; i < maps.count; i++) {
        const struct mapping *mapping = &maps.items[i];

        if (mapping->start >= mapping->end || mapping->path < maps.text ||
            mapping->path + strlen(mapping->path) > maps.text + size ||
            process_maps_find(&maps, mapping->start) != mapping ||
            process_maps_find(&maps, mapping->end - 1) != mapping)
            abort();
    }
    process_maps_release(&maps);
}

static void parse_kernel(const uint8_t *data, size_t size)
{
    struct kernel_symbols symbols;
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", file_of(data, size));
    if (!kernel_symbols_read(&symbols, path))
        abort();
    for (size_t i = 0; i < symbols.count; i++) {
        if (kernel_symbols_find(&symbols, symbols.items[i].start) == NULL)
            abort();
    }
    kernel_symbols_release(&symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t kind = size > 0 ? data[0] % 4 : 0;

    if (size == 0)
        return 0;
    if (kind < 2)
        parse_elf(data + 1, size - 1, kind == 0);
    else if (kind == 2)
        parse_maps(data + 1, size - 1);
    else
        parse_kernel(data + 1, size - 1);
    return 0;
}
