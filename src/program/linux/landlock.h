/*
 * Landlock (landlock(7)): from now on, this thread can open only the listed files. Its definitions
 * are here, because the headers of Debian 11 and 12 lack the newer ones; the values are part of the
 * kernel's stable interface (include/uapi/linux/landlock.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Rights to a file, or to a folder and all that is below it. */
#define LANDLOCK_EXECUTE (UINT64_C(1) << 0)
#define LANDLOCK_READ (UINT64_C(1) << 2 | UINT64_C(1) << 3)    /* files, and lists of folders */
#define LANDLOCK_LIST (UINT64_C(1) << 3)                       /* lists of folders only */
#define LANDLOCK_WRITE (UINT64_C(1) << 1 | UINT64_C(1) << 14)  /* with truncation (Linux 6.2) */
#define LANDLOCK_REPLACE (UINT64_C(1) << 5 | UINT64_C(1) << 8) /* create and remove files */
#define LANDLOCK_TERMINAL (UINT64_C(1) << 15)                  /* control a terminal (Linux 6.10) */
#define LANDLOCK_SOCKET (UINT64_C(1) << 5 | UINT64_C(1) << 9)  /* create and remove sockets */

struct landlock {
    int rules;  /* a descriptor; -1 if this kernel has no Landlock */
    int failed; /* the first errno that is due to a lack of descriptors or memory, or 0 */
    uint64_t handled;
};

/* Returns the version of the interface, or 0 if this kernel has no Landlock. */
int landlock_version(void);

/* Starts a list of rules by which no file can be opened. TCP: `binds` and `connects` say whether
 * the thread may listen and connect (Linux 6.7). */
void landlock_init(struct landlock *ret, bool binds, bool connects);

/* Adds rights to a path. A path that does not exist is ignored. Without a descriptor for it, sets
 * landlock->failed. */
void landlock_allow(struct landlock *landlock, const char *path, uint64_t rights);

/* The same for a file or folder that is open. */
void landlock_allow_open(struct landlock *landlock, int descriptor, uint64_t rights);

/* Sets landlock->failed if errno says that descriptors or memory are lacking, or that a disk
 * failed. Other errors mean that the kernel refuses Landlock, or that a path does not exist. */
void landlock_note_failure(struct landlock *landlock);

/* Makes the rules effective, and closes the list. The caller must have set no_new_privs. */
void landlock_enter(struct landlock *landlock);
