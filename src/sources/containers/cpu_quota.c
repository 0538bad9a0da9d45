#include "cpu_quota.h"

#include "process_cgroup.h"
#include "sources/machine/file_text.h"

#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void cpu_hierarchy_find(FILE *mounts, struct cpu_hierarchy *ret)
{
    char strings[PATH_MAX + 1024];
    struct mntent entry;

    *ret = (struct cpu_hierarchy){ 0 };
    while (getmntent_r(mounts, &entry, strings, sizeof strings) != NULL) {
        const bool is_v1 = strcmp(entry.mnt_type, "cgroup") == 0 &&
                           process_cgroup_has_cpu(entry.mnt_opts, strlen(entry.mnt_opts));

        /* The controller is in one of the two: with version 1 mounted, it is not in version 2. */
        if (is_v1 || (strcmp(entry.mnt_type, "cgroup2") == 0 && ret->mount == NULL)) {
            free(ret->mount);
            ret->mount = strdup(entry.mnt_dir);
            ret->is_v1 = is_v1;
        }
        if (is_v1)
            return;
    }
}

void cpu_hierarchy_release(struct cpu_hierarchy *hierarchy)
{
    free(hierarchy->mount);
    *hierarchy = (struct cpu_hierarchy){ 0 };
}

enum reading { READ, NO_FILE, UNKNOWN };

/* Reads a file of the cgroup path[length]. Where the controller is not enabled, a cgroup has no
 * such file; a cgroup that was removed, or is outside of the mounted part of the tree, is unknown.
 */
static enum reading read_file(const struct cpu_hierarchy *hierarchy, const char *path,
                              size_t length, const char *name, char ret[64])
{
    char file[PATH_MAX];
    struct stat status;
    ssize_t got;

    if (snprintf(file, sizeof file, "%s%.*s/%s", hierarchy->mount, (int)length, path, name) >=
        (int)sizeof file)
        return UNKNOWN;
    got = file_text(file, ret, 63);
    if (got >= 0) {
        ret[got] = '\0';
        return READ;
    }
    if (errno != ENOENT)
        return UNKNOWN;
    file[strlen(file) - strlen(name)] = '\0';
    return stat(file, &status) == 0 ? NO_FILE : UNKNOWN;
}

/* Returns 0 if the cgroup itself has no quota, and -1 if that is unknown. */
static double own_quota(const struct cpu_hierarchy *hierarchy, const char *path, size_t length)
{
    char text[64] = "", period_text[64] = "";
    double quota = 0, period = 0;
    enum reading reading;

    if (hierarchy->is_v1) {
        reading = read_file(hierarchy, path, length, "cpu.cfs_quota_us", text);
        if (reading == READ)
            reading = read_file(hierarchy, path, length, "cpu.cfs_period_us", period_text);
        quota = strtod(text, NULL); /* -1: no quota */
        period = strtod(period_text, NULL);
    } else { /* "50000 100000", or "max 100000" */
        reading = read_file(hierarchy, path, length, "cpu.max", text);
        if (sscanf(text, "%lf %lf", &quota, &period) != 2)
            quota = 0;
    }
    if (reading == UNKNOWN)
        return -1;
    return quota > 0 && period > 0 ? quota / period : 0;
}

double cpu_quota(const struct cpu_hierarchy *hierarchy, const char *path, size_t length)
{
    double ret = 0;

    while (hierarchy->mount != NULL && length > 1) {
        const double own = own_quota(hierarchy, path, length);

        if (own < 0)
            return own;
        if (own > 0 && (ret == 0 || own < ret))
            ret = own;
        while (length > 0 && path[length - 1] != '/')
            length--;
        length -= length > 0;
    }
    return ret;
}
