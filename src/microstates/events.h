/* The kernel's features that microstates need: looked up in its BTF, not derived from its version.
 */
#pragma once

#include <camp/states.h>

#include <bpf/btf.h>
#include <stdbool.h>

/* The kernel's own BTF: btf__free(). CAMP_E_NOTSUP: it has none. CAMP_E_PERM: not permitted. */
int events_of_kernel(struct btf **ret, struct camp_error *error);

/* Does the kernel have this tracepoint, with any parameters? */
bool events_have_tracepoint(const struct btf *kernel, const char *name);

/* CAMP_OK, or CAMP_E_NOTSUP: the error names the first missing event that is required, and the
 * Linux version that has it. */
int events_require(const struct btf *kernel, struct camp_error *error);

/* Lists all needed features and whether this kernel has them, like camp_states_events(). */
int events_list(const struct btf *kernel, struct camp_states_event *ret, size_t size,
                size_t capacity, size_t *ret_count, struct camp_error *error);

/* Fails with CAMP_E_PERM, and a message that names the missing capability. `what` needs it
 * ("microstates"). The caller knows what works without it. */
int refused_permission(int system_error, const char *what, struct camp_error *error);
