/*
 * Reads and writes: of the process that did them, and of the disk underneath.
 *
 * The load writes, and reads, IO_BYTES past the page cache (O_DIRECT), one block at a time: each is
 * one request of the disk, which counts it when it completes. A process's reads and writes are
 * counted when it submits them (task_io_account_read(), submit_bio()), together with the file
 * system's own reads on its behalf (its maps).
 *
 * Other processes use the disk, too. So the trial is repeated ROUNDS times, and the round with the
 * least traffic counts: the surplus of the others was not the load's. The upper bound of a round is
 * the traffic of all disks together, which the kernel counts at another place (pgpgin and pgpgout
 * of /proc/vmstat, where a request starts). When that bound is too wide, an interval without a load
 * shows whether other processes use the disk. If they do, only "at least" is judged.
 *
 * Major faults: pages of a file that was evicted from the page cache, each touched without
 * read-ahead.
 */
#include "verify.h"

#include "counters/error.h"
#include "counters/units.h"
#include "load/load.h"
#include "load/load_tools.h"
#include "program/command.h"
#include "verify_subject.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define IO_BYTES (16u << 20)
#define IO_BLOCK (64u << 10)
#define DISK_SECTOR 512.0 /* the size of the smallest request */
#define ROUNDS 5u
#define VMSTAT_UNIT 1024.0 /* of pgpgin and pgpgout: mm/vmstat.c halves sectors */

/* The name below /sys/class/block of the folder's device. */
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

/* Traffic of the disk in a round, or in an idle interval. */
struct growth {
    double reads, read_bytes, writes, written_bytes;
    double asked_read_bytes, asked_written_bytes; /* requested from all disks */
};

struct io_trial {
    struct subject subject;
    char device[CAMP_NAME_SIZE];
    int task_result, disk_result; /* of the library */
    struct camp_error task_error, disk_error;
    struct camp_task before, after; /* of the last round */
    double task_read, task_written; /* of all rounds */
    double own_read, own_written;   /* upper bounds of these, by getrusage(2) */
    struct growth least, idle;      /* of the rounds; of the time before each */
};

static void read_task(struct io_trial *trial, struct camp_task *ret)
{
    if (trial->task_result == CAMP_OK)
        trial->task_result = camp_process_read(NULL, &trial->subject.process, CAMP_TASK_IO, ret,
                                               sizeof *ret, &trial->task_error);
    if (trial->task_result == CAMP_OK && !(ret->known & CAMP_TASK_IO))
        trial->task_result =
            camp_fail(&trial->task_error, CAMP_E_NOTSUP, 0,
                      "this kernel does not count it, or you lack the permission to read it");
}

static void read_disk(struct io_trial *trial, struct camp_disk *ret)
{
    if (trial->disk_result == CAMP_OK)
        trial->disk_result =
            camp_disk_read(NULL, trial->device, ret, sizeof *ret, &trial->disk_error);
}

/* Bytes that were requested from all disks since boot. */
static void read_asked(double *read_bytes, double *written_bytes)
{
    FILE *file = fopen("/proc/vmstat", "r");
    char line[160];
    double kib;

    *read_bytes = *written_bytes = INFINITY; /* not reported by the kernel: no bound */
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "pgpgin %lf", &kib) == 1)
            *read_bytes = kib * VMSTAT_UNIT;
        else if (sscanf(line, "pgpgout %lf", &kib) == 1)
            *written_bytes = kib * VMSTAT_UNIT;
    }
    if (file != NULL)
        fclose(file);
}

static struct growth growth_between(const struct camp_disk *a, const struct camp_disk *b)
{
    return (struct growth){
        .reads = (double)b->reads - (double)a->reads,
        .read_bytes = (double)b->read_bytes - (double)a->read_bytes,
        .writes = (double)b->writes - (double)a->writes,
        .written_bytes = (double)b->written_bytes - (double)a->written_bytes,
    };
}

static void account_round(struct io_trial *trial, const struct growth *growth, bool first)
{
    struct growth *least = &trial->least;

    least->reads = first ? growth->reads : fmin(least->reads, growth->reads);
    least->read_bytes = first ? growth->read_bytes : fmin(least->read_bytes, growth->read_bytes);
    least->writes = first ? growth->writes : fmin(least->writes, growth->writes);
    least->written_bytes =
        first ? growth->written_bytes : fmin(least->written_bytes, growth->written_bytes);
    least->asked_read_bytes =
        first ? growth->asked_read_bytes : fmin(least->asked_read_bytes, growth->asked_read_bytes);
    least->asked_written_bytes =
        first ? growth->asked_written_bytes
              : fmin(least->asked_written_bytes, growth->asked_written_bytes);
}

static int do_round(struct io_trial *trial, bool first, struct camp_error *error)
{
    struct camp_disk idle = { .reads = 0 }, before = { .reads = 0 }, after = { .reads = 0 };
    double read_before, written_before, read_after, written_after;
    struct act_record mark = subject_mark(&trial->subject), most;
    struct growth growth;
    int r;

    read_asked(&read_before, &written_before);
    read_disk(trial, &idle);
    sleep_until(now_ns(CLOCK_MONOTONIC) + 20 * NS_PER_MS);
    read_task(trial, &trial->before);
    read_disk(trial, &before);
    r = subject_do(&trial->subject, error);
    read_disk(trial, &after);
    read_task(trial, &trial->after);
    growth = growth_between(&idle, &before);
    trial->idle.reads += growth.reads;
    trial->idle.writes += growth.writes;
    read_asked(&read_after, &written_after);
    growth = growth_between(&before, &after);
    growth.asked_read_bytes = read_after + VMSTAT_UNIT - read_before;
    growth.asked_written_bytes = written_after + VMSTAT_UNIT - written_before;
    account_round(trial, &growth, first);
    trial->task_read += (double)trial->after.read_bytes - (double)trial->before.read_bytes;
    trial->task_written += (double)trial->after.written_bytes - (double)trial->before.written_bytes;
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

    if (trial->task_result != CAMP_OK) {
        decide_failure(verification, "io-read", trial->task_result, &trial->task_error);
        decide_failure(verification, "io-written", trial->task_result, &trial->task_error);
        return;
    }
    decide_between(verification, "io-read", read, trial->task_read, 0, trial->own_read - read);
    decide_between(verification, "io-written", written, trial->task_written, 0,
                   trial->own_written - written);
}

/* Judges the round with the least traffic. It must have at least the load's own traffic; when other
 * processes use the disk, nothing more is judged. */
static void judge_least(struct verification *verification, const char *row, double expected,
                        double reported, double more, bool others)
{
    decide_between(verification, row, expected, reported, 0,
                   others && more >= DISTINGUISHED * expected ? INFINITY : more);
}

static void judge_disk(struct verification *verification, const struct io_trial *trial)
{
    static const char *const rows[] = { "disk-reads", "disk-read-bytes", "disk-writes",
                                        "disk-written-bytes" };
    const struct load_io_truth *truth = subject_truth(&trial->subject);
    const struct growth *least = &trial->least;
    double blocks = (double)truth->bytes / IO_BLOCK;
    bool others_read = trial->idle.reads > 0, others_write = trial->idle.writes > 0;
    double more_read = least->asked_read_bytes - (double)truth->bytes;
    double more_written = least->asked_written_bytes - (double)truth->prepared_bytes;

    if (trial->disk_result != CAMP_OK) {
        for (size_t i = 0; i < 4; i++)
            decide_failure(verification, rows[i], trial->disk_result, &trial->disk_error);
        return;
    }
    judge_least(verification, rows[0], blocks, least->reads, more_read / DISK_SECTOR, others_read);
    judge_least(verification, rows[1], (double)truth->bytes, least->read_bytes, more_read,
                others_read);
    judge_least(verification, rows[2], blocks, least->writes, more_written / DISK_SECTOR,
                others_write);
    judge_least(verification, rows[3], (double)truth->prepared_bytes, least->written_bytes,
                more_written, others_write);
}

static void run_io(struct verification *verification)
{
    static const struct load_io_plan plan = { .bytes = IO_BYTES,
                                              .block = IO_BLOCK,
                                              .direct = true };
    struct io_trial trial = { .subject = SUBJECT_NONE };
    struct camp_error error = { 0 };
    int r = CAMP_OK;

    if (!find_device(trial.device, sizeof trial.device))
        r = camp_fail(&error, CAMP_E_NOTSUP, 0,
                      "%s is not on a disk; set TMPDIR to a folder "
                      "that is",
                      load_folder());
    if (r == CAMP_OK)
        r = subject_open(&trial.subject, load_io, &plan, sizeof(struct load_io_truth), &error);
    for (unsigned i = 0; i < ROUNDS && r == CAMP_OK; i++)
        r = do_round(&trial, i == 0, &error);
    if (r != CAMP_OK) {
        trial_not_tested(verification, &error);
    } else {
        judge_task(verification, &trial);
        judge_disk(verification, &trial);
    }
    subject_end(&trial.subject);
}

#define FILE_PAGES 512u

static void run_faults(struct verification *verification)
{
    static const struct load_fault_plan plan = { .pages = FILE_PAGES };
    struct subject subject = SUBJECT_NONE;
    struct act_record mark, most;
    struct camp_task before, after;
    struct camp_error error = { 0 };
    int library = CAMP_OK,
        r = subject_open(&subject, load_fault, &plan, sizeof(struct load_fault_truth), &error);

    if (r == CAMP_OK) {
        mark = subject_mark(&subject);
        library = camp_process_read(NULL, &subject.process, CAMP_TASK_FAULTS, &before,
                                    sizeof before, &error);
        r = subject_do(&subject, &error);
    }
    if (r == CAMP_OK && library == CAMP_OK)
        library = camp_process_read(NULL, &subject.process, CAMP_TASK_FAULTS, &after, sizeof after,
                                    &error);
    if (r == CAMP_OK)
        r = subject_since(&subject, &mark, &most, &error);
    if (r != CAMP_OK)
        trial_not_tested(verification, &error);
    else if (subject_record(&subject)->major_faults < FILE_PAGES / 4)
        not_tested(verification, "faults-major", "a file in %.60s cannot be evicted from memory",
                   load_folder());
    else if (library != CAMP_OK)
        decide_failure(verification, "faults-major", library, &error);
    else
        decide_between(verification, "faults-major", (double)subject_record(&subject)->major_faults,
                       (double)after.major_faults - (double)before.major_faults, 0,
                       (double)(most.major_faults - subject_record(&subject)->major_faults));
    subject_end(&subject);
}

static const struct row_spec io_rows[] = {
    { "io-read", "bytes", "of a process : what it read with O_DIRECT" },
    { "io-written", "bytes", "of a process : what it wrote with O_DIRECT" },
    { "disk-reads", "reads", "of the disk underneath : blocks read" },
    { "disk-read-bytes", "bytes", "of the disk underneath : bytes read" },
    { "disk-writes", "writes", "of the disk underneath : blocks written" },
    { "disk-written-bytes", "bytes", "of the disk underneath : bytes written" },
};
static const struct row_spec fault_rows[] = {
    { "faults-major", "faults", "of a process that touched a file not in memory : getrusage" },
};
static const struct trial trials[] = {
    { fault_rows, sizeof fault_rows / sizeof *fault_rows, run_faults },
    { io_rows, sizeof io_rows / sizeof *io_rows, run_io },
};
const struct trial_list io_trials = { trials, sizeof trials / sizeof *trials };
