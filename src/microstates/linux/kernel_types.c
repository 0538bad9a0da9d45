#include "kernel_types.h"
#include "counters/error.h"
#include "refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADS 65536 /* a power of 2 */

struct kernel_types {
    const char *types, *strings;
    uint32_t *offsets; /* of each type in `types`, by its number; that of void is unused */
    uint32_t count;
    /* For each hash of a name, the number of the last type with it; for each type, the type before
     * it with the same hash. */
    uint32_t heads[HEADS], *before;
    uint32_t string_bytes;
    void *mapped; /* [mapped_bytes], or NULL if the types are not ours */
    size_t mapped_bytes;
    struct btf *btf; /* read by libbpf, or NULL */
};

/* Returns the length of a name without its flavor, the suffix ___NAME. */
static size_t essential_length(const char *name)
{
    const size_t length = strlen(name);

    for (size_t i = length; i >= 5; i--) {
        const char *at = name + i - 5;

        if (at[0] != '_' && strncmp(at + 1, "___", 3) == 0 && at[4] != '_')
            return i - 4;
    }
    return length;
}

/* Hashes the length of a name, and its first and last 8 characters: 100,000 names are hashed. */
static uint32_t hash_of(const char *name, size_t length)
{
    uint64_t first = 0, last = 0;

    if (length >= sizeof first) {
        memcpy(&first, name, sizeof first);
        memcpy(&last, name + length - sizeof last, sizeof last);
    } else {
        for (size_t i = 0; i < length; i++)
            first = first << 8 | (unsigned char)name[i];
    }
    first = (first + length) * 0x9e3779b97f4a7c15 + last;
    return (uint32_t)(first * 0x9e3779b97f4a7c15 >> 48) % HEADS;
}

/* Functions have no flavor. */
static uint32_t hash_for(const char *name, unsigned kind)
{
    return hash_of(name, kind == BTF_KIND_FUNC ? strlen(name) : essential_length(name));
}

/* Returns false if the offset of the name is out of range. */
static bool add(struct kernel_types *types, uint32_t offset)
{
    const uint32_t id = types->count++;
    const struct btf_type *type = (const struct btf_type *)(types->types + offset);
    uint32_t *head;

    types->offsets[id] = offset;
    if (type->name_off == 0)
        return true;
    if (type->name_off >= types->string_bytes)
        return false;
    head = &types->heads[hash_for(types->strings + type->name_off, btf_kind(type))];
    types->before[id] = *head;
    *head = id;
    return true;
}

/* Returns the number of bytes of a type, or 0 if its kind is unknown. */
static size_t size_of(const struct btf_type *type)
{
    const size_t count = btf_vlen(type);

    switch (btf_kind(type)) {
    case BTF_KIND_FWD:
    case BTF_KIND_CONST:
    case BTF_KIND_VOLATILE:
    case BTF_KIND_RESTRICT:
    case BTF_KIND_PTR:
    case BTF_KIND_TYPEDEF:
    case BTF_KIND_FUNC:
    case BTF_KIND_FLOAT:
    case BTF_KIND_TYPE_TAG:
        return sizeof *type;
    case BTF_KIND_INT:
        return sizeof *type + sizeof(uint32_t);
    case BTF_KIND_ENUM:
        return sizeof *type + count * sizeof(struct btf_enum);
    case BTF_KIND_ENUM64:
        return sizeof *type + count * sizeof(struct btf_enum64);
    case BTF_KIND_ARRAY:
        return sizeof *type + sizeof(struct btf_array);
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
        return sizeof *type + count * sizeof(struct btf_member);
    case BTF_KIND_FUNC_PROTO:
        return sizeof *type + count * sizeof(struct btf_param);
    case BTF_KIND_VAR:
        return sizeof *type + sizeof(struct btf_var);
    case BTF_KIND_DATASEC:
        return sizeof *type + count * sizeof(struct btf_var_secinfo);
    case BTF_KIND_DECL_TAG:
        return sizeof *type + sizeof(struct btf_decl_tag);
    default:
        return 0;
    }
}

static struct kernel_types *allocate(size_t count)
{
    struct kernel_types *types = calloc(1, sizeof *types);

    if (types == NULL)
        return NULL;
    types->offsets = calloc(count, sizeof *types->offsets);
    types->before = calloc(count, sizeof *types->before);
    if (types->offsets == NULL || types->before == NULL) {
        camp_kernel_types_close(types);
        return NULL;
    }
    types->count = 1;
    return types;
}

static bool is_btf(const struct btf_header *header, size_t size)
{
    return size >= CAMP_BTF_HEADER_SIZE && header->magic == BTF_MAGIC &&
           header->version == BTF_VERSION && header->hdr_len >= CAMP_BTF_HEADER_SIZE &&
           (uint64_t)header->hdr_len + header->type_off + header->type_len <= size &&
           (uint64_t)header->hdr_len + header->str_off + header->str_len <= size &&
           header->str_len > 0 &&
           ((const char *)header)[header->hdr_len + header->str_off + header->str_len - 1] == '\0';
}

struct kernel_types *camp_kernel_types_of(const void *bytes, size_t size)
{
    const struct btf_header *header = bytes;
    struct kernel_types *types;
    size_t length;

    if (!is_btf(header, size))
        return NULL;
    types = allocate(1 + header->type_len / sizeof(struct btf_type));
    if (types == NULL)
        return NULL;
    types->types = (const char *)bytes + header->hdr_len + header->type_off;
    types->strings = (const char *)bytes + header->hdr_len + header->str_off;
    types->string_bytes = header->str_len;
    for (uint32_t at = 0; at < header->type_len; at += (uint32_t)length) {
        const size_t rest = header->type_len - at;

        length = rest >= sizeof(struct btf_type)
                     ? size_of((const struct btf_type *)(types->types + at))
                     : 0;
        if (length == 0 || length > rest || !add(types, at)) {
            camp_kernel_types_close(types);
            return NULL;
        }
    }
    return types;
}

struct kernel_types *camp_kernel_types_of_btf(const struct btf *btf)
{
    const uint32_t count = btf__type_cnt(btf);
    struct kernel_types *types = allocate(count);

    if (types == NULL)
        return NULL;
    types->types = (const char *)btf__type_by_id(btf, 1);
    types->strings = btf__str_by_offset(btf, 0);
    types->string_bytes = UINT32_MAX; /* libbpf has checked the names */
    for (uint32_t i = 1; i < count; i++)
        add(types, (uint32_t)((const char *)btf__type_by_id(btf, i) - types->types));
    return types;
}

static bool read_all(int file, char *bytes, size_t size)
{
    size_t done = 0;
    ssize_t count;

    do {
        count = read(file, bytes + done, size - done);
        if (count > 0)
            done += (size_t)count;
    } while ((count > 0 && done < size) || (count < 0 && errno == EINTR));
    return done == size;
}

/* Maps the file, or a copy of it. Returns NULL if it cannot be read. */
static void *map_file(const char *path, size_t *ret_size)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *bytes = MAP_FAILED;

    if (file < 0)
        return NULL;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
        *ret_size = (size_t)status.st_size;
        bytes = mmap(NULL, *ret_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes == MAP_FAILED) {
            bytes = mmap(NULL, *ret_size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
            if (bytes != MAP_FAILED && !read_all(file, bytes, *ret_size)) {
                munmap(bytes, *ret_size);
                bytes = MAP_FAILED;
            }
        }
    }
    close(file);
    return bytes == MAP_FAILED ? NULL : bytes;
}

static struct kernel_types *map_types(void)
{
    size_t size = 0;
    void *bytes = map_file(CAMP_BTF_PATH, &size);
    struct kernel_types *types = bytes != NULL ? camp_kernel_types_of(bytes, size) : NULL;

    if (types != NULL) {
        types->mapped = bytes;
        types->mapped_bytes = size;
    } else if (bytes != NULL) {
        munmap(bytes, size);
    }
    return types;
}

int camp_kernel_types_open(struct kernel_types **ret, struct camp_error *error)
{
    struct btf *btf;

    *ret = map_types();
    if (*ret != NULL)
        return CAMP_OK;
    /* A newer libbpf may know more kinds of types. It also reports why there are no types. */
    btf = btf__load_vmlinux_btf();
    if (btf == NULL)
        return camp_refused_btf(errno, error);
    *ret = camp_kernel_types_of_btf(btf);
    if (*ret == NULL) {
        btf__free(btf);
        return camp_fail(error, CAMP_E_NOMEM, ENOMEM, "no memory for the types of the kernel");
    }
    (*ret)->btf = btf;
    return CAMP_OK;
}

void camp_kernel_types_close(struct kernel_types *types)
{
    if (types == NULL)
        return;
    if (types->mapped != NULL)
        munmap(types->mapped, types->mapped_bytes);
    btf__free(types->btf);
    free(types->offsets);
    free(types->before);
    free(types);
}

uint32_t camp_kernel_type_count(const struct kernel_types *types)
{
    return types->count;
}

const struct btf_type *camp_kernel_type(const struct kernel_types *types, uint32_t id)
{
    static const struct btf_type no_type; /* void */

    return id != 0 && id < types->count
               ? (const struct btf_type *)(types->types + types->offsets[id])
               : &no_type;
}

const char *camp_kernel_name(const struct kernel_types *types, uint32_t name_off)
{
    return name_off < types->string_bytes ? types->strings + name_off : "";
}

static const char *name_of(const struct kernel_types *types, uint32_t id)
{
    return types->strings + camp_kernel_type(types, id)->name_off;
}

uint32_t camp_kernel_type_find(const struct kernel_types *types, const char *name, unsigned kind)
{
    for (uint32_t id = types->heads[hash_for(name, kind)]; id != 0; id = types->before[id]) {
        if (btf_kind(camp_kernel_type(types, id)) == kind && strcmp(name_of(types, id), name) == 0)
            return id;
    }
    return 0;
}

uint32_t camp_kernel_type_next_flavor(const struct kernel_types *types, const char *name,
                                      uint32_t before)
{
    const size_t length = essential_length(name);
    uint32_t id = before == 0 ? types->heads[hash_of(name, length)] : types->before[before];

    while (id != 0 && (essential_length(name_of(types, id)) != length ||
                       strncmp(name_of(types, id), name, length) != 0))
        id = types->before[id];
    return id;
}
