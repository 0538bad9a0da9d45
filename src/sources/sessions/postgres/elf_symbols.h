/* Finds exported variables of an executable by name. The file is untrusted. */
#pragma once

#include <camp/camp.h>

#include <stddef.h>

/* Addresses as in the file; a process adds one offset to all of them. */
struct elf_image {
    uint64_t entry;     /* entry point */
    uint64_t low, high; /* the loaded range: [low, high) */
};

/* Sets values[i] to the address of names[i]; 0: there is no such variable. CAMP_E_FORMAT: it is no
 * executable of this machine's byte order; CAMP_E_NOTSUP: its addresses have another size than
 * camp's, or camp was built without libelf. */
int elf_symbols(int descriptor, const char *const *names, size_t count, uint64_t *values,
                struct elf_image *ret, struct camp_error *error);
