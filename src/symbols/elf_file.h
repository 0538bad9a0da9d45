/*
 * The functions of an ELF file: executables, libraries, and their debugging files.
 *
 * The file is hostile: any process can map any file. Each offset and size is checked against the
 * size of the file, and nothing is kept in memory but what was asked for. A file is read in one
 * pass for many addresses, because a large one has some 100,000 functions. What a pass may cost has
 * a limit in steps.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_NAME_SIZE 256 /* longer names are cut */
#define ELF_BUILD_ID_MOST 64
#define ELF_LOADS_MOST 64 /* linkers make fewer than ten */
/* Steps that a file and its debugging file may cost, at most some 0.6 s. A symbol is a step, and so
 * is an address that it contains; a read of a name is 1,000, because it is a system call. */
#define ELF_STEPS UINT64_C(50000000)

/* A part of the file that is loaded. */
struct elf_load {
    uint64_t offset, size, address;
};

/* An open file. `descriptor` is the caller's. */
struct elf_file {
    int descriptor;
    bool is_64;
    uint64_t size;
    uint64_t sections_at, segments_at;
    uint32_t section_count, segment_count, load_count;
    struct elf_load loads[ELF_LOADS_MOST];
};

/* An address, as in the file, and the function that contains it. */
struct elf_wanted {
    uint64_t address;
    uint64_t start;           /* of the function, if it was found */
    char name[ELF_NAME_SIZE]; /* "" if no function was found; any bytes */
};

/* Reads the header of a file and what is loaded of it. Returns false if it is no ELF file of this
 * machine's byte order, or cannot be read. */
bool elf_file_read(struct elf_file *ret, int descriptor);

/* Sets *ret to the address, as in the file, of what is at an offset of the file. Returns false if
 * no part of the file is loaded from there. */
bool elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *ret);

/* Copies the build id, which the linker gives to each different file. Returns its length, or 0 if
 * there is none among the first 10,000 notes. */
size_t elf_file_build_id(const struct elf_file *file, uint8_t ret[ELF_BUILD_ID_MOST]);

/* Finds the functions that contain wanted[count], which are ascending by address. Those with a name
 * are left alone. Functions without a size are left out. Subtracts what the search costs from
 * *steps, and ends when none are left. Returns how many names are new. */
size_t elf_file_functions(const struct elf_file *file, struct elf_wanted *wanted, size_t count,
                          uint64_t *steps);
