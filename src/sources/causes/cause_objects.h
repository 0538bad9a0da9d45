/*
 * What is at the other end of the pipes, sockets and file locks in which a process slept: the
 * process that has the other end of a pipe or of a Unix socket, the address of a TCP or UDP peer,
 * the process that holds a lock of flock(2) or fcntl(2), and the owner of a futex or of semaphores,
 * where it is known (ends/lock_owner.h).
 *
 * Each object is looked up when it is first shown: /proc/PID/net/tcp and its like have the
 * addresses, unix_diag of sock_diag(7) the other end of a Unix socket, /proc/PID/fd of all
 * processes its holders, and /proc/locks those of locks. The other end of a pipe that a process
 * reads is one that may be written, and the reverse. Only root sees all of them. A look-up of all
 * new objects of an interval ends after 100 ms of CPU time; what was not found then has no other
 * end in this interval, and the objects are looked up again in the next one. So are a lock, and an
 * object whose holder has exited or has another name.
 */
#pragma once

#include "cause_names.h"

#include <sys/types.h>

struct cause_object {
    char name[CAUSE_NAME_SIZE]; /* of cause_object_name(): "pipe:[4242]", "socket:[99]" */
    char peer[CAUSE_NAME_SIZE]; /* "with batch (4711)", "to 10.0.0.7:5432", "held by ...", or "" */
    uint64_t end;  /* inode number of the other end, or of the file; 0: it is not in a process */
    mode_t access; /* that the other end of a pipe has: S_IRUSR or S_IWUSR; 0: any */
    int32_t pid;   /* whose sleeps were shown first */
    int32_t call;  /* of these sleeps, and its first argument */
    uint64_t argument;
    int32_t holder; /* the first process that has the end, or 0; of a pipe another one */
    char holder_name[CAMP_STATES_NAME_SIZE];
    int32_t last_pid; /* the last one that has it */
    uint32_t holders;
    bool is_pipe;
    bool is_lock;  /* a file, for whose lock the process waits */
    bool is_owned; /* a futex or semaphores: by this name it is only that of `pid` */
    bool is_named; /* holders have a file of this name open: a pipe, or a lock whose owner exited */
};

/* An all-zero struct is empty. */
struct cause_objects {
    struct cause_object
        *items; /* [count]; those from `found` on are of a search that ran out of time */
    size_t found, count, capacity;
};

/* Looks up the objects of calls[count] that are new or have another holder. Processes are in
 * `folder` (/proc). Without memory, objects have no other end. */
void cause_objects_find(struct cause_objects *objects, const struct camp_call_sleeps *calls,
                        size_t count, const char *folder);

/* Returns the other end of the object with a name, in which the process `pid` slept, or "". */
const char *cause_objects_peer(const struct cause_objects *objects, const char *name, int32_t pid);

/* Returns the one process that has the other end of the object with a name, in which the process
 * `pid` slept, or that holds its lock; 0 if it is unknown, if there are several, or if it is a
 * thread of the same process. */
int32_t cause_objects_holder(const struct cause_objects *objects, const char *name, int32_t pid);

void cause_objects_release(struct cause_objects *objects);
