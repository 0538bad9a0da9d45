/* Finds exported variables of an executable by name. The file is untrusted. */
#pragma once

#include <camp/camp.h>

#include <stddef.h>

/* The entry point and the address range of an executable, as in its file. In a running process, all
 * addresses are higher by the same offset. */
struct elf_image {
    uint64_t entry;
    uint64_t low, high;
};

/* Sets values[i] to the address of the variable names[i], or to 0 if there is no such variable.
 * CAMP_E_FORMAT if the file is no executable of this machine's byte order. CAMP_E_NOTSUP if its
 * addresses have another size than camp's, or if camp was built without libelf. */
int elf_symbols(int descriptor, const char *const *names, size_t count, uint64_t *values,
                struct elf_image *ret, struct camp_error *error);
