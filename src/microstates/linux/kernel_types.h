/*
 * The kernel's types (BTF), by number and by name.
 *
 * A kernel has 130,000 types in 5.5 MB. libbpf copies them twice and searches them for each name:
 * 16 ms. Here they are mapped, which Linux can since 6.16, or read once, and their names are
 * hashed.
 */
#pragma once

#include <camp/camp.h>

#include <bpf/btf.h>
#include <stddef.h>
#include <stdint.h>

/* The first version of struct btf_header. Newer headers have more members. */
#define CAMP_BTF_HEADER_SIZE (offsetof(struct btf_header, str_len) + sizeof(uint32_t))

struct kernel_types;

/* Reads the types of the running kernel, which the caller frees by camp_kernel_types_close().
 * Returns CAMP_E_NOTSUP if the kernel has no BTF or /sys is not mounted, CAMP_E_PERM if it is not
 * readable, or CAMP_E_NOMEM. */
int camp_kernel_types_open(struct kernel_types **ret, struct camp_error *error);

/* Does the same with types in memory, or with types that libbpf has read. Both must exist until the
 * result is closed. Returns NULL if there is no memory, or if the bytes are not BTF, or contain an
 * unknown kind of type. */
struct kernel_types *camp_kernel_types_of(const void *bytes, size_t size);
struct kernel_types *camp_kernel_types_of_btf(const struct btf *btf);

void camp_kernel_types_close(struct kernel_types *types);

/* Returns the highest number of a type, plus 1. The number 0 is void. */
uint32_t camp_kernel_type_count(const struct kernel_types *types);

/* Returns the type with a number below the count. */
const struct btf_type *camp_kernel_type(const struct kernel_types *types, uint32_t id);

const char *camp_kernel_name(const struct kernel_types *types, uint32_t name_off);

/* Returns the number of the type with this name and kind, or 0. */
uint32_t camp_kernel_type_find(const struct kernel_types *types, const char *name, unsigned kind);

/* Returns the next type after `before` with the same name, ignoring flavors (the suffix ___NAME).
 * `before` is 0 for the first one. Returns 0 after the last one. */
uint32_t camp_kernel_type_next_flavor(const struct kernel_types *types, const char *name,
                                      uint32_t before);
