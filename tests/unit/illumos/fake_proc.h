/*
 * A /proc of illumos that a test makes: binary files in the byte order of this machine, so the same
 * tests are right on a big-endian machine.
 */
#pragma once

#include <camp/camp.h>

#include <procfs.h>

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char fake_folder[64];
static const struct camp_source fake_source = { .proc = fake_folder };

/* Setup and teardown of a test: an empty folder. */
static inline int make_fake_proc(void **state)
{
    (void)state;
    snprintf(fake_folder, sizeof fake_folder, "/tmp/camp-illumos-XXXXXX");
    return mkdtemp(fake_folder) != NULL ? 0 : -1;
}

static inline int remove_fake_proc(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", fake_folder);
    return system(command);
}

static inline timestruc_t time_of_ns(int64_t ns)
{
    return (timestruc_t){ .tv_sec = (long)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };
}

/* Writes a file below the folder, and makes the folders of its path. */
static inline void write_fake(const char *name, const void *bytes, size_t length)
{
    char path[PATH_MAX];
    FILE *file;

    for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(path, sizeof path, "%s/%.*s", fake_folder, (int)(slash - name), name);
        mkdir(path, 0700);
    }
    snprintf(path, sizeof path, "%s/%s", fake_folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static inline void remove_fake(const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", fake_folder, name);
    assert_int_equal(unlink(path), 0);
}

static inline psinfo_t fake_psinfo(int32_t pid, const char *name, int64_t start_ns)
{
    psinfo_t psinfo = { .pr_pid = pid,
                        .pr_ppid = 1,
                        .pr_nlwp = 1,
                        .pr_start = time_of_ns(start_ns),
                        .pr_dmodel = PR_MODEL_ILP32,
                        .pr_lwp = { .pr_sname = 'S', .pr_lwpid = 1 } };

    memcpy(psinfo.pr_fname, name, strnlen(name, PRFNSZ - 1));
    memcpy(psinfo.pr_psargs, name, strnlen(name, PRARGSZ - 1));
    return psinfo;
}

static inline void write_psinfo(const psinfo_t *psinfo)
{
    char name[64];

    snprintf(name, sizeof name, "%d/psinfo", (int)psinfo->pr_pid);
    write_fake(name, psinfo, sizeof *psinfo);
}

static inline void write_usage(int32_t pid, const prusage_t *usage)
{
    char name[64];

    snprintf(name, sizeof name, "%d/usage", pid);
    write_fake(name, usage, sizeof *usage);
}

static inline void write_thread(int32_t pid, const lwpsinfo_t *lwpsinfo, const prusage_t *usage)
{
    char name[64];

    snprintf(name, sizeof name, "%d/lwp/%d/lwpsinfo", pid, (int)lwpsinfo->pr_lwpid);
    write_fake(name, lwpsinfo, sizeof *lwpsinfo);
    snprintf(name, sizeof name, "%d/lwp/%d/lwpusage", pid, (int)lwpsinfo->pr_lwpid);
    write_fake(name, usage, sizeof *usage);
}
