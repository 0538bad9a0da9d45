/*
 * Names for the addresses of stacks.
 *
 * All addresses of a reading are added first, and then named together, so that each file is read
 * once. What was found is kept. The mappings of a process are read at the first of its addresses in
 * a reading: of a process that has exited by then there are no names, unless it is watched.
 *
 * A frame is "main" if a function contains the address, "libpq.so.5.15+0x1a2b0" (the address in the
 * file) if none does, "[vdso]" and the like for mappings without a file, and "[unknown]" for an
 * address in no mapping. Frames of the kernel end with "_[k]", and are "[kernel]_[k]" if the kernel
 * hides its addresses. Names of C++ are as in the file, mangled. Names may have any bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;

/* Where symbols are read: NULL of each is the usual place. */
struct symbols_places {
    const char *proc;      /* /proc */
    const char *kallsyms;  /* /proc/kallsyms */
    const char *debugging; /* /usr/lib/debug/.build-id */
};

/* Returns NULL if there is no memory. The texts of `places` must live as long as the result. */
struct symbols *symbols_make(const struct symbols_places *places);
void symbols_release(struct symbols *symbols);

/* Reads the mappings of a process now, and keeps them beyond its exit. Does nothing if they cannot
 * be read. */
void symbols_watch(struct symbols *symbols, int32_t pid);

/* Starts a reading: frames of earlier readings are no longer valid. */
void symbols_start(struct symbols *symbols);

/* Sets *ret to the frame of an address of a process, or of the kernel if `pid` is 0. `is_return` is
 * whether the address is that of the instruction after a call. Returns false if there is no
 * memory. */
bool symbols_add(struct symbols *symbols, int32_t pid, uint64_t address, bool is_return,
                 uint32_t *ret);

/* Finds the names of all frames that were added. Returns false if there is no memory. */
bool symbols_find(struct symbols *symbols);

/* Returns the name of a frame after symbols_find(). It is valid until the next symbols_start(). */
const char *symbols_name(const struct symbols *symbols, uint32_t frame);

/* Returns whether the kernel has hidden its addresses from this process. */
bool symbols_hides_kernel(const struct symbols *symbols);
