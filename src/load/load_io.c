/*
 * Reads or writes of known number and size.
 *
 * The load counts its calls of pread(2) and pwrite(2), the bytes that they transferred, and their
 * wall time. The two clock readings around each call cost about 50 ns. Without O_DIRECT, the disk
 * counts other numbers, because the page cache is in between. A load that writes flushes the cache
 * by fdatasync(2) at its end. With `cold`, the load evicts its file from the page cache before each
 * pass, so that reads through the cache wait for the disk.
 *
 * A file that the load creates has no name (O_TMPFILE, or unlink(2)), so the kernel removes it even
 * if the load is killed. It has at most FILE_MAX_BYTES. To transfer more, the load starts again at
 * the beginning of the file.
 */
#include "load_command.h"

#include "counters/error.h"
#include "load_tools.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BYTES_MAX (1ull << 40)
#define BLOCK_MAX (16u << 20)
#define DIRECT_UNIT 512u
#define BUFFER_ALIGNMENT 4096u
#define FILE_MAX_BYTES (1ull << 30)

struct io_run {
    const struct load_io_plan *plan;
    struct load_io_truth *truth;
    char *buffer;
    int file;
    uint64_t file_bytes; /* how much of the file each pass reads or writes */
    bool created;
    uint64_t deadline_ns; /* 0 if the plan has no duration */
};

static int check_plan(const struct load_io_plan *plan, struct camp_error *error)
{
    if (plan->bytes < 1 || plan->bytes > BYTES_MAX || plan->block < 1 || plan->block > BLOCK_MAX)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "1 byte to 1 TiB, in blocks of 1 byte to 16 MiB");
    if (plan->direct && (plan->block % DIRECT_UNIT != 0 || plan->bytes % plan->block != 0))
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "direct I/O is in whole blocks of a multiple of %u bytes", DIRECT_UNIT);
    if (plan->cold && (plan->direct || plan->write))
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "--cold needs reads through the page cache: remove --direct or --write");
    return CAMP_OK;
}

static int failed_io(const struct io_run *run, int failed, struct camp_error *error)
{
    const char *name = run->plan->file != NULL ? run->plan->file : "the temporary file";

    if (failed == ENOSPC || failed == EDQUOT || failed == EFBIG)
        return camp_fail(error, CAMP_E_IO, failed,
                         "%s: the disk is full; give fewer --bytes, or a --file on another disk",
                         name);
    if (failed == EINVAL && run->plan->direct)
        return camp_fail(
            error, CAMP_E_NOTSUP, failed,
            "%s: this file system has no direct I/O with this block size; try --block 4K", name);
    return camp_fail_errno(error, failed, name);
}

/* Sets O_DIRECT on the open file, because open(O_CREAT | O_DIRECT) may fail and yet create a file.
 */
static int go_direct(struct io_run *run, struct camp_error *error)
{
    int flags = fcntl(run->file, F_GETFL);

    if (!run->plan->direct || (flags >= 0 && fcntl(run->file, F_SETFL, flags | O_DIRECT) == 0))
        return CAMP_OK;
    return failed_io(run, errno, error);
}

static int open_file(struct io_run *run, struct camp_error *error)
{
    const struct load_io_plan *plan = run->plan;
    struct stat facts;

    if (plan->file == NULL) {
        run->file = load_make_nameless();
        run->created = true;
        return run->file >= 0 ? go_direct(run, error) : failed_io(run, errno, error);
    }
    run->file = open(plan->file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    run->created = run->file >= 0;
    if (run->created)
        unlink(plan->file);
    if (run->created || errno != EEXIST)
        return run->created ? go_direct(run, error) : failed_io(run, errno, error);
    if (plan->write)
        return camp_fail(error, CAMP_E_IO, EEXIST,
                         "%s exists, and --write never overwrites a file; give another name",
                         plan->file);
    run->file = open(plan->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (run->file < 0 || fstat(run->file, &facts) != 0)
        return failed_io(run, errno, error);
    if (!S_ISREG(facts.st_mode) && !S_ISBLK(facts.st_mode))
        return camp_fail(error, CAMP_E_IO, 0, "%s is neither a regular file nor a disk",
                         plan->file);
    return go_direct(run, error);
}

/* Fills a new file that the load will read, and evicts the file from the page cache. */
static int prepare(struct io_run *run, struct camp_error *error)
{
    uint64_t block = run->plan->block;
    off_t end;

    if (run->created) {
        run->file_bytes =
            run->plan->bytes < FILE_MAX_BYTES ? run->plan->bytes : FILE_MAX_BYTES / block * block;
        while (!run->plan->write && run->truth->prepared_bytes < run->file_bytes) {
            uint64_t left = run->file_bytes - run->truth->prepared_bytes;
            ssize_t n = pwrite(run->file, run->buffer, (size_t)(left < block ? left : block),
                               (off_t)run->truth->prepared_bytes);

            if (stop_requested)
                return CAMP_OK;
            if (n <= 0 && errno != EINTR)
                return failed_io(run, n < 0 ? errno : ENOSPC, error);
            run->truth->prepared_bytes += n > 0 ? (uint64_t)n : 0;
        }
        if (!run->plan->write)
            load_drop_from_memory(run->file);
        return CAMP_OK;
    }
    end = lseek(run->file, 0, SEEK_END);
    run->file_bytes = end > 0 ? (uint64_t)end : 0;
    if (run->plan->direct)
        run->file_bytes -= run->file_bytes % block;
    if (run->file_bytes == 0)
        return camp_fail(error, CAMP_E_IO, 0, "%s is empty, or smaller than a block",
                         run->plan->file);
    return CAMP_OK;
}

/* Makes one call of pread(2) or pwrite(2), and adds its wall time to the truth. Returns the result
 * of the call, and its errno in *ret_failed. */
static ssize_t move(struct io_run *run, size_t bytes, uint64_t offset, int *ret_failed)
{
    uint64_t start_ns = now_ns(CLOCK_MONOTONIC), spent_ns;
    ssize_t n = run->plan->write ? pwrite(run->file, run->buffer, bytes, (off_t)offset)
                                 : pread(run->file, run->buffer, bytes, (off_t)offset);

    *ret_failed = errno;
    spent_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    run->truth->call_ns += spent_ns;
    if (spent_ns > run->truth->longest_ns)
        run->truth->longest_ns = spent_ns;
    return n;
}

static uint64_t least_of(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t least = a < b ? a : b;

    return least < c ? least : c;
}

/* A load with a deadline may transfer any number of bytes until the deadline. */
static uint64_t bytes_left(const struct io_run *run)
{
    if (run->deadline_ns != 0)
        return now_ns(CLOCK_MONOTONIC) < run->deadline_ns ? UINT64_MAX : 0;
    return run->plan->bytes - run->truth->bytes;
}

static int move_all(struct io_run *run, struct camp_error *error)
{
    const struct load_io_plan *plan = run->plan;
    uint64_t offset = 0, left;

    while ((left = bytes_left(run)) > 0 && !stop_requested) {
        int failed;
        size_t wanted = (size_t)least_of(plan->block, left, run->file_bytes - offset);
        ssize_t n;

        if (plan->cold && offset == 0 && !load_drop_from_memory(run->file))
            return failed_io(run, errno, error);
        n = move(run, wanted, offset, &failed);
        if (n < 0 && failed == EINTR)
            continue;
        if (n < 0)
            return failed_io(run, failed, error);
        if (n == 0)
            return camp_fail(error, CAMP_E_IO, 0,
                             "no data at byte %llu: was the file truncated meanwhile?",
                             (unsigned long long)offset);
        run->truth->operations++;
        run->truth->bytes += (uint64_t)n;
        offset += (uint64_t)n;
        offset = offset < run->file_bytes ? offset : 0;
    }
    return CAMP_OK;
}

static int sync_written(struct io_run *run, struct camp_error *error)
{
    uint64_t start_ns = now_ns(CLOCK_MONOTONIC);

    if (!run->plan->write || run->plan->direct)
        return CAMP_OK;
    if (fdatasync(run->file) != 0)
        return failed_io(run, errno, error);
    run->truth->sync_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    return CAMP_OK;
}

static int run_timed(struct io_run *run, struct camp_error *error)
{
    struct load_io_truth *truth = run->truth;
    const long blocks = load_usage(RUSAGE_THREAD).ru_inblock; /* of 512 bytes */
    uint64_t own_ns = now_ns(CLOCK_THREAD_CPUTIME_ID), start_ns = now_ns(CLOCK_MONOTONIC);
    int r;

    if (run->plan->duration_ns > 0)
        run->deadline_ns = start_ns + run->plan->duration_ns;
    r = move_all(run, error);
    if (r == CAMP_OK)
        r = sync_written(run, error);
    truth->wall_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    truth->own_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - own_ns;
    truth->waited_ns = load_off_cpu_ns(truth->wall_ns, truth->own_ns);
    truth->storage_bytes = DIRECT_UNIT * (uint64_t)(load_usage(RUSAGE_THREAD).ru_inblock - blocks);
    return r;
}

int load_io(const void *wanted, void *ret_truth, struct camp_error *error)
{
    const struct load_io_plan *plan = wanted;
    struct load_io_truth *ret = ret_truth;
    struct io_run run = { .plan = plan, .truth = ret, .file = -1 };
    int r = check_plan(plan, error);

    memset(ret, 0, sizeof *ret);
    if (r != CAMP_OK)
        return r;
    if (posix_memalign((void **)&run.buffer, BUFFER_ALIGNMENT, (size_t)plan->block) != 0)
        return camp_fail(error, CAMP_E_NOMEM, ENOMEM, "no memory for a block; give a smaller one");
    memset(run.buffer, 'c', (size_t)plan->block);
    r = open_file(&run, error);
    if (r != CAMP_OK)
        goto out;
    r = prepare(&run, error);
    if (r == CAMP_OK)
        r = run_timed(&run, error);
out:
    if (run.file >= 0)
        close(run.file);
    free(run.buffer);
    return r;
}

#define TRUTH(member, ...) FACT(struct load_io_truth, member, __VA_ARGS__)

static const struct fact facts[] = {
    TRUTH(operations, "operations", "calls that moved something"),
    TRUTH(bytes, "moved", "by these calls"),
    TRUTH(call_ns, "time within the calls", "wall time in read or write"),
    TRUTH(longest_ns, "longest call", "wall time"),
    TRUTH(sync_ns, "time to bring it to the disk", "fdatasync() after writing"),
    TRUTH(prepared_bytes, "written before, to be read", "not part of the other numbers"),
    TRUTH(storage_bytes, "read from storage for it", "by getrusage()"),
    TRUTH(own_ns, "CPU time of its own", "CLOCK_THREAD_CPUTIME_ID, measured"),
    TRUTH(waited_ns, "waited", "wall_ns - own_ns: for the disk, and after it for a CPU"),
    TRUTH(wall_ns, "wall time", "without what was prepared"),
};

static void remark(const void *wanted, const void *ret_truth, char ret[REMARK_SIZE])
{
    const struct load_io_plan *plan = wanted;
    const struct load_io_truth *truth = ret_truth;

    if ((plan->cold || (plan->direct && !plan->write)) &&
        (double)truth->storage_bytes < NEARLY * (double)truth->bytes)
        snprintf(ret, REMARK_SIZE,
                 "only %llu of %llu bytes came from storage: this file stays in memory",
                 (unsigned long long)truth->storage_bytes, (unsigned long long)truth->bytes);
}

int load_io_command(int argc, char **argv)
{
    struct load_io_plan plan = { .bytes = 64u << 20, .block = 4096 };
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_FILE, &plan.file,
                      .help = "The file. camp reads an existing file, and never writes to it. A "
                              "file that does not exist is created, and removed at the end. "
                              "(Default: a new file in TMPDIR or /var/tmp.)"),
        COMMON_OPTION(COMMON_BYTES, &plan.bytes, .help = "How many bytes to read or write (64M)."),
        { "block", 0, OPTION_SIZE, &plan.block, "SIZE", "The size of each operation (4K).", 1,
          16777216, NULL },
        LOAD_DURATION_OF("Run for this time, through the file of --bytes again and again."),
        { "direct", 0, OPTION_FLAG, &plan.direct, NULL, "Bypass the page cache.", 0, 0, NULL },
        { "cold", 0, OPTION_FLAG, &plan.cold, NULL,
          "Use the page cache, but remove the file from it before each pass.", 0, 0, NULL },
        { "write", 0, OPTION_FLAG, &plan.write, NULL, "Write instead of reading.", 0, 0, NULL },
        LOAD_FORMAT,
    };
    struct load_io_truth truth;
    const struct load_command command = { "io",  load_io, &plan, &truth, facts, ARRAY_COUNT(facts),
                                          remark };
    int r = load_parse("Reads or writes in blocks.", specs, ARRAY_COUNT(specs), argc, argv);

    return r == OPTIONS_GO_ON ? load_run(&command) : r;
}
