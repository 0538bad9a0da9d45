#include "symbols.h"

#include "elf_file.h"
#include "kernel_symbols.h"
#include "ledger/array.h"
#include "ledger/index.h"
#include "ledger/words.h"
#include "mapped_file.h"
#include "process_maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_MAX 100000u /* then all are forgotten: some 10 MB with their names */
#define FILES_MAX 10000u
#define PROCESSES_MAX 1000u
#define NAME_SIZE (ELF_NAME_SIZE + 32)
#define KERNEL UINT32_MAX /* the file of the kernel's frames */
#define DELETED " (deleted)"

/* A mapped file, or what else is mapped, by which frames are the same in several processes. */
struct symbol_file {
    uint64_t inode;
    uint32_t device_major, device_minor;
    char *path;  /* owned */
    int32_t pid; /* a process that has mapped it */
    struct mapping mapping;
    uint32_t unnamed; /* number of its frames without a name */
};

struct frame {
    uint64_t address; /* offset in the file, or address of the kernel */
    uint32_t file;    /* index, or KERNEL */
    char *name;       /* owned; NULL: not found yet */
};

struct mapped_process {
    int32_t pid;
    bool is_watched, is_read; /* is_read: in this reading */
    struct process_maps maps;
};

struct symbols {
    struct symbols_places places;
    struct kernel_symbols kernel;
    bool has_kernel;
    struct frame *frames; /* [frame_count] */
    size_t frame_count, frame_capacity;
    struct index frame_index;
    struct symbol_file *files; /* [file_count] */
    size_t file_count, file_capacity;
    struct mapped_process *processes; /* [process_count] */
    size_t process_count, process_capacity;
    struct elf_wanted *wanted; /* of one file */
    size_t wanted_capacity;
};

struct symbols *symbols_make(const struct symbols_places *places)
{
    struct symbols *symbols = calloc(1, sizeof *symbols);

    if (symbols == NULL)
        return NULL;
    if (places != NULL)
        symbols->places = *places;
    if (symbols->places.proc == NULL)
        symbols->places.proc = "/proc";
    if (symbols->places.kallsyms == NULL)
        symbols->places.kallsyms = "/proc/kallsyms";
    if (symbols->places.debugging == NULL)
        symbols->places.debugging = "/usr/lib/debug/.build-id";
    return symbols;
}

static void forget_frames(struct symbols *symbols)
{
    for (size_t i = 0; i < symbols->frame_count; i++)
        free(symbols->frames[i].name);
    for (size_t i = 0; i < symbols->file_count; i++)
        free(symbols->files[i].path);
    symbols->frame_count = symbols->file_count = 0;
    index_clear(&symbols->frame_index);
}

void symbols_release(struct symbols *symbols)
{
    if (symbols == NULL)
        return;
    forget_frames(symbols);
    for (size_t i = 0; i < symbols->process_count; i++)
        process_maps_release(&symbols->processes[i].maps);
    kernel_symbols_release(&symbols->kernel);
    index_release(&symbols->frame_index);
    free(symbols->frames);
    free(symbols->files);
    free(symbols->processes);
    free(symbols->wanted);
    free(symbols);
}

void symbols_start(struct symbols *symbols)
{
    size_t left = 0;

    if (symbols->frame_count > FRAMES_MAX || symbols->file_count > FILES_MAX)
        forget_frames(symbols);
    for (size_t i = 0; i < symbols->process_count; i++) {
        struct mapped_process *process = &symbols->processes[i];

        process->is_read = false;
        if (process->is_watched)
            symbols->processes[left++] = *process;
        else
            process_maps_release(&process->maps);
    }
    symbols->process_count = left;
}

/* Returns the process with its mappings of this reading, or NULL if there is no memory. */
static struct mapped_process *process_of(struct symbols *symbols, int32_t pid)
{
    struct mapped_process *process = NULL;
    char path[4096];

    for (size_t i = 0; i < symbols->process_count && process == NULL; i++)
        process = symbols->processes[i].pid == pid ? &symbols->processes[i] : NULL;
    if (process != NULL && process->is_read)
        return process;
    if (process == NULL) {
        if (symbols->process_count >= PROCESSES_MAX ||
            !ARRAY_RESERVE(symbols->processes, symbols->process_capacity,
                           symbols->process_count + 1))
            return NULL;
        process = &symbols->processes[symbols->process_count++];
        *process = (struct mapped_process){ .pid = pid };
    }
    process->is_read = true;
    snprintf(path, sizeof path, "%s/%" PRId32 "/maps", symbols->places.proc, pid);
    (void)process_maps_read(&process->maps, path);
    return process;
}

void symbols_watch(struct symbols *symbols, int32_t pid)
{
    struct mapped_process *process = process_of(symbols, pid);

    if (process == NULL)
        return;
    process->is_watched = true;
    process->is_read = false;
}

/* Sets *ret to the index of the file of a mapping. */
static bool file_of(struct symbols *symbols, int32_t pid, const struct mapping *mapping,
                    uint32_t *ret)
{
    struct symbol_file *file;

    for (size_t i = 0; i < symbols->file_count; i++) {
        file = &symbols->files[i];
        if (file->inode == mapping->inode && file->device_major == mapping->device_major &&
            file->device_minor == mapping->device_minor && strcmp(file->path, mapping->path) == 0) {
            file->pid = pid;
            file->mapping.start = mapping->start;
            file->mapping.end = mapping->end;
            *ret = (uint32_t)i;
            return true;
        }
    }
    if (!ARRAY_RESERVE(symbols->files, symbols->file_capacity, symbols->file_count + 1))
        return false;
    file = &symbols->files[symbols->file_count];
    *file = (struct symbol_file){ .inode = mapping->inode,
                                  .device_major = mapping->device_major,
                                  .device_minor = mapping->device_minor,
                                  .path = strdup(mapping->path),
                                  .pid = pid,
                                  .mapping = *mapping };
    if (file->path == NULL)
        return false;
    file->mapping.path = file->path;
    *ret = (uint32_t)symbols->file_count++;
    return true;
}

static bool is_frame(const void *context, uint32_t position, const void *key)
{
    const struct frame *frame = &((const struct symbols *)context)->frames[position];
    const struct frame *wanted = key;

    return frame->address == wanted->address && frame->file == wanted->file;
}

/* Sets *ret to the number of a frame. */
static bool add_frame(struct symbols *symbols, const struct frame *frame, uint32_t *ret)
{
    const uint64_t key[2] = { frame->address, frame->file };
    const uint32_t hash = index_hash_bytes(key, sizeof key);
    const struct index_slot *slot =
        index_find(&symbols->frame_index, hash, is_frame, symbols, frame);

    if (slot != NULL) {
        *ret = slot->position;
        return true;
    }
    if (!ARRAY_RESERVE(symbols->frames, symbols->frame_capacity, symbols->frame_count + 1) ||
        !index_reserve(&symbols->frame_index, symbols->frame_count + 1))
        return false;
    index_add(&symbols->frame_index, hash, (uint32_t)symbols->frame_count);
    symbols->frames[symbols->frame_count] = *frame;
    *ret = (uint32_t)symbols->frame_count++;
    if (frame->file != KERNEL)
        symbols->files[frame->file].unnamed++;
    return true;
}

bool symbols_add(struct symbols *symbols, int32_t pid, uint64_t address, bool is_return,
                 uint32_t *ret)
{
    static const struct mapping unknown = { .path = "[unknown]" };
    const struct mapped_process *process = pid != 0 ? process_of(symbols, pid) : NULL;
    const struct mapping *mapping = NULL;
    struct frame frame = { .file = KERNEL };

    if (is_return && address > 0)
        address--;
    frame.address = address;
    if (pid == 0)
        return add_frame(symbols, &frame, ret);
    if (process != NULL)
        mapping = process_maps_find(&process->maps, address);
    if (mapping == NULL)
        mapping = &unknown;
    /* Mappings without a file are one frame each. */
    frame.address = mapping->inode != 0 ? address - mapping->start + mapping->offset : 0;
    return file_of(symbols, pid, mapping, &frame.file) && add_frame(symbols, &frame, ret);
}

static bool name_frame(struct frame *frame, const char *name, const char *suffix)
{
    char text[NAME_SIZE];

    snprintf(text, sizeof text, "%s%s", name, suffix);
    frame->name = strdup(text);
    return frame->name != NULL;
}

/* Names a frame that is in no known function. `address` is that in the file. */
static bool name_by_place(struct frame *frame, const struct symbol_file *file, uint64_t address)
{
    char name[NAME_SIZE], base[ELF_NAME_SIZE];
    size_t length;

    if (file->inode == 0)
        return name_frame(frame, file->path[0] == '[' ? file->path : "[unknown]", "");
    length = strlen(name_in_path(file->path));
    if (ends_with(file->path, DELETED) && length > strlen(DELETED))
        length -= strlen(DELETED);
    copy_text(base, sizeof base, name_in_path(file->path), length);
    snprintf(name, sizeof name, "%s+0x%" PRIx64, base, address);
    return name_frame(frame, name, "");
}

static int compare_wanted(const void *a, const void *b)
{
    const struct elf_wanted *left = a, *right = b;

    return left->address < right->address ? -1 : left->address > right->address;
}

/* Makes the list of what is wanted of a file, ascending by address. Returns its length. */
static size_t want(struct symbols *symbols, uint32_t number, const struct elf_file *elf)
{
    size_t count = 0;

    for (size_t i = 0; i < symbols->frame_count; i++) {
        const struct frame *frame = &symbols->frames[i];
        struct elf_wanted *wanted = &symbols->wanted[count];

        if (frame->file != number || frame->name != NULL)
            continue;
        *wanted = (struct elf_wanted){ .address = frame->address };
        count += elf_file_address(elf, frame->address, &wanted->address);
    }
    if (count > 1)
        qsort(symbols->wanted, count, sizeof *symbols->wanted, compare_wanted);
    return count;
}

/* Finds functions in the debugging file, if it is that of this file. */
static void find_in_debugging_file(const struct symbols *symbols, const struct elf_file *elf,
                                   size_t count, uint64_t *steps)
{
    uint8_t id[ELF_BUILD_ID_MOST], other_id[ELF_BUILD_ID_MOST];
    const size_t length = elf_file_build_id(elf, id);
    const int file = mapped_file_open_debug(symbols->places.debugging, id, length);
    struct elf_file debugging;

    if (file >= 0 && elf_file_read(&debugging, file) &&
        elf_file_build_id(&debugging, other_id) == length && memcmp(id, other_id, length) == 0)
        (void)elf_file_functions(&debugging, symbols->wanted, count, steps);
    if (file >= 0)
        close(file);
}

static bool name_wanted(struct symbols *symbols, uint32_t number, const struct elf_file *elf,
                        size_t count)
{
    for (size_t i = 0; i < symbols->frame_count; i++) {
        struct frame *frame = &symbols->frames[i];
        struct elf_wanted key = { 0 };
        const struct elf_wanted *found = NULL;

        if (frame->file != number || frame->name != NULL)
            continue;
        key.address = frame->address;
        if (elf != NULL && elf_file_address(elf, frame->address, &key.address))
            found = bsearch(&key, symbols->wanted, count, sizeof key, compare_wanted);
        if (found != NULL && found->name[0] != '\0'
                ? !name_frame(frame, found->name, "")
                : !name_by_place(frame, &symbols->files[number], key.address))
            return false;
    }
    symbols->files[number].unnamed = 0;
    return true;
}

static bool name_file(struct symbols *symbols, uint32_t number)
{
    const struct symbol_file *file = &symbols->files[number];
    const int descriptor = mapped_file_open(symbols->places.proc, file->pid, &file->mapping);
    struct elf_file elf;
    uint64_t steps = ELF_STEPS;
    size_t count = 0;
    bool is_elf, done;

    if (!ARRAY_RESERVE(symbols->wanted, symbols->wanted_capacity, file->unnamed + 1)) {
        if (descriptor >= 0)
            close(descriptor);
        return false;
    }
    is_elf = descriptor >= 0 && elf_file_read(&elf, descriptor);
    if (is_elf) {
        count = want(symbols, number, &elf);
        if (elf_file_functions(&elf, symbols->wanted, count, &steps) < count)
            find_in_debugging_file(symbols, &elf, count, &steps);
    }
    done = name_wanted(symbols, number, is_elf ? &elf : NULL, count);
    if (descriptor >= 0)
        close(descriptor);
    return done;
}

static bool name_kernel_frame(struct symbols *symbols, struct frame *frame)
{
    const char *name;

    if (!symbols->has_kernel) {
        symbols->has_kernel = true;
        (void)kernel_symbols_read(&symbols->kernel, symbols->places.kallsyms);
    }
    name = kernel_symbols_find(&symbols->kernel, frame->address);
    return name_frame(frame, name != NULL ? name : "[kernel]", "_[k]");
}

bool symbols_find(struct symbols *symbols)
{
    for (size_t i = 0; i < symbols->frame_count; i++) {
        struct frame *frame = &symbols->frames[i];

        if (frame->file == KERNEL && frame->name == NULL && !name_kernel_frame(symbols, frame))
            return false;
    }
    for (size_t i = 0; i < symbols->file_count; i++) {
        if (symbols->files[i].unnamed != 0 && !name_file(symbols, (uint32_t)i))
            return false;
    }
    return true;
}

const char *symbols_name(const struct symbols *symbols, uint32_t frame)
{
    const char *name = frame < symbols->frame_count ? symbols->frames[frame].name : NULL;

    return name != NULL ? name : "[unknown]";
}

bool symbols_hides_kernel(const struct symbols *symbols)
{
    return symbols->kernel.is_hidden;
}
