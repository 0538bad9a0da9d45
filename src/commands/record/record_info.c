/* camp record --info: prints a table with a row for each file of a recording, and their sums. */
#include "record_files.h"

#include "counters/units.h"
#include "ledger/array.h"
#include "ledger/characters.h"
#include "ledger/words.h"
#include "program/command.h"
#include "recording/recording.h"
#include "views/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEADLINE_SIZE 1024
#define CONTENTS_SIZE (RECORDING_LABELS_SIZE + 100)

/* The first fields have the order of enum recording_fact. */
static const struct field whole_fields[] = {
    { "source", NULL, "the recorded source, as --from names it", 0, 0 },
    { "kind", NULL, "what its rows are", 0, 0 },
    { "tier", NULL, "how it was measured", 0, 0 },
    { "host", NULL, "where", 0, 0 },
    { "kernel", NULL, "its kernel", 0, 0 },
    { "camp_version", NULL, "by which camp", 0, 0 },
    { "format", NULL, "of the file: docs/recording.md", 0, 0 },
    { "table", NULL, "the view of its rows, for SQL", 0, 0 },
    { "beside", NULL, "the view of a second source in the same file", 0, 0 },
    { "note", NULL, "how it was read", 0, 0 },
    { "begin", NULL, "of the first interval", 0, 0 },
    { "end", NULL, "of the last one", 0, 0 },
    { "intervals", NULL, "recorded in all files", 0, 0 },
    { "readable", NULL, "of these, before the damage of a file", 0, 0 },
    { "gaps", NULL, "in all files, and between them", 0, 0 },
    { "size_bytes", NULL, "of all files", 0, 0 },
    { "rotated_files", NULL, "of this name, this one among them; 0: it was not rotated", 0, 0 },
    { "causes", NULL, "of waits are in it (camp record --why)", 0, 0 },
    { "labels", NULL, "that its rows have, such as container (--containers) or a session's user", 0,
      0 },
};

static const struct field file_fields[] = {
    { "file", "file", "", 0, 0 },
    { "begin", "begin", "of its first interval", 0, 0 },
    { "end", "end", "of its last one", 0, 0 },
    { "interval_s", "interval s", "the usual length", 0, 3 },
    { "intervals", "intervals", "recorded ones", 0, 0 },
    { "readable", "readable", "of these, before the damage", 0, 0 },
    { "entities", "entities", "that were ever in it", 0, 0 },
    { "rows", "rows", "written rows: only changed ones", 0, 0 },
    { "gaps", "gaps", "intervals of more than two usual ones, or time is missing, or went back", 0,
      0 },
    { "size_bytes", "bytes", "", 0, 0 },
    { "damaged", "damaged", "it ends too early, or was overwritten", 0, 0 },
};

struct file {
    struct recording_info info;
    char begin[TIME_TEXT_SIZE], end[TIME_TEXT_SIZE];
};

struct information {
    struct recording_set set;
    size_t rotated;     /* number of rotated files of the recording, or 0 if it was not rotated */
    struct file *files; /* [set.count] */
    struct cell *cells; /* [set.count x ARRAY_COUNT(file_fields)] */
    /* The first and the last file that is a recording. NULL if there is none. */
    const struct file *first, *last;
    int64_t intervals, readable, gaps;
    uint64_t bytes;
    bool size_is_unknown; /* of at least one file */
    struct cell whole[ARRAY_COUNT(whole_fields)];
    char headline[HEADLINE_SIZE], together[200], contents[CONTENTS_SIZE];
};

/* Counts the files of the rotated recording to which `path` belongs: 0 if there is none. For
 * run-20261122T020000Z.camp, the recording is run.camp. */
static int count_rotated(const char *path, size_t *ret)
{
    const char *dash = strrchr(path, '-');
    struct recording_set set;
    char *output;
    int r;

    *ret = 0;
    if (dash == NULL)
        return CAMP_OK;
    if (asprintf(&output, "%.*s.camp", (int)(dash - path), path) < 0)
        return CAMP_E_NOMEM;
    r = recording_set_find(&set, output);
    if (r == CAMP_OK) {
        for (size_t i = 0; i < set.count; i++) {
            if (strcmp(name_in_path(set.paths[i]), name_in_path(path)) == 0)
                *ret = set.count;
        }
        recording_set_release(&set);
    }
    free(output);
    return r;
}

static int find_files(struct information *information, const char *path)
{
    struct recording_set *set = &information->set;
    struct stat status;

    if (stat(path, &status) != 0 || S_ISDIR(status.st_mode)) {
        const int r = recording_set_find(set, path);

        information->rotated = set->count;
        return r;
    }
    set->paths = calloc(1, sizeof *set->paths);
    if (set->paths == NULL || (set->paths[0] = strdup(path)) == NULL)
        return CAMP_E_NOMEM;
    set->count = 1;
    return count_rotated(path, &information->rotated);
}

static struct cell count_or_unknown(int64_t count)
{
    return count >= 0 ? cell_integer(count) : cell_unknown();
}

/* Returns the size of the file with its -wal file. A file that was read is not empty, so for it 0
 * means that stat(2) failed. */
static struct cell size_of(struct information *information, const char *path, bool is_read)
{
    const uint64_t bytes = recording_file_size(path);

    information->bytes += bytes;
    if (bytes > 0 || !is_read)
        return cell_natural(bytes);
    information->size_is_unknown = true;
    return cell_unknown();
}

static void fill_file(struct information *information, size_t at, bool is_read)
{
    struct file *file = &information->files[at];
    const struct recording_info *info = &file->info;
    struct cell *cells = &information->cells[at * ARRAY_COUNT(file_fields)];

    if (info->begin_ns >= 0)
        time_text(file->begin, sizeof file->begin, info->begin_ns);
    if (info->end_ns >= 0)
        time_text(file->end, sizeof file->end, info->end_ns);
    *cells++ = cell_text(information->set.paths[at]);
    *cells++ = cell_text_or_unknown(file->begin);
    *cells++ = cell_text_or_unknown(file->end);
    *cells++ = cell_real(info->usual_ns >= 0 ? (double)info->usual_ns / NS_PER_S : NAN);
    *cells++ = count_or_unknown(info->intervals);
    *cells++ = count_or_unknown(info->readable);
    *cells++ = count_or_unknown(info->entities);
    *cells++ = count_or_unknown(info->rows);
    *cells++ = count_or_unknown(info->gaps);
    *cells++ = size_of(information, information->set.paths[at], is_read);
    *cells++ = cell_boolean(info->is_damaged);
}

/* Adds a file to the sums. A gap between two files also counts as a gap. */
static void add_up(struct information *information, const struct file *file)
{
    const struct recording_info *info = &file->info;

    if (information->last != NULL && info->begin_ns >= 0 && information->last->info.end_ns >= 0 &&
        llabs(info->begin_ns - information->last->info.end_ns) > info->usual_ns / 2)
        information->gaps++;
    /* The number of intervals of a damaged file may be unknown (-1). */
    information->intervals += info->intervals > info->readable ? info->intervals : info->readable;
    information->readable += info->readable;
    information->gaps += info->gaps > 0 ? info->gaps : 0;
    if (information->first == NULL)
        information->first = file;
    information->last = file;
}

static int complain_of_damage(const struct recording_info *info, const char *path)
{
    if (info->intervals < 0)
        return complain(STATUS_FAILURE, "%s is damaged: %" PRId64 " intervals can be read", path,
                        info->readable);
    return complain(STATUS_FAILURE,
                    "%s is damaged: %" PRId64 " of %" PRId64 " intervals can be read", path,
                    info->readable, info->intervals);
}

static int read_files(struct information *information)
{
    const size_t count = information->set.count;
    int status = STATUS_OK;

    information->files = calloc(count, sizeof *information->files);
    information->cells = calloc(count * ARRAY_COUNT(file_fields), sizeof *information->cells);
    if (information->files == NULL || information->cells == NULL)
        return complain(STATUS_FAILURE, "out of memory");
    for (size_t i = 0; i < count; i++) {
        struct camp_error error = { 0 };
        const int r =
            recording_info_read(&information->files[i].info, information->set.paths[i], &error);

        if (r != CAMP_OK)
            status = complain_of(r, &error);
        else
            add_up(information, &information->files[i]);
        if (r == CAMP_OK && information->files[i].info.is_damaged)
            status = complain_of_damage(&information->files[i].info, information->set.paths[i]);
        fill_file(information, i, r == CAMP_OK);
    }
    if (status == STATUS_OK && information->size_is_unknown)
        status = complain(STATUS_PARTIAL, "the size of a file cannot be read");
    return status;
}

static bool is_of_threads(const struct recording_info *info)
{
    return strcmp(info->facts[RECORDING_TABLE], "threads") == 0;
}

/* Says what a recording has only on request: the causes of waits, and labels. */
static void describe_contents(struct information *information)
{
    const struct recording_info *info = &information->first->info;
    char labels[RECORDING_LABELS_SIZE];

    snprintf(labels, sizeof labels, "%s", info->labels);
    for (char *at = labels; *at != '\0'; at++)
        *at = *at == ';' ? ' ' : *at;
    snprintf(information->contents, sizeof information->contents, "%s%s%s",
             info->has_causes      ? "with causes of waits; "
             : is_of_threads(info) ? "without causes of waits (camp record --why); "
                                   : "",
             labels[0] != '\0' ? "labels: " : "no labels", labels);
}

static void fill_whole(struct information *information)
{
    const char(*facts)[FRAME_NOTE_SIZE] = information->first->info.facts;
    struct cell *cells = information->whole;
    char unread[48] = "", size[32] = "unknown size";

    for (int i = 0; i <= RECORDING_NOTE; i++)
        *cells++ = cell_text_or_unknown(facts[i]);
    *cells++ = cell_text_or_unknown(information->first->begin);
    *cells++ = cell_text_or_unknown(information->last->end);
    *cells++ = cell_integer(information->intervals);
    *cells++ = cell_integer(information->readable);
    *cells++ = cell_integer(information->gaps);
    *cells++ = information->size_is_unknown ? cell_unknown() : cell_natural(information->bytes);
    *cells++ = cell_natural(information->rotated);
    *cells++ = cell_boolean(information->first->info.has_causes);
    *cells++ = information->first->info.labels[0] != '\0'
                   ? cell_list(information->first->info.labels)
                   : cell_unknown();
    snprintf(information->headline, sizeof information->headline,
             "%.600s (%.20s), %.60s%s%.60s, %.12s, camp %.20s; view %.40s%s%.40s",
             facts[RECORDING_SOURCE], facts[RECORDING_TIER],
             facts[RECORDING_HOST][0] != '\0' ? facts[RECORDING_HOST] : "?",
             facts[RECORDING_KERNEL][0] != '\0' ? ", " : "", facts[RECORDING_KERNEL],
             facts[RECORDING_FORMAT], facts[RECORDING_CAMP], facts[RECORDING_TABLE],
             facts[RECORDING_BESIDE][0] != '\0' ? " and " : "", facts[RECORDING_BESIDE]);
    make_printable(information->headline);
    describe_contents(information);
    if (information->readable != information->intervals)
        snprintf(unread, sizeof unread, ", of which %" PRId64 " can be read",
                 information->readable);
    if (!information->size_is_unknown)
        snprintf(size, sizeof size, "%.1f MB", (double)information->bytes / 1e6);
    snprintf(information->together, sizeof information->together,
             "%" PRId64 " %s%s, %" PRId64 " %s, %s%s", information->intervals,
             noun_of((uint64_t)information->intervals, "interval", "intervals"), unread,
             information->gaps, noun_of((uint64_t)information->gaps, "gap", "gaps"), size,
             information->rotated > 1 && information->set.count == 1
                 ? "; one of several that were rotated"
                 : "");
}

static int show(struct information *information, const char *format)
{
    const struct view_options options = { .stream = stdout };
    const char *note = information->first->info.facts[RECORDING_NOTE];
    const char *notes[] = { information->contents, information->together,
                            note[0] != '\0' ? note : NULL, NULL };
    const struct table tables[] = {
        { "whole", TABLE_INLINE, whole_fields, ARRAY_COUNT(whole_fields), information->whole, 1,
          true },
        { "files", TABLE_ROWS, file_fields, ARRAY_COUNT(file_fields), information->cells,
          information->set.count, false },
    };
    const struct record record = { "camp.recording/1", information->headline, tables, 2, 1, notes };
    const int failed = view_by_name(format)->record(&options, &record, 0);

    return failed != 0 ? output_failed(failed) : STATUS_OK;
}

static void release(struct information *information)
{
    recording_set_release(&information->set);
    free(information->files);
    free(information->cells);
}

int record_info(const char *path, const char *format)
{
    struct information information = { 0 };
    struct camp_error error = { 0 };
    const int r = recording_set_check(path, &error);
    int status = STATUS_FAILURE, shown;

    if (r != CAMP_OK)
        return complain_of(r, &error);
    if (find_files(&information, path) != CAMP_OK)
        complain(status, "out of memory");
    else if (information.set.count == 0)
        complain(status, "%s: no such recording, and no rotated files of this name or folder",
                 path);
    else if (information.rotated == information.set.count &&
             !recording_set_is_one(&information.set))
        complain(status, "%s has recordings of more than one name: say which, FOLDER/NAME.camp",
                 path);
    else
        status = read_files(&information);
    if (information.first != NULL) {
        fill_whole(&information);
        shown = show(&information, format);
        status = status == STATUS_OK ? shown : status;
    }
    release(&information);
    return status;
}
