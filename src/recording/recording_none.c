/* Replaces recordings in builds without SQLite. Each call fails with a message. */
#include "counters/error.h"
#include "recorder.h"
#include "recording.h"

static int refuse(const char *path, struct camp_error *error)
{
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "%s: this camp was built without SQLite; install libsqlite3-dev and build "
                     "it again",
                     path);
}

int recording_info_read(struct recording_info *ret, const char *path, struct camp_error *error)
{
    (void)ret;
    return refuse(path, error);
}

int recording_source_open(const struct from *from, const char *path, struct source **ret,
                          struct from_facts *ret_facts, struct camp_error *error)
{
    (void)from, (void)ret, (void)ret_facts;
    return refuse(path, error);
}

int recorder_open(struct recorder **ret, const char *path, const struct recorder_about *about,
                  struct camp_error *error)
{
    (void)ret, (void)about;
    return refuse(path, error);
}

bool recorder_is_writing(const char *path)
{
    (void)path;
    return false;
}

/* The functions below are never called, because recorder_open() always fails. */

bool recorder_wants_key(const struct recorder *recorder)
{
    (void)recorder;
    return false;
}

int recorder_write(struct recorder *recorder, const struct frame *frame, const struct frame *beside,
                   const struct causes *causes, struct camp_error *error)
{
    (void)recorder, (void)frame, (void)beside, (void)causes, (void)error;
    return CAMP_E_NOTSUP;
}

struct recorder_counts recorder_counts(const struct recorder *recorder)
{
    (void)recorder;
    return (struct recorder_counts){ 0 };
}

void recorder_close(struct recorder *recorder)
{
    (void)recorder;
}
