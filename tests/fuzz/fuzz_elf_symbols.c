/* Parser: src/sources/sessions/postgres/server/elf_symbols.c */
/*
 * Parses any bytes as an executable. Any user can start a program that looks like a server, so its
 * file is not trusted.
 *
 * The first input, tests/fixtures/elf/two_variables, was built by gcc -fPIE -pie -nostdlib -s
 * -Wl,-E,-z,noseparate-code from `void *MyBEEntry; unsigned place, *my_wait_event_info = &place;
 * int _start(void) { return 0; }`.
 */
#include "sources/sessions/postgres/server/elf_symbols.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = { "my_wait_event_info", "MyBEEntry" };
    static int descriptor = -1;
    struct elf_image image;
    uint64_t values[2];

    if (descriptor < 0)
        descriptor = memfd_create("executable", MFD_CLOEXEC);
    if (descriptor < 0 || ftruncate(descriptor, (off_t)size) < 0 ||
        pwrite(descriptor, data, size, 0) != (ssize_t)size)
        abort();
    if (elf_symbols(descriptor, names, 2, values, &image, NULL) == CAMP_OK &&
        image.low >= image.high)
        abort();
    return 0;
}
