/* Finds the files of a rotated recording, and reads them as one source. */
#include "recording_inside.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "ledger/words.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX ".camp"
#define TIME_LENGTH 16         /* length of 20261122T020000Z */
#define NO_INTERVAL_BYTES 4096 /* each of the tables of an interval has a page of SQLite */

static bool is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Reads a text that starts like 20261122T020000Z. Returns false if it does not. sscanf(3) would
 * also accept blanks. */
static bool read_time(const char *text, struct tm *ret)
{
    const bool has_digits = strspn(text, "0123456789") == 8 && text[8] == 'T' &&
                            strspn(text + 9, "0123456789") == 6 && text[15] == 'Z';

    if (!has_digits || sscanf(text, "%4d%2d%2dT%2d%2d%2d", &ret->tm_year, &ret->tm_mon,
                              &ret->tm_mday, &ret->tm_hour, &ret->tm_min, &ret->tm_sec) != 6)
        return false;
    ret->tm_year -= 1900;
    ret->tm_mon--;
    return ret->tm_mon >= 0 && ret->tm_mon < 12 && ret->tm_mday >= 1 && ret->tm_mday <= 31 &&
           ret->tm_hour < 24 && ret->tm_min < 60 && ret->tm_sec <= 60;
}

/* Returns whether the name is STEM-20261122T020000Z and the suffix. stem_length 0: any stem. */
static bool is_of_set(const char *name, const char *stem, size_t stem_length, const char *suffix,
                      int64_t *ret_time_s)
{
    const size_t tail = TIME_LENGTH + strlen(suffix), length = strlen(name);
    struct tm day = { 0 };
    const char *time;

    if (length < tail + 2)
        return false;
    time = name + length - tail;
    if (time[-1] != '-' || (stem_length > 0 && (length - tail - 1 != stem_length ||
                                                strncmp(name, stem, stem_length) != 0)))
        return false;
    if (!read_time(time, &day) || strcmp(time + TIME_LENGTH, suffix) != 0)
        return false;
    *ret_time_s = (int64_t)timegm(&day);
    return true;
}

static int add(struct recording_set *set, const char *folder, const char *name, int64_t time_s)
{
    if (!ARRAYS_RESERVE(set->capacity, set->count + 1, ARRAY(set->paths), ARRAY(set->times_s)))
        return CAMP_E_NOMEM;
    set->times_s[set->count] = time_s;
    return asprintf(&set->paths[set->count], "%s/%s", folder, name) < 0 ? CAMP_E_NOMEM
                                                                        : (set->count++, CAMP_OK);
}

/* Splits a path such as "folder/run.camp" into its folder, which the caller frees, and "run". */
static char *split(const char *path, const char **ret_stem, size_t *ret_stem_length)
{
    const char *slash = strrchr(path, '/');

    *ret_stem = slash != NULL ? slash + 1 : path;
    *ret_stem_length = recording_stem_length(*ret_stem);
    if (slash == NULL)
        return strdup(".");
    return strndup(path, slash > path ? (size_t)(slash - path) : 1);
}

/* Also finds the files with another suffix, unless `ret_others` is NULL. */
static int find_in(const char *folder, const char *stem, size_t stem_length,
                   struct recording_set *ret, const char *suffix, struct recording_set *ret_others)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, NULL, alphasort);
    int r = CAMP_OK;

    if (count < 0 && errno == ENOMEM)
        r = CAMP_E_NOMEM;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        int64_t time_s;

        if (r == CAMP_OK && is_of_set(name, stem, stem_length, SUFFIX, &time_s))
            r = add(ret, folder, name, time_s);
        else if (r == CAMP_OK && ret_others != NULL &&
                 is_of_set(name, stem, stem_length, suffix, &time_s))
            r = add(ret_others, folder, name, time_s);
        free(entries[i]);
    }
    free(entries);
    if (r != CAMP_OK)
        recording_set_release(ret);
    return r;
}

int recording_set_find_both(struct recording_set *ret, struct recording_set *ret_others,
                            const char *output, const char *suffix)
{
    const char *stem;
    size_t stem_length;
    char *folder = split(output, &stem, &stem_length);
    int r = CAMP_OK;

    *ret = (struct recording_set){ 0 };
    if (ret_others != NULL)
        *ret_others = *ret;
    if (folder == NULL)
        return CAMP_E_NOMEM;
    if (stem_length > 0)
        r = find_in(folder, stem, stem_length, ret, suffix, ret_others);
    free(folder);
    return r;
}

int recording_set_find_made(struct recording_set *ret, const char *output)
{
    return recording_set_find_both(ret, NULL, output, "");
}

int recording_set_find(struct recording_set *ret, const char *path)
{
    *ret = (struct recording_set){ 0 };
    if (is_folder(path))
        return find_in(path, "", 0, ret, "", NULL);
    return recording_set_find_made(ret, path);
}

int recording_set_check(const char *path, struct camp_error *error)
{
    if (access(path, F_OK) != 0)
        return errno == ENOENT || errno == ENOTDIR ? CAMP_OK : camp_fail_errno(error, errno, path);
    return is_folder(path) && access(path, R_OK | X_OK) != 0 ? camp_fail_errno(error, errno, path)
                                                             : CAMP_OK;
}

bool recording_set_is_one(const struct recording_set *set)
{
    const size_t tail = TIME_LENGTH + strlen(SUFFIX);

    for (size_t i = 1; i < set->count; i++) {
        const size_t length = strlen(set->paths[i]);

        if (length != strlen(set->paths[0]) ||
            strncmp(set->paths[i], set->paths[0], length - tail) != 0)
            return false;
    }
    return true;
}

void recording_set_release(struct recording_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->paths[i]);
    free(set->paths);
    free(set->times_s);
    *set = (struct recording_set){ 0 };
}

struct replay_source {
    /* This member must be first, because struct replay_source is cast to struct source. */
    struct source source;
    /* Options for each file. `progress` is NULL, because progress counts the intervals of all
     * files. */
    struct from from;
    void (*progress)(void *context, uint64_t done, uint64_t total);
    struct recording_set set;
    size_t at;
    /* The source of the first file. It stays open, because all frames have its schemas. */
    struct source *first;
    struct source *current; /* may equal `first` */
    uint64_t done, frames;  /* intervals that were read, and those in all files */
    int failed;             /* error code of the first file that could not be read to its end */
    struct camp_error failure;
    struct frame frame, beside;
    const char *division; /* of source_set_division() */
};

bool recording_is_path(const char *text)
{
    return text[recording_stem_length(text)] != '\0' || is_folder(text);
}

static const struct schema *describe(const struct source *base)
{
    const struct replay_source *source = (const struct replay_source *)base;

    return source->first->describe(source->first);
}

static bool is_same_source(const struct source *left, const struct source *right)
{
    const struct frame *left_beside = source_beside(left), *right_beside = source_beside(right);

    return recording_is_same_schema(left->describe(left), right->describe(right)) &&
           (left_beside == NULL) == (right_beside == NULL) &&
           (left_beside == NULL ||
            recording_is_same_schema(left_beside->schema, right_beside->schema));
}

static const struct frame *adopt(struct frame *ret, const struct frame *frame,
                                 const struct schema *schema)
{
    *ret = *frame;
    ret->schema = schema;
    return ret;
}

static int open_file(struct replay_source *source, size_t at, struct source **ret,
                     struct camp_error *error)
{
    struct from_facts facts = { 0 };

    return recording_source_open(&source->from, source->set.paths[at], ret, &facts, error);
}

static int open_next(struct replay_source *source, struct camp_error *error)
{
    struct source *next;
    int r;

    if (source->at + 1 >= source->set.count)
        return SOURCE_END;
    r = open_file(source, ++source->at, &next, error);
    if (r != CAMP_OK)
        return r;
    if (source->current != source->first)
        source_close(source->current);
    source->current = next;
    source_set_division(next, source->division);
    if (!is_same_source(source->first, next))
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         "%s has other columns or labels than the files before it: read this file "
                         "alone",
                         source->set.paths[source->at]);
    return CAMP_OK;
}

static const struct frame *beside(const struct source *base)
{
    const struct replay_source *source = (const struct replay_source *)base;

    if (source_beside(source->current) == NULL)
        return NULL;
    return adopt((struct frame *)&source->beside, source_beside(source->current),
                 source_beside(source->first)->schema);
}

static void set_division(struct source *base, const char *label)
{
    struct replay_source *source = (struct replay_source *)base;

    source->division = label;
    source_set_division(source->first, label);
    source_set_division(source->current, label); /* the same, or a later one */
}

static int causes(struct source *base, const struct causes **ret, struct camp_error *error)
{
    return source_causes(((struct replay_source *)base)->current, ret, error);
}

/* Returns true if a failure concerns one file only, so that the others can be read. */
static bool is_of_file(int code)
{
    return code == CAMP_E_FORMAT || code == CAMP_E_GONE || code == CAMP_E_PERM ||
           code == CAMP_E_IO || code == CAMP_E_NOTSUP;
}

/* Opens the next file after the current file has ended or failed. The error of the first file that
 * failed is returned after the last file. */
static int next_file(struct replay_source *source, int r, struct camp_error *error)
{
    if (r != SOURCE_END && source->failed == CAMP_OK) {
        source->failed = r;
        source->failure = *error;
    }
    r = open_next(source, error);
    if (r == SOURCE_END && source->failed != CAMP_OK) {
        *error = source->failure;
        return source->failed;
    }
    return r;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct replay_source *source = (struct replay_source *)base;
    const struct frame *frame = NULL;
    int r = source->current->next(source->current, deadline_ns, &frame, error);

    while (r == SOURCE_END || is_of_file(r)) {
        const bool is_last = source->at + 1 >= source->set.count;

        r = next_file(source, r, error);
        if (is_last)
            return r;
        if (r == CAMP_OK)
            r = source->current->next(source->current, deadline_ns, &frame, error);
    }
    if (r != CAMP_OK)
        return r;
    *ret_frame = adopt(&source->frame, frame, describe(base));
    if (source->progress != NULL && source->from.speed <= 0)
        source->progress(source->from.context, ++source->done, source->frames);
    return CAMP_OK;
}

static void close_replay(struct source *base)
{
    struct replay_source *source = (struct replay_source *)base;

    if (source->current != source->first)
        source_close(source->current);
    source_close(source->first);
    recording_set_release(&source->set);
    free(source);
}

static void drop_file(struct recording_set *set, size_t at)
{
    free(set->paths[at]);
    set->count--;
    memmove(&set->paths[at], &set->paths[at + 1], (set->count - at) * sizeof *set->paths);
    memmove(&set->times_s[at], &set->times_s[at + 1], (set->count - at) * sizeof *set->times_s);
}

/* Notes that a file cannot be opened. It is no failure if --keep has removed the file since it was
 * found, or if it has no interval: the recorder has written none yet, or power failed before the
 * first one. */
static void note_failure(struct replay_source *source, const char *path, int code,
                         const struct camp_error *error)
{
    struct stat status;
    const bool is_torn = code == CAMP_E_FORMAT && stat(path, &status) == 0 &&
                         S_ISREG(status.st_mode) && recording_file_size(path) <= NO_INTERVAL_BYTES;

    if (source->failed == CAMP_OK && code != CAMP_E_GONE && !is_torn) {
        source->failed = code;
        source->failure = *error;
    }
}

/* Opens each file once, to add up the numbers of intervals. The first file stays open. A file that
 * cannot be opened is left out, and its error is returned after the last file. */
static int open_all(struct replay_source *source, struct from_facts *facts,
                    struct camp_error *error)
{
    const struct from_facts named = *facts;
    int r = CAMP_OK;

    for (size_t i = 0; i < source->set.count;) {
        struct from_facts of_file = named;
        struct source *file;

        r = recording_source_open(&source->from, source->set.paths[i], &file, &of_file, error);
        if (is_of_file(r)) {
            note_failure(source, source->set.paths[i], r, error);
            drop_file(&source->set, i);
            continue;
        }
        if (r != CAMP_OK)
            return r;
        if (i++ == 0) {
            source->first = file;
            *facts = of_file;
            continue;
        }
        facts->frames += of_file.frames;
        facts->end_ns = of_file.end_ns;
        facts->has_causes |= of_file.has_causes;
        source_close(file);
    }
    source->current = source->first;
    if (source->failed != CAMP_OK)
        snprintf(facts->note, sizeof facts->note, "Not all of its files can be read: %s",
                 source->failure.message);
    return source->first != NULL ? CAMP_OK : r;
}

static int open_set(const struct from *from, const char *path, struct source **ret,
                    struct from_facts *ret_facts, struct camp_error *error)
{
    struct replay_source *source = calloc(1, sizeof *source);
    int r;

    if (source == NULL)
        return CAMP_E_NOMEM;
    source->source = (struct source){ .describe = describe,
                                      .next = next,
                                      .close = close_replay,
                                      .beside = beside,
                                      .causes = causes,
                                      .set_division = set_division };
    source->from = *from;
    source->progress = from->progress;
    source->from.progress = NULL;
    r = recording_set_find(&source->set, path);
    if (r == CAMP_OK && source->set.count == 0)
        r = camp_fail(error, CAMP_E_GONE, 0,
                      is_folder(path) ? "%s: this folder has no rotated recordings "
                                        "(NAME-20261122T020000Z.camp)"
                                      : "%s: there is no such recording",
                      path);
    if (r == CAMP_OK && !recording_set_is_one(&source->set))
        r = camp_fail(
            error, CAMP_E_INVALID, 0,
            "%s has recordings of more than one name: give FOLDER/NAME.camp for the files "
            "NAME-20261122T020000Z.camp",
            path);
    if (r == CAMP_OK)
        r = open_all(source, ret_facts, error);
    if (r != CAMP_OK) {
        close_replay(&source->source);
        return r;
    }
    source->frames = ret_facts->frames;
    *ret = &source->source;
    return CAMP_OK;
}

int recording_replay_open(const struct from *from, const char *path, struct source **ret,
                          struct from_facts *ret_facts, struct camp_error *error)
{
    struct stat status;
    const int r = recording_set_check(path, error);

    if (r != CAMP_OK)
        return r;
    if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
        return recording_source_open(from, path, ret, ret_facts, error);
    return open_set(from, path, ret, ret_facts, error);
}
