#include "kernel_files.h"

#include "../error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static int read_short(struct kernel_files *files, const char *root, const char *name)
{
    struct camp_error error = { 0 };
    char path[PATH_SIZE];
    size_t length = 0;

    if (camp_path(path, root, &error, "%s", name) < 0)
        return ENAMETOOLONG;
    if (camp_read_file_once(path, files->buffer, sizeof files->buffer, &length, &error) < 0)
        return error.system_error != 0 ? error.system_error : EIO;
    files->text = cursor_of(files->buffer, length);
    return 0;
}

int camp_kernel_read_proc(struct kernel_files *files, const char *name)
{
    return read_short(files, camp_proc(files->source), name);
}

int camp_kernel_read_sys(struct kernel_files *files, const char *name)
{
    return read_short(files, camp_sys(files->source), name);
}

int camp_kernel_answers(struct kernel_files *files, const char *name)
{
    const int missing = camp_kernel_read_proc(files, name);

    if (missing == 0)
        return ANSWER_YES;
    return missing == ENOENT || missing == EOPNOTSUPP ? ANSWER_NO : ANSWER_UNKNOWN;
}

static bool each_line(struct kernel_files *files, int descriptor, const char *path,
                      bool (*take)(void *context, struct cursor line), void *context)
{
    struct camp_lines lines;
    struct cursor line;
    int more;

    camp_lines_start(&lines, descriptor, path, files->buffer, sizeof files->buffer,
                     LINES_UNTIL_EMPTY);
    while ((more = camp_lines_next(&lines, &line, NULL)) > 0 && take(context, line))
        continue;
    return more >= 0;
}

bool camp_kernel_each_line(struct kernel_files *files, const char *name,
                           bool (*take)(void *context, struct cursor line), void *context)
{
    char path[PATH_SIZE];
    int descriptor = camp_open_proc(files->source, name, path, NULL);
    bool whole;

    if (descriptor < 0)
        return false;
    whole = each_line(files, descriptor, path, take, context);
    close(descriptor);
    return whole;
}

static void read_word(struct kernel_files *files, const char *name, char ret[CAMP_NAME_SIZE])
{
    struct cursor line;

    if (camp_kernel_read_proc(files, name) == 0 && text_line(&files->text, &line))
        camp_text_copy(ret, CAMP_NAME_SIZE, line);
}

static void read_name(struct kernel_files *files)
{
    struct utsname name;

    if (files->source != NULL) {
        read_word(files, "sys/kernel/osrelease", files->release);
        read_word(files, "sys/kernel/arch", files->machine);
    } else if (uname(&name) == 0) {
        camp_text_copy(files->release, sizeof files->release,
                       cursor_of(name.release, strlen(name.release)));
        camp_text_copy(files->machine, sizeof files->machine,
                       cursor_of(name.machine, strlen(name.machine)));
    }
}

static bool take_config(void *context, struct cursor line)
{
    camp_kernel_config_line(context, line);
    return true;
}

static int open_config(const char *release, char *path)
{
    int descriptor;

    snprintf(path, PATH_SIZE, "/boot/config-%s", release);
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0)
        return descriptor;
    snprintf(path, PATH_SIZE, "/lib/modules/%s/config", release);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void read_config(struct kernel_files *files)
{
    char path[PATH_SIZE];
    int descriptor = files->source == NULL ? open_config(files->release, path) : -1;

    if (descriptor < 0)
        return;
    (void)each_line(files, descriptor, path, take_config, &files->config);
    close(descriptor);
}

void camp_kernel_files_open(struct kernel_files *files, const struct camp_source *source)
{
    files->source = source;
    files->release[0] = files->machine[0] = '\0';
    files->config = (struct kernel_config)KERNEL_CONFIG_UNKNOWN;
    read_name(files);
    read_config(files);
}
