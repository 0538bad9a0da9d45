/*
 * Subjects: the CPUs, interfaces, disks, processes and threads whose counters are read. They are
 * found by name, and several of one kind are read by one call.
 */
#pragma once

#include "kinds.h"

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LABEL_SIZE (CAMP_NAME_SIZE + 80)

struct subject {
    enum camp_kind kind;
    char label[LABEL_SIZE]; /* "network.eth0": what stands before the counter's name */
    union {                 /* identity, with which the library's struct for the kind starts */
        int32_t cpu;
        char device[CAMP_NAME_SIZE];
        struct camp_process process;
        struct camp_thread thread;
    };
    /* What the rows about this subject need; see subject_want(). */
    uint32_t wanted;
    bool counts_cpus;
    bool wants_taskstats;
    /* The newest reading and the one before, and why the newest failed. */
    struct reading now;
    struct reading before;
    char *failure; /* the message of the error; owned; NULL: there is none */
};

struct subjects {
    const struct camp_source *source;
    struct subject *items;
    size_t count;
    size_t capacity;
    struct camp_error taskstats_error; /* of the last reading; one for all processes */
};

void subjects_release(struct subjects *subjects);

/* Adds a subject, unless one with its label is there already. *ret_index (may be NULL) is the index
 * of the one with that label. CAMP_E_NOMEM, or CAMP_OK. */
int subjects_add(struct subjects *subjects, const struct subject *subject, size_t *ret_index,
                 struct camp_error *error);

/* Every subject of a kind (all threads of all processes). The labels are valid input of
 * `camp get`; those of processes and threads carry the start time. */
int subjects_list(struct subjects *subjects, enum camp_kind kind, struct camp_error *error);

/* The living threads of one process. */
int subjects_list_threads(struct subjects *subjects, const struct camp_process *process,
                          struct camp_error *error);

/* The processes launched from an executable of this name; none is CAMP_E_GONE. */
int subjects_list_named(struct subjects *subjects, const char *executable,
                        struct camp_error *error);

/* The one subject of a kind with this name: "2", "eth0.100", "1234", "1234@5678", "1234.1240"; ""
 * is the total. CAMP_E_INVALID: the name is impossible; CAMP_E_GONE: there is none. */
int subject_named(const struct camp_source *source, enum camp_kind kind, const char *name,
                  struct subject *ret, struct camp_error *error);

/* Finds one process by its name, and returns its identifier. */
int process_named(const struct camp_source *source, const char *name, struct camp_process *ret,
                  struct camp_error *error);

/* A subject of kind process, labelled with its identifier. */
void subject_of_process(struct subject *ret, const struct camp_process *process);

/* Notes that `counter` will be shown. */
void subject_want(struct subject *subject, const struct camp_counter *counter);

/* Reads all subjects: `now` becomes `before`. Each subject has its own result. */
void subjects_read(struct subjects *subjects);

/* What the library is asked to list. */
struct listing {
    const struct camp_source *source;
    enum camp_kind kind;                /* one that has several subjects */
    const struct camp_process *process; /* of threads */
    const char *executable;             /* of processes; NULL: all of them */
};

/* Reads all elements into memory that the caller frees: struct camp_cpu (the total first),
 * camp_network, camp_disk, camp_process or camp_thread. After a failure *ret is NULL. */
int listing_read(const struct listing *listing, void **ret, size_t *ret_count,
                 struct camp_error *error);

/* The size of an element. */
size_t listing_element_size(enum camp_kind kind);
