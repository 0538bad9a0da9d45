/*
 * The names of users and groups in a camp of one static file, from /etc/passwd and /etc/group
 * alone. These functions replace those of the C library, which ask the modules of nsswitch.conf(5):
 * a static program would load them, and with them the C library of this system, which may be
 * another version, or of another kind. A user of a network (LDAP, systemd-homed) has no name here.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

int getpwuid_r(uid_t uid, struct passwd *ret, char *buffer, size_t size, struct passwd **ret_found)
{
    FILE *file = fopen("/etc/passwd", "re");
    int failed;

    *ret_found = NULL;
    if (file == NULL)
        return errno == ENOENT ? 0 : errno;
    do
        failed = fgetpwent_r(file, ret, buffer, size, ret_found);
    while (failed == 0 && ret->pw_uid != uid);
    fclose(file);
    if (failed != 0)
        *ret_found = NULL;
    return failed == ENOENT ? 0 : failed;
}

/* Not thread-safe, as that of the C library. */
struct group *getgrnam(const char *name)
{
    static struct group entry;
    static char buffer[65536];
    struct group *found = NULL;
    FILE *file = fopen("/etc/group", "re");
    int failed;

    if (file == NULL)
        return NULL;
    do
        failed = fgetgrent_r(file, &entry, buffer, sizeof buffer, &found);
    while (failed == 0 && strcmp(entry.gr_name, name) != 0);
    fclose(file);
    return failed == 0 ? found : NULL;
}
