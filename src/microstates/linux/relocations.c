#include "relocations.h"
#include "refusal.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#define NAMES_MAX 1024 /* a power of 2 */

/* A hash table, of which at most half is used. */
struct names {
    const char *slots[NAMES_MAX];
    unsigned count;
};

struct copy {
    const struct kernel_types *kernel;
    struct names members;  /* that the programs know */
    bool *is_needed;       /* by the number of the type */
    uint32_t end;          /* the highest number of a needed type, plus 1 */
    FILE *types, *strings; /* in memory */
};

/* Returns the slot of the name, or the empty slot where it belongs. */
static const char **slot_of(struct names *names, const char *name)
{
    uint32_t hash = 2166136261; /* FNV-1a */

    for (const char *at = name; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619;
    while (names->slots[hash % NAMES_MAX] != NULL &&
           strcmp(names->slots[hash % NAMES_MAX], name) != 0)
        hash++;
    return &names->slots[hash % NAMES_MAX];
}

/* Returns false if there are too many names. */
static bool add(struct names *names, const char *name)
{
    const char **slot = slot_of(names, name);

    names->count += *slot == NULL;
    *slot = name;
    return names->count <= NAMES_MAX / 2;
}

static bool is_structure(const struct btf_type *type)
{
    return btf_is_struct(type) || btf_is_union(type);
}

/* A variable cannot have another kind, such as a function or a section. Kinds that are newer than
 * camp are not copied either. */
static bool is_kind_copied(const struct btf_type *type)
{
    return is_structure(type) || btf_is_any_enum(type) || btf_is_typedef(type) ||
           btf_is_mod(type) || btf_is_int(type) || btf_is_float(type) || btf_is_ptr(type) ||
           btf_is_array(type) || btf_is_fwd(type);
}

/* Members without a name may contain members with names that the programs know. */
static bool is_member_needed(struct copy *copy, const struct btf_member *member)
{
    const char *name = camp_kernel_name(copy->kernel, member->name_off);

    return name[0] == '\0' || *slot_of(&copy->members, name) != NULL;
}

/* Notes that a type is needed, and the types of which it consists. What a pointer points to is read
 * by another relocation, which starts at its name. */
static void need(struct copy *copy, uint32_t id)
{
    const struct btf_type *type = camp_kernel_type(copy->kernel, id);

    if (id == 0 || id >= camp_kernel_type_count(copy->kernel) || copy->is_needed[id] ||
        !is_kind_copied(type))
        return;
    copy->is_needed[id] = true;
    if (copy->end <= id)
        copy->end = id + 1;
    if (btf_is_mod(type) || btf_is_typedef(type)) {
        need(copy, type->type);
    } else if (btf_is_array(type)) {
        need(copy, btf_array(type)->type);
    } else if (is_structure(type)) {
        for (unsigned i = 0; i < btf_vlen(type); i++) {
            if (is_member_needed(copy, &btf_members(type)[i]))
                need(copy, btf_members(type)[i].type);
        }
    }
}

static bool collect_members(struct copy *copy, const struct btf *object)
{
    bool fit = true;

    for (uint32_t i = 1; i < btf__type_cnt(object); i++) {
        const struct btf_type *type = btf__type_by_id(object, i);

        for (unsigned j = 0; is_structure(type) && j < btf_vlen(type) && fit; j++)
            fit = add(&copy->members, btf__name_by_offset(object, btf_members(type)[j].name_off));
    }
    return fit;
}

/* Finds the types with the names of the types that the programs define. */
static void find_needed(struct copy *copy, const struct btf *object)
{
    for (uint32_t i = 1; i < btf__type_cnt(object); i++) {
        const struct btf_type *type = btf__type_by_id(object, i);
        const char *name = btf__name_by_offset(object, type->name_off);
        uint32_t id = 0;

        if (name[0] == '\0' || !is_kind_copied(type))
            continue;
        while ((id = camp_kernel_type_next_flavor(copy->kernel, name, id)) != 0)
            need(copy, id);
    }
}

static void put(FILE *file, const void *bytes, size_t size)
{
    fwrite(bytes, size, 1, file); /* without memory, fclose() fails */
}

/* Returns the offset of the name in the copy. */
static uint32_t put_name(struct copy *copy, uint32_t name_off)
{
    const char *name = camp_kernel_name(copy->kernel, name_off);
    const long offset = ftell(copy->strings);

    if (name[0] == '\0')
        return 0;
    put(copy->strings, name, strlen(name) + 1);
    return (uint32_t)offset;
}

static uint32_t type_if_needed(const struct copy *copy, uint32_t id)
{
    return id < camp_kernel_type_count(copy->kernel) && copy->is_needed[id] ? id : 0;
}

static void put_structure(struct copy *copy, struct btf_type head, const struct btf_type *type)
{
    unsigned count = 0;

    for (unsigned i = 0; i < btf_vlen(type); i++)
        count += is_member_needed(copy, &btf_members(type)[i]);
    head.info = (type->info & ~(uint32_t)BTF_MAX_VLEN) | count;
    put(copy->types, &head, sizeof head);
    for (unsigned i = 0; i < btf_vlen(type); i++) {
        struct btf_member member = btf_members(type)[i];

        if (!is_member_needed(copy, &member))
            continue;
        member.name_off = put_name(copy, member.name_off);
        put(copy->types, &member, sizeof member);
    }
}

/* The values of struct btf_enum64 begin with their name, too. */
static void put_enum(struct copy *copy, struct btf_type head, const struct btf_type *type)
{
    const size_t size = btf_is_enum(type) ? sizeof(struct btf_enum) : sizeof(struct btf_enum64);
    const char *values = (const char *)(type + 1);

    put(copy->types, &head, sizeof head);
    for (unsigned i = 0; i < btf_vlen(type); i++) {
        struct btf_enum64 value;

        memcpy(&value, values + i * size, size);
        value.name_off = put_name(copy, value.name_off);
        put(copy->types, &value, size);
    }
}

static void put_type(struct copy *copy, uint32_t id)
{
    const struct btf_type *type = camp_kernel_type(copy->kernel, id);
    struct btf_type head = *type;

    head.name_off = put_name(copy, type->name_off);
    if (is_structure(type)) {
        put_structure(copy, head, type);
    } else if (btf_is_any_enum(type)) {
        put_enum(copy, head, type);
    } else if (btf_is_array(type)) {
        const struct btf_array array = { type_if_needed(copy, btf_array(type)->type), 0,
                                         btf_array(type)->nelems };

        put(copy->types, &head, sizeof head);
        put(copy->types, &array, sizeof array);
    } else if (btf_is_int(type)) {
        put(copy->types, &head, sizeof head);
        put(copy->types, type + 1, sizeof(uint32_t));
    } else {
        if (btf_is_ptr(type) || btf_is_mod(type) || btf_is_typedef(type))
            head.type = type_if_needed(copy, type->type);
        put(copy->types, &head, sizeof head);
    }
}

static void put_types(struct copy *copy)
{
    static const struct btf_type void_pointer = { .info = BTF_KIND_PTR << 24 };

    put(copy->strings, "", 1);
    for (uint32_t i = 1; i < copy->end; i++) {
        if (copy->is_needed[i])
            put_type(copy, i);
        else
            put(copy->types, &void_pointer, sizeof void_pointer);
    }
}

struct part {
    char *bytes; /* [size], owned */
    size_t size;
};

static bool write_parts(int file, struct part types, struct part strings)
{
    struct btf_header header = { .magic = BTF_MAGIC,
                                 .version = BTF_VERSION,
                                 .hdr_len = CAMP_BTF_HEADER_SIZE,
                                 .type_len = (uint32_t)types.size,
                                 .str_off = (uint32_t)types.size,
                                 .str_len = (uint32_t)strings.size };
    const struct iovec parts[] = { { &header, CAMP_BTF_HEADER_SIZE },
                                   { types.bytes, types.size },
                                   { strings.bytes, strings.size } };

    return writev(file, parts, sizeof parts / sizeof parts[0]) ==
           (ssize_t)(CAMP_BTF_HEADER_SIZE + types.size + strings.size);
}

/* Writes the needed types. Returns false if that fails. */
static bool write_needed(struct copy *copy, int file)
{
    struct part types = { 0 }, strings = { 0 };
    bool done;

    copy->types = open_memstream(&types.bytes, &types.size);
    copy->strings = open_memstream(&strings.bytes, &strings.size);
    done = copy->types != NULL && copy->strings != NULL;
    if (done)
        put_types(copy);
    if (copy->types != NULL)
        done &= fclose(copy->types) == 0;
    if (copy->strings != NULL)
        done &= fclose(copy->strings) == 0;
    done = done && write_parts(file, types, strings);
    free(types.bytes);
    free(strings.bytes);
    return done;
}

bool camp_relocations_write(int file, const struct kernel_types *kernel, const struct btf *object)
{
    struct copy *copy = calloc(1, sizeof *copy);
    bool done;

    if (copy == NULL)
        return false;
    copy->kernel = kernel;
    copy->end = 1;
    copy->is_needed = calloc(camp_kernel_type_count(kernel), sizeof *copy->is_needed);
    done = copy->is_needed != NULL && collect_members(copy, object);
    if (done) {
        find_needed(copy, object);
        done = write_needed(copy, file);
    }
    free(copy->is_needed);
    free(copy);
    return done;
}

/* Returns whether this process can open the path. */
static bool can_open(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file >= 0)
        close(file);
    return file >= 0;
}

/* A process with a limit may get SIGXFSZ, which would end it. */
static bool may_write(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

void camp_relocations_open(struct relocations *types, struct bpf_object_open_opts *options)
{
    *types = (struct relocations){ .file = -1 };
    if (may_write())
        types->file = memfd_create("camp-types", MFD_CLOEXEC);
    if (types->file < 0)
        return;
    snprintf(types->path, sizeof types->path, "/proc/self/fd/%d", types->file);
    if (can_open(types->path))
        options->btf_custom_path = types->path;
    else
        camp_relocations_close(types);
}

/* Makes the descriptor, whose path libbpf already has, that of the kernel's own BTF. */
static void use_all_types(int file)
{
    const int all = open(CAMP_BTF_PATH, O_RDONLY | O_CLOEXEC);

    if (all < 0)
        return; /* then loading fails, and reports why */
    dup3(all, file, O_CLOEXEC);
    close(all);
}

void camp_relocations_fill(const struct relocations *types, const struct kernel_types *kernel,
                           const struct btf *object)
{
    if (types->file >= 0 && !camp_relocations_write(types->file, kernel, object))
        use_all_types(types->file);
}

void camp_relocations_close(struct relocations *types)
{
    if (types->file >= 0)
        close(types->file);
    types->file = -1;
}
