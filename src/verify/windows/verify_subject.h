/*
 * A subject is a child process that runs a load, called its act. It sleeps while the library reads
 * it, and measures itself during the act.
 */
#pragma once

#include "load/load.h"
#include "load/windows/load_system.h"

#include <stddef.h>

/* The acts, in the order of the table in verify_subject.c. */
enum act {
    ACT_CPU,     /* load_cpu() */
    ACT_FILE,    /* load_io() */
    ACT_MEMORY,  /* allocates memory, and keeps it */
    ACT_HANDLES, /* makes ACT_COUNT events */
    ACT_THREADS, /* makes ACT_THREADS_MADE threads that sleep */
    ACT_SLEEPS   /* sleeps ACT_COUNT times */
};

#define ACT_COUNT 100
#define ACT_THREADS_MADE 8
#define ACT_MEMORY_BYTES (32u << 20)

/* What the subject measured during its last act. */
struct act_record {
    uint64_t own_ns; /* load_process_ns() */
    uint64_t wall_ns;
    struct load_faults_record {
        bool known;
        uint64_t count;
    } faults;
};

struct subject {
    struct child child;
    struct camp_process process;
    /* CLOCK_MONOTONIC just before and just after the process was created */
    uint64_t started_ns, created_ns;
    HANDLE section;
    struct subject_shared *shared;
};

/* Starts the subject, which is asleep on return. The caller must call subject_end(), even after a
 * failure. The plan of the act has plan_size bytes. */
int subject_open(struct subject *ret, enum act act, const void *plan, size_t plan_size,
                 struct camp_error *error);

/* Runs the act, and returns its result. The subject is asleep on return. */
int subject_do(struct subject *subject, struct camp_error *error);

const struct act_record *subject_record(const struct subject *subject);

/* What the load reported (struct load_*_truth). */
const void *subject_truth(const struct subject *subject);

void subject_end(struct subject *subject);

/* A subject that the library reads before and after an act. */
struct observed {
    struct subject subject;
    struct camp_task before, after;
    struct camp_error library; /* of camp_process_read() */
};

/* Starts a subject, reads it, lets it act, and reads it again. Returns an error of the subject. */
int observe(struct observed *ret, enum act act, const void *plan, size_t plan_size,
            struct camp_error *error);
