/* The client of a backend: the numbers of its database and its user, and the name of its
 * application. They are read once from the backend's own memory, when it leaves a CPU. */
#pragma once

#include "../../backends_layout.h"

#include <bpf/bpf_helpers.h>

/* Changed only while no parent is set. */
volatile struct backends_place place;

/* Reads the client of the current process. Until its entry in the server's table has its pid, the
 * entry is that of an earlier process, or empty. The function is global, so the verifier checks it
 * only once. */
__noinline int read_names(struct backend_slot *slot)
{
    struct backend_account *account;
    uint64_t at = 0, application = 0;
    uint32_t pid = 0;

    if (slot == NULL)
        return 0;
    account = &slot->account;
    if (bpf_probe_read_user(&at, sizeof at, (void *)place.activity_pointer) != 0 || at == 0 ||
        bpf_probe_read_user(&pid, sizeof pid, (void *)(at + place.pid_offset)) != 0 ||
        pid != (uint32_t)account->pid ||
        bpf_probe_read_user(&account->database, sizeof account->database,
                            (void *)(at + place.numbers_offset)) != 0 ||
        bpf_probe_read_user(&account->user, sizeof account->user,
                            (void *)(at + place.numbers_offset + sizeof account->database)) != 0 ||
        bpf_probe_read_user(&application, sizeof application,
                            (void *)(at + place.application_offset)) != 0 ||
        bpf_probe_read_user_str(account->application, sizeof account->application,
                                (void *)application) < 0)
        return 0;
    if (account->user != 0) /* Version 18 stores the pid before the user is known. */
        account->flags |= BACKEND_NAMED;
    return 0;
}

static __always_inline void read_names_once(struct backend_slot *slot)
{
    if (place.application_offset != 0 && (slot->account.flags & BACKEND_NAMED) == 0)
        read_names(slot);
}
