/* One interval of `camp why` as a record of the schema "camp.why/1". */
#pragma once

#include "sources/causes/cause_objects.h"
#include "views/document.h"
#include "views/stacks/stack_sums.h"
#include "why_sentence.h"

struct why_interval {
    const struct causes *causes;
    uint32_t subject;                /* number of a group, or WHY_ALL */
    const char *name;                /* of the subject */
    const char *time;                /* wall clock of the interval's end */
    const struct stack_sums *stacks; /* NULL: none were read */
    bool kernel_is_hidden;           /* whether its functions have no names */
    size_t most;                     /* rows of each cause, and of each other table; 0: all */
    size_t width;                    /* sentences are wrapped at it; 0: they are not */
};

enum {
    WHY_SUMMARY,
    WHY_TREE,
    WHY_CALLS,
    WHY_STACKS,
    WHY_INFLICTED,
    WHY_CHAIN,
    WHY_LOSSES,
    WHY_TABLE_COUNT
};
extern const char *const why_table_names[]; /* the choices of --table, NULL-terminated */

#define WHY_KERNEL_IS_HIDDEN                                                                       \
    "the kernel hides the addresses of its functions, so that they have no names: they need "      \
    "CAP_SYSLOG (run camp as root), and kernel.kptr_restrict below 2"

/* An all-zero record is empty. */
struct why_record {
    struct document document;
    struct why_tree tree;
    struct cause_objects objects; /* of the sleeps of a watched process */
};

/* Returns CAMP_OK or CAMP_E_NOMEM. */
int why_record_fill(struct why_record *ret, const struct why_interval *interval);
void why_record_release(struct why_record *record);
