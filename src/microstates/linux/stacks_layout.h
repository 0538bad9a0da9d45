/* The stacks of long sleeps, as the programs in the kernel write them (programs/stacks.bpf.h) and
 * the session reads them (stacks.c). */
#pragma once

#include <camp/states.h>

#include <stdint.h>

#define STACKS_MAX 4096u      /* different stacks, of the kernel and of threads together */
#define STACK_KEYS_MAX 16384u /* different combinations of state, group and both stacks */

/* Numbers of stacks: a hash of the addresses, or one of these. */
enum stack_number {
    STACK_NONE,  /* there is none, or it is not known yet */
    STACK_OTHER, /* there was no space for it */
    STACK_FIRST  /* no hash is lower */
};

/* The value of a stack. The addresses start with the innermost frame. */
struct stack_frames {
    int32_t pid; /* the process of a stack of a thread; 0: a stack of the kernel */
    uint32_t count;
    uint64_t addresses[CAMP_STACK_FRAMES];
};

/* Sleeps with the same stacks. */
struct stack_key {
    uint64_t kernel, user; /* numbers of stacks */
    uint32_t group, state;
};

struct stack_sleeps {
    uint64_t slept_ns, count;
};

/* The sleeps of a group for which there was no space in the map of keys, by state. */
struct other_stacks {
    struct stack_sleeps of[CAMP_STATE_COUNT];
};

_Static_assert(sizeof(struct stack_frames) == 8 + 8 * CAMP_STACK_FRAMES, "no padding");
_Static_assert(sizeof(struct stack_key) == 24, "no padding");
