/* Replaces elf_symbols.c in a build without libelf. */
#include "elf_symbols.h"

#include "counters/error.h"

int elf_symbols(int descriptor, const char *const *names, size_t count, uint64_t *values,
                struct elf_image *ret, struct camp_error *error)
{
    (void)descriptor;
    (void)names;
    (void)count;
    (void)values;
    (void)ret;
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "this camp was built without libelf, which finds a server's variables: "
                     "install libelf-dev, and build it again");
}
