/* A test file on a disk that is not in the page cache. */
#pragma once

#include "states_session.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/statfs.h>

#define PAGES 2048u
#define PAGE_BYTES 4096u
#define BLOCK_BYTES (1u << 20)
#define BLOCKS (PAGES * PAGE_BYTES / BLOCK_BYTES)

/* Makes a file of PAGES pages. Each page starts with `code`. Skips the test if /var/tmp is in
 * memory. */
static inline int file_on_disk(const void *code, size_t size)
{
    char path[] = "/var/tmp/camp-test-XXXXXX", page[PAGE_BYTES] = { 0 };
    int file = mkstemp(path);
    struct statfs system;

    assert_true(file >= 0);
    unlink(path);
    memcpy(page, code, size);
    for (unsigned i = 0; i < PAGES; i++)
        assert_int_equal(write(file, page, sizeof page), sizeof page);
    assert_int_equal(fsync(file), 0);
    assert_int_equal(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), 0);
    assert_int_equal(fstatfs(file, &system), 0);
    if (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC) {
        close(file);
        print_message("skipped, not passed: /var/tmp is in memory\n");
        skip();
    }
    return file;
}

/* For children: reads blocks with O_DIRECT. The blocks are large, because a single page might
 * arrive before the reader sleeps. */
static inline void read_blocks(int file, unsigned count)
{
    char path[64];
    char *block = aligned_alloc(PAGE_BYTES, BLOCK_BYTES);
    int direct;

    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    direct = open(path, O_RDONLY | O_DIRECT);
    if (direct < 0 || block == NULL)
        _exit(1);
    for (unsigned i = 0; i < count; i++) {
        if (pread(direct, block, BLOCK_BYTES, (off_t)(i % BLOCKS * BLOCK_BYTES)) != BLOCK_BYTES)
            _exit(1);
    }
    close(direct);
    free(block);
}
