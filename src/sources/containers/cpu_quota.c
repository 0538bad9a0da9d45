#include "cpu_quota.h"

#include "sources/machine/file_text.h"

#include <limits.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>

void cpu_hierarchy_find(FILE *mounts, struct cpu_hierarchy *ret)
{
    char strings[PATH_MAX + 1024];
    struct mntent entry;

    *ret = (struct cpu_hierarchy){ 0 };
    while (getmntent_r(mounts, &entry, strings, sizeof strings) != NULL) {
        const bool is_v1 =
            strcmp(entry.mnt_type, "cgroup") == 0 && hasmntopt(&entry, "cpu") != NULL;

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

static bool read_file(const struct cpu_hierarchy *hierarchy, const char *path, size_t length,
                      const char *name, char ret[64])
{
    char file[PATH_MAX];
    ssize_t got;

    if (snprintf(file, sizeof file, "%s%.*s/%s", hierarchy->mount, (int)length, path, name) >=
        (int)sizeof file)
        return false;
    got = file_text(file, ret, 63);
    if (got < 0)
        return false;
    ret[got] = '\0';
    return true;
}

static double own_quota(const struct cpu_hierarchy *hierarchy, const char *path, size_t length)
{
    char text[64], period_text[64];
    double quota = 0, period = 0;

    if (!hierarchy->is_v1) /* "50000 100000", or "max 100000" */
        return read_file(hierarchy, path, length, "cpu.max", text) &&
                       sscanf(text, "%lf %lf", &quota, &period) == 2 && quota > 0 && period > 0
                   ? quota / period
                   : 0;
    if (!read_file(hierarchy, path, length, "cpu.cfs_quota_us", text) ||
        !read_file(hierarchy, path, length, "cpu.cfs_period_us", period_text))
        return 0;
    quota = strtod(text, NULL); /* -1: no quota */
    period = strtod(period_text, NULL);
    return quota > 0 && period > 0 ? quota / period : 0;
}

double cpu_quota(const struct cpu_hierarchy *hierarchy, const char *path, size_t length)
{
    double ret = 0;

    while (hierarchy->mount != NULL && length > 1) {
        const double own = own_quota(hierarchy, path, length);

        if (own > 0 && (ret == 0 || own < ret))
            ret = own;
        while (length > 0 && path[length - 1] != '/')
            length--;
        length -= length > 0;
    }
    return ret;
}
