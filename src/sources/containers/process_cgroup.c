#include "process_cgroup.h"

#include "container_path.h"
#include "ledger/words.h"
#include "sources/machine/file_text.h"

#include <stdio.h>
#include <string.h>

bool process_cgroup_has_cpu(const char *list, size_t length)
{
    const char *at = list, *end = list + length;

    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *next = comma != NULL ? comma : end;

        if (next - at == 3 && memcmp(at, "cpu", 3) == 0)
            return true;
        at = next + 1;
    }
    return false;
}

/* Returns how much a path says. Version 2 is best, because runtimes and systemd name the most
 * there. */
static int weight_of(const char *path, bool is_v2)
{
    struct container_path parsed;

    container_path_parse(path, &parsed);
    return 8 * (parsed.runtime != RUNTIME_NONE) + 4 * (parsed.pod[0] != '\0') +
           2 * (parsed.unit[0] != '\0') + is_v2;
}

/* A line is "ID:CONTROLLERS:PATH". The kernel appends " (deleted)" to the path of a cgroup that
 * was removed. */
static void parse_line(const char *line, size_t length, struct process_cgroup *ret, int *best)
{
    static const char deleted[] = " (deleted)";
    const char *list = memchr(line, ':', length);
    const char *path =
        list != NULL ? memchr(list + 1, ':', length - (size_t)(list + 1 - line)) : NULL;
    char text[PROCESS_CGROUP_SIZE];
    int weight;

    if (path == NULL || path[1] != '/')
        return;
    copy_text(text, sizeof text, path + 1, length - (size_t)(path + 1 - line));
    if (ends_with(text, deleted))
        text[strlen(text) - strlen(deleted)] = '\0';
    if (process_cgroup_has_cpu(list + 1, (size_t)(path - list - 1)))
        snprintf(ret->cpu_path, sizeof ret->cpu_path, "%s", text);
    weight = weight_of(text, path == list + 1);
    if (weight <= *best)
        return;
    *best = weight;
    snprintf(ret->path, sizeof ret->path, "%s", text);
}

bool process_cgroup_parse(const char *text, struct process_cgroup *ret)
{
    int best = -1;

    *ret = (struct process_cgroup){ 0 };
    for (size_t length; *text != '\0'; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        parse_line(text, length, ret, &best);
    }
    return best >= 0;
}

bool process_cgroup_read(int32_t pid, struct process_cgroup *ret)
{
    char path[40], text[16384];
    ssize_t length;

    snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
    length = file_text(path, text, sizeof text - 1);
    if (length < 0)
        return false;
    text[length] = '\0';
    return process_cgroup_parse(text, ret);
}
