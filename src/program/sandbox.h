/*
 * Confines a command that reads foreign files or answers foreign requests, so that an error in a
 * parser or a library gives an attacker little. Two facilities of the kernel are used, each where
 * the kernel has it:
 *
 * - Landlock (Linux 5.13) limits which files the process can open, and which TCP connections it
 *   can make.
 * - A filter of system calls (seccomp(2), system_call_filter.h) refuses, with EPERM, the calls that
 *   no such command needs, such as execve(2), ptrace(2), chmod(2) and mount(2).
 *
 * The process also gives up all capabilities but those to open files of other users and, where the
 * command needs them: to give its output to another owner, to listen at low ports, and, for the
 * numbers of this machine and for databases, what privilege_give_up() has left.
 *
 * The rules and the filter last until the process ends, and apply to threads that are created
 * later. Programs that are built with a sanitizer or with coverage have neither, because their
 * run-time libraries write files and examine other threads with the refused calls.
 */
#pragma once

#include "privilege.h"

#include <camp/camp.h>
#include <stdbool.h>

enum sandbox_kind {
    /* A file is read. Files: the input, the output and system libraries. No connections. */
    SANDBOX_FILE,
    /* A fleet is read from a server. Files: the output, system libraries, names and certificates.
     */
    SANDBOX_FLEET,
    /* A server that reads this machine. Files: those of the kernel, system libraries and names;
     * none may be written. Landlock hides what ptrace(2) rights show, such as /proc/PID/io; no
     * server reads that. */
    SANDBOX_MACHINE,
    /* Database sessions: only the filter, because camp reads the memory of a server on the same
     * machine. */
    SANDBOX_SESSIONS
};

struct sandbox {
    enum sandbox_kind kind;
    const char *input;         /* SANDBOX_FILE: the file or folder that is read; may be missing */
    const char *other_input;   /* a second file or folder that is read, or NULL */
    const char *workload_file; /* of --workload, which is read, or NULL */
    const char *rules_file;    /* SANDBOX_FILE: of --rules, which is read, or NULL */
    const char *output;        /* NULL if no file is written; the file itself may be missing */
    bool serves;               /* the command will listen at an address */
    const char *socket;        /* the path of the socket that it will listen at, or NULL */
    bool converts;             /* the command will execute the converter of pictures */
    bool containers;           /* SANDBOX_MACHINE: files with the names of containers are read */
};

/* Confines the calling thread, and so all threads that it creates later. Only the first call of a
 * thread does something. If the kernel has no Landlock or filter, or refuses it, the command goes
 * on without. Returns CAMP_OK; or CAMP_E_NOMEM if a limit of open files or memory is too low for
 * the rules, and CAMP_E_IO if a disk failed: the command must then end. */
int sandbox_enter(const struct sandbox *sandbox, struct camp_error *error);

/* Confines a command that is about to ask a database server: it has opened microstates, which it
 * reads later. */
static inline void sandbox_enter_sessions(void)
{
    const struct sandbox sandbox = { .kind = SANDBOX_SESSIONS };

    privilege_give_up(PRIVILEGE_MAPS);
    sandbox_enter(&sandbox, NULL); /* without Landlock, it has no errors */
}

/* Returns the version of Landlock's interface that this kernel has, or 0 if it has none. */
int sandbox_landlock_version(void);

/* Returns whether this program is confined: false if it was built with a sanitizer or coverage. */
bool sandbox_is_used(void);
