/* Messages of sessions that the kernel refuses: each names what is missing, and what to do. */
#pragma once

#include <camp/camp.h>

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>

#define CAMP_BTF_PATH "/sys/kernel/btf/vmlinux" /* the types of the kernel */

/* Returns whether this process has CAP_BPF and CAP_PERFMON. */
bool camp_has_rights_for_programs(void);

/* Fills *error for a kernel whose BTF cannot be read. Returns CAMP_E_PERM, CAMP_E_NOTSUP, or
 * CAMP_E_NOMEM if no descriptor is left. */
int camp_refused_btf(int system_error, struct camp_error *error);

/* Fills *error after libbpf failed to load or attach the programs, with the negative errno
 * `result`. `what` names the purpose of the programs, such as "microstates", and `without` is the
 * advice if the kernel is the cause. Returns CAMP_E_PERM, CAMP_E_NOTSUP, or CAMP_E_NOMEM if memory
 * or descriptors are lacking. */
int camp_refused_programs(int result, const char *what, const char *without,
                          struct camp_error *error);

/* Returns the number of files that a session with the programs of `object` opens. */
size_t camp_refusal_files_needed(const struct bpf_object *object);

/* Called after a session failed with `result` and was closed. If the limit of open files is too low
 * for `needed` more files, returns CAMP_E_NOMEM with a message about the limit, otherwise
 * `result`. */
int camp_refused_by_limit(int result, size_t needed, const char *what, struct camp_error *error);
