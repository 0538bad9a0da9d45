/*
 * Reads or writes of known number and size.
 *
 * The load counts its calls (load_file_move()), the bytes that they transferred, and their wall
 * time. The two clock readings around each call cost about 50 ns. Without direct I/O, the disk
 * counts other numbers, because the page cache is in between. A load that writes flushes the cache
 * at its end. With `cold`, the load evicts its file from the page cache before each pass, so that
 * reads through the cache wait for the disk.
 *
 * A file that the load creates has at most FILE_MAX_BYTES. To transfer more, the load starts again
 * at the beginning of the file.
 */
#include "load_command.h"

#include "counters/error.h"
#include "load_file.h"
#include "load_pages.h"
#include "load_tools.h"

#include <stdio.h>
#include <string.h>

#define BYTES_MAX (1ull << 40)
#define BLOCK_MAX (16u << 20)
#define DIRECT_UNIT 512u
#define FILE_MAX_BYTES (1ull << 30)

struct io_run {
    const struct load_io_plan *plan;
    struct load_io_truth *truth;
    char *buffer;
    struct load_file file;
    uint64_t file_bytes;  /* how much of the file each pass reads or writes */
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
    if (plan->cold && load_refusal(LOAD_COLD_READS) != NULL)
        return camp_fail(error, CAMP_E_NOTSUP, 0, "--cold: %s", load_refusal(LOAD_COLD_READS));
    return CAMP_OK;
}

/* Fills a new file that the load will read, and evicts the file from the page cache. */
static int fill(struct io_run *run, struct camp_error *error)
{
    const uint64_t block = run->plan->block;

    while (run->truth->prepared_bytes < run->file_bytes) {
        uint64_t left = run->file_bytes - run->truth->prepared_bytes;
        int failed;
        int64_t n =
            load_file_move(&run->file, true, run->buffer, (size_t)(left < block ? left : block),
                           run->truth->prepared_bytes, &failed);

        if (stop_requested)
            return CAMP_OK;
        if (n == 0)
            return camp_fail(error, CAMP_E_IO, 0, "the disk is full; give fewer --bytes");
        if (n < 0 && n != LOAD_FILE_INTERRUPTED)
            return load_file_failed(&run->file, failed, error);
        run->truth->prepared_bytes += n > 0 ? (uint64_t)n : 0;
    }
    load_file_evict(&run->file);
    return CAMP_OK;
}

static int prepare(struct io_run *run, struct camp_error *error)
{
    const uint64_t block = run->plan->block;

    if (run->file.created) {
        run->file_bytes =
            run->plan->bytes < FILE_MAX_BYTES ? run->plan->bytes : FILE_MAX_BYTES / block * block;
        return run->plan->write ? CAMP_OK : fill(run, error);
    }
    run->file_bytes = run->file.bytes;
    if (run->plan->direct)
        run->file_bytes -= run->file_bytes % block;
    if (run->file_bytes == 0)
        return camp_fail(error, CAMP_E_IO, 0, "%s is empty, or smaller than a block",
                         run->plan->file);
    return CAMP_OK;
}

/* Reads or writes once, and adds the wall time of the call to the truth. */
static int64_t move(struct io_run *run, size_t bytes, uint64_t offset, int *ret_failed)
{
    uint64_t start_ns = now_ns(CLOCK_MONOTONIC), spent_ns;
    int64_t n =
        load_file_move(&run->file, run->plan->write, run->buffer, bytes, offset, ret_failed);

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
        int64_t n;

        failed = plan->cold && offset == 0 ? load_file_evict(&run->file) : 0;
        if (failed != 0)
            return load_file_failed(&run->file, failed, error);
        n = move(run, wanted, offset, &failed);
        if (n == LOAD_FILE_INTERRUPTED)
            continue;
        if (n < 0)
            return load_file_failed(&run->file, failed, error);
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
    int failed;

    if (!run->plan->write || run->plan->direct)
        return CAMP_OK;
    failed = load_file_flush(&run->file);
    if (failed != 0)
        return load_file_failed(&run->file, failed, error);
    run->truth->sync_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    return CAMP_OK;
}

static int run_timed(struct io_run *run, struct camp_error *error)
{
    struct load_io_truth *truth = run->truth;
    uint64_t stored = 0, stored_before = 0, own_ns, start_ns;
    int r;

    load_storage_bytes(&stored_before);
    own_ns = load_thread_ns();
    start_ns = now_ns(CLOCK_MONOTONIC);
    if (run->plan->duration_ns > 0)
        run->deadline_ns = start_ns + run->plan->duration_ns;
    r = move_all(run, error);
    if (r == CAMP_OK)
        r = sync_written(run, error);
    truth->wall_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    truth->own_ns = load_thread_ns() - own_ns;
    truth->waited_ns = load_off_cpu_ns(truth->wall_ns, truth->own_ns);
    truth->has_storage = load_storage_bytes(&stored);
    truth->storage_bytes = stored - stored_before;
    return r;
}

int load_io(const void *wanted, void *ret_truth, struct camp_error *error)
{
    const struct load_io_plan *plan = wanted;
    struct load_io_truth *ret = ret_truth;
    struct io_run run = { .plan = plan, .truth = ret };
    int r = check_plan(plan, error);

    memset(ret, 0, sizeof *ret);
    if (r != CAMP_OK)
        return r;
    run.buffer = load_pages_take((size_t)plan->block, false); /* direct I/O needs whole pages */
    if (run.buffer == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a block; give a smaller one");
    memset(run.buffer, 'c', (size_t)plan->block);
    r = load_file_open(&run.file, plan->file, plan->write, plan->direct, error);
    if (r == CAMP_OK)
        r = prepare(&run, error);
    if (r == CAMP_OK)
        r = run_timed(&run, error);
    load_file_close(&run.file);
    load_pages_release(run.buffer, (size_t)plan->block);
    return r;
}

#define TRUTH(member, ...) FACT(struct load_io_truth, member, __VA_ARGS__)

static const struct fact facts[] = {
    TRUTH(operations, "operations", "calls that moved something"),
    TRUTH(bytes, "moved", "by these calls"),
    TRUTH(call_ns, "time within the calls", "wall time in read or write"),
    TRUTH(longest_ns, "longest call", "wall time"),
    TRUTH(sync_ns, "time to bring it to the disk",
          "flush after writing: fdatasync(); FlushFileBuffers()"),
    TRUTH(prepared_bytes, "written before, to be read", "not part of the other numbers"),
    TRUTH(storage_bytes, "read from storage for it", "by getrusage()",
          .known_if = offsetof(struct load_io_truth, has_storage)),
    TRUTH(own_ns, "CPU time of its own", "by the CPU clock of the thread"),
    TRUTH(waited_ns, "waited", "wall_ns - own_ns: for the disk, and after it for a CPU"),
    TRUTH(wall_ns, "wall time", "without what was prepared"),
};

static void remark(const void *wanted, const void *ret_truth, char ret[REMARK_SIZE])
{
    const struct load_io_plan *plan = wanted;
    const struct load_io_truth *truth = ret_truth;

    if (truth->has_storage && (plan->cold || (plan->direct && !plan->write)) &&
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
                              "(Default: a new file in TMPDIR or /var/tmp; on Windows in TEMP.)"),
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
