#include "program/privilege.h"

#include <errno.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The capabilities that open microstates (CAP_SYS_ADMIN on old kernels) and taskstats. */
#define OPENING                                                                                    \
    (UINT64_C(1) << CAP_NET_ADMIN | UINT64_C(1) << CAP_SYS_ADMIN | UINT64_C(1) << CAP_PERFMON |    \
     UINT64_C(1) << CAP_BPF)

/* Returns false if there is no group "camp", or if the groups cannot be read. */
static bool is_member(void)
{
    const struct group *group = getgrnam(PRIVILEGE_GROUP);
    gid_t groups[1024];
    int count;

    if (group == NULL)
        return false;
    if (getgid() == group->gr_gid)
        return true;
    count = getgroups(sizeof groups / sizeof groups[0], groups);
    for (int i = 0; i < count; i++) {
        if (groups[i] == group->gr_gid)
            return true;
    }
    return false;
}

bool privilege_group_exists(void)
{
    return getgrnam(PRIVILEGE_GROUP) != NULL;
}

/* Writes the path in single quotes. A quote within the path is written as '\''. */
void privilege_line(char ret[PRIVILEGE_LINE_SIZE])
{
    char path[4096] = "";
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    char *at = ret + snprintf(ret, PRIVILEGE_LINE_SIZE,
                              "sudo setcap cap_net_admin,cap_bpf,cap_perfmon=p '");

    for (const char *from = length > 0 ? path : "camp"; *from != '\0'; from++)
        at = stpcpy(at, *from == '\'' ? "'\\''" : (char[]){ *from, '\0' });
    stpcpy(at, "'");
}

/* Returns whether this process had its capabilities before it executed camp. With no_new_privs,
 * execve(2) grants no capabilities of a file. */
static bool were_held_before(void)
{
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

void privilege_drop(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { 0 };
    bool keep;

    if (getauxval(AT_SECURE) == 0) /* the file grants no capabilities */
        return;
    keep = were_held_before() || is_member();
    if (keep && syscall(SYS_capget, &header, sets) != 0)
        return;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        sets[i].effective = sets[i].permitted;
    if (syscall(SYS_capset, &header, sets) != 0 && !keep)
        _exit(126); /* Not reached, because dropping capabilities is always permitted. */
}

void privilege_open_processes(void)
{
}

/* Returns whether the kernel refuses to read maps without CAP_BPF. Linux before 5.19 does so if
 * kernel.unprivileged_bpf_disabled is set; later kernels ask for it only to create programs and
 * maps. The descriptor of the request is wrong, so the request itself always fails. */
static bool maps_need_capability(void)
{
    union bpf_attr request = { .map_fd = UINT32_MAX };

    return syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &request, sizeof request) != 0 && errno == EPERM;
}

void privilege_keep(uint64_t capabilities)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &header, sets) != 0)
        return;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        const uint32_t kept = (uint32_t)(capabilities >> 32 * i);

        sets[i].effective &= kept;
        sets[i].permitted &= kept;
        sets[i].inheritable &= kept;
    }
    if (syscall(SYS_capset, &header, sets) != 0)
        _exit(126); /* Not reached, because giving up capabilities is always permitted. */
}

enum privilege_use privilege_use_of(const char *tier)
{
    return tier != NULL && strcmp(tier, "taskstats") == 0 ? PRIVILEGE_TASKSTATS : PRIVILEGE_MAPS;
}

void privilege_give_up(enum privilege_use use)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3], held[_LINUX_CAPABILITY_U32S_3];
    uint64_t given_up = OPENING;

    if (syscall(SYS_capget, &header, held) != 0)
        return;
    if (use == PRIVILEGE_TASKSTATS)
        given_up &= ~(UINT64_C(1) << CAP_NET_ADMIN);
    memcpy(sets, held, sizeof sets);
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        sets[i].effective &= ~(uint32_t)(given_up >> 32 * i);
    if (syscall(SYS_capset, &header, sets) != 0)
        _exit(126); /* Not reached, because giving up capabilities is always permitted. */
    if (use == PRIVILEGE_MAPS && maps_need_capability())
        given_up &= ~(UINT64_C(1) << CAP_BPF);
    if (syscall(SYS_capset, &header, held) != 0)
        _exit(126);
    privilege_keep(~given_up);
}
