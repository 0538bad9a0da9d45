/* The file of a recording: is it one, and what does it say of itself? */
#ifndef CAMP_RECORDING_RECORDING_FILE_H
#define CAMP_RECORDING_RECORDING_FILE_H

#include <camp/camp.h>

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* To be read only, whatever else it is. *ret is the caller's to close, also when this fails:
 * CAMP_E_FORMAT, it is no recording, or of a newer camp; CAMP_E_GONE, there is none. */
int recording_file_open(sqlite3 **ret, const char *path, struct camp_error *error);

/* CAMP_E_FORMAT: there is no interval in it. The message names the likely cause. */
int recording_file_fail_empty(const char *path, struct camp_error *error);

/* A number by a statement with one parameter at most. CAMP_OK with 0 where there is none. */
int recording_file_number(sqlite3 *database, const char *path, const char *sql, int64_t parameter,
                          int64_t *ret, struct camp_error *error);

/* What stands in the table `camp`; "" where nothing does. */
int recording_file_fact(sqlite3 *database, const char *path, const char *key, char *ret,
                        size_t size, struct camp_error *error);

/* Is the file shorter than its head says? Then pages are missing at its end, or the end of one. */
bool recording_file_ends_early(const char *path);

#endif
