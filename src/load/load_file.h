/* The files that loads read and write. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The directory for temporary files: TMPDIR, or else /var/tmp, because /tmp is often not on a disk.
 * On Windows that of GetTempPath(). */
const char *load_folder(void);

/* Only on Linux: creates a file without a name in load_folder(), writes `bytes` zeros to it, and
 * evicts it from the page cache. The file is shorter if a stop was requested. Returns a descriptor,
 * or -1 with errno. */
int load_make_filled(uint64_t bytes);

/* Only on Linux: writes the modified pages of a file to the disk, and evicts its pages from the
 * page cache, except pages that are mapped. Returns false with errno after a failure. */
bool load_drop_from_memory(int file);

struct load_file {
    intptr_t handle;  /* a descriptor or a handle; -1 if the file is not open */
    const char *path; /* NULL for a temporary file */
    bool direct;
    bool created;
    uint64_t bytes; /* size of a file that existed */
};

/* Opens an existing file for reading, or creates one. The system removes a created file when it is
 * closed, even if the load is killed. With `direct`, the page cache is bypassed. With `write`, an
 * existing file is an error. The caller must call load_file_close(), even after a failure. */
int load_file_open(struct load_file *ret, const char *path, bool write, bool direct,
                   struct camp_error *error);
void load_file_close(struct load_file *file);

/* Reads or writes at `offset`. Returns the number of bytes, or -1 and in *ret_error the number of
 * the system error. Returns 0 with *ret_error 0 at the end of the file, and LOAD_FILE_INTERRUPTED
 * if a signal came. */
#define LOAD_FILE_INTERRUPTED (-2)
int64_t load_file_move(const struct load_file *file, bool write, void *buffer, size_t bytes,
                       uint64_t offset, int *ret_error);

/* Writes the modified pages to the disk. Returns 0 or the number of a system error. */
int load_file_flush(const struct load_file *file);

/* Like load_file_flush(), and evicts the file from the page cache, as far as the system can. */
int load_file_evict(const struct load_file *file);

/* Fills *error for a failed function of this header. */
int load_file_failed(const struct load_file *file, int system_error, struct camp_error *error);

/* Returns false if the system does not count what a thread read from storage. */
bool load_storage_bytes(uint64_t *ret_bytes);
