/*
 * Verifies the reads and writes of a process, and those of its disk.
 *
 * The load writes and reads IO_BYTES with O_DIRECT, which bypasses the page cache. Each block is
 * one request of the disk. The disk counts a request when it completes. A process's reads and
 * writes are counted when it submits them (task_io_account_read(), submit_bio()). They include
 * reads of the file system's own data for this process.
 *
 * Other processes use the disk too. So the load runs ROUNDS times, and the least traffic of all
 * rounds is compared with the load. The upper bound is the traffic of all disks together, which the
 * kernel counts at another place, when a request starts (pgpgin and pgpgout of /proc/vmstat). If
 * this bound is too wide, and other processes used the disk in a time without load, the row tests
 * only the lower bound.
 *
 * Major faults: the load touches pages of a file that was evicted from the page cache, without
 * read-ahead.
 */
#include "verify_trials.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "load/load.h"
#include "load/load_file.h"
#include "program/command.h"
#include "verify_subject.h"
#include "verify_witness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define IO_BYTES (16u << 20)
#define IO_BLOCK (64u << 10)
#define DISK_SECTOR 512.0 /* size of the smallest request in bytes */
#define ROUNDS 5u
/* Unit of pgpgin and pgpgout in bytes. mm/vmstat.c divides sectors by 2. */
#define VMSTAT_UNIT 1024.0

/* Gets the name in /sys/class/block of the disk or partition that has the load's folder. */
static bool find_device(char *ret, size_t size)
{
    struct stat facts;
    char path[64], target[512];
    ssize_t length;
    const char *name;

    if (stat(load_folder(), &facts) != 0)
        return false;
    snprintf(path, sizeof path, "/sys/dev/block/%u:%u", major(facts.st_dev), minor(facts.st_dev));
    length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return false;
    target[length] = '\0';
    name = strrchr(target, '/');
    return snprintf(ret, size, "%s", name != NULL ? name + 1 : target) < (int)size;
}

/* The traffic of one disk in a round, and (ASKED_...) the bytes that were requested from all
 * disks. */
enum { READS, READ_BYTES, WRITES, WRITTEN_BYTES, ASKED_READ_BYTES, ASKED_WRITTEN_BYTES, TRAFFIC };
struct traffic {
    double of[TRAFFIC];
};

struct io_trial {
    struct subject subject;
    char device[CAMP_NAME_SIZE];
    struct camp_error task_error, disk_error;
    double task_read, task_written; /* sums over all rounds, reported by the library */
    double own_read, own_written; /* upper bounds of task_read and task_written, by getrusage(2) */
    struct traffic least;         /* minimum over all rounds, for each member */
    double idle_reads, idle_writes; /* requests of the disk before the rounds, without load */
};

/* Reads the traffic since boot. If the kernel does not report the bytes that were requested from
 * all disks, the members ASKED_... become `unknown`. */
static struct traffic read_disk(struct io_trial *trial, double unknown)
{
    struct camp_disk disk = { .reads = 0 };

    if (trial->disk_error.code == CAMP_OK)
        camp_disk_read(NULL, trial->device, &disk, sizeof disk, &trial->disk_error);
    return (struct traffic){ {
        (double)disk.reads,
        (double)disk.read_bytes,
        (double)disk.writes,
        (double)disk.written_bytes,
        VMSTAT_UNIT * verify_sum_of("/proc/vmstat", "pgpgin ", unknown),
        VMSTAT_UNIT * verify_sum_of("/proc/vmstat", "pgpgout ", unknown),
    } };
}

static int do_round(struct io_trial *trial, bool first, struct camp_error *error)
{
    struct act_record mark = subject_mark(&trial->subject), most;
    struct camp_task task_before = { 0 }, task_after = { 0 };
    const struct traffic idle = read_disk(trial, 0);
    struct traffic before, after;
    int r;

    sleep_until(now_ns(CLOCK_MONOTONIC) + 20 * NS_PER_MS);
    subject_read(&trial->subject, CAMP_TASK_READ_BYTES | CAMP_TASK_WRITTEN_BYTES, &task_before,
                 &trial->task_error);
    before = read_disk(trial, 0);
    r = subject_do(&trial->subject, error);
    after = read_disk(trial, INFINITY);
    subject_read(&trial->subject, CAMP_TASK_READ_BYTES | CAMP_TASK_WRITTEN_BYTES, &task_after,
                 &trial->task_error);
    trial->idle_reads += before.of[READS] - idle.of[READS];
    trial->idle_writes += before.of[WRITES] - idle.of[WRITES];
    for (int i = 0; i < TRAFFIC; i++) {
        const bool asked = i >= ASKED_READ_BYTES;
        const double growth = after.of[i] + (asked ? VMSTAT_UNIT - idle.of[i] : -before.of[i]);

        trial->least.of[i] = first ? growth : fmin(trial->least.of[i], growth);
    }
    trial->task_read += (double)task_after.read_bytes - (double)task_before.read_bytes;
    trial->task_written += (double)task_after.written_bytes - (double)task_before.written_bytes;
    if (r == CAMP_OK)
        r = subject_since(&trial->subject, &mark, &most, error);
    if (r == CAMP_OK) {
        trial->own_read += (double)most.read_bytes;
        trial->own_written += (double)most.written_bytes;
    }
    return r;
}

static void judge_task(struct verification *verification, const struct io_trial *trial)
{
    const struct load_io_truth *truth = subject_truth(&trial->subject);
    double read = (double)truth->bytes * ROUNDS, written = (double)truth->prepared_bytes * ROUNDS;

    if (has_failed(verification, "io-read", &trial->task_error)) {
        has_failed(verification, "io-written", &trial->task_error);
        return;
    }
    decide_between(verification, "io-read", read, trial->task_read, 0, trial->own_read - read);
    decide_between(verification, "io-written", written, trial->task_written, 0,
                   trial->own_written - written);
}

/* Compares the least traffic of all rounds with the expected traffic. The disk must have at least
 * the traffic of the load, and at most `more` in addition. If other processes use the disk, and
 * `more` is so large that the row could not be judged, the traffic has no upper bound. */
static void judge_least(struct verification *verification, const struct io_trial *trial,
                        const char *row, int member, double expected, double more)
{
    const bool others = (member <= READ_BYTES ? trial->idle_reads : trial->idle_writes) > 0;

    if (!has_failed(verification, row, &trial->disk_error))
        decide_between(verification, row, expected, trial->least.of[member], 0,
                       others && more >= DISTINGUISHED * expected ? INFINITY : more);
}

static void judge_disk(struct verification *verification, const struct io_trial *trial)
{
    const struct load_io_truth *truth = subject_truth(&trial->subject);
    const double blocks = (double)truth->bytes / IO_BLOCK;
    const double read = (double)truth->bytes, written = (double)truth->prepared_bytes;
    const double more_read = trial->least.of[ASKED_READ_BYTES] - read;
    const double more_written = trial->least.of[ASKED_WRITTEN_BYTES] - written;

    judge_least(verification, trial, "disk-reads", READS, blocks, more_read / DISK_SECTOR);
    judge_least(verification, trial, "disk-read-bytes", READ_BYTES, read, more_read);
    judge_least(verification, trial, "disk-writes", WRITES, blocks, more_written / DISK_SECTOR);
    judge_least(verification, trial, "disk-written-bytes", WRITTEN_BYTES, written, more_written);
}

void verify_io(struct verification *verification)
{
    static const struct load_io_plan plan = { .bytes = IO_BYTES,
                                              .block = IO_BLOCK,
                                              .direct = true };
    struct io_trial trial = { 0 };
    struct camp_error error = { 0 };
    int r = CAMP_OK;

    if (!find_device(trial.device, sizeof trial.device))
        r = camp_fail(&error, CAMP_E_NOTSUP, 0,
                      "%s is not on a disk; set TMPDIR to a folder that is", load_folder());
    if (r == CAMP_OK)
        r = subject_open(&trial.subject, load_io, &plan, sizeof(struct load_io_truth), &error);
    for (unsigned i = 0; i < ROUNDS && r == CAMP_OK; i++)
        r = do_round(&trial, i == 0, &error);
    if (trial_succeeded(verification, r, &error, NULL)) {
        judge_task(verification, &trial);
        judge_disk(verification, &trial);
    }
    subject_end(&trial.subject);
}

#define FILE_PAGES 512u

void verify_faults(struct verification *verification)
{
    static const struct load_fault_plan plan = { .pages = FILE_PAGES };
    struct observed load = { 0 };
    struct camp_error error = { 0 }, library = { 0 };
    int r = observe(&load, 1, load_fault, &plan, sizeof(struct load_fault_truth),
                    CAMP_TASK_MINOR_FAULTS | CAMP_TASK_MAJOR_FAULTS, &library, &error);
    uint64_t least;

    if (r == CAMP_OK && subject_record(&load.subject)->major_faults < FILE_PAGES / 4)
        not_tested(verification, "faults-major", "a file in %.60s cannot be evicted from memory",
                   load_folder());
    if (trial_succeeded(verification, r, &error, &library)) {
        least = subject_record(&load.subject)->major_faults;
        decide_between(verification, "faults-major", (double)least,
                       (double)load.after.major_faults - (double)load.before.major_faults, 0,
                       (double)(load.most.major_faults - least));
    }
    subject_end(&load.subject);
}
