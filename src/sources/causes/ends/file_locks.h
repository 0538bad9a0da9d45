/*
 * The locks of files by flock(2) and fcntl(2): which processes wait for one, and which process
 * holds it.
 *
 * Source: /proc/locks (proc_locks(5); Linux: lock_get_status()). The line of a lock, such as
 * "2: FLOCK  ADVISORY  WRITE 8310 fe:00:11026747 0 EOF", is followed by those of the processes that
 * wait for it, which have its number and "->". A process of another PID namespace, and the owner of
 * a lock of an open file description (OFDLCK), are no pid.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A line of the file. */
struct file_lock {
    uint64_t number; /* the same of a lock and of those that wait for it */
    bool waits;      /* the process waits for the lock */
    int32_t pid;     /* 0: unknown */
    uint64_t inode;  /* of the file; 0: unknown */
};

/* Reads the next line that has a lock. Returns false at the end. Other lines are left out. */
bool file_lock_read(FILE *locks, struct file_lock *ret);

/* Reads the pids of processes that wait for a lock: ret[most]. Returns how many there are, at most
 * `most`. */
size_t file_lock_waiters(FILE *locks, int32_t *ret, size_t most);

/* Returns the process that holds the lock of the file with this inode number for which `waiter`
 * waits, or 0 if it is unknown. */
int32_t file_lock_holder(FILE *locks, int32_t waiter, uint64_t inode);
