#include "privilege.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns true if the user is in the group "camp", or if there is no such group. Returns false
 * if the groups cannot be read. */
static bool is_member(void)
{
    const struct group *group;
    gid_t groups[1024];
    int count;

    errno = 0;
    group = getgrnam(PRIVILEGE_GROUP);
    if (group == NULL)
        return errno == 0;
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
