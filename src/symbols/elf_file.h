/*
 * The functions of an ELF file: executables, libraries, and their debugging files.
 *
 * The file is hostile: any process can map any file. Each offset and size is checked against the
 * size of the file, and nothing is kept in memory but what was asked for. A file is read in one
 * pass for many addresses, because a large one has some 100,000 functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_NAME_SIZE 256 /* longer names are cut */
#define ELF_BUILD_ID_MOST 64

/* An open file. `descriptor` is the caller's. */
struct elf_file {
    int descriptor;
    bool is_64;
    uint64_t size;
    uint64_t sections_at, segments_at;
    uint32_t section_count, segment_count;
};

/* An address, as in the file, and the function that contains it. */
struct elf_wanted {
    uint64_t address;
    uint64_t start;           /* of the function, if it was found */
    char name[ELF_NAME_SIZE]; /* "" if no function was found; any bytes */
};

/* Reads the header of a file. Returns false if it is no ELF file of this machine's byte order, or
 * cannot be read. */
bool elf_file_read(struct elf_file *ret, int descriptor);

/* Sets *ret to the address, as in the file, of what is at an offset of the file. Returns false if
 * no part of the file is loaded from there. */
bool elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *ret);

/* Copies the build id, which the linker gives to each different file. Returns its length, or 0 if
 * there is none. */
size_t elf_file_build_id(const struct elf_file *file, uint8_t ret[ELF_BUILD_ID_MOST]);

/* Finds the functions that contain wanted[count], which are ascending by address. Those with a name
 * are left alone. Functions without a size are left out. Returns how many names are new. */
size_t elf_file_functions(const struct elf_file *file, struct elf_wanted *wanted, size_t count);
