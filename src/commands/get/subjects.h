/*
 * A subject is a CPU, interface, disk, process or thread whose counters are read. Subjects are
 * found by name. Several CPUs, interfaces or disks are read with one call of the library.
 */
#pragma once

#include "extras.h"
#include "kinds.h"

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LABEL_SIZE (CAMP_NETWORK_NAME_SIZE + 80)

struct subject {
    enum camp_kind kind;
    char label[LABEL_SIZE]; /* the text before the counter's name, such as "network.eth0" */
    /* The identity of the subject, as in the library's struct for its kind. */
    union {
        int32_t cpu;
        char device[CAMP_NETWORK_NAME_SIZE];
        struct camp_process process;
        struct camp_thread thread;
    };
    /* subject_want() sets the next five members to what the rows of this subject need. */
    uint32_t wanted;
    bool counts_cpus;
    bool wants_taskstats;
    uint32_t wanted_extras; /* 1 << enum extra_kind */
    struct extra *extras;   /* [EXTRA_COUNT], owned; NULL if none is wanted */
    struct reading now;
    struct reading before;
    char *failure; /* the error message of the newest reading, owned; NULL if there is none */
};

struct subjects {
    const struct camp_source *source;
    struct subject *items;
    size_t count;
    size_t capacity;
    bool were_searched; /* processes were listed, so hidden ones are missing */
    /* The error of the last reading of taskstats, for all processes. */
    struct camp_error taskstats_error;
};

void subjects_release(struct subjects *subjects);

/* Adds a subject, unless a subject with the same label is there already. *ret_index becomes the
 * index of the subject with that label. ret_index may be NULL. Returns CAMP_OK or CAMP_E_NOMEM. */
int subjects_add(struct subjects *subjects, const struct subject *subject, size_t *ret_index,
                 struct camp_error *error);

/* Adds every subject of a kind. For threads, these are all threads of all processes. Each label
 * is a valid operand of `camp get`. The labels of processes and threads have the start time. */
int subjects_list(struct subjects *subjects, enum camp_kind kind, struct camp_error *error);

int subjects_list_threads(struct subjects *subjects, const struct camp_process *process,
                          struct camp_error *error);

/* Adds the disks that have a device of their own (CAMP_DISK_PHYSICAL). */
int subjects_list_physical_disks(struct subjects *subjects, struct camp_error *error);

/* Adds the processes that were started from an executable of this name. Returns CAMP_E_GONE if
 * there is none. */
int subjects_list_named(struct subjects *subjects, const char *executable,
                        struct camp_error *error);

/* Fills *ret with the subject of a kind that has this name: "2", "eth0.100", "1234",
 * "1234@5678", "1234.1240". The name "" means the total. Returns CAMP_E_INVALID for an
 * impossible name. Returns CAMP_E_GONE for a missing process or thread; CPUs and devices are not
 * looked up. */
int subject_named(const struct camp_source *source, enum camp_kind kind, const char *name,
                  struct subject *ret, struct camp_error *error);

/* Finds a process by "1234" or "1234@5678". Returns CAMP_E_INVALID for other names, and
 * CAMP_E_GONE if there is no such process. */
int process_named(const struct camp_source *source, const char *name, struct camp_process *ret,
                  struct camp_error *error);

/* Fills a subject of kind process. Its label has the pid and the start time. */
void subject_of_process(struct subject *ret, const struct camp_process *process);

/* If processes were searched and some are hidden from this user, prints how many. */
void subjects_note_hidden(const struct subjects *subjects);

/* Notes that `counter` will be shown, so that subjects_read() reads it. Returns false if there is
 * no memory. */
bool subject_want(struct subject *subject, const struct camp_counter *counter);

/* Reads all subjects. `now` of each subject becomes `before`. Each subject has its own result. */
void subjects_read(struct subjects *subjects);

/* Selects the elements that listing_read() lists. */
struct listing {
    const struct camp_source *source;
    enum camp_kind kind;
    const struct camp_process *process; /* the process whose threads are listed */
    const char *executable; /* the executable of the listed processes; NULL means all processes */
    bool physical;          /* of disks only: those with a device of their own */
};

/* Reads all elements into memory that the caller frees. The elements are struct camp_cpu (the
 * total first), camp_network, camp_disk, camp_process or camp_thread. After a failure *ret is
 * NULL. */
int listing_read(const struct listing *listing, void **ret, size_t *ret_count,
                 struct camp_error *error);

size_t listing_element_size(enum camp_kind kind);
