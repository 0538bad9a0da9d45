/*
 * A filter of system calls (seccomp(2)) that refuses, with EPERM, calls that no command needs that
 * reads files or serves: those that execute programs, change the system, change the rights to
 * files, or examine, signal or change other processes. It lists what is refused, not what is
 * allowed, because the calls that libc and the client libraries make differ from version to
 * version.
 */
#pragma once

#include <stdbool.h>

enum system_call_right {
    CALLS_PROCESSES = 1u << 0,   /* to create processes and execute programs */
    CALLS_SOCKETS = 1u << 1,     /* to create sockets */
    CALLS_CONNECTIONS = 1u << 2, /* to connect them, and to create Unix and netlink sockets */
    CALLS_INTERNET = 1u << 3,    /* to create UDP sockets, as a lookup of names needs */
    CALLS_MEASURE = 1u << 4,     /* bpf(2), perf_event_open(2), process_vm_readv(2) */
    CALLS_OWNERS = 1u << 5,      /* to change the owner and the mode of an open file */
    CALLS_LISTEN = 1u << 6       /* to listen at sockets */
};

/* Returns whether this program has a filter for its architecture, and the kernel takes filters. */
bool system_call_filter_exists(void);

/* Makes the filter effective for the calling thread and for threads that it creates later. `rights`
 * has bits of enum system_call_right. The caller must have set no_new_privs. Returns 0, or the
 * errno of the kernel's refusal. */
int system_call_filter_enter(unsigned rights);
