/* Variables that an executable exports, by name: its bytes are foreign. */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_ELF_SYMBOLS_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_ELF_SYMBOLS_H

#include <camp/camp.h>

#include <stddef.h>

/* Addresses as they stand in the file; in a process that runs it all are moved by the same. */
struct elf_image {
    uint64_t entry;     /* where it begins to run */
    uint64_t low, high; /* all that is loaded of it: [low, high) */
};

/* values[i]: of names[count] the address, 0: no such variable. CAMP_E_FORMAT: no executable of this
 * machine's byte order; CAMP_E_NOTSUP: one whose addresses have another size than those of camp, or
 * camp was built without libelf. */
int elf_symbols(int descriptor, const char *const *names, size_t count, uint64_t *values,
                struct elf_image *ret, struct camp_error *error);

#endif
