/*
 * The chain of a sleep that has not ended: the process at the other end of what it waits for, what
 * that process does now, and so on.
 *
 * Unlike the chain of causes (cause_chain.h), it is of one moment, and is read from /proc: the call
 * in which a process sleeps, the object of the call, and the process that has the other end of the
 * pipe or socket, holds the lock, or is the child. It ends at a process that runs or is stopped, at
 * an object without another end that is one known process, at a process with several threads, of
 * which any may be the one, and at a process that the chain already has.
 */
#pragma once

#include "cause_objects.h"

#define OPEN_CHAIN_MAX 8

struct open_step {
    int32_t pid;
    char who[CAUSE_NAME_SIZE]; /* "batch (4711)"; "" of the first step */
    enum open_does does;
    uint64_t threads;
    struct camp_call_sleeps call;    /* with OPEN_WAITS; without times after the first step */
    struct call_name names;          /* of it; "" if it is unknown */
    char other_end[CAUSE_NAME_SIZE]; /* of the object, as of cause_objects_peer() */
};

/* Writes the name of a process: "batch (4711)", or "process 4711" if it has no name any more. */
void open_process_name(char ret[CAUSE_NAME_SIZE], int32_t pid, const char *folder);

/* Returns the state of a sleep in a call (enum camp_state), by the call and its descriptor. */
uint32_t open_call_state(const struct camp_call_sleeps *call, const char *folder);

/* Fills steps[OPEN_CHAIN_MAX] with the chain that starts at a sleep, and returns how many there
 * are, at least one. Processes are in `folder` (/proc). */
size_t open_chain(struct open_step *steps, const struct camp_call_sleeps *first,
                  struct cause_objects *objects, const char *folder);
