/* Stacks as rows of the record "camp.why/1". */
#pragma once

#include "why_record.h"

#define WHY_STACK_FIELDS 6
extern const struct field why_stack_fields[WHY_STACK_FIELDS];

/* Adds the stacks of an interval to a table with these fields. `total_ns` is 100 %. */
void why_stack_rows(struct document *document, size_t table, const struct why_interval *interval,
                    uint64_t total_ns);

/* The parts of a stack as text. */
struct why_stack_texts {
    char state[32];
    char process[128];  /* "postgres;", or "" */
    const char *frames; /* a part of the stack */
    /* Few frames for a line of a table: "... > exec_simple_query > WaitLatch | ep_poll": the
     * process, the last functions of the thread, and the last one of the kernel. */
    char shown[384];
};

/* Splits a stack such as "postgres;poll;main;...;ep_poll_[k]", whose first frame is the process if
 * `has_process`. The stack must live as long as *ret. */
void why_stack_split(struct why_stack_texts *ret, const char *stack, bool has_process);
