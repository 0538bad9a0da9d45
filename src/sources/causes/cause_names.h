/* Names of causes: of groups, devices, system calls and the objects of calls. Names come from
 * processes and files, so they may have any bytes; views escape them. */
#pragma once

#include "causes.h"

/* Returns the group with a number, or NULL if it is not in the list, as after its threads have
 * exited. */
const struct camp_states_group *cause_group_find(const struct causes *causes, uint32_t number);

/* Writes the name of a group, such as "batch (4711)", "process 4711" if its name is
 * unknown, "walwriter" or "kernel threads". */
void cause_group_name(char ret[CAUSE_NAME_SIZE], const struct camp_states_group *group);

#define CAUSE_STATE_SIZE 32

/* Writes the name of a state for a sentence, such as "other sleep". */
void cause_state_title(char ret[CAUSE_STATE_SIZE], uint32_t state);

/* Returns what kind of cause a wait in a state has: "had the CPU", "woken by", "timer". */
const char *cause_kind_name(uint32_t state, uint32_t kind);

/* Returns the name of a kind for programs, such as "group", "idle_cpu" or "not_ended". */
const char *cause_kind_key(uint32_t kind);

/* Writes the name of a cause: of the group, or of the device by the actions of its interrupt in
 * `folder` (/sys/kernel/irq), or in the recording, such as "virtio1-req.0 (irq 36)". "" if the kind
 * says all, or if the group is not in the list. For a device of this machine,
 * `causes` may be NULL. */
void cause_who(char ret[CAUSE_NAME_SIZE], const struct causes *causes, uint32_t kind, uint32_t id,
               const char *folder);

/* Writes the name of a cause for a sentence, such as "walwriter", "a timer" or "an unnamed
 * process". Without `causes`, a group has no name. */
void cause_phrase(char ret[CAUSE_NAME_SIZE], const struct causes *causes, uint32_t kind,
                  uint32_t id, const char *folder);

/* Writes the system call of sleeps, such as "futex", "unknown", or "no system call". */
void cause_call_name(char ret[CAUSE_NAME_SIZE], int32_t call);

/* Writes the object of sleeps in a call, such as "pipe:[4242]", "socket:[99]", "/dev/tty", "futex
 * 0x7f00", "process 4711 (make)" of a child, or "" if the call has none. Descriptors and children
 * are looked up in `folder` (/proc), as they are now: "fd 3 (closed)" is open no more, and "fd 3"
 * is of a process that has ended, or whose descriptors the caller may not read. A child that has
 * ended has no name, and all of them together are "children that have ended". */
void cause_object_name(char ret[CAUSE_NAME_SIZE], const struct camp_call_sleeps *sleeps,
                       const char *folder);

/* Write the system call and the object of causes->calls.items[at], as above or as recorded. */
void cause_call_names(struct call_name *ret, const struct causes *causes, size_t at,
                      const char *folder);

/* Returns the kind with the name of cause_kind_key(), or CAUSE_KIND_COUNT. */
uint32_t cause_kind_find(const char *key);
