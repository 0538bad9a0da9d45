/* The functions of the kernel, as /proc/kallsyms has them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_symbol {
    uint64_t start;
    uint32_t name; /* offset in `names` */
};

/* An all-zero struct is empty. */
struct kernel_symbols {
    struct kernel_symbol *items; /* [count], ascending by start */
    size_t count, capacity;
    char *names; /* [names_size] */
    size_t names_size, names_capacity;
    /* The kernel hides all addresses from this process: it shows them with CAP_SYSLOG, unless
     * kernel.kptr_restrict is 2, and without if that and kernel.perf_event_paranoid permit it. */
    bool is_hidden;
};

/* Reads a file such as /proc/kallsyms: some 6 MB of memory. Returns false if it cannot be read, or
 * if there is no memory; *ret is then empty. */
bool kernel_symbols_read(struct kernel_symbols *ret, const char *path);

/* Returns the name of the function that contains an address, or NULL. */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address);

void kernel_symbols_release(struct kernel_symbols *symbols);
