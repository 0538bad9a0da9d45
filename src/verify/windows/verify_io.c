/*
 * Verifies the bytes of a process, of its volume and of its drive by a load that bypasses the
 * cache, in the folder of temporary files. Other programs may use the volume and the drive at the
 * same time, so these rows have only a lower bound.
 */
#include "verify_trials.h"

#include "counters/clock.h"
#include "load/load_file.h"

#include <math.h>

#define BYTES (16u << 20)
#define BLOCK (1u << 20)
#define DISKS_MAX 64
#define OWN_BYTES 65536.0 /* what the subject may read and write beside its file */

struct disks {
    struct camp_disk before[DISKS_MAX], after[DISKS_MAX];
    size_t count;
    struct camp_error error;
    uint64_t start_ns, end_ns;
};

static void read_disks(struct disks *disks, struct camp_disk *ret)
{
    if (disks->error.code == CAMP_OK)
        camp_disk_read_all(NULL, CAMP_DISK_ANY, ret, sizeof *ret, DISKS_MAX, &disks->count,
                           &disks->error);
}

/* How much a number of a disk grew. The volume is that of the temporary folder; of the drives, the
 * one that grew most is taken. */
struct growth {
    const struct camp_disk *before, *after; /* NULL if there is no such disk */
    double bytes;
};

static double grown(const struct camp_disk *before, const struct camp_disk *after, bool written)
{
    return written ? (double)after->written_bytes - (double)before->written_bytes
                   : (double)after->read_bytes - (double)before->read_bytes;
}

static struct growth growth_of(const struct disks *disks, const char *volume, bool written)
{
    struct growth most = { .bytes = -1 };

    for (size_t i = 0; i < disks->count; i++) {
        const struct camp_disk *a = &disks->before[i], *b = &disks->after[i];
        const bool is_wanted =
            volume != NULL ? _stricmp(b->name, volume) == 0 : b->kind == CAMP_DISK_WHOLE;

        if (is_wanted && strcmp(a->name, b->name) == 0 && grown(a, b, written) > most.bytes)
            most = (struct growth){ a, b, grown(a, b, written) };
    }
    return most;
}

static void judge_disk(struct verification *verification, const char *row,
                       const struct disks *disks, const struct growth *growth, bool written)
{
    const uint32_t bit = written ? CAMP_DISK_WRITTEN_BYTES : CAMP_DISK_READ_BYTES;
    const struct camp_error missing = { .code = CAMP_E_GONE, .message = "there is no such disk" };

    if (has_failed(verification, row, &disks->error))
        return;
    if (growth->before == NULL || growth->after == NULL) {
        has_failed(verification, row, &missing);
        return;
    }
    if (is_known(verification, row, growth->before->known & growth->after->known, bit,
                 "the bytes of disks"))
        decide_between(verification, row, BYTES, growth->bytes, 0, ANY);
}

static void judge_requests(struct verification *verification, const struct growth *volume,
                           const struct growth *drive)
{
    if (volume->after != NULL &&
        is_known(verification, "volume-writes", volume->before->known & volume->after->known,
                 CAMP_DISK_WRITES, "the requests of disks"))
        decide_between(verification, "volume-writes", (double)BYTES / BLOCK,
                       (double)(uint32_t)(volume->after->writes - volume->before->writes), 0, ANY);
    if (drive->after != NULL &&
        is_known(verification, "drive-busy", drive->before->known & drive->after->known,
                 CAMP_DISK_BUSY, "the busy time of disks"))
        decide_between(verification, "drive-busy", 0.1,
                       ((double)drive->after->busy_ns - (double)drive->before->busy_ns) / MS, 0,
                       ANY);
}

/* No drive is busy for longer than the time that passed. */
static void judge_busy_limit(struct verification *verification, const struct disks *disks)
{
    const double wall = (double)(disks->end_ns - disks->start_ns);
    double exceeding = 0, counted = 0;

    for (size_t i = 0; i < disks->count; i++) {
        const struct camp_disk *a = &disks->before[i], *b = &disks->after[i];

        if (!(a->known & b->known & CAMP_DISK_BUSY) || strcmp(a->name, b->name) != 0)
            continue;
        counted++;
        exceeding += (double)b->busy_ns - (double)a->busy_ns > wall + MS;
    }
    if (is_known(verification, "drive-busy-limit", counted > 0 ? CAMP_DISK_BUSY : 0, CAMP_DISK_BUSY,
                 "the busy time of disks"))
        decide(verification, "drive-busy-limit", 0, exceeding, 0);
}

static void run_io(struct verification *verification, bool written, const char *task_row,
                   const char *volume_row, const char *drive_row)
{
    const struct load_io_plan plan = {
        .bytes = BYTES, .block = BLOCK, .direct = true, .write = written
    };
    static struct disks disks;
    struct observed observed = { .before = { .known = 0 } };
    struct camp_error error = { 0 };
    char volume_name[3] = "";
    int r;

    snprintf(volume_name, sizeof volume_name, "%.2s", load_folder());
    disks = (struct disks){ .start_ns = now_ns(CLOCK_MONOTONIC) };
    read_disks(&disks, disks.before);
    r = observe(&observed, ACT_FILE, &plan, sizeof plan, &error);
    read_disks(&disks, disks.after);
    disks.end_ns = now_ns(CLOCK_MONOTONIC);
    if (trial_succeeded(verification, r, &error, NULL)) {
        const struct camp_task *a = &observed.before, *b = &observed.after;
        const struct growth volume = growth_of(&disks, volume_name, written);
        const struct growth drive = growth_of(&disks, NULL, written);

        if (is_observed(verification, task_row, &observed,
                        written ? CAMP_TASK_WRITTEN_BYTES : CAMP_TASK_READ_BYTES,
                        "the bytes of processes"))
            decide_between(verification, task_row, BYTES,
                           written ? (double)b->written_bytes - (double)a->written_bytes
                                   : (double)b->read_bytes - (double)a->read_bytes,
                           0, OWN_BYTES);
        judge_disk(verification, volume_row, &disks, &volume, written);
        judge_disk(verification, drive_row, &disks, &drive, written);
        if (written) {
            judge_requests(verification, &volume, &drive);
            judge_busy_limit(verification, &disks);
        }
    }
    subject_end(&observed.subject);
}

void verify_written(struct verification *verification)
{
    run_io(verification, true, "io-written", "volume-written-bytes", "drive-written-bytes");
}

void verify_read(struct verification *verification)
{
    run_io(verification, false, "io-read", "volume-read-bytes", "drive-read-bytes");
}
