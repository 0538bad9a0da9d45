#include "record_files.h"

#include "record_traces.h"

#include "counters/units.h"
#include "ledger/words.h"
#include "program/command.h"
#include "recording/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Allowed delay of the end of an interval. After a longer one the next file starts an interval
 * later. */
#define LATE_NS (100 * NS_PER_MS)

char *record_files_path(const char *output, int64_t time_s, const char *suffix)
{
    const time_t seconds = (time_t)time_s;
    const int stem = (int)recording_stem_length(output);
    struct tm day;
    char text[32], *path;

    gmtime_r(&seconds, &day);
    strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &day);
    return asprintf(&path, "%.*s-%s%s", stem, output, text, suffix) >= 0 ? path : NULL;
}

/* Returns the latest time in the names of a set, or INT64_MIN. */
static int64_t latest_s(const struct recording_set *set)
{
    return set->count > 0 ? set->times_s[set->count - 1] : INT64_MIN;
}

/* Returns the path of the next file, and sets files->time_s. The time in the path is later than the
 * times of all existing files and traces. */
static char *next_path(struct record_files *files, const struct frame *frame)
{
    int64_t time_s =
        (frame->wall_clock_ns - (int64_t)(frame->end_ns - frame->start_ns)) / (int64_t)NS_PER_S;
    struct recording_set set;
    struct record_traces traces;
    char *path = NULL;

    if (files->rotate_ns == 0)
        return strdup(files->output);
    if (record_traces_find(&traces, &set, files->output) == CAMP_OK) {
        if (latest_s(&set) >= time_s)
            time_s = latest_s(&set) + 1;
        if (latest_s(&traces.set) >= time_s)
            time_s = latest_s(&traces.set) + 1;
        files->time_s = time_s;
        path = record_files_path(files->output, time_s, ".camp");
    }
    recording_set_release(&set);
    record_traces_release(&traces);
    return path;
}

/* Compares only file names. All files of a set are in one folder, but the path of the folder may
 * be written in several ways. */
static bool is_open(const struct record_files *files, const char *path)
{
    return files->recorder != NULL && strcmp(name_in_path(files->path), name_in_path(path)) == 0;
}

/* Returns the time of the last write to a file, or INT64_MAX if it is unknown. */
static int64_t written_s(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? (int64_t)status.st_mtime : INT64_MAX;
}

/* Returns how many of the first files of the set are too old. A file ends when the next file
 * starts. If the name of the next file lies in the future, because the clock was set back or a file
 * was copied, the file ended at its last write, and no later than each file after it. */
static size_t count_too_old(const struct record_files *files, const struct recording_set *set,
                            int64_t now_ns)
{
    const int64_t now_s = now_ns / (int64_t)NS_PER_S;
    int64_t end_s = now_s;
    size_t i = set->count - 1;

    if (files->keep_ns == 0)
        return 0;
    /* From the newest file to the oldest, because a file ended before the next one. */
    for (; i > 0; i--) {
        const int64_t next_s = set->times_s[i];
        const int64_t last_s = next_s <= now_s ? next_s : written_s(set->paths[i - 1]);

        end_s = last_s < end_s ? last_s : end_s;
        if (end_s * (int64_t)NS_PER_S + (int64_t)files->keep_ns <= now_ns)
            break;
    }
    return i;
}

static bool has_limit(const struct record_files *files)
{
    return files->keep_ns > 0 || files->keep_bytes > 0 || files->keep_files > 0;
}

/* Names the recordings of earlier runs that are removed when this run writes its first file. The
 * user may not expect that --keep also removes files of earlier runs. */
static void report_removed(const struct record_files *files, const struct recording_set *set,
                           size_t count)
{
    if (count == 1 && files->count == 1)
        complain(STATUS_OK, "--keep: removed %s of an earlier run", set->paths[0]);
    else if (count > 1 && files->count == 1)
        complain(STATUS_OK, "--keep: removed %zu files of earlier runs, %s to %s", count,
                 set->paths[0], set->paths[count - 1]);
}

/* All files of the recording: with --rotate, and the traces of --when that belong to them. */
struct all_files {
    struct recording_set set;
    struct record_traces traces;
};

static bool find_all(const struct record_files *files, struct all_files *ret)
{
    return record_traces_find(&ret->traces, &ret->set, files->output) == CAMP_OK;
}

static void release(struct all_files *all)
{
    recording_set_release(&all->set);
    record_traces_release(&all->traces);
}

static uint64_t size_of(const struct all_files *all)
{
    uint64_t size = record_traces_size(&all->traces);

    for (size_t i = 0; i < all->set.count; i++)
        size += recording_file_size(all->set.paths[i]);
    return size;
}

/* Removes a file, of which all older ones are removed, and its traces. Returns their bytes. */
static uint64_t remove_one(struct all_files *all, size_t i)
{
    const struct recording_set *set = &all->set;
    const uint64_t size = recording_file_size(set->paths[i]);

    recording_remove(set->paths[i]);
    return size + (i + 1 < set->count
                       ? record_traces_remove_before(&all->traces, set->times_s[i + 1])
                       : 0);
}

/* A trace may be as large as many recordings. So the oldest traces go first, those of the open file
 * included. Returns the bytes that are left. */
static uint64_t remove_traces(const struct record_files *files, struct all_files *all,
                              uint64_t size)
{
    struct record_traces *traces = &all->traces;
    const size_t first = traces->first, end = traces->end;
    const uint64_t most = files->keep_bytes;

    size -= record_traces_remove_oldest(traces, size > most ? size - most : 0, most);
    for (size_t i = first; i < end; i++) {
        if (i < traces->first || i >= traces->end)
            complain(STATUS_OK, "--keep: removed %s", traces->set.paths[i]);
    }
    return size;
}

static void remove_within(const struct record_files *files, struct all_files *all, int64_t now_ns)
{
    const struct recording_set *set = &all->set;
    const size_t too_old = set->count > 0 ? count_too_old(files, set, now_ns) : 0;
    uint64_t size;
    size_t i = 0;

    while (i < set->count && !is_open(files, set->paths[i]) &&
           (i < too_old || (files->keep_files > 0 && set->count - i > files->keep_files)))
        remove_one(all, i++);
    if (files->keep_bytes > 0) {
        size = remove_traces(files, all, size_of(all));
        while (size > files->keep_bytes && i < set->count && !is_open(files, set->paths[i]))
            size -= remove_one(all, i++);
    }
    report_removed(files, set, i);
}

/* Removes the oldest files until the remaining files are within the limits. Never removes the
 * file that is being written. */
static void remove_old(const struct record_files *files, int64_t now_ns)
{
    struct all_files all;

    if (!has_limit(files))
        return;
    if (find_all(files, &all))
        remove_within(files, &all, now_ns);
    release(&all);
}

/* Returns false if no file may be removed. */
static bool remove_oldest(const struct record_files *files)
{
    struct all_files all;
    bool removed = false;

    if (!has_limit(files) || files->rotate_ns == 0)
        return false;
    if (find_all(files, &all) && record_traces_remove_oldest(&all.traces, 1, UINT64_MAX) > 0) {
        complain(STATUS_OK, "the disk is full: removed %s to free space", all.traces.set.paths[0]);
        removed = true;
    } else if (all.set.count > 0 && !is_open(files, all.set.paths[0])) {
        complain(STATUS_OK, "the disk is full: removed %s to free space", all.set.paths[0]);
        remove_one(&all, 0);
        removed = true;
    }
    release(&all);
    return removed;
}

static void add_counts(struct recorder_counts *sum, struct recorder_counts counts)
{
    sum->ticks += counts.ticks;
    sum->rows += counts.rows;
    sum->written += counts.written;
    sum->bytes += counts.bytes;
}

/* When the disk is full, SQLite cannot move the last transactions from the -wal file into the
 * recording. */
static void report_wal(const char *path)
{
    char *wal;

    if (asprintf(&wal, "%s-wal", path) < 0)
        return;
    if (access(wal, F_OK) == 0)
        complain(STATUS_OK,
                 "%s holds a part of the recording: keep the two files together. With free space, "
                 "camp record --from %s --output FILE.camp makes one file of them",
                 wal, path);
    free(wal);
}

void record_files_close(struct record_files *files)
{
    if (files->recorder != NULL) {
        struct recorder_counts counts = recorder_counts(files->recorder);

        recorder_close(files->recorder);
        report_wal(files->path);
        counts.bytes = recording_file_size(files->path);
        add_counts(&files->earlier, counts);
    }
    files->recorder = NULL;
    free(files->path);
    files->path = NULL;
}

struct recorder_counts record_files_counts(const struct record_files *files)
{
    struct recorder_counts counts = files->earlier;

    if (files->recorder != NULL)
        add_counts(&counts, recorder_counts(files->recorder));
    return counts;
}

static int open_next(struct record_files *files, const struct frame *frame,
                     struct camp_error *error)
{
    int r;

    record_files_close(files);
    files->path = next_path(files, frame);
    if (files->path == NULL)
        return CAMP_E_NOMEM;
    files->begin_ns = frame->start_ns;
    r = recorder_open(&files->recorder, files->path, &files->about, error);
    files->count += r == CAMP_OK;
    if (r == CAMP_OK)
        remove_old(files, frame->wall_clock_ns);
    return r;
}

/* Returns whether an interval with the middle time_ns belongs to the next file. The ends of
 * intervals are late by fractions of a millisecond: by its end, an interval of 1 s would be too
 * long for the second half of 2 s. */
static bool ends_file(const struct record_files *files, uint64_t time_ns)
{
    return files->rotate_ns > 0 && time_ns > files->begin_ns + files->rotate_ns;
}

bool record_files_want_all(const struct record_files *files, uint64_t deadline_ns)
{
    return files->recorder == NULL || recorder_wants_key(files->recorder) ||
           ends_file(files, deadline_ns + LATE_NS);
}

static int write_once(struct record_files *files, const struct frame *frame,
                      const struct frame *beside, const struct causes *causes,
                      struct camp_error *error)
{
    const uint64_t middle_ns = frame->start_ns + (frame->end_ns - frame->start_ns) / 2;
    const bool has_passed = ends_file(files, middle_ns) && frame->omitted == 0;
    int r = CAMP_OK;

    if (files->recorder == NULL || has_passed)
        r = open_next(files, frame, error);
    return r == CAMP_OK ? recorder_write(files->recorder, frame, beside, causes, error) : r;
}

/* Forgets the open file, so that it is not counted. */
static void discard(struct record_files *files)
{
    recorder_close(files->recorder);
    files->recorder = NULL;
    files->count--;
}

/* Deletes a file without an interval: such a file is not a recording. */
static void remove_empty(struct record_files *files)
{
    if (files->recorder == NULL || recorder_counts(files->recorder).ticks > 0)
        return;
    discard(files);
    recording_remove(files->path);
}

static int complain_of_space(const struct record_files *files, const char *message)
{
    return complain(STATUS_FAILURE, "%s; %s", message,
                    record_files_counts(files).ticks > 0 ? "what was recorded until now is there"
                                                         : "nothing was recorded");
}

/* Returns whether to write again because another program held a lock for longer than the recorder
 * waits. The interval is kept meanwhile, and the next one is as long as the wait, so no time is
 * lost. */
static bool waits_for_lock(int result, const struct camp_error *error, bool *reported)
{
    if (result != CAMP_E_IO || error->system_error != EBUSY || stop_requested)
        return false;
    if (!*reported)
        complain(STATUS_OK, "%s: recording goes on when the lock is released", error->message);
    *reported = true;
    return true;
}

int record_files_write(struct record_files *files, const struct frame *frame,
                       const struct frame *beside, const struct causes *causes)
{
    struct camp_error error = { 0 };
    bool reported = false;
    int r;

    do
        r = write_once(files, frame, beside, causes, &error);
    while ((r == CAMP_E_SPACE && remove_oldest(files)) || waits_for_lock(r, &error, &reported));
    if (r == CAMP_OK && files->keep_bytes > 0)
        remove_old(files, frame->wall_clock_ns);
    if (r == CAMP_E_GONE && files->recorder != NULL)
        discard(files);
    else if (r != CAMP_OK)
        remove_empty(files);
    if (r == CAMP_E_SPACE)
        return complain_of_space(files, error.message);
    return r == CAMP_OK ? OPTIONS_GO_ON : complain_of(r, &error);
}

/* Parses a number of files: "24files". */
static bool parse_files(const char *text, uint64_t *ret)
{
    const size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > 9 ||
        (strcmp(text + digits, "files") != 0 && strcmp(text + digits, "file") != 0))
        return false;
    *ret = strtoull(text, NULL, 10);
    return true;
}

/* Other programs read a number without a unit as a number of files, but in camp it is a time in
 * seconds. So --keep requires a unit. */
static bool has_no_unit(const char *text)
{
    return text[0] != '\0' && text[strspn(text, ".0123456789")] == '\0';
}

int record_files_resolve_keep(struct record_files *files, const char *keep)
{
    if (keep == NULL)
        return OPTIONS_GO_ON;
    if (files->rotate_ns == 0)
        return complain(STATUS_USAGE, "--keep goes with --rotate: whole files are removed");
    if (has_no_unit(keep))
        return complain(STATUS_USAGE,
                        "--keep %s needs a unit: %sfiles, %sh (a time) or %sGB (of all files "
                        "together)",
                        keep, keep, keep, keep);
    if ((!parse_files(keep, &files->keep_files) && !parse_duration(keep, &files->keep_ns) &&
         !parse_size(keep, &files->keep_bytes)) ||
        files->keep_files + files->keep_ns + files->keep_bytes == 0)
        return complain(
            STATUS_USAGE,
            "--keep %s: give a number of files such as 24files, a time such as 24h, or a size such "
            "as 150kB, 20MB or 2GB",
            keep);
    if (files->keep_ns > 0 && files->keep_ns < files->rotate_ns)
        return complain(STATUS_USAGE,
                        "--keep %s is shorter than the time of one file (--rotate): give at least "
                        "that time",
                        keep);
    return OPTIONS_GO_ON;
}
