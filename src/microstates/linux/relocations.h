/*
 * The types of the kernel from which libbpf relocates the programs (CO-RE).
 *
 * For each structure that the programs read, libbpf compares its name with the names of all types
 * of the kernel: 130,000 names for each of 25 structures, which was 45 ms. So it gets a copy of the
 * kernel's BTF that has only the types of these names, and of these only the members that the
 * programs know. Each type keeps its number, because programs pass numbers to the kernel
 * (bpf_core_type_id_kernel()). The other types are replaced by void pointers.
 *
 * libbpf looks for types in the kernel's modules only without such a copy. The programs read no
 * type of a module. Relocations that compare whole types (bpf_core_type_matches()) do not work.
 */
#pragma once

#include "kernel_types.h"

#include <bpf/libbpf.h>
#include <stdbool.h>

struct relocations {
    int file; /* in memory, without a name; -1 if libbpf is to use the kernel's own BTF */
    char path[40];
};

/* Creates an empty file for the types, and sets its path in *options, with which the caller opens
 * the programs. If that is impossible, or the size of files is limited, sets no path, and libbpf
 * uses the kernel's own BTF. */
void camp_relocations_open(struct relocations *types, struct bpf_object_open_opts *options);

/* Writes the types that programs with the BTF `object` need. If that fails, the path becomes that
 * of the kernel's own BTF. The caller loads the programs afterwards. */
void camp_relocations_fill(const struct relocations *types, const struct kernel_types *kernel,
                           const struct btf *object);

/* Writes the types that the programs need to a file. Returns false if there is no memory or space,
 * or if the programs have too many names. */
bool camp_relocations_write(int file, const struct kernel_types *kernel, const struct btf *object);

/* Closes the file. The caller does this after loading, whether or not it succeeded. */
void camp_relocations_close(struct relocations *types);
