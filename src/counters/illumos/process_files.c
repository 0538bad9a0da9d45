/* Reads and checks the binary files of /proc. */
#include "process.h"

#include "../error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NS_IN_SECOND 1000000000L

/* Times are less than 292 years, or the number of their ns needs more than 63 bits. */
static bool is_time(timestruc_t time)
{
    const int64_t seconds = time.tv_sec; /* has 32 bits in a 32-bit build */

    return seconds >= -1 && seconds < INT64_MAX / NS_IN_SECOND && time.tv_nsec > -NS_IN_SECOND &&
           time.tv_nsec < NS_IN_SECOND;
}

uint64_t camp_proc_ns(timestruc_t time)
{
    const int64_t ns = (int64_t)time.tv_sec * NS_IN_SECOND + time.tv_nsec;

    return ns > 0 ? (uint64_t)ns : 0;
}

static bool lwpsinfo_is_sound(lwpsinfo_t *lwpsinfo)
{
    lwpsinfo->pr_name[PRFNSZ - 1] = '\0';
    lwpsinfo->pr_clname[PRCLSZ - 1] = '\0';
    return is_time(lwpsinfo->pr_start) && is_time(lwpsinfo->pr_time) && lwpsinfo->pr_lwpid >= 0;
}

bool camp_lwpsinfo_parse(const void *bytes, size_t length, lwpsinfo_t *ret)
{
    if (length < sizeof *ret)
        return false;
    memcpy(ret, bytes, sizeof *ret);
    return lwpsinfo_is_sound(ret);
}

bool camp_psinfo_parse(const void *bytes, size_t length, psinfo_t *ret)
{
    if (length < sizeof *ret)
        return false;
    memcpy(ret, bytes, sizeof *ret);
    ret->pr_fname[PRFNSZ - 1] = '\0';
    ret->pr_psargs[PRARGSZ - 1] = '\0';
    return is_time(ret->pr_start) && is_time(ret->pr_time) && is_time(ret->pr_ctime) &&
           ret->pr_pid >= 0 && ret->pr_nlwp >= 0 && ret->pr_size <= SIZE_MAX / 1024 &&
           ret->pr_rssize <= SIZE_MAX / 1024 && lwpsinfo_is_sound(&ret->pr_lwp);
}

/* The kernel adds these up in 63 bits (mstate_aggr_state() of uts/common/os/msacct.c). */
static bool is_cpu_time(const prusage_t *usage)
{
    uint64_t ns = camp_proc_ns(usage->pr_utime);

    return !__builtin_add_overflow(ns, camp_proc_ns(usage->pr_stime), &ns) &&
           !__builtin_add_overflow(ns, camp_proc_ns(usage->pr_ttime), &ns) && ns <= INT64_MAX;
}

bool camp_usage_parse(const void *bytes, size_t length, prusage_t *ret)
{
    if (length < sizeof *ret)
        return false;
    memcpy(ret, bytes, sizeof *ret);
    return is_time(ret->pr_tstamp) && is_time(ret->pr_create) && is_time(ret->pr_term) &&
           is_time(ret->pr_rtime) && is_time(ret->pr_utime) && is_time(ret->pr_stime) &&
           is_time(ret->pr_ttime) && is_time(ret->pr_tftime) && is_time(ret->pr_dftime) &&
           is_time(ret->pr_kftime) && is_time(ret->pr_ltime) && is_time(ret->pr_slptime) &&
           is_time(ret->pr_wtime) && is_time(ret->pr_stoptime) && is_cpu_time(ret);
}

const char *camp_proc(const struct camp_source *source)
{
    return source != NULL && source->proc != NULL ? source->proc : "/proc";
}

int camp_proc_path(char *path, const struct camp_source *source, int32_t pid, int32_t tid,
                   const char *name, struct camp_error *error)
{
    const char *proc = camp_proc(source);
    int length = tid != 0 ? snprintf(path, PATH_SIZE, "%s/%d/lwp/%d/%s", proc, pid, tid, name)
                          : snprintf(path, PATH_SIZE, "%s/%d/%s", proc, pid, name);

    if (length < 0 || length >= PATH_SIZE)
        return camp_fail(error, CAMP_E_INVALID, 0, "the path %s is too long: pass a shorter one",
                         proc);
    return CAMP_OK;
}

/* EOVERFLOW: a value of a 64-bit process does not fit in the struct of a 32-bit reader. */
static int fail_read(int system_error, const char *path, struct camp_error *error)
{
    if (system_error == EOVERFLOW)
        return camp_fail(error, CAMP_E_NOTSUP, system_error,
                         "%s is of a 64-bit process: use a 64-bit build of camp", path);
    return camp_fail_errno(error, system_error, path);
}

int camp_proc_pread(int descriptor, const char *path, void *bytes, size_t capacity,
                    size_t *ret_length, struct camp_error *error)
{
    ssize_t length;

    do
        length = pread(descriptor, bytes, capacity, 0);
    while (length < 0 && errno == EINTR);
    if (length < 0)
        return fail_read(errno, path, error);
    *ret_length = (size_t)length;
    return CAMP_OK;
}

int camp_proc_read(const char *path, void *bytes, size_t capacity, size_t *ret_length,
                   struct camp_error *error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    int r;

    if (descriptor < 0)
        return fail_read(errno, path, error);
    r = camp_proc_pread(descriptor, path, bytes, capacity, ret_length, error);
    close(descriptor);
    return r;
}

static int fail_format(const char *path, struct camp_error *error)
{
    return camp_fail(error, CAMP_E_FORMAT, 0, "%s has an unexpected format; report it", path);
}

int camp_psinfo_pread(int descriptor, const char *path, psinfo_t *ret, struct camp_error *error)
{
    psinfo_t bytes;
    size_t length;
    int r = camp_proc_pread(descriptor, path, &bytes, sizeof bytes, &length, error);

    if (r == CAMP_OK && !camp_psinfo_parse(&bytes, length, ret))
        r = fail_format(path, error);
    return r == CAMP_OK ? camp_check_data_model(ret, sizeof(void *), error) : r;
}

int camp_usage_pread(int descriptor, const char *path, prusage_t *ret, struct camp_error *error)
{
    prusage_t bytes;
    size_t length;
    int r = camp_proc_pread(descriptor, path, &bytes, sizeof bytes, &length, error);

    if (r == CAMP_OK && !camp_usage_parse(&bytes, length, ret))
        r = fail_format(path, error);
    return r;
}

int camp_psinfo_read(const struct camp_source *source, int32_t pid, psinfo_t *ret,
                     struct camp_error *error)
{
    char path[PATH_SIZE];
    psinfo_t bytes;
    size_t length;
    int r = camp_proc_path(path, source, pid, 0, "psinfo", error);

    if (r == CAMP_OK)
        r = camp_proc_read(path, &bytes, sizeof bytes, &length, error);
    if (r == CAMP_OK && !camp_psinfo_parse(&bytes, length, ret))
        r = fail_format(path, error);
    return r == CAMP_OK ? camp_check_data_model(ret, sizeof(void *), error) : r;
}

int camp_lwpsinfo_read(const struct camp_source *source, int32_t pid, int32_t tid, lwpsinfo_t *ret,
                       struct camp_error *error)
{
    char path[PATH_SIZE];
    lwpsinfo_t bytes;
    size_t length;
    int r = camp_proc_path(path, source, pid, tid, "lwpsinfo", error);

    if (r == CAMP_OK)
        r = camp_proc_read(path, &bytes, sizeof bytes, &length, error);
    if (r == CAMP_OK && !camp_lwpsinfo_parse(&bytes, length, ret))
        r = fail_format(path, error);
    return r;
}

int camp_usage_read(const struct camp_source *source, int32_t pid, int32_t tid, prusage_t *ret,
                    struct camp_error *error)
{
    char path[PATH_SIZE];
    prusage_t bytes;
    size_t length;
    int r = camp_proc_path(path, source, pid, tid, tid != 0 ? "lwpusage" : "usage", error);

    if (r == CAMP_OK)
        r = camp_proc_read(path, &bytes, sizeof bytes, &length, error);
    if (r == CAMP_OK && !camp_usage_parse(&bytes, length, ret))
        r = fail_format(path, error);
    return r;
}

int camp_check_data_model(const psinfo_t *psinfo, size_t pointer_bytes, struct camp_error *error)
{
    if (pointer_bytes >= 8 || psinfo->pr_dmodel != PR_MODEL_LP64)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "process %d is a 64-bit process: use a 64-bit build of camp",
                     (int)psinfo->pr_pid);
}

int camp_start_check(timestruc_t time, uint64_t start, struct camp_error *error)
{
    return camp_proc_ns(time) == start
               ? CAMP_OK
               : camp_fail(error, CAMP_E_GONE, 0,
                           "it has exited; its number may belong to another now");
}

int camp_psinfo_expect(const struct camp_source *source, const struct camp_process *process,
                       psinfo_t *ret, struct camp_error *error)
{
    int r = camp_psinfo_read(source, process->pid, ret, error);

    return r == CAMP_OK ? camp_start_check(ret->pr_start, process->start, error) : r;
}
