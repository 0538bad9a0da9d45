#pragma once

#include <stddef.h>
#include <stdint.h>

#define CALLS_MAX 512 /* a sleep in a call with a higher number is CAMP_STATE_OTHER_SLEEP */

/* Two values of kind_of_call[] besides enum camp_state. With KIND_BY_DESCRIPTOR, the state of a
 * sleep depends on the type of the call's file descriptor. With KIND_BY_RESTART, the call continues
 * another call that a signal, a debugger or a freezer interrupted, and a sleep has the state of
 * that other call. */
#define KIND_BY_DESCRIPTOR 255
#define KIND_BY_RESTART 254

/* Fills kind_of_call[count], indexed by the number of the system call. Each value is an enum
 * camp_state, KIND_BY_DESCRIPTOR or KIND_BY_RESTART. */
void camp_calls_fill(uint8_t *kind_of_call, size_t count);

/* What the first argument of a system call is. */
enum call_argument {
    CALL_OTHER,
    CALL_DESCRIPTOR, /* a file descriptor */
    CALL_FUTEX,      /* the address of a futex */
    CALL_CHILD,      /* the pid of a child, or another selection of children below 1 */
    CALL_SEMAPHORES  /* the id of a set of semaphores of System V */
};

/* Return the name of a system call in which threads sleep, such as "futex", and what its first
 * argument is. NULL and CALL_OTHER for any other call. */
const char *camp_call_name(int32_t number);
enum call_argument camp_call_argument(int32_t number);
