/*
 * A clock, a source and a model of the recording, for a month in minutes. The clock is given, so
 * nothing waits but a lock. The source has a number for each interval, from which each value is
 * derived, and its labels change in every interval. The model knows which interval is in which
 * file.
 */
#pragma once

#include "commands/record/record_files.h"
#include "recording/recording.h"

#include "../tree.h"

#include <fcntl.h>

#define SECOND_NS UINT64_C(1000000000)
#define DAY_NS (86400 * SECOND_NS)
#define DAYS 31
#define INTERVAL_NS (5 * SECOND_NS)
#define INTERVALS (DAYS * DAY_NS / INTERVAL_NS)
#define ROTATE_NS (6 * 3600 * SECOND_NS)
#define KEEP_NS (48 * 3600 * SECOND_NS)
#define ENTITIES 3
#define LIFE 1000 /* intervals until another entity replaces an entity */
#define MONTH_FILES 1000

static const struct column month_columns[] = {
    { "run_ns", "run", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU, NULL },
    { "sleep_ns", "sleep", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE, NULL },
    { "number", "number", "", COLUMN_COUNTER, CAMP_MEASURED, CLASS_NONE, NULL },
};
static const char *const month_labels[] = { "user", "database", "application", "query" };
static const struct schema month_schema = { "made", month_columns, COUNT(month_columns),
                                            2,      month_labels,  COUNT(month_labels) };

/* A file of the recording. */
struct month_file {
    char *path;
    uint64_t first, count; /* numbers of its intervals */
    uint64_t end_ns;       /* of the last one, by the monotonic clock */
    uint64_t unseen;       /* the sum of its counted losses */
    int64_t gaps;
    bool is_removed;
};

static struct {
    uint64_t now_ns;  /* monotonic */
    int64_t ahead_ns; /* the wall clock minus the monotonic clock */
    struct month_file files[MONTH_FILES];
    size_t count;
} month;

/* Fills the values of the interval `number`, whose times are those of the frame. */
static void month_fill(struct frame *frame, uint64_t number)
{
    frame->losses = (struct losses){ .unseen = number % 11 == 0 };
    for (size_t i = 0; i < ENTITIES; i++) {
        struct entity *entity = frame_add(frame);
        const uint64_t length = frame->end_ns - frame->start_ns;
        uint64_t *values = frame_values(frame, i);
        char texts[COUNT(month_labels)][LABELS_VALUE_SIZE];
        const char *labels[COUNT(month_labels)];

        assert_non_null(entity);
        for (size_t at = 0; at < COUNT(month_labels); at++) {
            snprintf(texts[at], sizeof texts[at], "%-80s%12d of entity %3d", month_labels[at],
                     (int)number, (int)i);
            labels[at] = texts[at];
        }
        entity->id = (int64_t)(i + ENTITIES * ((number + i * LIFE / ENTITIES) / LIFE));
        snprintf(entity->name, sizeof entity->name, "e%d", (int)i);
        entity->labels = labels_intern(labels, COUNT(labels));
        frame->elapsed_ns[i] = length;
        values[0] = 1 + (number * 7919 + i) % (length - 1);
        values[1] = length - values[0];
        values[2] = number;
    }
    frame_count_lost_labels(frame);
}

/* Returns what is wrong with a row that was read, or NULL. */
static const char *month_compare(const struct frame *read, size_t row, const struct frame *written)
{
    const struct entity *entity = &read->entities[row];
    size_t i = 0;

    /* The rows may be in another order. */
    while (i < written->entity_count && written->entities[i].id != entity->id)
        i++;
    if (i == written->entity_count)
        return "an entity is another one";
    if (entity->labels != written->entities[i].labels)
        return "labels differ";
    if (read->elapsed_ns[row] != written->elapsed_ns[i])
        return "a time differs";
    if (memcmp(frame_values(read, row), frame_values(written, i),
               month_schema.column_count * sizeof(uint64_t)) != 0)
        return "values differ";
    return NULL;
}

/* Compares an interval that was read with what was written. */
static void month_check_frame(const struct frame *read, uint64_t number)
{
    const char *problem = NULL;
    struct frame written;

    frame_init(&written, &month_schema);
    written.start_ns = read->start_ns;
    written.end_ns = read->end_ns;
    month_fill(&written, number);
    if (read->entity_count != ENTITIES || read->losses.partial != 0 ||
        read->losses.unseen != written.losses.unseen)
        problem = "its rows or losses differ";
    for (size_t i = 0; i < read->entity_count && problem == NULL; i++)
        problem = month_compare(read, i, &written);
    if (problem != NULL)
        fail_msg("interval %d: %s", (int)number, problem);
    frame_release(&written);
}

/* Reads a complete file, and compares each of its intervals. */
static void month_check_file(const struct month_file *file)
{
    const struct from from = { .text = file->path };
    struct camp_error error = { 0 };
    struct from_facts facts = { 0 };
    uint64_t count = 0, unseen = 0, end_ns = 0;
    struct recording_info info;
    struct source *source;
    const struct frame *read;
    int r;

    if (recording_info_read(&info, file->path, &error) != CAMP_OK || info.is_damaged ||
        info.gaps != file->gaps)
        fail_msg("%s: %d gaps instead of %d. %s", file->path, (int)info.gaps, (int)file->gaps,
                 error.message);
    if (recording_source_open(&from, file->path, &source, &facts, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    while ((r = source->next(source, 0, &read, &error)) == CAMP_OK) {
        labels_start_interval();
        if (count > 0 && read->start_ns != end_ns)
            fail_msg("%s: time is missing before interval %d", file->path, (int)count);
        end_ns = read->end_ns;
        unseen += read->losses.unseen;
        month_check_frame(read, file->first + count++);
    }
    source_close(source);
    if (r != SOURCE_END || count != file->count || unseen != file->unseen || end_ns != file->end_ns)
        fail_msg("%s: %d of %d intervals. %s", file->path, (int)count, (int)file->count,
                 error.message);
}

/* The clock of the file system is given, too: a file was written last when its last interval ended.
 * --keep TIME reads this time when the clock was set back. */
static void month_set_file_time(const struct month_file *file)
{
    const int64_t wall_ns = (int64_t)file->end_ns + month.ahead_ns;
    const struct timespec time = { (time_t)(wall_ns / (int64_t)SECOND_NS), 0 };
    const struct timespec times[] = { time, time };

    assert_int_equal(utimensat(AT_FDCWD, file->path, times, 0), 0);
}

/* Notices which files are no longer there. Returns the size of the others. */
static uint64_t month_find_removed(void)
{
    uint64_t size = 0;

    for (size_t i = 0; i < month.count; i++) {
        month.files[i].is_removed =
            month.files[i].is_removed || access(month.files[i].path, F_OK) != 0;
        if (!month.files[i].is_removed)
            size += recording_file_size(month.files[i].path);
    }
    return size;
}

/* Adds an interval to the model. Returns whether it is the first one of a file. */
static bool month_add(const char *path, uint64_t number, const struct frame *frame, bool is_gap)
{
    const bool is_first = month.count == 0 || strcmp(month.files[month.count - 1].path, path) != 0;
    struct month_file *file;

    if (is_first) {
        assert_true(month.count < MONTH_FILES);
        month.files[month.count++] = (struct month_file){ .path = strdup(path), .first = number };
    }
    file = &month.files[month.count - 1];
    file->count++;
    file->end_ns = frame->end_ns;
    file->unseen += frame->losses.unseen;
    file->gaps += is_gap;
    return is_first;
}
