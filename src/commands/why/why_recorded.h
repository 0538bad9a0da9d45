/* The causes of waits in a recording, added up: what camp why reads with --from. */
#pragma once

#include "program/from_options.h"
#include "sources/causes/cause_sum.h"

struct why_recorded {
    struct source *source;
    struct from_facts facts;
    struct cause_sum sum;
};

/* What to show. */
struct why_parts {
    const char *subject; /* NULL: all threads */
    int32_t pid;         /* of the subject, or 0: it is a name */
    uint64_t length_ns;  /* add up intervals until a part is about so long; 0: all of them */
    uint64_t count;      /* so many parts; 0: all */
    void *context;
    /* Shows a part, whose number starts at 0. Returns OPTIONS_GO_ON or an exit status. */
    int (*show)(void *context, const struct causes *causes, uint64_t number);
};

/* Opens the recording of --from. Returns OPTIONS_GO_ON, or an exit status after an error message.
 */
int why_recorded_open(struct why_recorded *ret, struct from_options *from);

/* Reads the recording and shows its parts in which the subject is known. Returns an exit status,
 * after one message if the recording has no causes, or no such subject. */
int why_recorded_show(struct why_recorded *recorded, struct from_options *from,
                      const struct why_parts *parts);

/* Accepts an all-zero struct. */
void why_recorded_close(struct why_recorded *recorded);

/* Returns the number of a process's group, or of that of a name, or WHY_ALL. `subject` NULL: all.
 */
uint32_t why_find_subject(const struct causes *causes, const char *subject, int32_t pid);
